//! The content of a message: the same in the database and in the files before it.

use crate::model::{Facts, Message, Role};
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::out::Out;
use crate::provider::shared::prompt::{saw_prompt, without_leading_elements};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// A message as it is stored.
pub struct Stored<'v> {
    pub role: Option<&'v str>,
    pub content: &'v Value<'v>,
    pub metadata: &'v Value<'v>,
}

impl Stored<'_> {
    /// Whose texts these are. What is not shown to the user was put in by the harness.
    fn speaker(&self) -> Role {
        match self.role {
            _ if get(self.metadata, "userVisible").as_bool() == Some(false) => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => Role::System,
        }
    }

    /// Hands over the texts.
    pub fn put(&self, out: &mut Out<'_>) {
        let speaker = self.speaker();
        let blocks = items(self.content);
        if blocks.is_empty() {
            let said = self.content.as_str().or_else(|| text(self.content, "text")).unwrap_or("");
            return out.put(speaker, said);
        }
        let mut at = 0;
        while let Some(block) = blocks.get(at) {
            let same = |b: &&Value<'_>| said(b).is_some() && text(b, "type") == text(block, "type");
            let run =
                blocks.get(at..).unwrap_or(&[]).iter().take_while(same).filter_map(said).collect::<Vec<_>>();
            if run.is_empty() {
                tool(block, out);
                at += 1;
                continue;
            }
            at += run.len();
            let joined = join(&run);
            match text(block, "type") {
                Some("thinking" | "reasoning") => out.put(Role::Thinking, joined),
                Some("text") | None if speaker == Role::User => {
                    out.put(Role::User, without_leading_elements(&joined, INJECTED).trim_end());
                }
                Some("text") | None => out.put(speaker, joined),
                _ => out.put(Role::System, joined),
            }
        }
    }
}

/// What the harness puts in front of a prompt.
const INJECTED: &[&str] = &["info-msg", "system-reminder"];

/// The text of a block that is one.
fn said<'v>(block: &'v Value<'v>) -> Option<&'v str> {
    match text(block, "type") {
        Some("text" | "reasoning") | None => text(block, "text"),
        Some("thinking") => text(block, "thinking"),
        Some(
            "systemNotification"
            | "conversationCompacted"
            | "contextLengthExceeded"
            | "summarizationRequested",
        ) => text(block, "msg"),
        _ => None,
    }
}

/// Blocks that follow one another: paragraphs, or the pieces in which a text came from a model.
fn join<'v>(run: &[&'v str]) -> Cow<'v, str> {
    const PARAGRAPHS: usize = 8;
    if let [one] = run {
        return Cow::Borrowed(one);
    }
    let spaced = |s: &&str| s.starts_with(char::is_whitespace) || s.ends_with(char::is_whitespace);
    let between = match run.iter().any(spaced) {
        true => "",
        false if run.len() > PARAGRAPHS => " ",
        false => "\n",
    };
    Cow::Owned(run.join(between))
}

fn tool(block: &Value<'_>, out: &mut Out<'_>) {
    match text(block, "type").unwrap_or("") {
        "toolRequest" | "frontendToolRequest" => {
            let call = get(get(block, "toolCall"), "value");
            out.tool(Role::ToolInput, json::strings(get(call, "arguments")), text(call, "name"));
            out.put(Role::ToolOutput, json::strings(json::at(block, &["toolCall", "error"])));
        }
        "toolConfirmationRequest" => {
            out.tool(Role::ToolInput, json::strings(get(block, "arguments")), text(block, "toolName"));
        }
        "toolResponse" => {
            let result = get(block, "toolResult");
            let value = get(result, "value");
            let list = get(value, "content");
            out.put(Role::ToolOutput, contents(if list.is_array() { list } else { value }));
            out.put(Role::ToolOutput, json::strings(get(result, "error")));
        }
        _ => {}
    }
}

/// The texts of a result's parts: text, and files that were embedded.
fn contents<'v>(parts: &'v Value<'v>) -> Cow<'v, str> {
    if let Some(said) = parts.as_str() {
        return Cow::Borrowed(said);
    }
    let of = |part: &'v Value<'v>| text(part, "text").or_else(|| text(get(part, "resource"), "text"));
    Cow::Owned(items(parts).iter().filter_map(of).collect::<Vec<_>>().join("\n"))
}

/// Counts messages and takes note of prompts. Rows with one message id are one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counter {
    last: u64,
}

impl Counter {
    /// To be called before the texts of a message; `id` may be absent.
    pub fn message(&mut self, id: Option<&str>) -> bool {
        let Some(id) = id.map(|i| xxh3_64(i.as_bytes())) else { return true };
        std::mem::replace(&mut self.last, id) != id
    }
}

/// Takes in a text of a message that may not have been counted yet.
pub fn note(m: &Message<'_>, counts: &mut bool, facts: &mut Facts<'_>) {
    if m.role == Role::User {
        saw_prompt(facts, &m.text);
    }
    if matches!(m.role, Role::User | Role::Assistant | Role::ToolInput) && std::mem::take(counts) {
        facts.messages += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_as_they_came() {
        assert_eq!(join(&["one", "two"]), "one\ntwo");
        assert_eq!(join(&["tok", "en", " by", " token"]), "token by token");
        assert_eq!(join(&["a", "b", "c", "d", "e", "f", "g", "h", "i"]), "a b c d e f g h i");
    }
}
