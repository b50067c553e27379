//! One message of a Gemini session: what it is and what is said in it. Nothing here depends on other records.

use crate::model::Role;
use crate::provider::shared::json::{self, flag, get, items, text};
use crate::provider::shared::prompt::{without_elements, without_leading_elements};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// A text of a message.
pub struct Said<'v> {
    pub role: Role,
    pub text: Cow<'v, str>,
    pub tool: Option<&'v str>,
    /// Hash of the tool call it answers: a result stands with its call, and again as a message. 0 if it is none.
    pub answers: u64,
}

/// What a message counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A person's prompt.
    Prompt,
    Answer,
    /// Tool results, notices, commands, and what the CLI put in itself.
    Other,
}

/// Elements that the CLI puts before a prompt.
const CONTEXT: &[&str] = &["session_context", "hook_context", "loaded_context"];

/// Text that only sets the scene: never shown, never searched.
const BOILERPLATE: &[&str] = &[
    "This is the Gemini CLI. We are setting up the context for our chat",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
];

/// What the CLI says in the user's name.
const INJECTED: &[&str] = &[
    "<state_snapshot>",
    "I ran the following shell command:",
    "System: Please continue",
    "You have stopped calling tools without finishing",
];

/// The answers that the CLI puts in the model's mouth after context and after the summary of a compression.
const CANNED: &[&str] = &["Got it. Thanks for the context!", "Got it. Thanks for the additional context!"];

/// Stands between a prompt and the files it names.
const ATTACHED: &str = "--- Content from referenced files ---";

/// What tells a message apart within its session.
pub fn key(m: &Value<'_>) -> u64 {
    match text(m, "id") {
        Some(id) => xxh3_64(id.as_bytes()),
        None => xxh3_64(m.to_string().as_bytes()),
    }
}

/// Whether the CLI answered itself.
pub fn is_canned(m: &Value<'_>) -> bool {
    text(m, "type") == Some("gemini") && CANNED.contains(&answer(get(m, "content")).trim())
}

/// Whether a message of a list is a summary that the CLI put in: it answers it itself.
pub fn is_summary(m: &Value<'_>, next: Option<&Value<'_>>) -> bool {
    text(m, "type") == Some("user") && next.is_some_and(is_canned)
}

pub fn kind(m: &Value<'_>, summary: bool) -> Kind {
    match text(m, "type").unwrap_or("") {
        "user" if !summary && is_prompt(&typed(m)) => Kind::Prompt,
        "gemini" if !is_canned(m) => Kind::Answer,
        _ => Kind::Other,
    }
}

fn is_prompt(said: &str) -> bool {
    !said.trim().is_empty() && !is_injected(said) && !is_command(said)
}

fn is_injected(said: &str) -> bool {
    INJECTED.iter().any(|head| said.trim_start().starts_with(head))
}

/// `/help` and `?`, but no path and no question.
fn is_command(said: &str) -> bool {
    let said = said.trim();
    let word = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b':'));
    match (said.strip_prefix('/'), said.strip_prefix('?')) {
        (Some(rest), _) => rest.split_whitespace().next().is_some_and(word),
        (_, Some(rest)) => word(rest),
        _ => false,
    }
}

/// The text parts of a content that is a string, a part or a list of parts, but not the model's thoughts.
fn answer<'v>(content: &'v Value<'v>) -> Cow<'v, str> {
    if content.is_object() {
        return Cow::Borrowed(text(content, "text").unwrap_or(""));
    }
    if !items(content).iter().any(|p| flag(p, "thought")) {
        return json::content(content, &[]);
    }
    let said: Vec<&str> =
        items(content).iter().filter(|p| !flag(p, "thought")).filter_map(|p| text(p, "text")).collect();
    Cow::Owned(said.join("\n"))
}

/// What a person typed, without context and without the files it names.
pub fn typed<'v>(m: &'v Value<'v>) -> Cow<'v, str> {
    let shown = answer(get(m, "displayContent"));
    let said = if shown.trim().is_empty() { answer(get(m, "content")) } else { shown };
    match said {
        Cow::Borrowed(s) => own_words(s),
        Cow::Owned(s) => Cow::Owned(own_words(&s).into_owned()),
    }
}

fn own_words(said: &str) -> Cow<'_, str> {
    let said = without_leading_elements(said, CONTEXT);
    if BOILERPLATE.iter().any(|head| said.starts_with(head)) {
        return Cow::Borrowed("");
    }
    let said = said.split(ATTACHED).next().unwrap_or("");
    match without_elements(said, &["hook_context"]) {
        Cow::Borrowed(s) => Cow::Borrowed(s.trim()),
        Cow::Owned(s) => Cow::Owned(s.trim().to_owned()),
    }
}

/// What was sent along with a prompt: files it names.
fn attached<'v>(m: &'v Value<'v>) -> Cow<'v, str> {
    let after = |s: &str| s.find(ATTACHED).map(|i| i + ATTACHED.len());
    match answer(get(m, "content")) {
        Cow::Borrowed(s) => Cow::Borrowed(after(s).map_or("", |i| &s[i..])),
        Cow::Owned(s) => Cow::Owned(after(&s).map_or("", |i| &s[i..]).to_owned()),
    }
}

/// The texts of a message, always the same ones in the same order.
pub fn texts<'v>(m: &'v Value<'v>, summary: bool, put: &mut dyn FnMut(Said<'v>)) {
    let mut say = |role, text: Cow<'v, str>| {
        if !text.trim().is_empty() {
            put(Said { role, text, tool: None, answers: 0 });
        }
    };
    match text(m, "type").unwrap_or("") {
        "user" => {
            let said = typed(m);
            let role = if summary || is_injected(&said) { Role::System } else { Role::User };
            say(role, said);
            say(Role::ToolOutput, attached(m));
            items(get(m, "content")).iter().for_each(|p| result(p, None, 0, put));
        }
        "gemini" if !is_canned(m) => {
            thoughts(m, &mut |t| say(Role::Thinking, t));
            say(Role::Assistant, answer(get(m, "content")));
            calls(m, put);
        }
        "info" | "error" | "warning" => say(Role::System, answer(get(m, "content"))),
        _ => {}
    }
}

/// Thoughts stand apart, and in a resumed session among the parts.
fn thoughts<'v>(m: &'v Value<'v>, say: &mut dyn FnMut(Cow<'v, str>)) {
    let apart = items(get(m, "thoughts"));
    if apart.is_empty() {
        let parts = items(get(m, "content")).iter().filter(|p| flag(p, "thought"));
        return parts.filter_map(|p| text(p, "text")).for_each(|t| say(Cow::Borrowed(t)));
    }
    for thought in apart {
        let subject = text(thought, "subject");
        let both = [subject, text(thought, "description")];
        say(Cow::Owned(both.into_iter().flatten().collect::<Vec<_>>().join("\n")));
    }
}

/// The tool calls that a message has results of.
pub fn answered(m: &Value<'_>, f: &mut dyn FnMut(u64)) {
    let id = |v: &Value<'_>| text(v, "id").map(|id| xxh3_64(id.as_bytes()));
    let in_part = |p: &Value<'_>| id(get(p, "functionResponse"));
    match text(m, "type") {
        Some("user") => items(get(m, "content")).iter().filter_map(in_part).for_each(f),
        Some("gemini") => items(get(m, "toolCalls"))
            .iter()
            .flat_map(|c| items(get(c, "result")).iter().filter_map(in_part).chain(id(c)))
            .for_each(f),
        _ => {}
    }
}

/// Tool calls with what came of them. In a resumed session a call is a part of the content.
fn calls<'v>(m: &'v Value<'v>, put: &mut dyn FnMut(Said<'v>)) {
    let calls = items(get(m, "toolCalls"));
    for call in calls {
        let name = text(call, "name");
        input(call, put);
        let answers = text(call, "id").map_or(0, |id| xxh3_64(id.as_bytes()));
        let parts = get(call, "result");
        match parts.as_array() {
            Some(parts) => parts.iter().for_each(|p| result(p, name, answers, put)),
            None => result(parts, name, answers, put),
        }
    }
    if calls.is_empty() {
        let parts = items(get(m, "content")).iter().map(|p| get(p, "functionCall"));
        parts.for_each(|call| input(call, put));
    }
}

fn input<'v>(call: &'v Value<'v>, put: &mut dyn FnMut(Said<'v>)) {
    let (said, tool) = (json::strings(get(call, "args")), text(call, "name"));
    if tool.is_some() || !said.trim().is_empty() {
        put(Said { role: Role::ToolInput, text: said, tool, answers: 0 });
    }
}

/// A part of a tool's result. Of a user's message only the parts that are a tool's are meant.
fn result<'v>(part: &'v Value<'v>, tool: Option<&'v str>, answers: u64, put: &mut dyn FnMut(Said<'v>)) {
    let response = get(part, "functionResponse");
    let of_call = tool.is_some() || answers != 0;
    let said = match response.is_object() {
        true => json::strings(get(response, "response")),
        false if of_call => Cow::Borrowed(part.as_str().or_else(|| text(part, "text")).unwrap_or("")),
        false => return,
    };
    if said.trim().is_empty() {
        return;
    }
    let answers = text(response, "id").map_or(answers, |id| xxh3_64(id.as_bytes()));
    put(Said { role: Role::ToolOutput, text: said, tool: tool.or_else(|| text(response, "name")), answers });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_no_paths_and_no_questions() {
        for command in ["/help", "/chat save x", "?", "/mcp:go now", "?help"] {
            assert!(is_command(command), "{command}");
        }
        for prompt in ["/home/dev/x is broken", "?? why is this", "a/b", "/", "why?"] {
            assert!(!is_command(prompt), "{prompt}");
        }
    }
}
