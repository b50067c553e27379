//! Prime Agent. A fork of pi with the same wire; what differs from the program's public sources (2026-11).
//!
//! `~/.prime/agent/sessions/<id>.jsonl` is a session, and so are files in the project directories of early builds. Its entries also tell the branch,
//! whether the session is archived, what the agent says it has done, and where `/cwd` moved it.

use super::shared::pi;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};
use std::path::{Path, PathBuf};

/// The provider.
pub struct PrimeAgent;

const AGENT_DIR: &str = "PRIME_AGENT_CODING_AGENT_DIR";
const SESSION_DIR: &str = "PRIME_AGENT_SESSION_DIR";
const OLD_SESSION_DIR: &str = "PRIME_AGENT_CODING_AGENT_SESSION_DIR";

static INFO: Info = Info {
    id: "prime-agent",
    name: "Prime Agent",
    aliases: &["prime"],
    programs: &["prime-agent"],
    modes: &[Mode::DEFAULT],
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: Some(AGENT_DIR),
    parser_version: 1,
};

impl Provider for PrimeAgent {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var(AGENT_DIR);
        let agent = set.clone().or_else(|| env.in_home(".prime/agent"));
        let given = env.dir_var(SESSION_DIR).or_else(|| env.dir_var(OLD_SESSION_DIR));
        let Some(path) = given.or_else(|| Some(store(agent.as_deref()?, env))) else { return Vec::new() };
        let var = |name: &str, path: &Path| (name.to_owned(), path.to_string_lossy().into_owned());
        // Settings of the directory it is started in may name another store: the plan always says which one is meant.
        let mut vars = vec![var(SESSION_DIR, &path)];
        vars.extend(set.map(|dir| var(AGENT_DIR, &dir)));
        vec![Root { path, label: "sessions", env: vars }]
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
        vec!["--resume".into(), session_id.into()]
    }
}

/// The store the settings name: those of the working directory go before the user's.
fn store(agent: &Path, env: &Env) -> PathBuf {
    const SETTINGS: &str = "settings.json";
    let local = env.cwd().and_then(|c| pi::session_dir(&c.join(".prime/agent").join(SETTINGS), env));
    local.or_else(|| pi::session_dir(&agent.join(SETTINGS), env)).unwrap_or_else(|| agent.join("sessions"))
}
