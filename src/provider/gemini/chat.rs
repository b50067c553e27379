//! A chat file, in lines or as one document.

use super::message::{self, Kind, Said};
use super::project;
use super::replay::{Record, Replay, Spot};
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Interactivity, Locator, Message, ResumeKind, TitleSource, valid_session_id};
use crate::provider::shared::json::{get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::prompt::{lineage, saw_prompt, title_line};
use crate::provider::shared::{document, hash, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Paths from the session's own words that are tried against its hash.
const CANDIDATES: usize = 128;

/// A name that can be an id, not a hidden file or a copy.
pub fn is_plain(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A file of lines. What holds is known only at its end, so it is read twice; no text is kept in between.
pub fn lines(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut replay = Replay::default();
    jsonl::each_record(source, 0, |v, place| {
        replay.record(v, place);
        Ok(())
    })?;
    let mut chat = Chat::default();
    let mut places = Places::default();
    sink.open("", 0);
    let end = jsonl::each_record(source, 0, |v, place| {
        places.enter(place.offset, place.len);
        each(v, &mut |m, index, summary| {
            let held = Held { replay: &replay, spot: Spot::new(place, index) };
            chat.message(m, summary, &held, &mut places, &mut |m| sink.message(m));
        });
        if let Record::Session(facts, _) = Record::of(v) {
            chat.session(facts);
        }
        Ok(())
    })?;
    close(chat, source, sink);
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

/// A file that is one document, as releases before 0.39 wrote it.
pub fn document(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut chat = Chat::default();
    let mut places = Places::document(source);
    sink.open("", 0);
    document::read(&source.path, DOCUMENT_MAX, |v| {
        let (mut replay, place) = (Replay::default(), Place { offset: 0, len: 0, nth: 0 });
        replay.record(v, place);
        chat.session(v);
        each(v, &mut |m, index, summary| {
            let held = Held { replay: &replay, spot: Spot::new(place, index) };
            chat.message(m, summary, &held, &mut places, &mut |m| sink.message(m));
        });
    })?;
    close(chat, source, sink);
    Ok(Parsed::default())
}

fn close(chat: Chat, source: &Source, sink: &mut dyn Sink) {
    let hash = chat.hash.clone();
    let facts = chat.finish(source);
    sink.close(&session_key(source, &hash, &facts), facts);
}

/// The messages of a record, with their number in it and whether each is a summary that the CLI put in.
fn each<'v>(v: &'v Value<'v>, f: &mut dyn FnMut(&'v Value<'v>, usize, bool)) {
    match Record::of(v) {
        Record::Message => f(v, 0, false),
        Record::Session(_, messages) => {
            for (i, m) in messages.iter().enumerate() {
                f(m, i, message::is_summary(m, messages.get(i + 1)));
            }
        }
        Record::Rewind(_) => {}
    }
}

/// The message at a place of a file of lines.
pub fn read_line(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    let mut places = Places::default();
    jsonl::record_at(source, at, |v, place| {
        places.enter(place.offset, place.len);
        each(v, &mut |m, _, summary| pick(m, summary, at, &mut places, &mut found));
        Ok(())
    })?;
    Ok(found)
}

/// The message at a place of a document.
pub fn read_document(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    let mut places = Places::document(source);
    document::read(&source.path, DOCUMENT_MAX, |v| {
        each(v, &mut |m, _, summary| pick(m, summary, at, &mut places, &mut found));
    })?;
    Ok(found)
}

fn pick(
    m: &Value<'_>,
    summary: bool,
    wanted: Locator,
    places: &mut Places,
    found: &mut Vec<Message<'static>>,
) {
    let time = time(m, "timestamp").unwrap_or(0);
    message::texts(m, summary, &mut |said| {
        if let Some(at) = places.next().filter(|at| *at == wanted) {
            found.push(jsonl::own(said.at(at, time)));
        }
    });
}

impl<'v> Said<'v> {
    fn at(self, at: Locator, timestamp_ms: i64) -> Message<'v> {
        let tool = self.tool.map(Cow::Borrowed);
        Message { role: self.role, timestamp_ms, text: self.text, at, tool, sidechain: false }
    }
}

/// Numbers the texts of a line, or of a document. All are counted, also those that do not hold.
#[derive(Default)]
struct Places {
    line: (u64, u32),
    /// The whole file is one record: the number's high half stands where the offset would.
    whole: bool,
    next: u64,
}

impl Places {
    fn document(source: &Source) -> Self {
        let len = source.fingerprint.size.min(u64::from(u32::MAX)) as u32;
        Self { line: (0, len), whole: true, next: 0 }
    }

    fn enter(&mut self, offset: u64, len: u32) {
        if self.line != (offset, len) {
            *self = Self { line: (offset, len), whole: false, next: 0 };
        }
    }

    /// The next place. Of a line the texts past the 65,536th have none.
    fn next(&mut self) -> Option<Locator> {
        let n = self.next;
        self.next += 1;
        let (offset, len) = self.line;
        let part = (n & 0xffff) as u16;
        if self.whole {
            return Some(Locator { offset: n >> 16, len, part });
        }
        (n <= 0xffff).then_some(Locator { offset, len, part })
    }
}

/// Gathers what a chat says of its session.
#[derive(Default)]
struct Chat {
    facts: Facts<'static>,
    hash: String,
    started: i64,
    updated: i64,
    candidates: Vec<String>,
}

/// What holds of a session, asked for one place.
struct Held<'r> {
    replay: &'r Replay,
    spot: Spot,
}

impl Chat {
    /// The header, or a change of it.
    fn session(&mut self, v: &Value<'_>) {
        if let Some(id) = text(v, "sessionId") {
            self.facts.id = Cow::Owned(id.to_owned());
        }
        if let Some(hash) = text(v, "projectHash") {
            self.hash = hash.to_owned();
        }
        if let Some(summary) = text(v, "summary") {
            self.facts.offer_title(Cow::Owned(title_line(summary)), TitleSource::Summary);
        }
        if text(v, "kind") == Some("subagent") {
            self.facts.source_kind = "subagent".into();
        }
        let start = time(v, "startTime").filter(|t| self.started == 0 || *t < self.started);
        self.started = start.unwrap_or(self.started);
        self.updated = self.updated.max(time(v, "lastUpdated").unwrap_or(0));
        let dirs = items(get(v, "directories")).iter().filter_map(Value::as_str);
        self.candidate(dirs.map(str::to_owned));
    }

    fn candidate(&mut self, paths: impl Iterator<Item = String>) {
        let room = CANDIDATES.saturating_sub(self.candidates.len());
        self.candidates.extend(paths.take(room));
    }

    /// A message, if it holds.
    fn message(
        &mut self,
        m: &Value<'_>,
        summary: bool,
        held: &Held<'_>,
        places: &mut Places,
        emit: &mut dyn FnMut(Message<'_>),
    ) {
        let mut seen = false;
        let time = held.replay.holds(m, held.spot);
        message::texts(m, summary, &mut |said| {
            let (Some(at), Some(time)) = (places.next(), time) else { return };
            if held.replay.holds_result(said.answers, held.spot) {
                seen = true;
                emit(said.at(at, time));
            }
        });
        let Some(time) = time else { return };
        if seen {
            self.facts.saw_time(time);
        }
        self.count(m, summary);
    }

    fn count(&mut self, m: &Value<'_>, summary: bool) {
        match message::kind(m, summary) {
            Kind::Prompt => {
                self.facts.messages += 1;
                if self.facts.lineage == 0 {
                    self.facts.lineage = lineage(text(m, "id"));
                }
                saw_prompt(&mut self.facts, &message::typed(m));
            }
            Kind::Answer => {
                self.facts.messages += 1;
                if let Some(model) = text(m, "model") {
                    self.facts.model = Some(Cow::Owned(model.to_owned()));
                }
            }
            Kind::Other if text(m, "type") == Some("user") => {
                let parts = get(m, "content");
                let first = parts.as_str().or_else(|| text(items(parts).first()?, "text"));
                self.candidate(project::in_context(first.unwrap_or("")));
            }
            Kind::Other => {}
        }
    }

    fn finish(self, source: &Source) -> Facts<'static> {
        let mut facts = self.facts;
        if facts.messages > 0 {
            if facts.last_ms == 0 {
                facts.saw_time(self.updated);
            }
            facts.saw_time(if facts.last_ms == 0 || self.started <= facts.last_ms {
                self.started
            } else {
                0
            });
            if facts.last_ms == 0 {
                facts.saw_time(source.fingerprint.mtime_ms());
            }
        }
        facts.project = project::find(source, &self.hash, &self.candidates).unwrap_or_default().into();
        place(source, &mut facts);
        facts
    }
}

/// What the file's place says: whose sub-agent it is, and an id if the file lost its own.
fn place(source: &Source, facts: &mut Facts<'static>) {
    let names: Vec<&str> = source.rel.split('/').collect();
    if let [_, _, parent, _] = names.as_slice() {
        facts.parent = Some(Cow::Owned((*parent).to_owned()));
        facts.source_kind = "subagent".into();
    }
    if facts.source_kind == "subagent" {
        facts.interactive = Interactivity::No;
        // Only the sessions of a project itself are offered for a resume.
        facts.resume = ResumeKind::None;
    } else {
        facts.source_kind = "unknown".into();
    }
    if facts.id.is_empty() {
        facts.id = Cow::Owned(stem(source).to_owned());
        facts.resume = ResumeKind::None;
    }
}

fn stem(source: &Source) -> &str {
    let file = source.rel.rsplit('/').next().unwrap_or("");
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// Sessions are told apart by project and id, so that all files of one belong together. Some front ends give every
/// session the same id, which is then no UUID: those are told apart by their files.
fn session_key(source: &Source, hash: &str, facts: &Facts<'_>) -> String {
    let dir = project::dir(source);
    let project = match hash {
        "" if !project::is_hash(dir) && !facts.project.is_empty() => hash::sha256(&facts.project),
        "" => dir.to_owned(),
        hash => hash.to_owned(),
    };
    let id = &facts.id;
    if is_uuid(id) { format!("{project}/{id}") } else { format!("{project}/{id}/{}", stem(source)) }
}

fn is_uuid(id: &str) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let ok = |(i, b): (usize, u8)| if DASHES.contains(&i) { b == b'-' } else { b.is_ascii_hexdigit() };
    id.len() == 36 && id.bytes().enumerate().all(ok)
}
