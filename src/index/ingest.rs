//! Reading one source into the index: messages go to the writer at once, facts are handed back.

use super::schema::Fields;
use super::tables::SourceRec;
use crate::discover::Health;
use crate::io::stat;
use crate::limits::{PROSE_MAX, TOOL_MAX};
use crate::model::{Facts, Message, UnitKind, valid_session_id};
use crate::provider::{Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::text::{ceil_boundary, floor_boundary};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tantivy::indexer::SingleSegmentIndexWriter;
use tantivy::{IndexWriter, TantivyDocument, Term};
use xxhash_rust::xxh3::Xxh3;

/// A unit as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldUnit {
    pub id: u32,
    pub stamp: u64,
    pub seq: u32,
    pub vanished: bool,
    /// Somebody said something in it.
    pub said: bool,
}

/// A source to read, with what is known of it.
pub struct Job {
    pub id: u32,
    pub provider: &'static dyn Provider,
    pub root: Arc<Root>,
    pub rel: String,
    pub rec: SourceRec<'static>,
    pub units: HashMap<String, OldUnit>,
    /// The facts to go on from, if the file may only have grown.
    pub facts: Option<Box<Facts<'static>>>,
    /// Rows that are gone stay known as such.
    pub keep_vanished: bool,
}

/// A unit as it is now.
#[derive(Debug)]
pub struct NewUnit {
    pub id: u32,
    pub row: String,
    pub stamp: u64,
    pub seq: u32,
    pub session: u64,
    pub facts: Facts<'static>,
}

/// What reading a source came to.
#[derive(Debug)]
pub struct Outcome {
    pub id: u32,
    pub rec: SourceRec<'static>,
    pub units: Vec<NewUnit>,
    pub removed: Vec<u32>,
    /// Units that are gone from the source and kept.
    pub vanished: Vec<u32>,
    pub bytes: u64,
}

/// Where messages go.
pub enum Output {
    /// An index that is published, or a large one in memory.
    Index(Box<IndexWriter>),
    /// One small segment in memory, made without threads and large buffers.
    Segment(Mutex<Box<SingleSegmentIndexWriter>>),
}

impl Output {
    fn add(&self, doc: TantivyDocument) -> tantivy::Result<()> {
        match self {
            Self::Index(writer) => writer.add_document(doc).map(|_| ()),
            Self::Segment(writer) => {
                writer.lock().map_err(|_| tantivy::TantivyError::Poisoned)?.add_document(doc)
            }
        }
    }

    /// Removes a unit's messages. In memory there is nothing to remove from: what is not in the tables does not count.
    pub fn delete(&self, fields: &Fields, unit: u32) {
        if let Self::Index(writer) = self {
            writer.delete_term(Term::from_field_u64(fields.unit, u64::from(unit)));
        }
    }
}

/// Everything an ingest needs to write.
pub struct Target<'w> {
    pub output: &'w Output,
    pub fields: Fields,
    pub next_unit: &'w AtomicU32,
}

/// The number of a session: agent and the provider's own key.
pub fn session_number(agent: &str, key: &str) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(agent.as_bytes());
    hash.update(b"\0");
    hash.update(key.as_bytes());
    hash.digest()
}

/// Reads a source. Errors of the store end up in the record's health; an error of the index is the result.
pub fn ingest(job: Job, target: &Target<'_>) -> tantivy::Result<Outcome> {
    let source = Source {
        path: job.root.path.join(&job.rel),
        root: Root::clone(&job.root),
        rel: job.rel.clone(),
        kind: job.rec.file.kind,
        fingerprint: job.rec.file.fingerprint,
    };
    let mut rec = job.rec.clone();
    // The state is taken before reading: what is added meanwhile makes the next look see a change.
    let looked = crate::discover::look_at(&source.path);
    let mut file = match (looked, stat::open_regular(&source.path)) {
        (Ok((fp, _)), Ok((file, _))) => {
            rec.file.fingerprint = fp;
            file
        }
        (_, Err(e)) | (Err(e), _) => return Ok(unreadable(job, rec, &e)),
    };
    let size = file.metadata().map_or(0, |m| m.len());
    let tail = grown(&job, &mut file, size);
    let (parsed, sink, from) = match run(&job, &source, tail, target) {
        (Err(SourceError::NeedsAll), sink, Some(_)) => {
            sink.discard()?;
            run(&job, &source, None, target)
        }
        other => other,
    };
    let failure = sink.failure;
    if let Some(error) = failure {
        return Err(error);
    }
    let units = (sink.units, sink.kept);
    settle(&job, rec, parsed, units, (from, size), &mut file, target)
}

type Run<'r> = (Result<Parsed, SourceError>, UnitSink<'r>, Option<u64>);

fn run<'r>(job: &'r Job, source: &Source, tail: Option<u64>, target: &'r Target<'r>) -> Run<'r> {
    let mut sink = UnitSink::new(job, target, tail.is_some());
    let resume = match (tail, &job.facts) {
        (Some(offset), Some(facts)) => {
            Some(Resume { offset, state: &job.rec.state, facts: Facts::clone(facts) })
        }
        _ => None,
    };
    let parsed = job.provider.parse(source, resume.as_ref(), &mut sink);
    (parsed, sink, tail)
}

/// Where to go on, if what was read before is still there.
fn grown(job: &Job, file: &mut File, size: u64) -> Option<u64> {
    let offset = job.rec.offset?;
    let same = job.facts.is_some() && job.rec.parser == job.provider.info().parser_version && size >= offset;
    (same && mark(file, offset).ok()? == job.rec.mark).then_some(offset)
}

fn unreadable(job: Job, mut rec: SourceRec<'static>, e: &std::io::Error) -> Outcome {
    rec.file.health = match e.kind() {
        std::io::ErrorKind::InvalidInput => Health::NotRegular,
        _ => Health::Unreadable,
    };
    rec.read = true;
    // What was known of it stays: a source that can't be read is not an empty one.
    Outcome { id: job.id, rec, units: Vec::new(), removed: Vec::new(), vanished: Vec::new(), bytes: 0 }
}

/// Completes the record of a source that was read, and drops the units it no longer holds.
fn settle(
    job: &Job,
    mut rec: SourceRec<'static>,
    parsed: Result<Parsed, SourceError>,
    (units, kept): (Vec<NewUnit>, Vec<u32>),
    (from, size): (Option<u64>, u64),
    file: &mut File,
    target: &Target<'_>,
) -> tantivy::Result<Outcome> {
    rec.read = true;
    rec.parser = job.provider.info().parser_version;
    let failed = parsed.is_err();
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(e) => {
            rec.file.health =
                if matches!(e, SourceError::Io(_)) { Health::Unreadable } else { Health::Malformed };
            Parsed::default()
        }
    };
    if !failed {
        rec.file.health = Health::Good;
    }
    let tail = from.is_some();
    rec.skipped = parsed.skipped + if tail { rec.skipped } else { 0 };
    rec.shortened = parsed.shortened + if tail { rec.shortened } else { 0 };
    rec.offset = parsed.checkpoint.as_ref().map(|c| c.offset);
    rec.state = Cow::Owned(parsed.checkpoint.map(|c| c.state).unwrap_or_default());
    rec.mark = mark(file, rec.offset.unwrap_or(size)).unwrap_or(0);
    let numbers: HashSet<u32> = kept.into_iter().chain(units.iter().map(|u| u.id)).collect();
    let rows: HashSet<&str> = units.iter().map(|u| u.row.as_str()).collect();
    // A failed pass removes only what it read anew: rows it did not reach may still be there.
    let stays = |row: &str, id: u32| numbers.contains(&id) || failed && !rows.contains(row);
    let same_parser = job.rec.parser == rec.parser;
    let kept_gone =
        |(row, u): &(&String, &OldUnit)| job.keep_vanished && same_parser && u.said && !row.is_empty();
    let gone = job.units.iter().filter(|(row, u)| !stays(row, u.id));
    let (vanished, removed): (Vec<_>, Vec<_>) = gone.partition(kept_gone);
    let removed: Vec<u32> = removed.iter().map(|(_, u)| u.id).collect();
    let vanished = vanished.iter().filter(|(_, u)| !u.vanished).map(|(_, u)| u.id).collect();
    for id in &removed {
        target.output.delete(&target.fields, *id);
    }
    Ok(Outcome { id: job.id, rec, units, removed, vanished, bytes: size - from.unwrap_or(0).min(size) })
}

/// A hash of the first `upto` bytes: of all of them up to a megabyte, of samples beyond.
pub fn mark(file: &mut File, upto: u64) -> std::io::Result<u64> {
    const WHOLE: u64 = 1 << 20;
    const HEAD: u64 = 64 << 10;
    const SAMPLES: u64 = 14;
    const SAMPLE: u64 = 4 << 10;
    let mut hash = Xxh3::new();
    hash.update(&upto.to_le_bytes());
    let mut buf = Vec::new();
    let mut take = |from: u64, len: u64| -> std::io::Result<()> {
        file.seek(SeekFrom::Start(from))?;
        buf.clear();
        Read::by_ref(file).take(len).read_to_end(&mut buf)?;
        hash.update(&buf);
        Ok(())
    };
    if upto <= WHOLE {
        take(0, upto)?;
    } else {
        take(0, HEAD)?;
        for i in 1..=SAMPLES {
            take(upto / (SAMPLES + 1) * i, SAMPLE)?;
        }
        take(upto - HEAD, HEAD)?;
    }
    Ok(hash.digest())
}

/// What tells a copy of a message from another one: 32 bits of a hash of its text.
fn text_hash(m: &Message<'_>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(m.tool.as_deref().unwrap_or("").as_bytes());
    hash.update(b"\0");
    hash.update(m.text.trim().as_bytes());
    hash.digest() >> 32
}

/// Gives messages to the index writer and keeps the facts.
struct UnitSink<'r> {
    job: &'r Job,
    target: &'r Target<'r>,
    tail: bool,
    open: Option<NewUnit>,
    units: Vec<NewUnit>,
    kept: Vec<u32>,
    failure: Option<tantivy::TantivyError>,
}

impl<'r> UnitSink<'r> {
    fn new(job: &'r Job, target: &'r Target<'r>, tail: bool) -> Self {
        Self { job, target, tail, open: None, units: Vec::new(), kept: Vec::new(), failure: None }
    }

    /// Forgets a pass that came to nothing. Its unit was given further messages: all of it must go.
    fn discard(self) -> tantivy::Result<()> {
        if let Some(e) = self.failure {
            return Err(e);
        }
        for unit in self.units.iter().chain(&self.open) {
            self.target.output.delete(&self.target.fields, unit.id);
        }
        Ok(())
    }

    fn document(&self, unit: u32, seq: u32, m: &Message<'_>) -> TantivyDocument {
        let f = &self.target.fields;
        let mut doc = TantivyDocument::new();
        doc.add_u64(f.unit, u64::from(unit));
        doc.add_u64(f.role, m.role as u64);
        doc.add_u64(f.seq, u64::from(seq));
        doc.add_i64(f.time, m.timestamp_ms);
        doc.add_u64(f.offset, m.at.offset);
        doc.add_u64(f.place, u64::from(m.at.len) << 16 | u64::from(m.at.part));
        doc.add_u64(f.text, text_hash(m));
        if m.role.is_prose() {
            doc.add_text(f.prose, &m.text[..floor_boundary(&m.text, PROSE_MAX)]);
            return doc;
        }
        if let Some(tool) = &m.tool {
            doc.add_text(f.tool, tool);
        }
        if m.text.len() <= TOOL_MAX {
            doc.add_text(f.tool, &m.text);
        } else {
            doc.add_text(f.tool, &m.text[..floor_boundary(&m.text, TOOL_MAX / 2)]);
            doc.add_text(f.tool, &m.text[ceil_boundary(&m.text, m.text.len() - TOOL_MAX / 2)..]);
        }
        doc
    }
}

impl Sink for UnitSink<'_> {
    fn open(&mut self, row: &str, stamp: u64) {
        let old = self.job.units.get(row).filter(|_| self.tail);
        let (id, seq) = match old {
            Some(old) => (old.id, old.seq),
            // A number of its own for each reading: messages of an earlier one can never be taken for it.
            None => (self.target.next_unit.fetch_add(1, Ordering::Relaxed), 0),
        };
        self.open =
            Some(NewUnit { id, row: row.to_owned(), stamp, seq, session: 0, facts: Facts::default() });
    }

    fn message(&mut self, message: Message<'_>) {
        let Some(unit) = &self.open else { return };
        let doc = self.document(unit.id, unit.seq, &message);
        if let Err(e) = self.target.output.add(doc) {
            self.failure.get_or_insert(e);
        }
        if let Some(unit) = &mut self.open {
            unit.seq += 1;
        }
    }

    fn close(&mut self, session: &str, facts: Facts<'_>) {
        if let Some(mut unit) = self.open.take() {
            unit.session = session_number(self.job.provider.info().id, session);
            unit.facts = facts.into_owned();
            // An id that could be an option or hide control characters names no session.
            if unit.facts.kind == UnitKind::Main && !valid_session_id(&unit.facts.id) {
                (unit.facts.messages, unit.facts.inherits) = (0, false);
            }
            self.units.push(unit);
        }
    }

    fn keep(&mut self, row: &str, stamp: u64) -> bool {
        match self.job.units.get(row) {
            Some(old)
                if old.stamp == stamp
                    && !old.vanished
                    && self.job.rec.parser == self.job.provider.info().parser_version =>
            {
                self.kept.push(old.id);
                true
            }
            _ => false,
        }
    }
}
