//! Entries of a conversation in the store of Vibe 3.x, and what a journal does to them.

use crate::model::Role;
use crate::provider::shared::json::{self, at, get, items, text, time};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// What an entry counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Prompt,
    Answer,
    Other,
}

/// A text of an entry and the tool it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub role: Role,
    pub text: String,
    pub tool: Option<String>,
}

/// An entry, without its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    id: String,
    pub kind: Kind,
    pub time: i64,
    pub updated: i64,
    pub texts: Vec<Text>,
}

impl Entry {
    fn new(v: &Value<'_>) -> Self {
        let kind = match (text(v, "type"), text(v, "role")) {
            (Some("message"), Some("user")) if !is_injected(v) => Kind::Prompt,
            (Some("message"), Some("assistant")) => Kind::Answer,
            _ => Kind::Other,
        };
        let when = |key| time(v, key).unwrap_or(0);
        let (created, updated) = (when("createdAt"), when("updatedAt"));
        let id = text(v, "id").unwrap_or("").to_owned();
        Self { id, kind, time: if created > 0 { created } else { updated }, updated, texts: texts(v) }
    }
}

/// Put in by the agent, in the user's name.
fn is_injected(v: &Value<'_>) -> bool {
    text(v, "source") == Some("harness")
}

fn texts(v: &Value<'_>) -> Vec<Text> {
    let plain = |role, text: Cow<'_, str>| Text { role, text: text.into_owned(), tool: None };
    let mut all = match text(v, "type").unwrap_or("") {
        "message" => {
            let role = match text(v, "role") {
                Some("user") if is_injected(v) => Role::System,
                Some("user") => Role::User,
                Some("assistant") => Role::Assistant,
                // The system prompt.
                _ => return Vec::new(),
            };
            vec![plain(role, json::content(get(v, "content"), &[]))]
        }
        "reasoning" => {
            let said = text(v, "text").map(Cow::Borrowed);
            vec![plain(Role::Thinking, said.unwrap_or_else(|| json::content(get(v, "content"), &[])))]
        }
        "effect" => effect(v),
        "notice" if text(v, "level") != Some("info") => {
            vec![plain(Role::System, json::strings(get(v, "message")))]
        }
        // A checkpoint repeats the conversation up to it.
        _ => return Vec::new(),
    };
    all.retain(|t| t.tool.is_some() || !t.text.trim().is_empty());
    all
}

/// A tool's call with what came of it.
fn effect(v: &Value<'_>) -> Vec<Text> {
    let (detail, state) = (get(v, "detail"), get(v, "state"));
    let tool = text(detail, "toolName").or_else(|| text(detail, "kind")).map(str::to_owned);
    let input = json::strings(get(detail, "input")).into_owned();
    let output = text(state, "outputText").map(Cow::Borrowed).filter(|t| !t.trim().is_empty());
    let output = output
        .or_else(|| Some(json::content(at(state, &["output", "content"]), &[])).filter(|t| !t.is_empty()))
        .or_else(|| text(state, "reason").map(Cow::Borrowed))
        .or_else(|| text(get(state, "error"), "message").map(Cow::Borrowed));
    let mut all = vec![Text { role: Role::ToolInput, text: input, tool: tool.clone() }];
    all.extend(output.map(|o| Text { role: Role::ToolOutput, text: o.into_owned(), tool }));
    all
}

/// Entries of a list. What is no object is none.
pub fn all(list: &Value<'_>) -> impl Iterator<Item = Entry> {
    items(list).iter().filter(|e| e.is_object()).map(Entry::new)
}

/// Does to the entries what a record of the journal says. Returns whether it says anything of them.
pub fn replay(entries: &mut Vec<Entry>, record: &Value<'_>) -> bool {
    let payload = get(record, "payload");
    match text(record, "type") {
        Some("projection_advanced") => {
            *entries = all(at(payload, &["snapshot", "history", "entries"])).collect();
            true
        }
        Some("projection_delta") => {
            let changes = items(get(payload, "delta")).iter().filter(|op| apply(entries, op)).count();
            changes > 0
        }
        _ => false,
    }
}

fn apply(entries: &mut Vec<Entry>, op: &Value<'_>) -> bool {
    let id = text(op, "id").unwrap_or("");
    let entry = get(op, "entry");
    match text(op, "op").unwrap_or("") {
        "append_entry" if entry.is_object() => entries.push(Entry::new(entry)),
        "replace_entry" if entry.is_object() => match entries.iter_mut().find(|e| e.id == id) {
            Some(old) => *old = Entry::new(entry),
            None => return false,
        },
        "remove_entry" => entries.retain(|e| e.id != id),
        "set_history_entries" => *entries = all(get(op, "entries")).collect(),
        _ => return false,
    }
    true
}
