//! The log of a conversation: a line a step.

use crate::model::{Facts, Role};
use crate::provider::Resume;
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{element, saw_prompt, without_elements};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Put in for the model, the same in every conversation.
const BOILERPLATE: &[&str] = &["CONVERSATION_HISTORY", "EPHEMERAL_MESSAGE", "SYSTEM_MESSAGE"];

/// Gathers what the steps say of their conversation.
pub struct Transcript {
    facts: Facts<'static>,
}

impl Transcript {
    pub fn new(id: &str) -> Self {
        let id = Cow::Owned(id.to_owned());
        Self { facts: Facts { id, source_kind: "unknown".into(), ..Facts::default() } }
    }

    pub fn resumed(from: &Resume<'_>) -> Self {
        Self { facts: from.facts.clone().into_owned() }
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) {
        let mut any = false;
        texts(v, place, &mut |m| {
            if m.role == Role::User {
                saw_prompt(&mut self.facts, &m.text);
            }
            any |= m.role != Role::System;
            emit(m);
        });
        if any {
            self.facts.saw_time(time(v, "created_at").unwrap_or(0));
            self.facts.messages += u32::from(speaks(v));
        }
    }
}

/// A prompt, or what the model said; not what a tool returned.
fn speaks(v: &Value<'_>) -> bool {
    is_prompt(v) || text(v, "type") == Some("PLANNER_RESPONSE")
}

fn is_prompt(v: &Value<'_>) -> bool {
    text(v, "source") == Some("USER_EXPLICIT")
}

/// All texts of a step, numbered.
pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) {
    let kind = text(v, "type").unwrap_or("");
    if BOILERPLATE.contains(&kind) || is_unfinished(v) {
        return;
    }
    let mut out = Out::new(emit, place, time(v, "created_at").unwrap_or(0));
    let content = json::content(get(v, "content"), &[]);
    match text(v, "source").unwrap_or("") {
        "USER_EXPLICIT" => out.put(Role::User, request(&content)),
        "MODEL" if kind == "PLANNER_RESPONSE" => {
            out.put(Role::Thinking, json::strings(get(v, "thinking")));
            out.put(Role::Assistant, content);
            for call in items(get(v, "tool_calls")) {
                out.tool(Role::ToolInput, json::embedded(get(call, "args")), text(call, "name"));
            }
        }
        // Steps are called as the tools they are made by.
        "MODEL" if !content.trim().is_empty() => {
            let tool = kind.to_ascii_lowercase();
            out.tool(Role::ToolOutput, content, Some(&tool).filter(|t| !t.is_empty()).map(String::as_str));
        }
        _ => out.put(Role::System, content),
    }
}

/// A step that is written again when it is done.
fn is_unfinished(v: &Value<'_>) -> bool {
    matches!(text(v, "status"), Some("PENDING" | "QUEUED" | "RUNNING" | "GENERATING" | "WAITING"))
}

/// What the user typed of a prompt.
pub fn request(content: &str) -> Cow<'_, str> {
    match element(content, "USER_REQUEST") {
        Some(request) => Cow::Borrowed(request),
        None => {
            let typed = without_elements(content, &["ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE"]);
            Cow::Owned(typed.trim().to_owned())
        }
    }
}
