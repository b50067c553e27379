//! Records of a conversation: the lines of a transcript, and the messages in `store.db`, which differ little from them.

use crate::model::{Facts, Interactivity, Message, ResumeKind, Role};
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{self, saw_prompt};
use crate::provider::{Parsed, Resume, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// What is known of a chat of which there is only the text.
pub fn facts(source: &Source, id: &str) -> Facts<'static> {
    let mut facts = Facts {
        id: Cow::Owned(id.to_owned()),
        source_kind: "unknown".into(),
        // The agent goes back into its store, not into the text.
        resume: ResumeKind::None,
        ..Facts::default()
    };
    if let Some(parent) = super::parent(source) {
        facts.parent = Some(Cow::Owned(parent.to_owned()));
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    facts
}

pub fn parse(
    source: &Source,
    id: &str,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let mut facts = from.map_or_else(|| facts(source, id), |r| r.facts.clone().into_owned());
    sink.open("", 0);
    let end = jsonl::each_record(source, from.map_or(0, |r| r.offset), |v, place| {
        record(v, place, &mut facts, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(Vec::new());
    sink.close(id, facts);
    Ok(parsed)
}

fn record(v: &Value<'_>, place: Place, facts: &mut Facts<'_>, emit: Emit<'_>) {
    let mut counted = false;
    texts(v, place, &mut |m| {
        count(&m, &mut counted, facts);
        emit(m);
    });
    if facts.project.is_empty()
        && let Some(dir) = told_directory(v)
    {
        facts.project = Cow::Owned(dir);
    }
}

/// Counts a record that holds a prompt or an answer, once however many texts it has.
pub fn count(m: &Message<'_>, counted: &mut bool, facts: &mut Facts<'_>) {
    if m.role == Role::User {
        saw_prompt(facts, &m.text);
    }
    if matches!(m.role, Role::User | Role::Assistant | Role::ToolInput) && !*counted {
        *counted = true;
        facts.messages += 1;
    }
}

/// The texts of a record: `{role, message:{content}}` in a transcript, `{role, content}` in a store.
pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) {
    put(v, &mut Out::new(emit, place, 0));
}

pub fn put(v: &Value<'_>, out: &mut Out<'_>) {
    let message = get(v, "message");
    let content = get(if message.is_object() { message } else { v }, "content");
    let role = match text(v, "role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::ToolOutput,
        _ => return,
    };
    if role == Role::User {
        if let Some(said) = prompt::query(&json::content(content, &["text"])) {
            out.put(Role::User, said);
        }
    } else if let Some(said) = content.as_str() {
        out.put(role, said);
    }
    items(content).iter().for_each(|block| put_block(block, role, out));
}

fn put_block(block: &Value<'_>, role: Role, out: &mut Out<'_>) {
    match text(block, "type").unwrap_or("") {
        "text" if role != Role::User => out.put(role, json::strings(get(block, "text"))),
        "thinking" => out.put(Role::Thinking, json::strings(get(block, "thinking"))),
        "reasoning" => out.put(Role::Thinking, json::strings(get(block, "text"))),
        "tool_use" => out.tool(Role::ToolInput, json::strings(get(block, "input")), text(block, "name")),
        "tool-call" => {
            let input = get(block, if get(block, "args").is_null() { "input" } else { "args" });
            out.tool(Role::ToolInput, json::embedded(input), text(block, "toolName"));
        }
        "tool_result" => out.put(Role::ToolOutput, json::content(get(block, "content"), &["text"])),
        "tool-result" => tool_result(block, out),
        _ => {}
    }
}

fn tool_result(block: &Value<'_>, out: &mut Out<'_>) {
    let plain = get(block, "result");
    let said = if plain.is_null() {
        json::strings(json::at(block, &["output", "value"]))
    } else {
        json::strings(plain)
    };
    if !said.trim().is_empty() {
        out.tool(Role::ToolOutput, said, text(block, "toolName"));
    }
}

/// The directory that the harness tells the model.
pub fn told_directory(v: &Value<'_>) -> Option<String> {
    let message = get(v, "message");
    let content = get(if message.is_object() { message } else { v }, "content");
    let said = json::content(content, &["text"]);
    if text(v, "role") != Some("user") || prompt::query(&said).is_some() {
        return None;
    }
    prompt::workspace(&said)
}
