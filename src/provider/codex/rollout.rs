//! The records of a rollout, read in order.

use super::items::{self, Kind};
use crate::model::{Facts, Interactivity, Message, Role};
use crate::provider::shared::json::{self, get, text, time};
use crate::provider::shared::jsonl::{Place, Step, own};
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::{Resume, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;

type Emit<'e> = &'e mut dyn FnMut(Message<'_>);

/// Events of a role are kept back until it is clear whether the file has items of it.
const KEPT_BACK: usize = 64;
/// Items replayed from a parent are stamped with the time of the fork.
const REPLAY_MS: i64 = 1000;
/// Even a long replay, known by its turns, is over by then.
const LONG_REPLAY_MS: i64 = 10_000;

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    meta: bool,
    /// Roles (as bits) of which items, or events in their place, were used.
    items: u8,
    events: u8,
    /// When the thread was made.
    born_ms: i64,
    replay: Option<Replay>,
    /// The title is a replayed prompt: the first of its own replaces it.
    title_replayed: bool,
}

/// A parent's records at the head of a fork.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Replay {
    from_ms: i64,
    /// Its records name turns older than the thread.
    old_turns: bool,
}

/// Reads records and gathers what they say of the thread.
pub struct Rollout {
    facts: Facts<'static>,
    state: State,
    resumed: bool,
    kept_back: Vec<Message<'static>>,
    /// Roles of which the present record was counted: a message is one however many texts it has.
    counted: u8,
}

impl Rollout {
    pub fn new(file_id: &str, archived: bool) -> Self {
        let facts = Facts {
            id: Cow::Owned(file_id.to_owned()),
            source_kind: "unknown".into(),
            archived,
            ..Facts::default()
        };
        Self { facts, state: State::default(), resumed: false, kept_back: Vec::new(), counted: 0 }
    }

    pub fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        let facts = from.facts.clone().into_owned();
        Ok(Self { facts, state, resumed: true, kept_back: Vec::new(), counted: 0 })
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
            self.counted = 0;
            self.said(message, emit);
        }
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) -> Step {
        let at = time(v, "timestamp").unwrap_or(0);
        let payload = get(v, "payload");
        self.end_replay(payload, at);
        match text(v, "type") {
            Some("session_meta") => self.meta(payload, at),
            Some("turn_context") => self.turn(payload),
            Some("response_item" | "message") if self.facts.project.is_empty() => {
                self.facts.project = items::told_directory(v).map(Cow::Owned).unwrap_or_default();
            }
            None if text(v, "id").is_some() && text(v, "record_type").is_none() => self.meta(v, at),
            _ => {}
        }
        if self.state.replay.is_none() {
            self.facts.saw_time(at);
        }
        self.counted = 0;
        let mut step = Ok(());
        items::texts(v, place, &mut |m, kind| {
            if step.is_ok() {
                step = self.text(m, kind, emit);
            }
        });
        step
    }

    /// The first header is the thread's own; another one with another id begins a replay of its parent, and its own ends it.
    fn meta(&mut self, meta: &Value<'_>, at: i64) {
        let id = text(meta, "id");
        if self.state.meta {
            match id {
                Some(id) if id == self.facts.id => self.state.replay = None,
                Some(id) if self.facts.messages == 0 && self.state.replay.is_none() => {
                    self.begin_replay(id, at)
                }
                _ => {}
            }
            return;
        }
        self.state.meta = true;
        if let Some(id) = id {
            self.facts.id = Cow::Owned(id.to_owned());
        }
        let own = |s: Option<&str>| s.map(|s| Cow::Owned(s.to_owned()));
        if let Some(cwd) = own(text(meta, "cwd")) {
            self.facts.project = cwd;
        }
        self.facts.branch = own(text(get(meta, "git"), "branch").filter(|b| *b != "HEAD"));
        let base = text(get(meta, "history_base"), "thread_id");
        self.facts.forked_from = own(text(meta, "forked_from_id").or(base));
        self.facts.inherits = base.is_some();
        self.state.born_ms = time(meta, "timestamp").unwrap_or(at);
        self.facts.saw_time(self.state.born_ms);
        self.source(meta);
    }

    fn begin_replay(&mut self, parent: &str, at: i64) {
        self.state.replay = Some(Replay { from_ms: at, old_turns: false });
        self.facts.copied = true;
        self.facts.inherits = true;
        if self.facts.forked_from.is_none() {
            self.facts.forked_from = Some(Cow::Owned(parent.to_owned()));
        }
    }

    /// A replay is over with the first turn younger than the thread, or when time goes on.
    fn end_replay(&mut self, payload: &Value<'_>, at: i64) {
        let Some(replay) = &mut self.state.replay else { return };
        let turn = items::turn_id(payload).and_then(made_at);
        let own_turn = turn.is_some_and(|t| t >= self.state.born_ms);
        replay.old_turns |= turn.is_some() && !own_turn;
        let longest = if replay.old_turns { LONG_REPLAY_MS } else { REPLAY_MS };
        if own_turn || at > replay.from_ms + longest {
            self.state.replay = None;
        }
    }

    /// How the thread was started. Today's terminal program talks to a shared server and is written down as `vscode`.
    fn source(&mut self, meta: &Value<'_>) {
        let source = get(meta, "source");
        let spawn = json::at(source, &["subagent", "thread_spawn", "parent_thread_id"]).as_str();
        let parent = text(meta, "parent_thread_id").or(spawn).filter(|p| *p != self.facts.id);
        self.facts.parent = parent.map(|p| Cow::Owned(p.to_owned()));
        let originator = text(meta, "originator").unwrap_or("");
        let child = !get(source, "subagent").is_null() || text(meta, "thread_source") == Some("subagent");
        let (kind, interactive) = match source_word(source) {
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
        if self.state.replay.is_some() {
            return;
        }
        if let Some(cwd) = text(turn, "cwd") {
            if self.facts.project.is_empty() {
                self.facts.project = Cow::Owned(cwd.to_owned());
            }
            self.facts.resume_cwd = (cwd != self.facts.project).then(|| Cow::Owned(cwd.to_owned()));
        }
    }

    /// A text of an item or event. Items are used; events only for a role of which the file has no item at all.
    fn text(&mut self, m: Message<'_>, kind: Kind, emit: Emit<'_>) -> Step {
        let role = bit(m.role);
        match kind {
            Kind::Alone => self.said(m, emit),
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
                self.kept_back.push(own(m));
                if self.kept_back.len() > KEPT_BACK {
                    self.settle(emit);
                }
            }
        }
        Ok(())
    }

    fn said(&mut self, m: Message<'_>, emit: Emit<'_>) {
        let replayed = self.state.replay.is_some();
        if matches!(m.role, Role::User | Role::Assistant) && !replayed && self.counted & bit(m.role) == 0 {
            self.counted |= bit(m.role);
            self.facts.messages += 1;
        }
        match m.role {
            Role::User if replayed => self.replayed_prompt(&m.text),
            Role::User => self.prompt(&m.text),
            _ => {}
        }
        emit(m);
    }

    fn prompt(&mut self, prompt: &str) {
        if std::mem::take(&mut self.state.title_replayed) {
            (self.facts.title, self.facts.title_source) = (None, None);
        }
        saw_prompt(&mut self.facts, prompt);
    }

    /// A title for a fork that says nothing of its own.
    fn replayed_prompt(&mut self, prompt: &str) {
        if self.facts.title.is_none() {
            saw_prompt(&mut self.facts, prompt);
            self.facts.summaries.clear();
            self.state.title_replayed = true;
        }
    }
}

fn bit(role: Role) -> u8 {
    1 << role as u8
}

/// The word for a source, which is one or stands in an object: `cli`, `{"custom":"atlas"}`, `{"internal":{…}}`.
fn source_word<'v>(source: &'v Value<'v>) -> Option<&'v str> {
    let (key, value) = match source.as_str() {
        Some(word) => return Some(word).filter(|w| !w.is_empty()),
        None => source.as_object()?.iter().next()?,
    };
    value.as_str().filter(|v| key == "custom" && !v.is_empty()).or(Some(key))
}

/// When a UUID of version 7 was made.
fn made_at(uuid: &str) -> Option<i64> {
    let (high, rest) = uuid.split_once('-')?;
    let (low, rest) = rest.split_once('-')?;
    let ms = |h: &str| i64::from_str_radix(h, 16).ok();
    (high.len() == 8 && low.len() == 4 && rest.starts_with('7'))
        .then(|| Some((ms(high)? << 16) | ms(low)?))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_in_an_id_is_read() {
        assert_eq!(made_at("01a22e48-249b-7e11-a3a0-826fec3e5de9"), Some(1_796_072_809_627));
        for not in ["", "turn-1", "01a22e48-249b-4e11-a3a0-826fec3e5de9", "zzzzzzzz-249b-7e11"] {
            assert_eq!(made_at(not), None);
        }
    }

    #[test]
    fn a_source_is_a_word_or_an_object() {
        for (json, word) in [
            (r#""cli""#, Some("cli")),
            (r#"{"custom":"atlas"}"#, Some("atlas")),
            (r#"{"internal":{"a":1}}"#, Some("internal")),
            (r#"{}"#, None),
            ("7", None),
            (r#""""#, None),
        ] {
            let v: Value<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(source_word(&v), word, "{json}");
        }
    }
}
