//! What can be asked. Unknown fields are errors; absent ones have the defaults of the contract.

use crate::limits;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which order results come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    #[default]
    Relevance,
    Time,
}

/// Find sessions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SearchRequest {
    /// Words, "phrases", -exclusions, prefix*, key:value. Empty lists the newest sessions.
    pub query: String,
    pub agent: Option<String>,
    /// Exact project directory.
    pub project: Option<String>,
    pub limit: u64,
    pub offset: u64,
    /// Continue where an earlier answer's `next_cursor` points.
    pub cursor: Option<String>,
    /// Search and return titles, summaries and recaps.
    pub include_summaries: bool,
    /// Search the conversations and return matching passages.
    pub include_content: bool,
    pub include_non_interactive: bool,
    /// RFC 3339, a date, or an age like `7d`.
    pub since: Option<String>,
    pub until: Option<String>,
    pub branch: Option<String>,
    pub sort: Option<SortBy>,
    /// Sessions on the same thing as this one: its id, or `agent:id`.
    pub like: Option<String>,
    /// Copies of one conversation count once where what was found is what they share.
    pub collapse: bool,
}

impl Default for SearchRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            agent: None,
            project: None,
            limit: limits::PAGE_DEFAULT as u64,
            offset: 0,
            cursor: None,
            include_summaries: false,
            include_content: false,
            include_non_interactive: false,
            since: None,
            until: None,
            branch: None,
            sort: None,
            like: None,
            collapse: true,
        }
    }
}

/// Look one session up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowRequest {
    pub agent: String,
    pub session_id: String,
    /// Exact project directory, to choose among sessions that share an id.
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub include_summaries: bool,
    #[serde(default)]
    pub include_non_interactive: bool,
}

/// Ask how to get back into a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    pub agent: String,
    pub session_id: String,
    #[serde(default)]
    pub project: Option<String>,
    /// A label from the capabilities; the default mode if absent.
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub include_non_interactive: bool,
}

/// Read a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRequest {
    pub agent: String,
    pub session_id: String,
    #[serde(default)]
    pub project: Option<String>,
    /// First message of the page, from 0.
    #[serde(default)]
    pub offset: Option<u64>,
    /// Messages on the page.
    #[serde(default)]
    pub limit: Option<u64>,
    /// Place the page around this message.
    #[serde(default)]
    pub around: Option<u64>,
    /// Continue where an earlier answer's `next_cursor` points.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Only this message, with its whole text.
    #[serde(default)]
    pub message: Option<u64>,
    /// Where in the text of `message` to begin: `next_text_offset` of an earlier answer.
    #[serde(default)]
    pub text_offset: Option<u64>,
    /// Texts of tools as long as others, not only their beginnings.
    #[serde(default)]
    pub full_tools: bool,
    /// Only these roles: user, assistant, thinking, tool_input, tool_output, system.
    #[serde(default)]
    pub roles: Vec<String>,
    /// One line a message.
    #[serde(default)]
    pub outline: bool,
    /// Text bytes on the page, at most.
    #[serde(default)]
    pub max_bytes: Option<u64>,
    #[serde(default)]
    pub include_non_interactive: bool,
}

/// Read a whole conversation at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TranscriptRequest {
    /// Any agent if absent.
    pub agent: Option<String>,
    pub session_id: String,
    pub project: Option<String>,
}

/// Ask what can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapabilitiesRequest {}
