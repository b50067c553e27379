//! pi. Formats as written by 1.6.0 (npm, seen 2026-11-30); the older versions of the format from the package's own description of it.
//!
//! `<agent dir>/sessions/--<cwd with - for / \ :>--/<time>_<id>.jsonl` is a session. A directory given by variable or setting holds its
//! sessions directly. The project directory's name cannot be turned back into a path; the header has it.

use super::shared::pi;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};

/// The provider.
pub struct Pi;

const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";
const SESSION_DIR: &str = "PI_CODING_AGENT_SESSION_DIR";

static INFO: Info = Info {
    id: "pi",
    name: "pi",
    aliases: &["pi-coding-agent"],
    programs: &["pi"],
    modes: &[Mode::DEFAULT],
    // Elsewhere pi asks whether to fork the session into the current directory.
    cwd_rule: CwdRule::Required,
    home_var: Some(AGENT_DIR),
    parser_version: 1,
};

impl Provider for Pi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = |name: &str| env.dir_var(name).map(|d| (name.to_owned(), d.to_string_lossy().into_owned()));
        let vars = [AGENT_DIR, SESSION_DIR].into_iter().filter_map(set).collect();
        let agent = env.dir_var(AGENT_DIR).or_else(|| env.in_home(".pi/agent"));
        let path = env.dir_var(SESSION_DIR).or_else(|| {
            let agent = agent?;
            Some(pi::session_dir(&agent.join("settings.json"), env).unwrap_or_else(|| agent.join("sessions")))
        });
        path.map(|path| Root { path, label: "sessions", env: vars }).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        pi::classify(names, is_dir)
    }

    fn parse(
        &self,
        source: &Source,
        from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        pi::parse(source, from, sink)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        pi::read(source, at)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--session".into(), session_id.into()]
    }
}
