//! `updates.jsonl`: the conversation as it was shown.

use super::joiner::{Joiner, is_tool, moment, piece, prompt_index, update};
use crate::model::{Facts, Locator, Message, Role, UnitKind};
use crate::provider::shared::json::{get, text};
use crate::provider::shared::jsonl::{self, PARTS_PER_RECORD, Place};
use crate::provider::shared::out::Emit;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::{Parsed, Resume, Sink, Source, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Whose message was still coming in.
    open: Option<Role>,
    /// Prompts have numbers.
    numbered: bool,
    /// Calls whose arguments are still to come.
    bare: Vec<u64>,
    /// Outputs were handed over that may not have been the last of their calls.
    early: bool,
}

/// A record that takes back a prompt and all that followed.
const REWIND: &str = "rewind_marker";
/// Calls remembered at a time.
const CALLS_MAX: usize = 256;

pub fn parse(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut reader = match from {
        Some(r) => Updates::resumed(r)?,
        None => Updates { taken_back: taken_back(source)?, ..Updates::new(super::facts(source)) },
    };
    if from.is_some()
        && let Some(summary) = super::summary::beside(&source.path)
    {
        reader.facts.recap = summary.recap;
        reader.facts.saw_time(summary.last_ms);
    }
    sink.open("", 0);
    let end = jsonl::each_record(source, from.map_or(0, |r| r.offset), |v, place| {
        reader.record(v, place, &mut |m| sink.message(m))
    })?;
    let (open, early) = (reader.joiner.open(), !reader.outputs.is_empty());
    reader.end(&mut |m| sink.message(m));
    (reader.state.open, reader.state.early) = (open, early);
    let state = postcard::to_allocvec(&reader.state).unwrap_or_default();
    let parsed = end.parsed(state);
    // Without a conversation it must not stand before the one that the file beside may have.
    reader.facts.kind = if reader.facts.messages > 0 { UnitKind::Main } else { UnitKind::Side };
    sink.close(super::id(source), reader.facts);
    Ok(parsed)
}

/// The message at a place.
pub fn read(source: &Source, at: Locator, emit: Emit<'_>) -> Result<(), SourceError> {
    let first = usize::from(at.part) / PARTS_PER_RECORD;
    let mut joiner = Joiner::default();
    jsonl::stretch(source, at, |v, place| {
        if place.offset > at.offset || usize::from(place.nth) >= first {
            joiner.record(v, place, &mut |m, _| emit(m));
        }
        Ok(())
    })?;
    joiner.finish(&mut |m, _| emit(m));
    Ok(())
}

/// Gathers what the records say of their session.
struct Updates {
    facts: Facts<'static>,
    joiner: Joiner,
    state: State,
    /// Stretches of the file that were taken back.
    taken_back: Vec<(u64, u64)>,
    /// The latest output of calls that are not over: an update can bring it before the one that ends the call.
    outputs: HashMap<u64, Message<'static>>,
    resumed: bool,
}

impl Updates {
    fn new(facts: Facts<'static>) -> Self {
        Self {
            facts,
            joiner: Joiner::default(),
            state: State::default(),
            taken_back: Vec::new(),
            outputs: HashMap::new(),
            resumed: false,
        }
    }

    fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state: State = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        if state.early {
            return Err(SourceError::NeedsAll);
        }
        Ok(Self { state, resumed: true, ..Self::new(from.facts.clone().into_owned()) })
    }

    fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) -> jsonl::Step {
        let about = update(v);
        if self.resumed && text(about, "sessionUpdate") == Some(REWIND) {
            return Err(SourceError::NeedsAll);
        }
        if self.taken_back.iter().any(|(from, to)| (*from..*to).contains(&place.offset)) {
            return Ok(());
        }
        match piece(v) {
            // The rest of a message of which the beginning was handed over.
            Some((role, _)) if self.resumed && self.state.open == Some(role) => {
                return Err(SourceError::NeedsAll);
            }
            Some(_) => self.state.open = None,
            None if is_tool(v) => self.state.open = None,
            None => {}
        }
        if matches!(piece(v), Some((Role::User, _))) && !self.outputs.is_empty() {
            // Nothing more comes of the calls of an earlier turn.
            self.end(emit);
        }
        self.state.numbered |= prompt_index(v).is_some();
        match text(about, "sessionUpdate") {
            Some("model_changed") => self.model(text(about, "model_id")),
            Some("model_auto_switched") => self.model(text(about, "new_model_id")),
            _ => {}
        }
        let call = Call::of(v);
        let mut joiner = std::mem::take(&mut self.joiner);
        let mut any = false;
        joiner.record(v, place, &mut |m, numbered| {
            any = true;
            self.said(m, numbered, call, emit);
        });
        self.joiner = joiner;
        if any || piece(v).is_some() {
            self.facts.saw_time(moment(v));
        }
        if let Some(call) = call.filter(|c| c.over)
            && let Some(output) = self.outputs.remove(&call.id)
        {
            emit(output);
        }
        Ok(())
    }

    fn model(&mut self, name: Option<&str>) {
        if let Some(name) = name {
            self.facts.model = Some(Cow::Owned(name.to_owned()));
        }
    }

    fn said(&mut self, mut m: Message<'_>, numbered: bool, call: Option<Call>, emit: Emit<'_>) {
        match m.role {
            // Put in between by the harness.
            Role::User if self.state.numbered && !numbered => m.role = Role::System,
            Role::User => {
                self.facts.messages += 1;
                saw_prompt(&mut self.facts, &m.text);
            }
            Role::Assistant => self.facts.messages += 1,
            Role::ToolInput if !self.wanted(call) => return,
            Role::ToolOutput => {
                if let Some(call) = call.filter(|_| self.outputs.len() < CALLS_MAX) {
                    self.outputs.insert(call.id, jsonl::own(m));
                    return;
                }
            }
            _ => {}
        }
        emit(m);
    }

    /// Whether the input of a call is new: it comes with the call, or later if the call came without.
    fn wanted(&mut self, call: Option<Call>) -> bool {
        let Some(call) = call else { return true };
        if !call.begins && !self.state.bare.contains(&call.id) {
            return false;
        }
        self.state.bare.retain(|id| *id != call.id);
        if !call.complete {
            self.state.bare.truncate(CALLS_MAX - 1);
            self.state.bare.insert(0, call.id);
        }
        true
    }

    /// Hands over what was kept back.
    fn end(&mut self, emit: Emit<'_>) {
        let mut joiner = std::mem::take(&mut self.joiner);
        joiner.finish(&mut |m, numbered| self.said(m, numbered, None, emit));
        let mut left: Vec<_> = self.outputs.drain().map(|(_, m)| m).collect();
        left.sort_by_key(|m| (m.at.offset, m.at.part));
        left.into_iter().for_each(emit);
    }
}

/// What a tool's record says of its call.
#[derive(Debug, Clone, Copy)]
struct Call {
    id: u64,
    begins: bool,
    /// It has its arguments.
    complete: bool,
    over: bool,
}

impl Call {
    fn of(v: &Value<'_>) -> Option<Self> {
        let update = update(v);
        is_tool(v).then(|| Self {
            id: xxh3_64(text(update, "toolCallId").unwrap_or("").as_bytes()),
            begins: text(update, "sessionUpdate") == Some("tool_call"),
            complete: !get(update, "rawInput").is_null(),
            over: matches!(text(update, "status"), Some("completed" | "failed")),
        })
    }
}

/// The stretches of a file that were taken back, if any: only a look at all of it tells.
fn taken_back(source: &Source) -> Result<Vec<(u64, u64)>, SourceError> {
    if !jsonl::any_before(source, u64::MAX, &[REWIND.to_owned()])? {
        return Ok(Vec::new());
    }
    let mut prompts = Prompts::default();
    jsonl::each_record(source, 0, |v, place| {
        prompts.record(v, place);
        Ok(())
    })?;
    Ok(prompts.taken_back)
}

/// Where the prompts of the conversation as it stands begin.
#[derive(Default)]
struct Prompts {
    starts: Vec<u64>,
    numbered: bool,
    /// The number of the prompt that the last record belongs to, if it is a prompt's.
    now: Option<Option<i64>>,
    taken_back: Vec<(u64, u64)>,
}

impl Prompts {
    fn record(&mut self, v: &Value<'_>, place: Place) {
        let about = update(v);
        if text(about, "sessionUpdate") == Some(REWIND) {
            let target =
                ["target_prompt_index", "targetPromptIndex"].iter().find_map(|k| get(about, k).as_u64());
            self.rewind(target.and_then(|t| usize::try_from(t).ok()), place.offset);
            return;
        }
        if !matches!(piece(v), Some((Role::User, _))) {
            self.now = None;
            return;
        }
        let number = prompt_index(v);
        self.numbered |= number.is_some();
        let counts = !self.numbered || number.is_some();
        if self.now != Some(number) && counts {
            self.starts.push(place.offset);
        }
        self.now = Some(number);
    }

    fn rewind(&mut self, target: Option<usize>, to: u64) {
        self.now = None;
        if let Some((target, from)) = target.and_then(|t| Some((t, *self.starts.get(t)?))) {
            self.taken_back.push((from, to));
            self.starts.truncate(target);
        }
    }
}
