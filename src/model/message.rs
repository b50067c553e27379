//! One message of a conversation, as a provider hands it over.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Who speaks. The number is what the index stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Role {
    /// A prompt typed or sent by the user.
    User = 0,
    /// The agent's answer.
    Assistant = 1,
    /// The agent's published reasoning.
    Thinking = 2,
    /// A tool call: name and arguments.
    ToolInput = 3,
    /// What a tool returned.
    ToolOutput = 4,
    /// Text put in by the harness: compaction summaries, local commands, notices.
    System = 5,
}

impl Role {
    pub const ALL: [Role; 6] =
        [Self::User, Self::Assistant, Self::Thinking, Self::ToolInput, Self::ToolOutput, Self::System];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool_input",
            Self::ToolOutput => "tool_output",
            Self::System => "system",
        }
    }

    pub fn from_index(n: u64) -> Role {
        Self::ALL.get(n as usize).copied().unwrap_or(Self::System)
    }

    /// Whether this is conversation (full weight in ranking) rather than tool traffic.
    pub const fn is_prose(self) -> bool {
        !matches!(self, Self::ToolInput | Self::ToolOutput | Self::System)
    }
}

/// Where a message lies in its source: a stretch of bytes (or a row), and which of the texts in it is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Locator {
    /// Byte offset of the record in the file, or row id in a database.
    pub offset: u64,
    /// Length of the record in bytes without its line feed; 0 for a row.
    pub len: u32,
    /// Which text of the record, counted from 0.
    pub part: u16,
}

/// A message's text with everything the index needs to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    pub role: Role,
    pub timestamp_ms: i64,
    pub text: Cow<'a, str>,
    pub at: Locator,
    /// The tool's name, for tool input and, where the store repeats it, output.
    pub tool: Option<Cow<'a, str>>,
    /// A sub-agent said it or was told it, in the file of the conversation that started it.
    pub sidechain: bool,
}
