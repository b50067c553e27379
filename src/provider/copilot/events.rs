//! The events of a Copilot CLI session, in order.

use crate::model::{Facts, Interactivity, Message, Role, TitleSource};
use crate::provider::shared::json::{self, flag, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{lineage, saw_prompt, title_line};
use crate::provider::{Resume, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Hash of the last `messageId`: a reply may be written in several events.
    last_reply: u64,
    /// Hash of the last reasoning that had an event of its own: the reply it belongs to repeats it.
    reasoning: u64,
}

/// Gathers what the events say of their session.
pub struct Events {
    facts: Facts<'static>,
    state: State,
}

impl Events {
    pub fn new(id: &str) -> Self {
        let facts =
            Facts { id: Cow::Owned(id.to_owned()), source_kind: "unknown".into(), ..Facts::default() };
        Self { facts, state: State::default() }
    }

    pub fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        Ok(Self { facts: from.facts.clone().into_owned(), state })
    }

    pub fn state(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) {
        let data = get(v, "data");
        match text(v, "type").unwrap_or("") {
            "session.start" | "session.resume" | "session.context_changed" => self.surroundings(data),
            "session.model_change" => self.model(text(data, "newModel")),
            "session.title_changed" => {
                if let Some(t) = text(data, "title") {
                    self.facts.offer_title(Cow::Owned(title_line(t)), TitleSource::Auto);
                }
            }
            "user.message" => self.user(v),
            "assistant.message" => self.assistant(v),
            "tool.execution_complete" => self.model(text(data, "model")),
            _ => {}
        }
        let reasoning = self.state.reasoning;
        let mut seen = false;
        texts(v, place, &mut |m| {
            seen = true;
            if m.role == Role::Thinking {
                let hash = xxh3_64(m.text.as_bytes());
                if hash == reasoning {
                    return;
                }
                self.state.reasoning = hash;
            }
            emit(m);
        });
        if seen {
            self.facts.saw_time(time(v, "timestamp").unwrap_or(0));
        }
    }

    fn surroundings(&mut self, data: &Value<'_>) {
        // `session.context_changed` holds the context itself.
        let inner = get(data, "context");
        let context = if inner.is_object() { inner } else { data };
        if self.facts.project.is_empty()
            && let Some(cwd) = text(context, "cwd")
        {
            self.facts.project = Cow::Owned(cwd.to_owned());
        }
        if let Some(branch) = text(context, "branch") {
            self.facts.branch = (branch != "HEAD").then(|| Cow::Owned(branch.to_owned()));
        }
        self.model(text(data, "selectedModel"));
        if let Some(parent) = text(data, "detachedFromSpawningParentSessionId") {
            self.facts.parent = Some(Cow::Owned(parent.to_owned()));
            self.facts.interactive = Interactivity::No;
            self.facts.source_kind = "background".into();
        }
    }

    fn model(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.facts.model = Some(Cow::Owned(name.to_owned()));
        }
    }

    fn user(&mut self, v: &Value<'_>) {
        if !is_typed(v) {
            return;
        }
        let Some(said) = text(get(v, "data"), "content").filter(|s| !s.trim().is_empty()) else { return };
        self.facts.messages += 1;
        if self.facts.lineage == 0 {
            self.facts.lineage = lineage(text(v, "id"));
        }
        saw_prompt(&mut self.facts, said);
    }

    fn assistant(&mut self, v: &Value<'_>) {
        if is_subagent(v) {
            return;
        }
        let data = get(v, "data");
        self.model(text(data, "model"));
        let reply = text(data, "messageId").or_else(|| text(v, "id")).map_or(0, |id| xxh3_64(id.as_bytes()));
        if reply != self.state.last_reply {
            self.state.last_reply = reply;
            self.facts.messages += 1;
        }
    }
}

/// Sub-agents write into the log of their session.
fn is_subagent(v: &Value<'_>) -> bool {
    text(v, "agentId").is_some() || text(get(v, "data"), "parentToolCallId").is_some()
}

/// A prompt by a person: no skill's text, no other agent's, none that autopilot put in to go on.
fn is_typed(v: &Value<'_>) -> bool {
    let data = get(v, "data");
    let source = text(data, "source").unwrap_or("");
    let injected = source.starts_with("skill-") || source.starts_with("agent-") || source == "system";
    !injected && !is_subagent(v) && !flag(data, "isAutopilotContinuation")
}

/// The texts of one event.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let data = get(v, "data");
    let mut out = Out::new(emit, place, time(v, "timestamp").unwrap_or(0));
    match text(v, "type").unwrap_or("") {
        // `transformedContent` is the same with what the harness wraps around it.
        "user.message" => {
            let role = if is_typed(v) || is_subagent(v) { Role::User } else { Role::System };
            out.put(role, json::content(get(data, "content"), &[]));
        }
        "assistant.message" => {
            out.put(Role::Thinking, json::content(get(data, "reasoningText"), &[]));
            out.put(Role::Assistant, json::content(get(data, "content"), &[]));
            for call in items(get(data, "toolRequests")) {
                out.tool(Role::ToolInput, json::strings(get(call, "arguments")), text(call, "name"));
            }
        }
        "assistant.reasoning" => out.put(Role::Thinking, json::content(get(data, "content"), &[])),
        "tool.user_requested" => {
            out.tool(Role::ToolInput, json::strings(get(data, "arguments")), text(data, "toolName"));
        }
        "tool.execution_complete" => tool_result(data, &mut out),
        "session.compaction_complete" => out.put(Role::System, json::strings(get(data, "summaryContent"))),
        "session.task_complete" => out.put(Role::Assistant, json::strings(get(data, "summary"))),
        "session.handoff" => out.put(Role::System, json::strings(get(data, "summary"))),
        "session.error" => out.put(Role::System, json::strings(get(data, "message"))),
        "system.notification" => out.put(Role::System, json::strings(get(data, "content"))),
        _ => {}
    }
}

/// What the model was given; the longer form for the screen only if there is nothing else.
fn tool_result(data: &Value<'_>, out: &mut Out<'_>) {
    let result = get(data, "result");
    let said = match text(result, "content").or_else(|| text(result, "detailedContent")) {
        Some(said) => Cow::Borrowed(said),
        None if result.is_object() => json::strings(get(result, "structuredContent")),
        None => json::strings(result),
    };
    out.put(Role::ToolOutput, said);
    out.put(Role::ToolOutput, json::strings(json::at(data, &["error", "message"])));
}
