//! The records of a Kimi Code agent.
//!
//! A prompt is written when it is given (`turn.prompt`, `turn.steer`) and when it enters the context (`context.append_message`); an answer
//! while it comes in (`context.append_loop_event`), and in some sessions again as a message. Each is taken where it is written first.

use crate::model::{Facts, Message, Role, UnitKind};
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{lineage, saw_prompt, without_elements};
use crate::provider::{Resume, Source, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Prompts that were given but are not in the context yet, at most.
const WAITING_MAX: usize = 16;

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Hashes of prompts that will be repeated when they enter the context.
    waiting: Vec<u64>,
    /// Hash of the step that was counted last: an answer comes in pieces.
    step: u64,
    /// The present turn has loop events: its messages repeat them.
    looped: bool,
}

/// Gathers what the records say of their session.
pub struct Wire {
    facts: Facts<'static>,
    state: State,
}

impl Wire {
    pub fn new(id: &str, kind: UnitKind) -> Self {
        let id = if kind == UnitKind::Main { Cow::Owned(id.to_owned()) } else { Cow::Borrowed("") };
        let facts = Facts { id, kind, source_kind: "unknown".into(), ..Facts::default() };
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

    /// A record. Of what was undone nothing counts.
    pub fn record(&mut self, v: &Value<'_>, place: Place, undone: bool, emit: Emit<'_>) {
        if text(v, "type") == Some("llm.request")
            && let Some(model) = text(v, "model")
        {
            self.facts.model = Some(Cow::Owned(model.to_owned()));
        }
        if undone || self.is_repeated(v) {
            return;
        }
        let mut any = false;
        texts(v, place, &mut |m| {
            any = true;
            emit(m);
        });
        if any {
            self.facts.saw_time(time(v, "time").unwrap_or(0));
            self.count(v);
        }
    }

    fn is_repeated(&mut self, v: &Value<'_>) -> bool {
        match text(v, "type").unwrap_or("") {
            "turn.prompt" | "turn.steer" => {
                self.state.looped &= text(v, "type") == Some("turn.steer");
                self.state.waiting.truncate(WAITING_MAX - 1);
                self.state.waiting.insert(0, xxh3_64(said(get(v, "input")).as_bytes()));
                false
            }
            "context.append_loop_event" => {
                self.state.looped = true;
                false
            }
            "context.append_message" => self.is_repeated_message(get(v, "message")),
            _ => false,
        }
    }

    fn is_repeated_message(&mut self, message: &Value<'_>) -> bool {
        if text(message, "role") != Some("user") {
            return self.state.looped;
        }
        let hash = xxh3_64(said(get(message, "content")).as_bytes());
        let waiting = self.state.waiting.iter().position(|h| *h == hash);
        if let Some(i) = waiting {
            self.state.waiting.remove(i);
        } else if By::of(message) == By::Person {
            self.state.looped = false;
        }
        waiting.is_some()
    }

    fn count(&mut self, v: &Value<'_>) {
        if self.facts.kind != UnitKind::Main {
            return;
        }
        if let Some(prompt) = prompt(v) {
            self.facts.messages += 1;
            if self.facts.lineage == 0 {
                let id = text(v, "promptId").or_else(|| text(get(v, "message"), "id"));
                self.facts.lineage = lineage(id);
            }
            return saw_prompt(&mut self.facts, &prompt);
        }
        let event = get(v, "event");
        let answers = match text(v, "type").unwrap_or("") {
            "context.append_loop_event" => matches!(text(event, "type"), Some("content.part" | "tool.call")),
            "context.append_message" => text(get(v, "message"), "role") == Some("assistant"),
            _ => false,
        };
        let step = step(v);
        if answers && (step == 0 || step != self.state.step) {
            self.state.step = step;
            self.facts.messages += 1;
        }
    }
}

/// Which step of which turn an event belongs to; 0 for a message of its own.
fn step(v: &Value<'_>) -> u64 {
    let event = get(v, "event");
    if !event.is_object() {
        return 0;
    }
    xxh3_64(format!("{}/{}", get(event, "turnId"), get(event, "step")).as_bytes()).max(1)
}

/// Who put a text in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Person,
    /// The program, with something to say: a summary, a notification, a schedule.
    Program,
    /// Reminders and contexts.
    Nobody,
}

impl By {
    /// From the `origin` of a prompt or a message. A sub-agent's prompt is by the agent that calls it.
    fn of(v: &Value<'_>) -> Self {
        let origin = get(v, "origin");
        match text(origin, "kind").unwrap_or("user") {
            "user" | "agent" => Self::Person,
            "skill_activation" | "plugin_command" if text(origin, "trigger") == Some("user-slash") => {
                Self::Person
            }
            "injection" | "skill_activation" | "plugin_command" => Self::Nobody,
            _ => Self::Program,
        }
    }
}

/// The text parts of a content.
fn said<'v>(content: &'v Value<'v>) -> Cow<'v, str> {
    json::content(content, &["text"])
}

/// What a person typed in a record, if it is such a record.
fn prompt(v: &Value<'_>) -> Option<String> {
    let (by, content) = match text(v, "type")? {
        "turn.prompt" | "turn.steer" => (By::of(v), get(v, "input")),
        "context.append_message" if text(get(v, "message"), "role") == Some("user") => {
            (By::of(get(v, "message")), get(get(v, "message"), "content"))
        }
        _ => return None,
    };
    let typed = own_words(content);
    (by == By::Person && !typed.is_empty()).then_some(typed)
}

fn own_words(content: &Value<'_>) -> String {
    without_elements(&said(content), &["system-reminder"]).trim().to_owned()
}

/// The texts of one record, whether they repeat others or not.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, time(v, "time").unwrap_or(0));
    match text(v, "type").unwrap_or("") {
        "turn.prompt" | "turn.steer" => typed(v, get(v, "input"), &mut out),
        "context.append_message" => message(get(v, "message"), &mut out),
        "context.append_loop_event" => event(get(v, "event"), &mut out),
        "context.apply_compaction" => {
            let summary = get(v, "summary");
            let content = get(summary, "content");
            out.put(Role::System, summary.as_str().map_or_else(|| said(content), Cow::Borrowed));
        }
        _ => {}
    }
}

fn typed(by: &Value<'_>, content: &Value<'_>, out: &mut Out<'_>) {
    match By::of(by) {
        By::Person => out.put(Role::User, own_words(content)),
        By::Program => out.put(Role::System, own_words(content)),
        By::Nobody => {}
    }
}

fn message(m: &Value<'_>, out: &mut Out<'_>) {
    match text(m, "role").unwrap_or("") {
        "user" => typed(m, get(m, "content"), out),
        "assistant" => {
            for part in items(get(m, "content")) {
                out.put(Role::Thinking, json::strings(get(part, "think")));
            }
            out.put(Role::Assistant, said(get(m, "content")));
            for call in items(get(m, "toolCalls")) {
                tool_call(call, out);
            }
        }
        "tool" => out.put(Role::ToolOutput, said(get(m, "content"))),
        _ => {}
    }
}

/// A call with its name and arguments in it, or a level down as the wires of earlier releases have it.
pub fn tool_call(call: &Value<'_>, out: &mut Out<'_>) {
    let inner = get(call, "function");
    let call = if inner.is_object() { inner } else { call };
    let args = match get(call, "args") {
        Value::Null => get(call, "arguments"),
        args => args,
    };
    out.tool(Role::ToolInput, json::embedded(args), text(call, "name"));
}

fn event(e: &Value<'_>, out: &mut Out<'_>) {
    match text(e, "type").unwrap_or("") {
        "content.part" => {
            let part = get(e, "part");
            out.put(Role::Thinking, json::strings(get(part, "think")));
            out.put(Role::Assistant, json::strings(get(part, "text")));
        }
        "tool.call" => tool_call(e, out),
        "tool.result" => out.put(Role::ToolOutput, output(get(e, "result"))),
        _ => {}
    }
}

/// What a tool returned: a text, or parts.
pub fn output<'v>(result: &'v Value<'v>) -> Cow<'v, str> {
    let output = get(result, "output");
    match output {
        Value::Null => json::strings(result),
        Value::Array(_) => said(output),
        _ => json::strings(output),
    }
}

/// Turns that were undone: they stay in the file.
#[derive(Debug, Default)]
pub struct Undone {
    /// Offsets, without their ends.
    ranges: Vec<(u64, u64)>,
}

impl Undone {
    /// Looks for undone turns. A file without any costs a search for one word.
    pub fn find(source: &Source) -> Result<Self, SourceError> {
        let mut found = Self::default();
        if !jsonl::any_before(source, u64::MAX, &["\"context.undo\"".to_owned()])? {
            return Ok(found);
        }
        // Where the turns begin that can still be undone. A prompt is written twice.
        let (mut turns, mut given) = (Vec::new(), 0u32);
        jsonl::each_record(source, 0, |v, place| {
            match text(v, "type").unwrap_or("") {
                "turn.prompt" if prompt(v).is_some() => {
                    turns.push(place.offset);
                    given += 1;
                }
                "context.append_message" if prompt(v).is_some() => {
                    if given == 0 {
                        turns.push(place.offset);
                    }
                    given = given.saturating_sub(1);
                }
                "context.clear" | "context.apply_compaction" => turns.clear(),
                "context.undo" => found.undo(&mut turns, count(v), place),
                _ => {}
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn undo(&mut self, turns: &mut Vec<u64>, count: usize, place: Place) {
        let left = turns.len().saturating_sub(count);
        if let Some(from) = turns.drain(left..).next() {
            self.ranges.push((from, place.offset));
        }
    }

    pub fn holds(&self, place: Place) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..*to).contains(&place.offset))
    }
}

fn count(v: &Value<'_>) -> usize {
    get(v, "count").as_u64().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))
}

pub fn is_undo(v: &Value<'_>) -> bool {
    text(v, "type") == Some("context.undo")
}
