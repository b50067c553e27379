//! The agents the catalog knows, in the order they are listed in.

use super::{
    Provider, amazon_q, antigravity, claude, cline, codex, copilot, crush, cursor, droid, gemini, goose,
    grok, hermes, kilo, kimi, kiro, oh_my_pi, opencode, pi, prime_agent, qwen, vibe, yolop,
};
use crate::model::normalize_agent;

/// All providers.
pub const ALL: &[&dyn Provider] = &[
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &opencode::OpenCode,
    &cursor::Cursor,
    &copilot::Copilot,
    &kiro::Kiro,
    &amazon_q::AmazonQ,
    &pi::Pi,
    &oh_my_pi::OhMyPi,
    &qwen::Qwen,
    &kimi::Kimi,
    &grok::Grok,
    &hermes::Hermes,
    &yolop::Yolop,
    &prime_agent::PrimeAgent,
    &droid::Droid,
    &goose::Goose,
    &crush::Crush,
    &vibe::Vibe,
    &kilo::Kilo,
    &cline::Cline,
    &antigravity::Antigravity,
];

/// The provider of an agent, by its id or an alias in any usual spelling.
pub fn find(name: &str) -> Option<&'static dyn Provider> {
    let name = normalize_agent(name);
    ALL.iter().copied().find(|p| p.info().id == name || p.info().aliases.contains(&name.as_str()))
}
