//! Carrying a plan out: reading sources into the index and publishing what they hold.

use super::ingest::{Job, NewUnit, Outcome, Output, Target, ingest};
use super::merge;
use super::plan::{Plan, work};
use super::refresh::Progress;
use super::schema::Fields;
use super::snapshot::{Messages, Payload, Snapshot, TextFile, Texts};
use super::store::{Store, open_messages};
use super::tables::{Frame, SourceRec, Tables, TextRef, UnitRec, encode};
use crate::io::stat;
use crate::limits::{COMMIT_EVERY, COMMIT_EVERY_MS, WRITER_MEMORY};
use std::borrow::Cow;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tantivy::directory::RamDirectory;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index, IndexWriter};

/// Buffer of a segment made in memory for an answer; it grows with what it holds.
const OVERLAY_BUFFER: usize = 1 << 20;

/// A catalog's log may grow by this much before it is written anew.
const COMPACT_SLACK: usize = 1 << 20;

type Watch<'w> = dyn Fn(Progress) + Sync + 'w;

/// What kept a plan from being carried out, as a warning code.
pub struct Failure(pub &'static str);

impl From<tantivy::TantivyError> for Failure {
    fn from(_: tantivy::TantivyError) -> Self {
        Failure("index_not_writable")
    }
}

impl From<std::io::Error> for Failure {
    fn from(_: std::io::Error) -> Self {
        Failure("index_not_writable")
    }
}

/// Carries a plan out.
pub struct Writing<'s> {
    pub store: &'s Store,
    pub current: &'s Snapshot,
    /// Into memory, not to disk.
    pub memory: bool,
    pub plan: Plan<'s>,
}

impl Writing<'_> {
    /// Reads everything, in parts that are published one by one. Returns the new state and how many sources were read.
    pub fn run(
        mut self,
        progress: &Watch<'_>,
        budget: Option<Duration>,
    ) -> Result<(Snapshot, usize), Failure> {
        let end = budget.map(|b| Instant::now() + b);
        let (index, fields) = self.open()?;
        let bytes = self.plan.work();
        let mut output = Output::Index(Box::new(writer(&index, bytes)?));
        if !self.memory {
            self.store.sweep(self.current.payload.catalog);
        }
        let next_unit = AtomicU32::new(self.current.tables().units.len() as u32);
        let mut state = self.published();
        let mut frame = self.first_frame(&output, &fields, bytes, end);
        let queue = Queue::new(std::mem::take(&mut self.plan.jobs), bytes, progress);
        loop {
            let part = Part::new(end);
            let target = Target { output: &output, fields, next_unit: &next_unit };
            let outcomes = queue.read(&target, &part)?;
            frame.pending = queue.left() as u32;
            let texts = fill(&mut frame, outcomes, &state, self.current.tables());
            state = self.publish(&mut output, std::mem::take(&mut frame), texts, state)?;
            if queue.left() == 0 || end.is_some_and(|e| Instant::now() >= e) {
                break;
            }
        }
        if let Output::Index(writer) = &mut output
            && !self.memory
            && merge::tidy(&index, writer)?
        {
            self.store.seal(&state.payload);
        }
        drop(output);
        Ok((self.finish(&index, fields, state)?, queue.done()))
    }

    /// What needs no reading. What will not be read in the first part is noted, so that an interrupted pass can go on.
    fn first_frame(
        &mut self,
        output: &Output,
        fields: &Fields,
        bytes: u64,
        end: Option<Instant>,
    ) -> Frame<'static> {
        let mut frame = std::mem::take(&mut self.plan.frame);
        frame.units.extend(self.plan.removed.iter().map(|u| (*u, None)));
        self.plan.removed.iter().for_each(|unit| output.delete(fields, *unit));
        if bytes > COMMIT_EVERY / 8 || end.is_some() {
            let unread = |j: &Job| (j.id, Some(SourceRec { read: false, ..j.rec.clone() }));
            frame.sources.extend(self.plan.jobs.iter().map(unread));
        }
        frame
    }

    fn finish(&self, index: &Index, fields: Fields, state: Published) -> Result<Snapshot, Failure> {
        let expected = Some(&state.payload).filter(|_| !self.memory);
        let mut messages = open_messages(index, fields, expected).map_err(Failure)?;
        if let Some(disk) = self.current.messages.as_ref().filter(|_| self.memory) {
            messages.searchers.extend(disk.searchers.iter().cloned());
        }
        Snapshot::decode(state.bytes, state.payload, Some(messages), state.texts)
            .ok_or(Failure("index_damaged"))
    }

    /// Takes a few sources into a segment in memory.
    pub fn overlay(mut self) -> Result<(Snapshot, usize), Failure> {
        let (builder, fields) = Store::index_in_memory()?;
        let segment = builder.single_segment_index_writer(RamDirectory::create(), OVERLAY_BUFFER)?;
        let output = Output::Segment(Mutex::new(Box::new(segment)));
        let next_unit = AtomicU32::new(self.current.tables().units.len() as u32);
        let bytes = self.plan.work();
        let queue = Queue::new(std::mem::take(&mut self.plan.jobs), bytes, &|_| {});
        let target = Target { output: &output, fields, next_unit: &next_unit };
        let outcomes = queue.read(&target, &Part::new(None))?;
        let sources = queue.done();
        let mut frame = std::mem::take(&mut self.plan.frame);
        frame.units.extend(self.plan.removed.iter().map(|u| (*u, None)));
        frame.pending = self.current.tables().pending;
        let current = self.current;
        let mut state = Published {
            payload: current.payload.clone(),
            bytes: Vec::new(),
            base_len: 0,
            texts: current.texts.clone(),
            fresh: false,
        };
        let texts = fill(&mut frame, outcomes, &state, self.current.tables());
        let mut messages = self.current.messages.clone();
        if let Output::Segment(segment) = output
            && sources > 0
        {
            let index = segment.into_inner().map_err(|_| Failure("index_damaged"))?.finalize()?;
            let more = open_messages(&index, fields, None).map_err(Failure)?;
            messages
                .get_or_insert(Messages { searchers: Vec::new(), fields })
                .searchers
                .extend(more.searchers);
        }
        state.add_in_memory(frame, &texts);
        let frames = state.bytes.split_off(super::tables::MAGIC.len().min(state.bytes.len()));
        let snapshot = self.current.extend(frames, state.payload, messages, state.texts);
        Ok((snapshot.ok_or(Failure("index_damaged"))?, sources))
    }

    fn published(&self) -> Published {
        Published {
            payload: self.current.payload.clone(),
            bytes: self.current.bytes(),
            base_len: self.current.tables().base_len,
            texts: self.current.texts.clone(),
            fresh: self.current.messages.is_none(),
        }
    }

    fn open(&self) -> Result<(Index, Fields), Failure> {
        if self.memory {
            let (builder, fields) = Store::index_in_memory()?;
            return Ok((builder.create_in_ram()?, fields));
        }
        if self.current.messages.is_some()
            && let Ok(Some(found)) = self.store.open_index()
        {
            return Ok(found);
        }
        Ok(self.store.create_index()?)
    }

    /// Writes the catalog's part, then commits the messages with the payload that makes both valid.
    fn publish(
        &self,
        output: &mut Output,
        mut frame: Frame<'static>,
        texts: Vec<u8>,
        mut state: Published,
    ) -> Result<Published, Failure> {
        let Output::Index(writer) = output else { return Err(Failure("index_not_writable")) };
        let mut commit = writer.prepare_commit()?;
        if self.memory {
            commit.commit()?;
            state.add_in_memory(frame, &texts);
            return Ok(state);
        }
        frame.generation = state.payload.generation + 1;
        let encoded = encode(&frame);
        if state.fresh {
            state.bytes = super::tables::MAGIC.to_vec();
            state.base_len = encoded.len();
        }
        state.bytes.extend_from_slice(&encoded);
        // While more is to come, the log grows in any case.
        let grown = state.bytes.len() >= 2 * state.base_len + COMPACT_SLACK;
        let due = !state.fresh && frame.pending == 0 && (grown || self.plan.compact);
        let payload = match due.then(|| self.compacted(&state, &texts)).flatten() {
            Some((frames, texts)) => {
                state.bytes = [super::tables::MAGIC.as_slice(), &frames].concat();
                state.base_len = frames.len();
                self.store.write_catalog(&state.payload, &frames, &texts, true)?
            }
            None => self.store.write_catalog(&state.payload, &encoded, &texts, state.fresh)?,
        };
        commit.set_payload(&serde_json::to_string(&payload).unwrap_or_default());
        commit.commit()?;
        self.store.seal(&payload);
        Ok(Published {
            texts: self.store.texts(&payload),
            payload,
            bytes: state.bytes,
            base_len: state.base_len,
            fresh: false,
        })
    }

    /// The whole catalog as one frame: its log has grown to a multiple of what it says.
    fn compacted(&self, state: &Published, new_texts: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let tables = Tables::decode(&state.bytes)?;
        let path = self.store.dir.file(&format!("texts-{}", state.payload.catalog));
        let mut all = stat::read_bounded(&path, u64::MAX).ok()?;
        all.truncate(usize::try_from(state.payload.texts_len).ok()?);
        all.extend_from_slice(new_texts);
        let mut texts = Vec::new();
        let frames = tables.encode(|at| {
            if at.len == 0 {
                return Some(at);
            }
            let from = usize::try_from(at.offset).ok()?;
            let moved = TextRef { offset: texts.len() as u64, len: at.len };
            texts.extend_from_slice(all.get(from..from + at.len as usize)?);
            Some(moved)
        })?;
        Some((frames, texts))
    }
}

/// The catalog file's content as published so far.
struct Published {
    payload: Payload,
    bytes: Vec<u8>,
    /// Of them, the first frame.
    base_len: usize,
    texts: TextFile,
    fresh: bool,
}

impl Published {
    /// Adds a frame that is not written anywhere.
    fn add_in_memory(&mut self, mut frame: Frame<'static>, texts: &[u8]) {
        frame.generation = self.payload.generation + 1;
        let encoded = encode(&frame);
        if self.bytes.is_empty() {
            self.bytes = super::tables::MAGIC.to_vec();
        }
        self.bytes.extend_from_slice(&encoded);
        Arc::make_mut(&mut self.texts.more).extend_from_slice(texts);
        // Told apart from every state that is published, and from every other that is not.
        self.payload.boot =
            format!("{:x}", xxhash_rust::xxh3::xxh3_64(&[self.payload.boot.as_bytes(), &encoded].concat()));
        self.payload.generation = frame.generation;
        self.fresh = false;
    }
}

/// How much is read before it is published.
struct Part {
    until: Instant,
}

impl Part {
    fn new(end: Option<Instant>) -> Self {
        let until = Instant::now() + Duration::from_millis(COMMIT_EVERY_MS);
        Self { until: end.map_or(until, |e| e.min(until)) }
    }
}

/// The sources to read, shared by the threads that read them.
struct Queue<'p> {
    jobs: Mutex<std::vec::IntoIter<Job>>,
    seen: Mutex<Progress>,
    progress: &'p Watch<'p>,
}

impl<'p> Queue<'p> {
    fn new(jobs: Vec<Job>, bytes: u64, progress: &'p Watch<'p>) -> Self {
        let seen = Progress { sources: jobs.len(), bytes, ..Progress::default() };
        Self { jobs: Mutex::new(jobs.into_iter()), seen: Mutex::new(seen), progress }
    }

    fn left(&self) -> usize {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn done(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).sources_done
    }

    /// Reads a part on all cores.
    fn read(&self, target: &Target<'_>, part: &Part) -> Result<Vec<Outcome>, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let taken = Mutex::new(0u64);
        let threads = cores.min(self.left()).max(1);
        let results: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads).map(|_| scope.spawn(|| self.work(target, part, &taken))).collect();
            let mut all = vec![self.work(target, part, &taken)];
            let lost = || Err(tantivy::TantivyError::Poisoned);
            all.extend(others.into_iter().map(|t| t.join().unwrap_or_else(|_| lost())));
            all
        });
        let parts: Vec<Vec<Outcome>> = results.into_iter().collect::<tantivy::Result<_>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn work(&self, target: &Target<'_>, part: &Part, taken: &Mutex<u64>) -> tantivy::Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        while let Some(job) = self.next(part, taken) {
            let outcome = ingest(job, target)?;
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.sources_done += 1;
            seen.bytes_done += outcome.bytes;
            (self.progress)(*seen);
            outcomes.push(outcome);
        }
        Ok(outcomes)
    }

    /// The next source, unless the part is full. There is always a first one.
    fn next(&self, part: &Part, taken: &Mutex<u64>) -> Option<Job> {
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if *taken > 0 && (*taken >= COMMIT_EVERY || Instant::now() >= part.until) {
            return None;
        }
        let job = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).next()?;
        *taken += work(&job).max(1);
        Some(job)
    }
}

/// A writer sized for the work: a small change must not pay for large buffers.
fn writer(index: &Index, bytes: u64) -> Result<IndexWriter, Failure> {
    const SMALL: u64 = 8 << 20;
    const LEAST: usize = 15_000_000;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if bytes < SMALL { 1 } else { cores.min(4) };
    let memory = if bytes < SMALL { LEAST } else { (WRITER_MEMORY / threads).max(LEAST) };
    let options = IndexWriterOptions::builder()
        .num_worker_threads(threads)
        .memory_budget_per_thread(memory)
        .num_merge_threads(1)
        .build();
    let writer = index.writer_with_options(options)?;
    merge::no_merges(&writer);
    Ok(writer)
}

/// Adds what was read to the frame. Returns the longer texts to append.
fn fill(
    frame: &mut Frame<'static>,
    outcomes: Vec<Outcome>,
    state: &Published,
    before: &Tables<'_>,
) -> Vec<u8> {
    let base = state.texts.len + state.texts.more.len() as u64;
    let mut texts = Vec::new();
    for outcome in outcomes {
        frame.units.extend(outcome.removed.iter().map(|u| (*u, None)));
        let vanished =
            outcome.vanished.iter().filter_map(|u| Some((*u, Some(before.unit(*u)?.as_vanished()))));
        frame.units.extend(vanished);
        for unit in outcome.units {
            let at = put_texts(&unit, base, &mut texts);
            let rec = UnitRec {
                source: outcome.id,
                row: Cow::Owned(unit.row),
                stamp: unit.stamp,
                session: unit.session,
                seq: unit.seq,
                facts: unit.facts,
                texts: at,
                vanished: false,
            };
            frame.units.push((unit.id, Some(rec)));
        }
        frame.sources.push((outcome.id, Some(outcome.rec)));
    }
    texts
}

fn put_texts(unit: &NewUnit, base: u64, texts: &mut Vec<u8>) -> TextRef {
    let facts = &unit.facts;
    if facts.summaries.is_empty() && facts.recap.is_none() {
        return TextRef::default();
    }
    let value = Texts { summaries: facts.summaries.clone(), recap: facts.recap.clone().unwrap_or_default() };
    let bytes = postcard::to_allocvec(&value).unwrap_or_default();
    let at = TextRef { offset: base + texts.len() as u64, len: bytes.len() as u32 };
    texts.extend_from_slice(&bytes);
    at
}
