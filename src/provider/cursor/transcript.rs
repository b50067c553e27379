//! Records of a conversation: the lines of a transcript, and the messages in `store.db`, which differ little from them.

use crate::model::{Facts, Interactivity, Message, ResumeKind, Role};
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{begins_with_element, element, saw_prompt};
use crate::provider::{Checkpoint, Parsed, Resume, Sink, Source, SourceError};
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
    let checkpoint = (!end.loose).then(|| Checkpoint { offset: end.offset, state: Vec::new() });
    sink.close(id, facts);
    Ok(Parsed { checkpoint, skipped: end.skipped, shortened: end.shortened })
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
        if let Some(said) = typed(&json::content(content, &["text"])) {
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

/// What the harness sends in the user's name.
const INJECTED: &[&str] = &[
    "user_info",
    "git_status",
    "project_layout",
    "rules",
    "agent_skills",
    "agent_transcripts",
    "mcp_instructions",
    "mcp_file_system",
    "mcp_file_system_servers",
    "system_reminder",
    "system-reminder",
    "open_and_recently_viewed_files",
    "attached_files",
    "additional_data",
    "environment_details",
    "timestamp",
];

/// What the user typed of a text in the user's name, if anything: the queries in it, or all of it if it is no harness text.
pub fn typed(said: &str) -> Option<String> {
    const OPEN: &str = "<user_query>";
    let mut typed = Vec::new();
    let mut rest = said;
    while let Some(i) = rest.find(OPEN) {
        let query = &rest[i + OPEN.len()..];
        let (query, after) = query.split_once("</user_query>").unwrap_or((query, ""));
        typed.push(query.trim());
        rest = after;
    }
    if typed.is_empty() && !begins_with_element(said, INJECTED) {
        typed.push(said.trim());
    }
    let typed = typed.join("\n");
    (!typed.is_empty()).then_some(typed)
}

/// The directory that the harness tells the model.
pub fn told_directory(v: &Value<'_>) -> Option<String> {
    let message = get(v, "message");
    let content = get(if message.is_object() { message } else { v }, "content");
    let said = json::content(content, &["text"]);
    if text(v, "role") != Some("user") || !begins_with_element(&said, INJECTED) {
        return None;
    }
    directory_in(&said)
}

/// `Workspace Path: /w/app` in a `<user_info>`.
pub fn directory_in(said: &str) -> Option<String> {
    let dir =
        element(said, "user_info")?.lines().find_map(|l| l.trim().strip_prefix("Workspace Path:"))?.trim();
    (!dir.is_empty()).then(|| dir.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_are_prompts() {
        assert_eq!(typed("<user_info>\nOS: linux\n</user_info>"), None);
        assert_eq!(
            typed("<attached_files>x</attached_files>\n<user_query>\nfix it\n</user_query>").as_deref(),
            Some("fix it")
        );
        assert_eq!(typed("<user_query>a</user_query> <user_query>b").as_deref(), Some("a\nb"));
        assert_eq!(typed(" plain <b>words</b> ").as_deref(), Some("plain <b>words</b>"));
        assert_eq!(typed("<user_query> </user_query>"), None);
    }
}
