//! The texts of an entry.

use crate::model::{Message, Role};
use crate::provider::shared::json::{self, flag, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::Out;
use crate::provider::shared::prompt::without_leading_elements;
use serde_json_borrow::Value;
use std::borrow::Cow;

/// What is put in front of a prompt: a skill that was called, files that were named on the command line.
const IN_FRONT: &[&str] = &["skill", "file"];

/// Who speaks in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
    Other,
}

impl Speaker {
    pub fn of(v: &Value<'_>) -> Self {
        let message = get(v, "message");
        match text(message, "role") {
            _ if text(v, "type") != Some("message") => Self::Other,
            Some("user") if !by_harness(message) => Self::User,
            Some("assistant") => Self::Assistant,
            _ => Self::Other,
        }
    }
}

/// Oh My Pi marks what it sends in the user's place.
fn by_harness(message: &Value<'_>) -> bool {
    flag(message, "synthetic") || text(message, "attribution") == Some("agent")
}

/// When an entry was written.
pub fn when(v: &Value<'_>) -> i64 {
    time(v, "timestamp").or_else(|| time(get(v, "message"), "timestamp")).unwrap_or(0)
}

/// A prompt: the files put in front of it, and what was typed. A skill called without a word is named.
pub fn prompt<'v>(message: &'v Value<'v>) -> (Cow<'v, str>, Cow<'v, str>) {
    match json::content(get(message, "content"), &["text"]) {
        Cow::Borrowed(said) => {
            let (front, typed) = split(said);
            (Cow::Borrowed(front), typed)
        }
        Cow::Owned(said) => {
            let (front, typed) = split(&said);
            (Cow::Owned(front.to_owned()), Cow::Owned(typed.into_owned()))
        }
    }
}

/// The text of a skill is the same each time, and is left out.
fn split(said: &str) -> (&str, Cow<'_, str>) {
    let attached = without_leading_elements(said, &["skill"]);
    let typed = without_leading_elements(attached, IN_FRONT);
    if !typed.trim().is_empty() {
        let front = attached.get(..attached.len().saturating_sub(typed.len()));
        return (front.unwrap_or(""), Cow::Borrowed(typed.trim()));
    }
    match said.trim_start().strip_prefix("<skill name=\"").and_then(|s| s.split_once('"')) {
        Some((name, _)) => ("", Cow::Owned(format!("/skill:{name}"))),
        // Nothing but files, or what only looks like them.
        None => ("", Cow::Borrowed(said.trim())),
    }
}

/// The texts of one entry.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, when(v));
    match text(v, "type") {
        Some("message") => message(v, &mut out),
        Some("custom_message") => custom(v, &mut out),
        Some("compaction" | "branch_summary") => out.put(Role::System, json::strings(get(v, "summary"))),
        _ => {}
    }
}

fn message(v: &Value<'_>, out: &mut Out<'_>) {
    let message = get(v, "message");
    match text(message, "role").unwrap_or("") {
        "user" => user(v, message, out),
        "assistant" => assistant(message, out),
        "toolResult" => {
            let said = json::content(get(message, "content"), &["text"]);
            out.tool(Role::ToolOutput, said, text(message, "toolName"));
        }
        "bashExecution" => run(message, "command", "bash", out),
        "pythonExecution" => run(message, "code", "python", out),
        "custom" | "hookMessage" => custom(message, out),
        "branchSummary" | "compactionSummary" => {
            out.put(Role::System, json::strings(get(message, "summary")));
        }
        "fileMention" => mentions(message, out),
        // System prompts and reminders for the model.
        _ => {}
    }
}

fn user(v: &Value<'_>, message: &Value<'_>, out: &mut Out<'_>) {
    let (front, typed) = prompt(message);
    out.put(Role::System, front);
    let role = if Speaker::of(v) == Speaker::User { Role::User } else { Role::System };
    out.put(role, typed);
}

fn assistant(message: &Value<'_>, out: &mut Out<'_>) {
    let content = get(message, "content");
    out.put(Role::Assistant, content.as_str().unwrap_or(""));
    for block in items(content) {
        match text(block, "type").unwrap_or("") {
            "text" => out.put(Role::Assistant, json::strings(get(block, "text"))),
            "thinking" => out.put(Role::Thinking, json::strings(get(block, "thinking"))),
            "toolCall" => {
                out.tool(Role::ToolInput, json::strings(get(block, "arguments")), text(block, "name"));
            }
            _ => {}
        }
    }
    out.put(Role::System, json::strings(get(message, "errorMessage")));
}

/// A command the user ran without the model.
fn run(message: &Value<'_>, input: &str, tool: &'static str, out: &mut Out<'_>) {
    out.tool(Role::ToolInput, json::strings(get(message, input)), Some(tool));
    out.tool(Role::ToolOutput, json::strings(get(message, "output")), Some(tool));
}

/// What an extension said; hidden ones are for the model.
fn custom(v: &Value<'_>, out: &mut Out<'_>) {
    if get(v, "display").as_bool() != Some(false) {
        out.put(Role::System, json::content(get(v, "content"), &["text"]));
    }
}

/// Files that were named in a prompt, and read for the model.
fn mentions(message: &Value<'_>, out: &mut Out<'_>) {
    for file in items(get(message, "files")) {
        out.tool(Role::ToolInput, json::strings(get(file, "path")), Some("read"));
        out.tool(Role::ToolOutput, json::strings(get(file, "content")), Some("read"));
    }
}
