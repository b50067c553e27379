//! OpenCode. The database as written by 1.18.33 and the files as written by 1.1.65 (npm, seen 2026-11-30); the oldest layout, the
//! channels' databases and `OPENCODE_DB` from its source (anomalyco/opencode, `storage/storage.ts`, `storage/db.ts`).
//!
//! All of the reading is shared with its forks: `shared/session_parts`.

use super::shared::session_parts::{self, Family};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};

/// The provider.
pub struct OpenCode;

const FAMILY: Family = Family { dir: "opencode", db_var: "OPENCODE_DB", stems: &["opencode"] };

static INFO: Info = Info {
    id: "opencode",
    name: "OpenCode",
    aliases: &["open-code", "opencode-ai"],
    programs: &["opencode"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "plan (read-only)", args: &["--agent", "plan"], bypasses_approval: false },
        Mode { label: "auto (no approval)", args: &["--auto"], bypasses_approval: true },
    ],
    // A resumed session goes back to its own directory, even to one that is gone.
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: Some("XDG_DATA_HOME"),
    parser_version: 1,
};

impl Provider for OpenCode {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        session_parts::roots(&FAMILY, env)
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        session_parts::classify(&FAMILY, root, names, is_dir)
    }

    fn parse(
        &self,
        source: &Source,
        _from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        session_parts::parse(source, sink)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        session_parts::read(source, at)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["-s".into(), session_id.into()]
    }
}
