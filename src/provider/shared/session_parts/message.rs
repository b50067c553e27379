//! What is said in one message: its parts, in the order of their ids.

use crate::model::Role;
use crate::provider::shared::json::{self, at, flag, get, text, time};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Takes a text: who says it, when, what, and with which tool.
pub type Put<'p> = &'p mut dyn FnMut(Role, i64, Cow<'_, str>, Option<&str>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
}

/// A message without its parts.
#[derive(Debug)]
pub struct Head {
    /// Its place in a database.
    pub row: i64,
    pub id: String,
    pub speaker: Speaker,
    /// What was said so far in few words, made to go on with less.
    pub summary: bool,
    pub created: i64,
    pub completed: i64,
    pub model: Option<String>,
    /// The message it answers.
    pub parent: Option<String>,
    pub cwd: Option<String>,
}

impl Head {
    /// Nothing if it is nobody's message.
    pub fn new(row: i64, id: &str, v: &Value<'_>) -> Option<Self> {
        let owned = |s: Option<&str>| s.map(str::to_owned);
        let speaker = match text(v, "role")? {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => return None,
        };
        let times = get(v, "time");
        Some(Self {
            row,
            id: id.to_owned(),
            speaker,
            summary: speaker == Speaker::Assistant
                && (flag(v, "summary") || text(v, "mode") == Some("compaction")),
            created: time(times, "created").unwrap_or(0),
            completed: time(times, "completed").unwrap_or(0),
            model: owned(text(v, "modelID").or_else(|| text(get(v, "model"), "modelID"))),
            parent: owned(text(v, "parentID")),
            cwd: owned(text(get(v, "path"), "cwd")),
        })
    }
}

/// Put in front of a command that the user ran (`!ls`).
const SHELL: &str = "The following tool was executed by the user";

/// Whether a part is what stands for the user where a command of the user's was run.
pub fn is_shell(part: &Value<'_>) -> bool {
    injected(part) && text(part, "text") == Some(SHELL)
}

/// Whether a part is a tool at work.
pub fn is_running(part: &Value<'_>) -> bool {
    matches!(text(get(part, "state"), "status"), Some("pending" | "running"))
}

/// Not typed: put in by the program or a plug-in.
fn injected(part: &Value<'_>) -> bool {
    flag(part, "synthetic") || flag(part, "ignored")
}

/// Hands over the texts of a part.
pub fn texts(head: &Head, part: &Value<'_>, put: Put<'_>) {
    let since = time(get(part, "time"), "start").unwrap_or(head.created);
    let said = || json::strings(get(part, "text"));
    match text(part, "type").unwrap_or("") {
        "text" if injected(part) => {
            let said = said();
            if said != SHELL && !said.trim_start().starts_with("<system-reminder>") {
                put(Role::System, since, said, None);
            }
        }
        "text" => put(speaks(head), since, said(), None),
        "reasoning" => put(Role::Thinking, since, said(), None),
        "tool" => tool(head, part, put),
        // A command that hands its prompt to another agent.
        "subtask" => {
            put(Role::ToolInput, since, json::strings(get(part, "prompt")), text(part, "agent"));
        }
        _ => {}
    }
}

fn speaks(head: &Head) -> Role {
    match head.speaker {
        Speaker::User => Role::User,
        Speaker::Assistant if head.summary => Role::System,
        Speaker::Assistant => Role::Assistant,
    }
}

fn tool(head: &Head, part: &Value<'_>, put: Put<'_>) {
    let state = get(part, "state");
    let name = text(part, "tool");
    let begun = time(get(state, "time"), "start").unwrap_or(head.created);
    let ended = time(at(state, &["time"]), "end").unwrap_or(begun);
    put(Role::ToolInput, begun, json::strings(get(state, "input")), name);
    let failed = text(state, "status") == Some("error");
    let came = json::strings(get(state, if failed { "error" } else { "output" }));
    if !came.trim().is_empty() {
        put(Role::ToolOutput, ended, came, name);
    }
}
