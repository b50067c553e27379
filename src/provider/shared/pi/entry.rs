//! What the entries say of their session.

use super::texts::{self, Speaker};
use super::tree::{Tree, hash};
use crate::limits::SUMMARY_MAX;
use crate::model::{Facts, Interactivity, Message, Role, TitleSource, UnitKind};
use crate::provider::shared::json::{get, items, text, time};
use crate::provider::shared::jsonl::{Place, Step};
use crate::provider::shared::out::Emit;
use crate::provider::shared::prompt::{saw_prompt, title_line};
use crate::provider::{Resume, SourceError};
use crate::text::Clean;
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// A title as Oh My Pi keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Title {
    text: String,
    by_user: bool,
    ms: i64,
}

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// A header was seen.
    begun: bool,
    /// Its time.
    head_ms: i64,
    leaf: u64,
    /// The name given with `/name`; gone when an empty one is given.
    name: Option<String>,
    title: Option<Title>,
    /// The first prompt, as a title.
    prompt: Option<String>,
    /// Messages of any kind, and for how many of them the latest status speaks.
    entries: u64,
    status: Option<(u64, String)>,
}

/// Reads entries and gathers what they say.
pub struct Session {
    facts: Facts<'static>,
    state: State,
    tree: Tree,
}

impl Session {
    pub fn new(id: &str, kind: UnitKind) -> Self {
        let id = Cow::Owned(id.to_owned());
        let facts = Facts { kind, id, source_kind: "unknown".into(), ..Facts::default() };
        Self { facts, state: State::default(), tree: Tree::default() }
    }

    pub fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state: State = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        Ok(Self { facts: from.facts.clone().into_owned(), tree: Tree::tail(state.leaf), state })
    }

    pub fn state(&self) -> Vec<u8> {
        let state = State { leaf: self.tree.leaf(), ..self.state.clone() };
        postcard::to_allocvec(&state).unwrap_or_default()
    }

    pub fn entry(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) -> Step {
        match text(v, "type").unwrap_or("") {
            "session" => self.header(v),
            "title" => self.titled(v, time(v, "updatedAt").unwrap_or(0)),
            // Without a header it is another program's file.
            _ if !self.state.begun => {}
            "leaf" => self.tree.go_to(text(v, "targetId").map_or(0, hash))?,
            _ if self.follows(v)? => self.said(v, place, emit),
            _ => {}
        }
        Ok(())
    }

    /// Finds an entry's place in the tree; false if it was read before.
    fn follows(&mut self, v: &Value<'_>) -> Result<bool, SourceError> {
        // The first version's entries had no ids: each follows the one before.
        let Some(id) = text(v, "id") else { return Ok(true) };
        match text(v, "parentId") {
            // Only a prompt begins a new tree; anything else without a parent stands beside it.
            None if text(v, "type") != Some("message") && self.tree.leaf() != 0 => Ok(true),
            parent => self.tree.add(hash(id), parent.map_or(0, hash)),
        }
    }

    fn header(&mut self, v: &Value<'_>) {
        if std::mem::replace(&mut self.state.begun, true) {
            return;
        }
        self.state.head_ms = time(v, "timestamp").unwrap_or(0);
        if let Some(id) = text(v, "id") {
            self.facts.id = Cow::Owned(id.to_owned());
        }
        self.facts.project = Cow::Owned(text(v, "cwd").unwrap_or("").to_owned());
        self.branch(v);
        if self.state.title.is_none() {
            self.titled(v, 0);
        }
        let origin = text(v, "parentSession").and_then(origin_id).map(|id| Cow::Owned(id.to_owned()));
        // Prime Agent's children say how deep they are.
        if get(v, "rlmDepth").as_f64().is_some_and(|depth| depth > 0.0) {
            self.facts.parent = origin;
            self.facts.interactive = Interactivity::No;
            self.facts.source_kind = "subagent".into();
        } else {
            self.facts.forked_from = origin;
        }
    }

    fn titled(&mut self, v: &Value<'_>, ms: i64) {
        let Some(title) = text(v, "title").map(title_line).filter(|t| !t.is_empty()) else { return };
        if self.state.title.as_ref().is_none_or(|t| t.ms <= ms) {
            let by_user = [text(v, "source"), text(v, "titleSource")].contains(&Some("user"));
            self.state.title = Some(Title { text: title, by_user, ms });
        }
    }

    fn branch(&mut self, v: &Value<'_>) {
        if let Some(branch) = text(get(v, "git"), "branch").filter(|b| *b != "HEAD") {
            self.facts.branch = Some(Cow::Owned(branch.to_owned()));
        }
    }

    fn said(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) {
        match text(v, "type").unwrap_or("") {
            "message" => self.message(v, place),
            "session_info" => self.state.name = text(v, "name").map(title_line).filter(|n| !n.is_empty()),
            "title_change" => self.titled(v, time(v, "timestamp").unwrap_or(i64::MAX)),
            "model_change" => self.model(v),
            "git_state" => self.branch(v),
            "session_state" => {
                self.facts.archived = matches!(text(get(v, "state"), "status"), Some("archived" | "sleep"));
            }
            "agent_status" => self.status(get(v, "status")),
            "custom" if text(v, "customType") == Some("session_cwd_state") => {
                self.facts.resume_cwd = text(get(v, "data"), "cwd").map(|c| Cow::Owned(c.to_owned()));
            }
            _ => {}
        }
        let mut any = false;
        texts::texts(v, place, &mut |m: Message<'_>| {
            any |= m.role != Role::System;
            emit(m);
        });
        if any {
            self.facts.saw_time(texts::when(v));
        }
    }

    fn message(&mut self, v: &Value<'_>, place: Place) {
        self.state.entries += 1;
        let message = get(v, "message");
        let content = get(message, "content");
        let speaker = Speaker::of(v);
        if speaker == Speaker::Other || content.as_str().unwrap_or("").is_empty() && items(content).is_empty()
        {
            return;
        }
        self.facts.messages += 1;
        if self.facts.lineage == 0 {
            let born = [text(v, "id").unwrap_or(""), text(v, "timestamp").unwrap_or("")];
            self.facts.lineage = if born[0].is_empty() { 0 } else { hash(&born.concat()) };
        }
        match speaker {
            Speaker::User => {
                self.tree.prompt(place);
                self.prompt(v);
            }
            _ => self.model(message),
        }
    }

    /// A real prompt, met in passing or looked up again.
    pub fn prompt(&mut self, v: &Value<'_>) {
        let (_, typed) = texts::prompt(get(v, "message"));
        if !typed.is_empty() {
            self.state.prompt.get_or_insert_with(|| title_line(&typed));
            saw_prompt(&mut self.facts, &typed);
        }
    }

    /// Places of the prompts to be looked up again, if there are branches.
    pub fn current_prompts(&self) -> Option<Vec<Place>> {
        self.tree.current()
    }

    pub fn forget_prompts(&mut self) {
        self.state.prompt = None;
        self.facts.summaries.clear();
    }

    /// The model of an answer or of a change: `modelId`, or `model` with its provider in front.
    fn model(&mut self, v: &Value<'_>) {
        if text(v, "role").is_some_and(|r| !matches!(r, "assistant" | "default")) {
            return;
        }
        let changed = text(v, "type") == Some("model_change");
        let named = text(v, "model").map(|m| m.split_once('/').filter(|_| changed).map_or(m, |(_, m)| m));
        if let Some(model) = text(v, "modelId").or(named) {
            self.facts.model = Some(Cow::Owned(model.to_owned()));
        }
    }

    /// What the agent says it did, and after how many messages.
    fn status(&mut self, v: &Value<'_>) {
        let basis = get(v, "basedOnMessageCount").as_f64();
        if let (Some(basis), Some(summary)) = (basis, text(v, "summary")) {
            self.state.status = Some((basis as u64, Clean::block(summary, SUMMARY_MAX).into_string()));
        }
    }

    pub fn finish(mut self) -> Facts<'static> {
        if self.facts.kind == UnitKind::Child {
            return self.facts;
        }
        self.facts.copied = self.facts.started_ms > 0 && self.state.head_ms > self.facts.started_ms;
        if self.facts.started_ms == 0 && self.facts.messages > 0 {
            self.facts.saw_time(self.state.head_ms);
        }
        let current = self.state.status.filter(|(basis, _)| *basis == self.state.entries);
        self.facts.recap = current.map(|(_, summary)| Cow::Owned(summary));
        (self.facts.title, self.facts.title_source) = (None, None);
        let titles = [
            self.state.prompt.map(|t| (t, TitleSource::Prompt)),
            self.state
                .title
                .map(|t| (t.text, if t.by_user { TitleSource::Custom } else { TitleSource::Auto })),
            self.state.name.map(|t| (t, TitleSource::Custom)),
        ];
        for (title, from) in titles.into_iter().flatten() {
            self.facts.offer_title(Cow::Owned(title), from);
        }
        self.facts
    }
}

/// The session named by `parentSession`: an id, or the path of its file.
fn origin_id(parent: &str) -> Option<&str> {
    let Some(stem) = parent.strip_suffix(".jsonl") else {
        return Some(parent).filter(|p| !p.contains(['/', '\\']));
    };
    let stem = stem.rsplit(['/', '\\']).next().unwrap_or(stem);
    let id = super::name_id(stem);
    // Only a name with a time in front, or one that is a UUID, is sure to be the id.
    const UUID: usize = 36;
    (id.len() < stem.len() || id.len() == UUID).then_some(id)
}
