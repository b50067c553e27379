//! Conversations in the store of Vibe 3.x.
//!
//! `CURRENT` changes when a turn has ended, the journal while it goes on. Each of the two is a source: the first gives the conversation
//! up to the last turn; the second gives it with what has come since, or nothing at all while nothing has.

use super::entries::{self, Entry, Kind};
use super::{CURRENT, key};
use crate::limits::{DOCUMENT_MAX, SIDE_FILE_MAX};
use crate::model::{Facts, Interactivity, Locator, Message, valid_session_id};
use crate::provider::shared::json::{at, get, items, text, time};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::shared::{document, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Bytes of all chunks of a conversation: the agent's own bound.
const CHUNKS_MAX: u64 = 64 << 20;

/// A generation: where it lies and what its manifest lists.
struct Generation {
    dir: PathBuf,
    session: PathBuf,
    /// Absent when the conversation is not kept in chunks.
    chunks: Option<Vec<String>>,
    journal: String,
}

impl Generation {
    /// The one that `CURRENT` names.
    fn current(session: &Path) -> Result<Self, SourceError> {
        let name = document::read(&session.join("CURRENT"), SIDE_FILE_MAX, |v| {
            text(v, "generation").filter(|g| is_number(g)).map(str::to_owned)
        })?;
        let name = name.flatten().ok_or(SourceError::Format("no generation"))?;
        let dir = session.join("generations").join(name);
        let found = document::read(&dir.join("manifest.json"), DOCUMENT_MAX, |v| {
            let chunks = get(get(v, "projection_state"), "chunks");
            let names = items(chunks).iter().filter_map(|c| c.as_str()).filter(|c| is_hash(c));
            let journal = text(get(v, "recovery_journal_segment"), "path").unwrap_or("");
            (chunks.is_array().then(|| names.map(str::to_owned).collect()), journal.to_owned())
        })?;
        let (chunks, journal) = found.ok_or(SourceError::Format("empty manifest"))?;
        Ok(Self { dir, session: session.to_owned(), chunks, journal })
    }

    /// The entries it holds, and how many of its chunks could not be read.
    fn entries(&self, state: &mut State) -> Result<(Vec<Entry>, u32), SourceError> {
        let mut all = Vec::new();
        document::read(&self.dir.join("projection-state.json"), DOCUMENT_MAX, |v| {
            state.session(at(v, &["snapshot", "session"]));
            all.extend(entries::all(at(v, &["snapshot", "history", "entries"])));
        })?;
        let Some(chunks) = &self.chunks else { return Ok((all, 0)) };
        all.clear();
        let (mut left, mut lost) = (CHUNKS_MAX, 0);
        for chunk in chunks {
            let path = self.session.join("chunks").join(format!("{chunk}.json"));
            let size = crate::io::stat::stat(&path).map_or(0, |(fp, _)| fp.size);
            left = left.checked_sub(size).ok_or(SourceError::Format("too large"))?;
            match document::read(&path, DOCUMENT_MAX, |v| all.extend(entries::all(v))) {
                Ok(Some(())) => {}
                _ => lost += 1,
            }
        }
        if lost > 0 && all.is_empty() {
            return Err(SourceError::Format("its chunks cannot be read"));
        }
        Ok((all, lost))
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit())
}

fn is_hash(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What is known of a session besides its entries.
#[derive(Default)]
struct State {
    facts: Facts<'static>,
    created: i64,
    updated: i64,
}

impl State {
    fn new(id: &str) -> Self {
        let facts =
            Facts { id: Cow::Owned(id.to_owned()), source_kind: "unknown".into(), ..Facts::default() };
        Self { facts, ..Self::default() }
    }

    fn session(&mut self, session: &Value<'_>) {
        self.created = time(session, "createdAt").unwrap_or(0);
        self.updated = time(session, "updatedAt").unwrap_or(0);
    }

    /// `runtime-state.json` says whose child the session is. Only a child's has its directory from there: it has no `meta.json`.
    fn runtime(&mut self, v: &Value<'_>) {
        let owned = |v: &Value<'_>, key| text(v, key).map(|t| Cow::Owned(t.to_owned()));
        let (identity, session) = (get(v, "identity"), get(v, "session_metadata"));
        self.facts.model = owned(session, "active_model");
        let parent = owned(identity, "parent_session_id").filter(|p| valid_session_id(p));
        match text(identity, "kind") {
            Some("subagent") => {
                self.facts.parent = parent;
                self.facts.interactive = Interactivity::No;
                self.facts.source_kind = "subagent".into();
                self.facts.project = owned(session, "cwd").unwrap_or_default();
            }
            Some("fork") => self.facts.forked_from = parent,
            _ => {}
        }
        // Made of a session of 2.x when that was resumed.
        let imported = owned(at(v, &["import_provenance", "source"]), "session_id");
        if let Some(from) = imported.filter(|i| valid_session_id(i)) {
            self.facts.forked_from = Some(from);
            self.facts.copied = true;
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match entry.kind {
            Kind::Prompt => {
                let said: Vec<&str> = entry.texts.iter().map(|t| t.text.as_str()).collect();
                saw_prompt(&mut self.facts, &said.join("\n"));
            }
            Kind::Answer => {}
            Kind::Other => return,
        }
        self.facts.messages += u32::from(!entry.texts.is_empty());
    }

    fn finish(mut self) -> Facts<'static> {
        if self.facts.last_ms == 0 {
            self.facts.saw_time(self.created);
            self.facts.saw_time(self.updated);
        }
        self.facts
    }
}

pub fn parse(source: &Source, key: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let (facts, skipped) = conversation(source, &mut |m| sink.message(m))?;
    sink.close(key, facts);
    Ok(Parsed { checkpoint: None, skipped, shortened: 0 })
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    conversation(source, &mut |m| {
        if m.at == at {
            found.push(jsonl::own(m));
        }
    })?;
    Ok(found)
}

/// Emits what a source holds of the conversation.
fn conversation(
    source: &Source,
    emit: &mut dyn FnMut(Message<'_>),
) -> Result<(Facts<'static>, u32), SourceError> {
    let key = key(source);
    let mut state = State::new(key.rsplit('/').next().unwrap_or(key));
    let up = if source.kind == CURRENT { 1 } else { 2 };
    let session = source.path.ancestors().nth(up).ok_or(SourceError::Format("no session"))?;
    let generation = Generation::current(session)?;
    let in_session = source.rel.strip_prefix(key).map_or("", |r| r.trim_start_matches('/'));
    if source.kind != CURRENT && generation.journal != in_session {
        return Ok((state.facts, 0));
    }
    let (mut entries, mut skipped) = generation.entries(&mut state)?;
    if source.kind != CURRENT {
        let (news, lost) = replay(source, &mut entries)?;
        if !news {
            return Ok((state.facts, lost));
        }
        skipped = lost;
    }
    let _ = document::read(&generation.dir.join("runtime-state.json"), DOCUMENT_MAX, |v| state.runtime(v));
    let mut out = Texts::new(emit, source.fingerprint.size);
    for entry in &entries {
        for t in &entry.texts {
            out.tool(t.role, entry.time, t.text.as_str(), t.tool.as_deref());
        }
        if !entry.texts.is_empty() {
            state.facts.saw_time(entry.time);
            state.facts.saw_time(entry.updated);
        }
        state.entry(entry);
    }
    Ok((state.finish(), skipped))
}

/// Does to the entries what the journal says. Returns whether it said anything.
fn replay(source: &Source, entries: &mut Vec<Entry>) -> Result<(bool, u32), SourceError> {
    let mut news = false;
    let end = jsonl::each_record(source, 0, |v, _| {
        news |= entries::replay(entries, v);
        Ok(())
    })?;
    Ok((news, end.skipped))
}
