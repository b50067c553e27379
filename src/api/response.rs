//! What is answered. Field names are the contract; additions come last.

use crate::text::Clean;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The state of the index behind an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct IndexState {
    pub generation: u64,
    /// Whether every source was taken in.
    pub complete: bool,
    pub pending_sources: u64,
    /// Sources read for this answer.
    pub refreshed_sources: u64,
}

/// Something that stands between the answer and completeness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    pub agent: Option<String>,
    pub code: String,
    pub message: String,
    pub count: u64,
    /// A path below the store's root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Clean>,
}

/// A message that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Match {
    /// Its number in the conversation, from 0.
    pub message: u64,
    pub role: String,
    pub timestamp_ms: i64,
    pub snippet: Clean,
    /// Byte ranges in `snippet`.
    pub highlights: Vec<(usize, usize)>,
}

/// A session. Text is present only if it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SessionRecord {
    pub key: String,
    pub agent: String,
    pub agent_name: String,
    pub session_id: String,
    pub project_name: Clean,
    pub project_path: Clean,
    pub timestamp_ms: i64,
    pub git_branch: Option<Clean>,
    pub worktree: Option<Clean>,
    pub interactive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summaries: Option<Vec<Clean>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recap: Option<Option<Clean>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<Clean>>,
    pub title_source: Option<String>,
    pub model: Option<Clean>,
    pub started_ms: i64,
    pub message_count: u64,
    pub source_kind: String,
    pub parent_session_id: Option<String>,
    pub forked_from: Option<String>,
    pub archived: bool,
    pub resume_kind: String,
    /// `false` if the agent has deleted the session and it is only remembered (`keep_vanished`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_exists: Option<bool>,
    /// What the user calls the copied store it is in (`[[store]]`); absent for the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<Clean>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<Match>>,
    /// Whether it is the session that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<bool>,
    /// Copies of it (forks, copied stores) that were found for the same messages and are counted with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Ids of the first ones of these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub duplicate_ids: Vec<String>,
}

/// Answer to a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SearchData {
    pub sessions: Vec<SessionRecord>,
    pub total: u64,
    pub offset: u64,
    pub next_offset: Option<u64>,
    pub warnings: Vec<Warning>,
    pub next_cursor: Option<String>,
    /// How the words were read: exact, prefix, form, typo, part, most, subsequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Sessions that match but were left out because no person drove them.
    pub filtered_non_interactive: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What a search of the conversations would find, when metadata holds nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_total: Option<u64>,
    pub index: IndexState,
    /// Whether the page ends early because of its size.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The query with words that look mistyped as they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<Clean>,
}

/// A session that belongs to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Related {
    /// What it is to it: parent, forked_from, continuation, fork, subagent, sibling, copy.
    pub relation: String,
    pub agent: String,
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Clean>,
    pub timestamp_ms: i64,
}

/// Answer to a look-up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShowData {
    pub session: SessionRecord,
    pub warnings: Vec<Warning>,
    pub index: IndexState,
    /// Its family within the scope, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// How many there are, if they are more than `related` names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_total: Option<u64>,
}

/// One condition of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanCheck {
    pub check: String,
    pub ok: bool,
    pub detail: String,
}

/// What to run. Data, not a command line: the arguments are literal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResumePlan {
    pub agent: String,
    pub session_id: String,
    pub program: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub cwd: Option<String>,
    pub executable_found: bool,
    pub working_directory_exists: bool,
    pub ready: bool,
    pub checks: Vec<PlanCheck>,
    pub resume_kind: String,
    pub cwd_rule: String,
    pub mode: String,
    /// Whether the agent would act without asking.
    pub r#unsafe: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Answer to a request for a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanData {
    pub plan: ResumePlan,
    pub executed: bool,
    pub requires_user_action: bool,
    pub warnings: Vec<Warning>,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadMessage {
    pub index: u64,
    pub role: String,
    pub timestamp_ms: i64,
    pub text: Clean,
    /// Whether `text` is only the beginning.
    pub truncated: bool,
    /// Size of the whole text in the store.
    pub bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Clean>,
    /// Whether a sub-agent said it or was told it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sidechain: bool,
    /// The sub-agent, if it has a file of its own: counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<u64>,
    /// Where the text goes on, as `text_offset`, if the message was asked for by its number and is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_text_offset: Option<u64>,
}

/// A file of a session, or a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadPart {
    /// Its first message.
    pub first: u64,
    pub messages: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<u64>,
}

/// A page of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadData {
    pub agent: String,
    pub session_id: String,
    pub messages: Vec<ReadMessage>,
    pub total: u64,
    /// First message of the next page.
    pub next_offset: Option<u64>,
    pub warnings: Vec<Warning>,
    /// Whether the page ends early because of its size.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Goes on exactly after this page, or fails with `cursor_expired` if what was read has changed.
    pub next_cursor: Option<String>,
    /// Another one as soon as anything in the session changes.
    pub revision: String,
    /// Whether the session changed since the cursor was made; what was read before it is the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// The message the page was placed around: of copies, the one that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub around: Option<u64>,
    /// Where the files and children of the session begin, if it has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ReadPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A way to resume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModeInfo {
    pub label: String,
    pub r#unsafe: bool,
}

/// An agent whose sessions can be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderInfo {
    pub id: String,
    pub name: String,
    pub command: String,
    pub program: String,
    pub installed: bool,
    pub resume_modes: Vec<String>,
    pub version_probe: String,
    pub unsafe_modes: Vec<String>,
    pub cwd_rule: String,
}

/// The fixed scope of a server or command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ScopeInfo {
    pub agent: Option<String>,
    pub project: Option<String>,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CapabilitiesData {
    pub operations: Vec<String>,
    pub read_only: bool,
    pub launches_agents: bool,
    pub writes_agent_stores: bool,
    pub mcp: bool,
    pub providers: Vec<ProviderInfo>,
    pub scope: ScopeInfo,
    pub limits: BTreeMap<String, u64>,
    pub pagination_consistency: String,
    pub content_trust: String,
    pub error_codes: Vec<String>,
    /// What an MCP server was allowed to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
}

impl JsonSchema for Clean {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}
