//! The agents the catalog knows, in the order they are listed in.

use super::{Provider, antigravity, claude, codex, copilot, droid, kilo, opencode};
use crate::model::normalize_agent;

/// All providers.
pub const ALL: &[&dyn Provider] = &[
    &claude::Claude,
    &codex::Codex,
    &opencode::OpenCode,
    &copilot::Copilot,
    &droid::Droid,
    &kilo::Kilo,
    &antigravity::Antigravity,
];

/// The provider of an agent, by its id or an alias in any usual spelling.
pub fn find(name: &str) -> Option<&'static dyn Provider> {
    let name = normalize_agent(name);
    ALL.iter().copied().find(|p| p.info().id == name || p.info().aliases.contains(&name.as_str()))
}
