//! What is said in one record of a rollout.
//!
//! Every message stands in a rollout twice: as `response_item` (what the model sees) and as `event_msg` (what the screen shows).

use crate::model::{Locator, Message, Role};
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::prompt::{begins_with_element, element};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Where a text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Item,
    /// May repeat an item.
    Event,
    /// An event that repeats no item.
    Alone,
}

/// All texts of a record, numbered.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>, Kind)) {
    let at = time(v, "timestamp").unwrap_or(0);
    let payload = get(v, "payload");
    let mut out = Out { emit, at, place, part: 0, kind: Kind::Item };
    match text(v, "type") {
        Some("response_item") => item(payload, &mut out),
        Some("event_msg") => event(payload, &mut out),
        Some("compacted") => out.put(Role::System, json::strings(get(payload, "message")), None),
        // The oldest rollouts have bare items.
        Some(_) if payload.is_null() => item(v, &mut out),
        _ => {}
    }
}

fn item(item: &Value<'_>, out: &mut Out<'_>) {
    let name = text(item, "name");
    match text(item, "type").unwrap_or("") {
        "message" => message(item, out),
        "reasoning" => {
            out.put(Role::Thinking, json::content(get(item, "summary"), &[]), None);
            out.put(Role::Thinking, json::content(get(item, "content"), &[]), None);
        }
        "function_call" | "tool_search_call" => call(name, &arguments(get(item, "arguments")), out),
        "custom_tool_call" => call(name, &json::strings(get(item, "input")), out),
        "local_shell_call" => {
            call(Some("shell"), &json::strings(json::at(item, &["action", "command"])), out)
        }
        "web_search_call" => call(Some("web_search"), &json::strings(get(item, "action")), out),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            out.put(Role::ToolOutput, output(get(item, "output")), None);
        }
        _ => {}
    }
}

fn call(name: Option<&str>, input: &str, out: &mut Out<'_>) {
    out.put(Role::ToolInput, input.into(), name.map(Cow::Borrowed));
}

/// Arguments are JSON in a string; what is searched for are its values.
fn arguments(value: &Value<'_>) -> String {
    let Some(raw) = value.as_str() else { return json::strings(value).into_owned() };
    match serde_json::from_str::<Value<'_>>(raw) {
        Ok(v) if v.is_object() || v.is_array() => json::strings(&v).into_owned(),
        _ => raw.to_owned(),
    }
}

/// Output is text, a list of texts, an object with one, or such an object as JSON in a string.
fn output<'v>(value: &'v Value<'v>) -> Cow<'v, str> {
    if let Some(raw) = value.as_str() {
        if raw.starts_with("{\"output\":")
            && let Ok(v) = serde_json::from_str::<Value<'_>>(raw)
            && let Some(inner) = text(&v, "output")
        {
            return Cow::Owned(inner.to_owned());
        }
        return Cow::Borrowed(raw);
    }
    match text(value, "content").or_else(|| text(value, "output")) {
        Some(inner) => Cow::Borrowed(inner),
        None => json::content(value, &[]),
    }
}

fn message(item: &Value<'_>, out: &mut Out<'_>) {
    let content = get(item, "content");
    let blocks = if content.is_array() { items(content) } else { std::slice::from_ref(content) };
    let texts =
        blocks.iter().enumerate().filter_map(|(i, b)| Some((i, b.as_str().or_else(|| text(b, "text"))?)));
    match text(item, "role") {
        Some("user") => {
            texts
                .filter_map(|(i, said)| prompt(said, typed(item, i)))
                .for_each(|p| out.put(Role::User, p.into(), None));
        }
        Some("assistant") => texts.for_each(|(_, said)| out.put(Role::Assistant, said.into(), None)),
        _ => {}
    }
}

/// Newer releases say of every text whether the user typed it.
fn typed(item: &Value<'_>, nth: usize) -> Option<bool> {
    let notes = get(item, "internal_chat_message_metadata_passthrough");
    let source = items(get(notes, "content_item_metadata")).get(nth);
    if let Some(source) = source.and_then(|m| text(get(m, "provenance"), "type")) {
        return Some(source == "user");
    }
    match items(get(notes, "content_item_kinds")).get(nth)?.as_str()? {
        "unknown" => None,
        kind => Some(kind.starts_with("user.")),
    }
}

/// What the screen showed.
fn event(event: &Value<'_>, out: &mut Out<'_>) {
    out.kind = Kind::Event;
    match text(event, "type").unwrap_or("") {
        "user_message" => shown_prompt(text(event, "message").unwrap_or(""), out),
        "agent_message" => out.put(Role::Assistant, json::strings(get(event, "message")), None),
        "agent_reasoning" | "agent_reasoning_raw_content" => {
            out.put(Role::Thinking, json::strings(get(event, "text")), None);
        }
        "item_completed" => completed(get(event, "item"), out),
        _ => {}
    }
}

fn completed(item: &Value<'_>, out: &mut Out<'_>) {
    match text(item, "type").unwrap_or("") {
        "UserMessage" => shown_prompt(&json::content(get(item, "content"), &[]), out),
        "AgentMessage" => out.put(Role::Assistant, json::content(get(item, "content"), &[]), None),
        "Reasoning" => out.put(Role::Thinking, json::content(get(item, "summary_text"), &[]), None),
        "CommandExecution" => {
            // A command that the user ran (`!ls`) is no item but in the user's name.
            if text(item, "source") == Some("user_shell") {
                out.kind = Kind::Alone;
            }
            call(Some("shell"), &json::strings(get(item, "command")), out);
            out.put(Role::ToolOutput, json::strings(get(item, "aggregated_output")), None);
        }
        _ => {}
    }
}

fn shown_prompt(said: &str, out: &mut Out<'_>) {
    if let Some(prompt) = prompt(said, None) {
        out.put(Role::User, prompt.into(), None);
    }
}

/// Elements that stand in a user's message without being the user's.
const INJECTED: &[&str] = &[
    "user_instructions",
    "environment_context",
    "turn_aborted",
    "user_shell_command",
    "skills_instructions",
    "skill",
    "permissions",
    "collaboration_mode",
    "recommended_plugins",
    "apps_instructions",
    "plugins_instructions",
    "subagent_notification",
    "INSTRUCTIONS",
];

/// Headings of what editors and the desktop program put in front of a prompt.
const IN_FRONT: &[&str] =
    &["# Context from my IDE setup", "# Files mentioned by the user", "## My request for Codex:"];

/// What the user typed of a text in the user's name, if anything. `typed` if the record says so.
fn prompt(said: &str, typed: Option<bool>) -> Option<&str> {
    const REQUEST: &str = "## My request for Codex:";
    let mut said = said.trim();
    if IN_FRONT.iter().any(|h| said.starts_with(h))
        && let Some(i) = said.find(REQUEST)
    {
        said = said[i + REQUEST.len()..].trim();
    }
    let typed = typed.unwrap_or_else(|| {
        !begins_with_element(said, INJECTED) && !said.starts_with("# AGENTS.md instructions")
    });
    (typed && !said.is_empty()).then_some(said)
}

/// The working directory that a record tells the model; the oldest rollouts have no other.
pub fn told_directory(v: &Value<'_>) -> Option<String> {
    let payload = get(v, "payload");
    let content = get(if payload.is_null() { v } else { payload }, "content");
    let told = |said: &str| {
        let context = element(said, "environment_context")?;
        let line = || context.lines().find_map(|l| l.trim().strip_prefix("Current working directory:"));
        element(context, "cwd").or_else(line).map(|d| d.trim().to_owned()).filter(|d| !d.is_empty())
    };
    items(content).iter().find_map(|b| told(text(b, "text")?))
}

/// The turn a record belongs to.
pub fn turn_id<'v>(payload: &'v Value<'v>) -> Option<&'v str> {
    let passed = || text(get(payload, "internal_chat_message_metadata_passthrough"), "turn_id");
    text(payload, "turn_id").or_else(passed)
}

/// Emits the texts of one record, numbered.
struct Out<'e> {
    emit: &'e mut dyn FnMut(Message<'_>, Kind),
    at: i64,
    place: Place,
    part: usize,
    kind: Kind,
}

impl Out<'_> {
    fn put(&mut self, role: Role, text: Cow<'_, str>, tool: Option<Cow<'_, str>>) {
        if text.trim().is_empty() && tool.is_none() {
            return;
        }
        let at: Locator = self.place.part(self.part);
        self.part += 1;
        (self.emit)(Message { role, timestamp_ms: self.at, text, at, tool, sidechain: false }, self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_typed_is_a_prompt() {
        let ide = "# Context from my IDE setup:\n## Open tabs\n## My request for Codex:\n fix it ";
        assert_eq!(prompt(ide, None), Some("fix it"));
        assert_eq!(prompt(ide, Some(true)), Some("fix it"));
        assert_eq!(
            prompt(
                "# Files mentioned by the user:\n\n## a.png: /a.png\n\n## My request for Codex:\nlook",
                None
            ),
            Some("look")
        );
        assert_eq!(prompt("<environment_context>\n<cwd>/w</cwd>", None), None);
        assert_eq!(prompt("<permissions instructions>x", None), None);
        assert_eq!(prompt("# AGENTS.md instructions for /w", None), None);
        assert_eq!(prompt("<div> is broken", None), Some("<div> is broken"));
        assert_eq!(prompt("<skill> is what I typed", Some(true)), Some("<skill> is what I typed"));
        assert_eq!(prompt("typed by a hook", Some(false)), None);
    }

    #[test]
    fn both_ways_of_telling_the_directory_are_understood() {
        for said in [
            "<environment_context>\\n  <cwd>/w/app</cwd>\\n</environment_context>",
            "<environment_context>\\nCurrent working directory: /w/app\\nApproval policy: never\\n</environment_context>",
        ] {
            let line = format!(
                r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{said}"}}]}}"#
            );
            let v: Value<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(told_directory(&v).as_deref(), Some("/w/app"));
        }
    }
}
