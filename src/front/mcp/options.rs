//! What the owner of the server decided at its start. No call can change it.

use crate::error::{Error, Result};
use crate::limits::{MCP_CALLS_MAX, MCP_MESSAGE_MAX, MCP_OUTPUT_MAX};

/// What happens to a line over the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Oversize {
    /// It is answered with an error and the session goes on.
    #[default]
    Discard,
    /// The session ends.
    Close,
}

/// The options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    pub agent: Option<String>,
    pub project: Option<String>,
    pub allow: Groups,
    pub message_max: usize,
    pub output_max: usize,
    pub calls_max: usize,
    pub oversize: Oversize,
    /// `off`, `error`, `warn`, `info`, `debug`; the log goes to standard error.
    pub log_level: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            agent: None,
            project: None,
            allow: Groups::default(),
            message_max: MCP_MESSAGE_MAX,
            output_max: MCP_OUTPUT_MAX,
            calls_max: MCP_CALLS_MAX,
            oversize: Oversize::default(),
            log_level: "warn".to_owned(),
        }
    }
}

/// What a client may see, by group. Metadata always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Titles, summaries and recaps.
    pub summaries: bool,
    /// Searching the conversations, and the passages that match.
    pub content: bool,
    /// Reading whole conversations, and sessions as resources.
    pub transcript: bool,
    /// Prompts and the skill.
    pub prompts: bool,
    /// Plans in a mode in which the agent acts without asking.
    pub unsafe_modes: bool,
}

impl Default for Groups {
    fn default() -> Self {
        Self { summaries: true, ..Self::metadata() }
    }
}

impl Groups {
    const NAMES: [&str; 6] = ["metadata", "summaries", "content", "transcript", "prompts", "unsafe-modes"];

    const fn metadata() -> Self {
        Self { summaries: false, content: false, transcript: false, prompts: false, unsafe_modes: false }
    }

    /// Reads a list like `metadata,summaries,content`.
    pub fn parse(list: &str) -> Result<Self> {
        let mut groups = Self::metadata();
        for name in list.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match name {
                "metadata" => {}
                "summaries" => groups.summaries = true,
                "content" => groups.content = true,
                "transcript" => groups.transcript = true,
                "prompts" => groups.prompts = true,
                "unsafe-modes" => groups.unsafe_modes = true,
                _ => return Err(unknown()),
            }
        }
        Ok(groups)
    }

    /// The names of what is allowed.
    pub fn names(&self) -> Vec<&'static str> {
        let allowed = [true, self.summaries, self.content, self.transcript, self.prompts, self.unsafe_modes];
        Self::NAMES.into_iter().zip(allowed).filter(|(_, on)| *on).map(|(name, _)| name).collect()
    }
}

fn unknown() -> Error {
    Error::invalid_request("unknown group").hint(format!("groups: {}", Groups::NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_read_and_named() {
        assert_eq!(Groups::parse("metadata,summaries").unwrap(), Groups::default());
        assert_eq!(Groups::parse("").unwrap().names(), ["metadata"]);
        assert_eq!(Groups::parse(" prompts, content ").unwrap().names(), ["metadata", "content", "prompts"]);
        assert!(Groups::parse("metadata,everything").is_err());
        assert_eq!(Groups::parse(&Groups::NAMES.join(",")).unwrap().names(), Groups::NAMES);
    }
}
