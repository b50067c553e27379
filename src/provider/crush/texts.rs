//! The parts of a Crush message.

use crate::model::{Message, Role};
use crate::provider::shared::json::{self, flag, get, items, text};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::Out;
use serde_json_borrow::Value;
use std::borrow::Cow;

/// A row of `messages`.
#[derive(Debug)]
pub struct Row {
    pub rowid: u64,
    pub role: String,
    /// JSON, or nothing if it is larger than what is read.
    pub parts: Option<String>,
    pub model: Option<String>,
    pub created: i64,
    pub finished: i64,
    pub summary: bool,
}

/// What a row comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// What the user typed.
    Prompt(String),
    Answer,
    /// Tool results, summaries, text put in by the agent.
    Other,
    /// The row cannot be read.
    Nothing,
}

/// How the agent begins the message that makes it go on after it has summarized a long conversation.
const GOING_ON: &str = "The previous session was interrupted because it ";

/// Emits the texts of a row.
pub fn texts(row: &Row, emit: &mut dyn FnMut(Message<'_>)) -> Said {
    let Some(parts) = row.parts.as_deref().and_then(|p| serde_json::from_str::<Value<'_>>(p).ok()) else {
        return Said::Nothing;
    };
    if !parts.is_array() {
        return Said::Nothing;
    }
    let mut out = Out::new(emit, Place { offset: row.rowid, len: 0, nth: 0 }, row.created);
    let mut typed = String::new();
    for part in items(&parts) {
        let data = get(part, "data");
        match text(part, "type").unwrap_or("") {
            "text" => said(row, data, &mut typed, &mut out),
            "reasoning" => out.put(Role::Thinking, json::strings(get(data, "thinking"))),
            "tool_call" => {
                out.tool(Role::ToolInput, json::embedded(get(data, "input")), text(data, "name"));
            }
            "tool_result" => {
                let content = json::strings(get(data, "content"));
                if !content.trim().is_empty() {
                    out.tool(Role::ToolOutput, content, text(data, "name"));
                }
            }
            // A command the user ran (`!ls`).
            "shell_command" => {
                out.tool(Role::ToolInput, json::strings(get(data, "command")), Some("shell"));
                out.put(Role::ToolOutput, json::strings(get(data, "output")));
            }
            "finish" => out.put(Role::System, failure(data)),
            _ => {}
        }
    }
    match row.role.as_str() {
        "user" if !typed.is_empty() => Said::Prompt(typed),
        "assistant" if !row.summary => Said::Answer,
        _ => Said::Other,
    }
}

fn said(row: &Row, data: &Value<'_>, typed: &mut String, out: &mut Out<'_>) {
    let content = json::content(get(data, "text"), &[]);
    let role = match row.role.as_str() {
        _ if row.summary => Role::System,
        "assistant" => Role::Assistant,
        "tool" => Role::ToolOutput,
        "user" if !flag(data, "hidden") && !content.starts_with(GOING_ON) => Role::User,
        "user" => Role::System,
        // The system prompt.
        _ => return,
    };
    if role == Role::User && !content.trim().is_empty() {
        typed.push_str(if typed.is_empty() { "" } else { "\n" });
        typed.push_str(&content);
    }
    out.put(role, content);
}

/// Why a reply ended, if that is worth reading: an error and its details.
fn failure<'v>(data: &'v Value<'v>) -> Cow<'v, str> {
    match (text(data, "message"), text(data, "details")) {
        (Some(m), Some(d)) => Cow::Owned(format!("{m}\n{d}")),
        (Some(only), None) | (None, Some(only)) => Cow::Borrowed(only),
        (None, None) => Cow::Borrowed(""),
    }
}
