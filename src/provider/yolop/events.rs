//! The events of a Yolop session, and its workspace.

use crate::model::{Facts, Interactivity, Message, Role, TitleSource, UnitKind};
use crate::provider::Resume;
use crate::provider::shared::json::{self, at, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{saw_prompt, title_line};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Gathers what the events say of their session.
pub struct Log {
    facts: Facts<'static>,
    /// Hash of the newest summary of reasoning: the answer may repeat it.
    reasoning: u64,
}

impl Log {
    pub fn new(id: &str) -> Self {
        let id = Cow::Owned(id.to_owned());
        Self { facts: Facts { id, source_kind: "unknown".into(), ..Facts::default() }, reasoning: 0 }
    }

    pub fn resumed(from: &Resume<'_>) -> Self {
        let reasoning = <[u8; 8]>::try_from(from.state).map_or(0, u64::from_le_bytes);
        Self { facts: from.facts.clone().into_owned(), reasoning }
    }

    pub fn state(&self) -> Vec<u8> {
        self.reasoning.to_le_bytes().to_vec()
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    pub fn event(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) {
        // The agent itself leaves out what belongs to another session.
        if text(v, "session_id").is_some_and(|id| id != self.facts.id) {
            return;
        }
        match text(v, "type").unwrap_or("") {
            "input.message" => self.input(v),
            "output.message.completed" => self.answer(get(v, "data")),
            "session.title.updated" => {
                if let Some(title) = text(get(v, "data"), "title") {
                    self.facts.offer_title(Cow::Owned(title_line(title)), TitleSource::Auto);
                }
            }
            _ => {}
        }
        let item = text(v, "type") == Some("reason.item");
        let mut any = false;
        texts(v, place, &mut |m: Message<'_>| {
            any = true;
            if m.role == Role::Thinking {
                let known = std::mem::replace(&mut self.reasoning, xxh3_64(m.text.trim().as_bytes()));
                if !item && known == self.reasoning {
                    return;
                }
            }
            emit(m);
        });
        if any {
            self.facts.saw_time(time(v, "ts").unwrap_or(0));
        }
    }

    fn input(&mut self, v: &Value<'_>) {
        let message = at(v, &["data", "message"]);
        let said = json::content(get(message, "content"), &["text"]);
        if text(message, "role") != Some("user") || said.trim().is_empty() {
            return;
        }
        self.facts.messages += 1;
        saw_prompt(&mut self.facts, &said);
    }

    fn answer(&mut self, data: &Value<'_>) {
        let content = at(data, &["message", "content"]);
        if content.as_str().is_some_and(|c| !c.is_empty()) || !items(content).is_empty() {
            self.facts.messages += 1;
        }
        if let Some(model) = text(get(data, "metadata"), "model") {
            self.facts.model = Some(Cow::Owned(model.to_owned()));
        }
    }
}

/// The texts of one event.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, time(v, "ts").unwrap_or(0));
    let data = get(v, "data");
    match text(v, "type").unwrap_or("") {
        "input.message" => message(get(data, "message"), &mut out),
        "output.message.completed" => message(get(data, "message"), &mut out),
        "reason.item" => out.put(Role::Thinking, json::strings(get(data, "summary"))),
        "tool.completed" => {
            let result = json::content(get(data, "result"), &["text"]);
            let said = if result.trim().is_empty() { json::strings(get(data, "error")) } else { result };
            out.tool(Role::ToolOutput, said, text(data, "tool_name"));
        }
        _ => {}
    }
}

fn message(message: &Value<'_>, out: &mut Out<'_>) {
    let role = match text(message, "role") {
        Some("user") => Role::User,
        Some("agent" | "assistant") => Role::Assistant,
        Some("tool_result") => Role::ToolOutput,
        // Instructions.
        _ => return,
    };
    out.put(Role::Thinking, json::strings(get(message, "thinking")));
    let content = get(message, "content");
    if role == Role::User {
        return out.put(role, json::content(content, &["text"]).trim());
    }
    out.put(role, content.as_str().unwrap_or(""));
    for part in items(content) {
        match text(part, "type").unwrap_or("") {
            "text" => out.put(role, json::strings(get(part, "text"))),
            "tool_call" => {
                out.tool(Role::ToolInput, json::strings(get(part, "arguments")), text(part, "name"))
            }
            "tool_result" => {
                out.put(Role::ToolOutput, json::strings(get(part, "result")));
                out.put(Role::ToolOutput, json::strings(get(part, "error")));
            }
            _ => {}
        }
    }
}

/// A unit of a workspace that says nothing.
pub fn no_workspace() -> Facts<'static> {
    Facts { kind: UnitKind::Side, ..Facts::default() }
}

/// What `workspace.json` says.
pub fn workspace(v: &Value<'_>) -> Facts<'static> {
    let own = |t: &str| Cow::Owned(t.to_owned());
    let tree = get(v, "worktree");
    let mut facts = no_workspace();
    facts.project = text(v, "active_root").or(text(v, "workspace_root")).map(own).unwrap_or_default();
    facts.branch = text(tree, "branch").map(own);
    facts.worktree = worktree(tree).map(own);
    facts.parent = text(v, "parent_session_id").map(own);
    facts.saw_time(time(v, "created_at").unwrap_or(0));
    facts.saw_time(time(v, "updated_at").unwrap_or(0));
    // At first both are the prompt, cut; the conversation has it whole. After a crash a title in the log is the newer one.
    if let Some(title) = text(v, "title").filter(|t| Some(*t) != text(v, "summary")) {
        facts.offer_title(Cow::Owned(title_line(title)), TitleSource::Summary);
    }
    let (kind, interactive) = match text(v, "session_kind").unwrap_or("") {
        "interactive" => ("cli", Interactivity::Yes),
        "acp" => ("ide", Interactivity::Yes),
        "print" => ("exec", Interactivity::No),
        "nested" => ("subagent", Interactivity::No),
        "automated" | "test" => ("background", Interactivity::No),
        _ => return facts,
    };
    (facts.source_kind, facts.interactive) = (kind.into(), interactive);
    facts
}

/// What a worktree is called: what it is for, else its directory, unless that is named after the session.
fn worktree<'v>(tree: &'v Value<'v>) -> Option<&'v str> {
    let dir = text(tree, "path").and_then(|p| p.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next());
    let dir = dir.filter(|d| !d.is_empty() && !d.starts_with("session_"));
    text(tree, "slug").filter(|s| !s.trim().is_empty()).or(dir).or(text(tree, "branch"))
}
