//! Kilo CLI, a fork of OpenCode. The database as written by 7.7.9 (npm, seen 2026-11-30); `KILO_DB`, the channels and the databases that
//! bear the older name from public readers.
//!
//! All of the reading is shared with OpenCode: `shared/session_parts`.

use super::shared::session_parts::{self, Family};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};

/// The provider.
pub struct Kilo;

const FAMILY: Family = Family { dir: "kilo", db_var: "KILO_DB", stems: &["kilo", "opencode"] };

static INFO: Info = Info {
    id: "kilo",
    name: "Kilo CLI",
    aliases: &["kilo-cli", "kilocode", "kilo-code"],
    programs: &["kilo"],
    modes: &[Mode::DEFAULT, Mode { label: "auto (no approval)", args: &["--auto"], bypasses_approval: true }],
    // A resumed session keeps its own directory.
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: Some("XDG_DATA_HOME"),
    parser_version: 1,
};

impl Provider for Kilo {
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
        vec!["--session".into(), session_id.into()]
    }
}
