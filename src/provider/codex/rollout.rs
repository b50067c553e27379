//! The records of a rollout, read in order.
//!
//! What is said stands in it twice: as `response_item` (what the model sees) and as `event_msg` (what the screen shows). The
//! items are used; the events only for a role of which the file has no item at all.

use crate::model::{Facts, Interactivity, Locator, Message, Role};
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::jsonl::{Place, Step};
use crate::provider::shared::prompt::{begins_with_element, saw_prompt};
use crate::provider::{Resume, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;

type Emit<'e> = &'e mut dyn FnMut(Message<'_>);

/// Whether a text is one of an item or of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Item,
    Event,
}

/// Events of a role are kept back until it is clear whether the file has items of it.
const KEPT_BACK: usize = 64;
/// Items replayed from a parent are stamped with the time of the fork.
const REPLAY_MS: i64 = 1000;

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    meta: bool,
    /// Roles (as bits) of which items, or events in their place, were used.
    items: u8,
    events: u8,
    /// Items up to this time are a parent's.
    replay_until: i64,
    /// The title is a replayed prompt: the first of its own replaces it.
    title_replayed: bool,
}

/// Reads records and gathers what they say of the thread.
pub struct Rollout {
    facts: Facts<'static>,
    state: State,
    resumed: bool,
    kept_back: Vec<Message<'static>>,
}

impl Rollout {
    pub fn new(file_id: &str, archived: bool) -> Self {
        let facts = Facts {
            id: Cow::Owned(file_id.to_owned()),
            source_kind: "unknown".into(),
            archived,
            ..Facts::default()
        };
        Self { facts, state: State::default(), resumed: false, kept_back: Vec::new() }
    }

    pub fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        Ok(Self { facts: from.facts.clone().into_owned(), state, resumed: true, kept_back: Vec::new() })
    }

    pub fn state(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).unwrap_or_default()
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    /// Hands out the events for which no items came.
    pub fn settle(&mut self, emit: Emit<'_>) {
        for message in std::mem::take(&mut self.kept_back) {
            self.state.events |= bit(message.role);
            self.said(message, emit);
        }
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) -> Step {
        let at = time(v, "timestamp").unwrap_or(0);
        let payload = get(v, "payload");
        match text(v, "type") {
            Some("session_meta") => self.meta(payload, at),
            Some("turn_context") => self.turn(payload),
            None if text(v, "id").is_some() && text(v, "record_type").is_none() => self.meta(v, at),
            _ => {}
        }
        let mut trouble = None;
        texts(v, place, &mut |m, kind| {
            if trouble.is_none() {
                trouble = self.text(m, kind, emit).err();
            }
        });
        trouble.map_or(Ok(()), Err)
    }

    /// The first header is the thread's own; another one with another id begins a replay of its parent.
    fn meta(&mut self, meta: &Value<'_>, at: i64) {
        let id = text(meta, "id");
        if self.state.meta {
            if id.is_some_and(|id| id != self.facts.id) && self.facts.messages == 0 {
                self.state.replay_until = at + REPLAY_MS;
                self.facts.copied = true;
                self.facts.inherits = true;
                if self.facts.forked_from.is_none() {
                    self.facts.forked_from = id.map(|id| Cow::Owned(id.to_owned()));
                }
            }
            return;
        }
        self.state.meta = true;
        if let Some(id) = id {
            self.facts.id = Cow::Owned(id.to_owned());
        }
        let own = |s: Option<&str>| s.map(|s| Cow::Owned(s.to_owned()));
        self.facts.project = own(text(meta, "cwd")).unwrap_or_default();
        self.facts.branch = own(text(get(meta, "git"), "branch").filter(|b| *b != "HEAD"));
        let base = text(get(meta, "history_base"), "thread_id");
        self.facts.forked_from = own(text(meta, "forked_from_id").or(base));
        self.facts.inherits = base.is_some();
        self.facts.saw_time(time(meta, "timestamp").unwrap_or(at));
        self.source(meta);
    }

    /// How the thread was started. Today's terminal program talks to a shared server and is written down as `vscode`.
    fn source(&mut self, meta: &Value<'_>) {
        let source = get(meta, "source");
        let spawn = json::at(source, &["subagent", "thread_spawn", "parent_thread_id"]).as_str();
        let parent = text(meta, "parent_thread_id").or(spawn).filter(|p| *p != self.facts.id);
        self.facts.parent = parent.map(|p| Cow::Owned(p.to_owned()));
        let originator = text(meta, "originator").unwrap_or("");
        let child = !get(source, "subagent").is_null() || text(meta, "thread_source") == Some("subagent");
        let (kind, interactive) = match source.as_str() {
            _ if child => ("subagent", Interactivity::No),
            Some("exec") => ("exec", Interactivity::No),
            _ if originator == "codex_exec" => ("exec", Interactivity::No),
            Some("cli") => ("cli", Interactivity::Yes),
            Some("vscode") if originator.contains("tui") => ("cli", Interactivity::Yes),
            Some("vscode") => ("ide", Interactivity::Yes),
            Some(other) => (other, Interactivity::Unknown),
            None => ("unknown", Interactivity::Unknown),
        };
        self.facts.source_kind = Cow::Owned(kind.to_owned());
        self.facts.interactive = interactive;
    }

    fn turn(&mut self, turn: &Value<'_>) {
        if let Some(model) = text(turn, "model") {
            self.facts.model = Some(Cow::Owned(model.to_owned()));
        }
        if let Some(cwd) = text(turn, "cwd") {
            if self.facts.project.is_empty() {
                self.facts.project = Cow::Owned(cwd.to_owned());
            }
            self.facts.resume_cwd = (cwd != self.facts.project).then(|| Cow::Owned(cwd.to_owned()));
        }
    }

    /// A text of an item or event, as the file turns out to use them.
    fn text(&mut self, m: Message<'_>, kind: Kind, emit: Emit<'_>) -> Step {
        let role = bit(m.role);
        match kind {
            Kind::Item if self.state.events & role != 0 => {
                // Its events were handed out already.
                if self.resumed {
                    return Err(SourceError::NeedsAll);
                }
            }
            Kind::Item => {
                self.state.items |= role;
                self.kept_back.retain(|k| bit(k.role) != role);
                self.said(m, emit);
            }
            Kind::Event if self.state.items & role != 0 => {}
            Kind::Event if self.state.events & role != 0 => self.said(m, emit),
            Kind::Event => {
                self.kept_back.push(crate::provider::shared::jsonl::own(m));
                if self.kept_back.len() > KEPT_BACK {
                    self.settle(emit);
                }
            }
        }
        Ok(())
    }

    fn said(&mut self, m: Message<'_>, emit: Emit<'_>) {
        let replayed = self.state.replay_until > 0 && m.timestamp_ms <= self.state.replay_until;
        if !replayed {
            self.state.replay_until = 0;
        }
        self.facts.saw_time(m.timestamp_ms);
        match m.role {
            Role::User => self.prompt(&m.text, replayed),
            Role::Assistant if !replayed => self.facts.messages += 1,
            _ => {}
        }
        emit(m);
    }

    fn prompt(&mut self, prompt: &str, replayed: bool) {
        if replayed {
            if self.facts.title.is_none() {
                saw_prompt(&mut self.facts, prompt);
                self.facts.summaries.clear();
                self.state.title_replayed = true;
            }
            return;
        }
        if std::mem::take(&mut self.state.title_replayed) {
            (self.facts.title, self.facts.title_source) = (None, None);
        }
        self.facts.messages += 1;
        saw_prompt(&mut self.facts, prompt);
    }
}

fn bit(role: Role) -> u8 {
    1 << role as u8
}

/// All texts of a record, numbered, with whether they are of an item or an event.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>, Kind)) {
    let at = time(v, "timestamp").unwrap_or(0);
    let payload = get(v, "payload");
    let mut out = Out { emit, at, place, part: 0, kind: Kind::Item };
    match text(v, "type") {
        Some("response_item") => item(payload, &mut out),
        Some("event_msg") => {
            out.kind = Kind::Event;
            event(payload, &mut out);
        }
        Some("compacted") => out.put(Role::System, json::strings(get(payload, "message")), None),
        // The oldest rollouts have bare items.
        Some("message" | "reasoning" | "function_call" | "function_call_output" | "local_shell_call")
            if payload.is_null() =>
        {
            item(v, &mut out);
        }
        _ => {}
    }
}

fn item(item: &Value<'_>, out: &mut Out<'_>) {
    match text(item, "type").unwrap_or("") {
        "message" => message(item, out),
        "reasoning" => {
            out.put(Role::Thinking, json::content(get(item, "summary"), &[]), None);
            out.put(Role::Thinking, json::content(get(item, "content"), &[]), None);
        }
        "function_call" => call(item, &arguments(get(item, "arguments")), out),
        "custom_tool_call" => call(item, &json::strings(get(item, "input")), out),
        "local_shell_call" => out.put(
            Role::ToolInput,
            json::strings(json::at(item, &["action", "command"])),
            Some("shell".into()),
        ),
        "web_search_call" => {
            out.put(Role::ToolInput, json::strings(get(item, "action")), Some("web_search".into()))
        }
        "function_call_output" | "custom_tool_call_output" => {
            out.put(Role::ToolOutput, output(get(item, "output")), None)
        }
        _ => {}
    }
}

fn call(item: &Value<'_>, input: &str, out: &mut Out<'_>) {
    out.put(Role::ToolInput, input.to_owned().into(), text(item, "name").map(|n| n.to_owned().into()));
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
    let role = match text(item, "role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return,
    };
    let kinds = items(json::at(item, &["internal_chat_message_metadata_passthrough", "content_item_kinds"]));
    let content = get(item, "content");
    if let Some(said) = content.as_str() {
        return said_by(role, said, None, out);
    }
    for (i, block) in items(content).iter().enumerate() {
        if let Some(said) = text(block, "text") {
            said_by(role, said, kinds.get(i).and_then(|k| k.as_str()), out);
        }
    }
}

fn said_by(role: Role, said: &str, kind: Option<&str>, out: &mut Out<'_>) {
    if role == Role::Assistant {
        return out.put(role, said.into(), None);
    }
    let harness = kind.is_some_and(|k| k != "user.text" && k != "unknown");
    if let Some(prompt) = prompt(said).filter(|_| !harness) {
        out.put(role, prompt.into(), None);
    }
}

/// What the screen showed.
fn event(event: &Value<'_>, out: &mut Out<'_>) {
    match text(event, "type").unwrap_or("") {
        "user_message" => said_by(Role::User, text(event, "message").unwrap_or(""), None, out),
        "agent_message" => out.put(Role::Assistant, json::strings(get(event, "message")), None),
        "agent_reasoning" => out.put(Role::Thinking, json::strings(get(event, "text")), None),
        "item_completed" => completed(get(event, "item"), out),
        _ => {}
    }
}

fn completed(item: &Value<'_>, out: &mut Out<'_>) {
    match text(item, "type").unwrap_or("") {
        "UserMessage" => said_by(Role::User, &json::content(get(item, "content"), &[]), None, out),
        "AgentMessage" => out.put(Role::Assistant, json::content(get(item, "content"), &[]), None),
        "Reasoning" => out.put(Role::Thinking, json::content(get(item, "summary_text"), &[]), None),
        "CommandExecution" => {
            out.put(Role::ToolInput, json::strings(get(item, "command")), Some("shell".into()));
            out.put(Role::ToolOutput, json::strings(get(item, "aggregated_output")), None);
        }
        _ => {}
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
    "subagent_notification",
    "INSTRUCTIONS",
];

/// What the user typed of a user message, if anything.
fn prompt(said: &str) -> Option<&str> {
    const IDE: &str = "## My request for Codex:";
    let said = said.trim();
    if said.starts_with("# Context from my IDE setup")
        && let Some(i) = said.find(IDE)
    {
        return Some(said[i + IDE.len()..].trim()).filter(|p| !p.is_empty());
    }
    let injected = begins_with_element(said, INJECTED) || said.starts_with("# AGENTS.md instructions");
    (!said.is_empty() && !injected).then_some(said)
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
        (self.emit)(Message { role, timestamp_ms: self.at, text, at, tool }, self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_typed_is_a_prompt() {
        assert_eq!(
            prompt("# Context from my IDE setup:\n## Open tabs\n## My request for Codex:\n fix it "),
            Some("fix it")
        );
        assert_eq!(prompt("<environment_context>\n<cwd>/w</cwd>"), None);
        assert_eq!(prompt("<permissions instructions>x"), None);
        assert_eq!(prompt("# AGENTS.md instructions for /w"), None);
        assert_eq!(prompt("<div> is broken"), Some("<div> is broken"));
    }
}
