//! Putting a plan together. Pure: what the disk says is the other module's.

use crate::limits::PATH_MAX;
use crate::model::Facts;
use crate::provider::{CwdRule, Mode, Provider, Source};
use std::collections::BTreeMap;

/// What to run to get back into a session. The arguments are literal; no shell is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub agent: &'static str,
    pub session_id: String,
    /// Names of the command, the preferred one first.
    pub programs: Vec<String>,
    pub args: Vec<String>,
    /// Where the agent must look for its store; nothing else.
    pub env: BTreeMap<String, String>,
    /// Where to start it; `None` is the caller's directory.
    pub cwd: Option<String>,
    pub cwd_rule: CwdRule,
    pub mode: &'static str,
    pub bypasses_approval: bool,
}

/// A mode by its label; the default one if none is named.
pub fn find_mode(provider: &dyn Provider, label: Option<&str>) -> Option<&'static Mode> {
    let modes = provider.info().modes;
    match label {
        None => modes.first(),
        Some(label) => modes.iter().find(|m| m.label == label),
    }
}

/// Puts a plan together. `program` is the command the user set for the agent.
pub fn plan(
    provider: &dyn Provider,
    source: &Source,
    facts: &Facts<'_>,
    mode: &'static Mode,
    program: Option<&str>,
) -> Plan {
    let info = provider.info();
    let mut args = provider.resume_from(facts, &source.root, &source.rel);
    args.extend(mode.args.iter().map(|a| (*a).to_owned()));
    let cwd = facts.resume_cwd.as_deref().unwrap_or(&facts.project);
    Plan {
        agent: info.id,
        session_id: facts.id.clone().into_owned(),
        programs: info.commands(program),
        args,
        env: source.root.env.iter().cloned().collect(),
        // A relative path means nothing outside the agent's own process, and none beyond the limit exists.
        cwd: (is_absolute(cwd) && cwd.len() <= PATH_MAX).then(|| cwd.to_owned()),
        cwd_rule: provider.cwd_rule(facts),
        mode: mode.label,
        bypasses_approval: mode.bypasses_approval,
    }
}

/// Absolute in either system's spelling.
fn is_absolute(path: &str) -> bool {
    let b = path.as_bytes();
    path.starts_with('/')
        || path.starts_with("\\\\")
        || (b.len() > 2 && b[0].is_ascii_alphabetic() && b[1] == b':' && matches!(b[2], b'\\' | b'/'))
}
