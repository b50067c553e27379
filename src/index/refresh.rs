//! Bringing the catalog up to date: plan what to read, read it, publish.

use super::ingest::{Job, NewUnit, OldUnit, Outcome, Output, Target, ingest, mark};
use super::lock::{self, Refused};
use super::merge;
use super::schema::Fields;
use super::snapshot::{Messages, Payload, Snapshot, TextFile, Texts};
use super::store::{Loaded, Store, open_messages};
use super::tables::{Frame, SourceRec, Tables, TextRef, UnitRec, encode};
use crate::discover::{Active, Changes, Dir, DirChange, File, FileChange, Health, Known, scan};
use crate::io::stat;
use crate::limits::{COMMIT_EVERY, WRITER_MEMORY};
use crate::provider::{Provider, Root};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tantivy::directory::RamDirectory;
use tantivy::indexer::IndexWriterOptions;
use tantivy::{Index, IndexWriter};

/// Buffer of a segment made in memory for an answer; it grows with what it holds.
const OVERLAY_BUFFER: usize = 1 << 20;

/// How far a refresh is; for a progress bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pub sources_done: usize,
    pub sources: usize,
    pub bytes_done: u64,
    pub bytes: u64,
}

/// What a refresh did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Sources read.
    pub sources: usize,
    /// What stood in the way, as a warning code.
    pub trouble: Option<&'static str>,
}

/// What a refresh is asked to do.
pub struct Request<'r> {
    pub roots: Vec<(&'static dyn Provider, Root)>,
    pub now_ms: i64,
    pub wait: Duration,
    /// What is there is not to be trusted: begin anew.
    pub rebuild: bool,
    pub progress: &'r (dyn Fn(Progress) + Sync),
}

/// Brings the catalog up to date. Gives the best state that could be had, with the trouble met on the way.
pub fn refresh(store: &Store, request: &Request<'_>) -> (Snapshot, Refreshed, Changes) {
    let mut done = Refreshed::default();
    let guard = match lock::acquire(store.root(), request.wait) {
        Ok(guard) => Some(guard),
        Err(Refused::Busy) => {
            done.trouble = Some("index_busy");
            None
        }
        Err(Refused::Impossible) => {
            done.trouble = Some("index_not_writable");
            None
        }
    };
    // Another process may have done the work while we waited.
    let mut current = match store.load() {
        Loaded::Ready(newer) if !request.rebuild => *newer,
        Loaded::Ready(_) | Loaded::Damaged(_) | Loaded::Missing => Snapshot::empty(),
    };
    let changes = look(&current, request);
    if guard.is_some() {
        match Refresh::plan(store, &current, &changes, false).run(request.progress) {
            Ok((snapshot, sources)) => {
                done.sources = sources;
                return (snapshot, done, changes);
            }
            Err(Failure(why)) => done.trouble = Some(why),
        }
        if let Loaded::Ready(published) = store.load() {
            current = *published;
        }
    }
    // Nothing can be written: what changed is taken into memory for this answer.
    let changes = look(&current, request);
    match Refresh::plan(store, &current, &changes, true).run(request.progress) {
        Ok((snapshot, sources)) => {
            done.sources = sources;
            (snapshot, done, changes)
        }
        Err(Failure(why)) => {
            done.trouble = Some(why);
            (current, done, changes)
        }
    }
}

/// Takes changes into memory, on top of a state, if they are few: cheaper than publishing them, and as right. `None` if they are many.
pub fn overlay(store: &Store, current: &Snapshot, changes: &Changes, most: u64) -> Option<(Snapshot, Refreshed)> {
    const FILES: usize = 16;
    let plan = Refresh::plan(store, current, changes, true);
    let bytes: u64 = plan.jobs.iter().map(work).sum();
    if current.messages.is_none() || plan.jobs.len() > FILES || bytes > most || plan.frame.sources.len() > 4 * FILES {
        return None;
    }
    let (snapshot, sources) = plan.overlay().ok()?;
    Some((snapshot, Refreshed { sources, trouble: None }))
}

/// Compares the stores with a state of the catalog.
pub fn look(snapshot: &Snapshot, request: &Request<'_>) -> Changes {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    scan(snapshot.tables(), request.roots.clone(), request.now_ms, threads)
}

/// Whether there is anything to do: changes, sources left over from an interrupted pass, or another parser.
pub fn is_current(tables: &Tables<'_>, changes: &Changes) -> bool {
    changes.is_empty()
        && tables.pending == 0
        && !tables.sources.iter().flatten().any(|s| outdated(tables, s, &changes.active))
        || changes.new_roots.is_empty()
            && changes.dirs.is_empty()
            && tables.pending == 0
            && only_unsure(tables, changes)
}

fn outdated(tables: &Tables<'_>, source: &SourceRec<'_>, active: &[Active]) -> bool {
    let root = tables.dir(source.file.dir).map(|d| d.root);
    active
        .iter()
        .any(|a| Some(a.id) == root && a.provider.info().parser_version != source.parser && source.read)
}

/// Files written just before they were read, that a look at their content shows to be as they were.
fn only_unsure(tables: &Tables<'_>, changes: &Changes) -> bool {
    const FEW: usize = 64;
    changes.files.len() <= FEW
        && changes
            .files
            .iter()
            .all(|f| matches!(f, FileChange::Unsure(id) if unchanged(tables, *id, &changes.active)))
        && !tables.sources.iter().flatten().any(|s| outdated(tables, s, &changes.active))
}

fn unchanged(tables: &Tables<'_>, id: u32, active: &[Active]) -> bool {
    let Some(rec) = tables.source(id) else { return false };
    let Some((_, root, rel)) = locate(tables, &rec.file, active) else { return false };
    let Ok((mut file, fp)) = stat::open_regular(&root.path.join(rel)) else { return false };
    mark(&mut file, rec.offset.unwrap_or(fp.size)).is_ok_and(|m| m == rec.mark)
}

/// A file's provider, root and path below it, if its root belongs to this environment.
pub fn locate<'a>(
    tables: &impl Known,
    file: &File<'_>,
    active: &'a [Active],
) -> Option<(&'static dyn Provider, &'a Root, String)> {
    let dir = tables.dir(file.dir)?;
    let a = active.iter().find(|a| a.id == dir.root)?;
    let rel = if dir.rel.is_empty() {
        file.name.clone().into_owned()
    } else {
        format!("{}/{}", dir.rel, file.name)
    };
    Some((a.provider, &a.root, rel))
}

struct Failure(&'static str);

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

/// One refresh under the lock.
struct Refresh<'s> {
    store: &'s Store,
    current: &'s Snapshot,
    /// Into memory, not to disk.
    memory: bool,
    fresh: bool,
    frame: Frame<'static>,
    jobs: Vec<Job>,
    removed: Vec<u32>,
}

impl<'s> Refresh<'s> {
    fn plan(store: &'s Store, current: &'s Snapshot, changes: &Changes, memory: bool) -> Self {
        let tables = current.tables();
        let fresh = current.messages.is_none();
        let mut plan = Self {
            store,
            current,
            memory,
            fresh,
            frame: Frame::default(),
            jobs: Vec::new(),
            removed: Vec::new(),
        };
        plan.frame.roots = changes.new_roots.clone();
        let mut new_dirs: HashMap<u32, &Dir<'static>> = HashMap::new();
        for change in &changes.dirs {
            match change {
                DirChange::Put(id, dir) => {
                    new_dirs.insert(*id, dir);
                    plan.frame.dirs.push((*id, Some(dir.clone())));
                }
                DirChange::Gone(id) => plan.frame.dirs.push((*id, None)),
            }
        }
        let place = |file: &File<'_>| -> Option<(&'static dyn Provider, Root, String)> {
            let dir = new_dirs
                .get(&file.dir)
                .map(|d| (d.root, &d.rel))
                .or_else(|| tables.dir(file.dir).map(|d| (d.root, &d.rel)))?;
            let a = changes.active.iter().find(|a| a.id == dir.0)?;
            let rel = if dir.1.is_empty() {
                file.name.clone().into_owned()
            } else {
                format!("{}/{}", dir.1, file.name)
            };
            Some((a.provider, a.root.clone(), rel))
        };
        let mut next = tables.sources.len() as u32;
        let mut touched = std::collections::HashSet::new();
        for change in &changes.files {
            match change {
                FileChange::New(file) => {
                    let rec = unread(file.clone());
                    plan.add(next, rec, place(file));
                    next += 1;
                }
                FileChange::Changed(id, file) => {
                    touched.insert(*id);
                    plan.changed(*id, file, place(file));
                }
                FileChange::Unsure(id) => plan.unsure(*id, &changes.active, place(&unsure_file(tables, *id))),
                FileChange::Gone(id) => {
                    touched.insert(*id);
                    plan.frame.sources.push((*id, None));
                    plan.removed.extend(tables.units_of(*id));
                }
            }
        }
        plan.left_over(changes, &touched, place);
        plan.jobs.sort_by_key(|j| std::cmp::Reverse(j.rec.file.fingerprint.mtime_ns));
        plan
    }

    fn add(
        &mut self,
        id: u32,
        rec: SourceRec<'static>,
        place: Option<(&'static dyn Provider, Root, String)>,
    ) {
        let Some((provider, root, rel)) = place else { return };
        if rec.file.health != Health::Good {
            self.frame
                .sources
                .push((id, Some(SourceRec { read: true, parser: provider.info().parser_version, ..rec })));
            return;
        }
        let tables = self.current.tables();
        let old = tables.units_of(id).iter().filter_map(|u| Some((*u, tables.unit(*u)?)));
        let units: HashMap<String, OldUnit> = old
            .clone()
            .map(|(id, u)| (u.row.clone().into_owned(), OldUnit { id, stamp: u.stamp, seq: u.seq }))
            .collect();
        let facts = rec.offset.and_then(|_| old.clone().find(|(_, u)| u.row.is_empty())).map(|(_, u)| {
            let mut facts = u.facts.clone().into_owned();
            let texts = self.current.read_texts(u.texts);
            facts.summaries = texts.summaries;
            facts.recap = Some(texts.recap).filter(|r| !r.is_empty());
            facts
        });
        self.jobs.push(Job { id, provider, root, rel, rec, units, facts });
    }

    fn changed(
        &mut self,
        id: u32,
        file: &File<'static>,
        place: Option<(&'static dyn Provider, Root, String)>,
    ) {
        let tables = self.current.tables();
        let Some(old) = tables.source(id) else { return };
        let mut rec = own(old);
        // Another file under the same name is read from its start.
        if !file.fingerprint.same_file(&old.file.fingerprint) {
            rec.offset = None;
        }
        rec.file = file.clone();
        match file.health {
            Health::NotRegular => {
                self.removed.extend(tables.units_of(id));
                self.frame.sources.push((id, Some(SourceRec { read: true, offset: None, ..rec })));
            }
            Health::Good => self.add(id, rec, place),
            _ => self.frame.sources.push((id, Some(SourceRec { read: true, ..rec }))),
        }
    }

    fn unsure(&mut self, id: u32, active: &[Active], place: Option<(&'static dyn Provider, Root, String)>) {
        let tables = self.current.tables();
        let Some(old) = tables.source(id) else { return };
        let mut rec = own(old);
        rec.file.racy = false;
        if unchanged(tables, id, active) {
            self.frame.sources.push((id, Some(rec)));
        } else {
            self.add(id, rec, place);
        }
    }

    /// Sources that an interrupted pass did not reach, and those read by another version of their parser.
    fn left_over(
        &mut self,
        changes: &Changes,
        touched: &std::collections::HashSet<u32>,
        place: impl Fn(&File<'_>) -> Option<(&'static dyn Provider, Root, String)>,
    ) {
        let tables = self.current.tables();
        for (id, rec) in tables.sources.iter().enumerate().filter_map(|(i, s)| Some((i as u32, s.as_ref()?)))
        {
            let due = !rec.read || outdated(tables, rec, &changes.active);
            let planned = touched.contains(&id) || self.jobs.iter().any(|j| j.id == id);
            if due && !planned {
                self.add(id, SourceRec { offset: None, ..own(rec) }, place(&rec.file));
            }
        }
    }

    fn run(mut self, progress: &(dyn Fn(Progress) + Sync)) -> Result<(Snapshot, usize), Failure> {
        let (index, fields) = self.open()?;
        let bytes: u64 = self.jobs.iter().map(work).sum();
        let mut output = Output::Index(writer(&index, bytes)?);
        if !self.memory {
            self.store.sweep(self.current.payload.catalog);
        }
        let tables = self.current.tables();
        let next_unit = AtomicU32::new(tables.units.len() as u32);
        let mut state = self.published();
        let mut seen = Progress { sources: self.jobs.len(), bytes, ..Progress::default() };
        self.frame.units.extend(self.removed.iter().map(|u| (*u, None)));
        for unit in &self.removed {
            output.delete(&fields, *unit);
        }
        self.frame.sources.extend(
            self.jobs
                .iter()
                .filter(|_| bytes > COMMIT_EVERY)
                .map(|j| (j.id, Some(SourceRec { read: false, ..j.rec.clone() }))),
        );
        let mut jobs = std::mem::take(&mut self.jobs).into_iter().peekable();
        let total = seen.sources;
        loop {
            let batch = next_batch(&mut jobs);
            let done = seen.sources_done + batch.len();
            let outcomes = read_all(
                batch,
                &Target { output: &output, fields, next_unit: &next_unit },
                &mut seen,
                progress,
            )?;
            let mut frame = std::mem::take(&mut self.frame);
            frame.pending = (total - done) as u32;
            let texts = fill(&mut frame, outcomes, &state);
            state = self.publish(&mut output, frame, texts, state)?;
            if jobs.peek().is_none() {
                break;
            }
        }
        if let Output::Index(writer) = &mut output
            && !self.memory
        {
            merge::tidy(&index, writer)?;
        }
        drop(output);
        let expected = Some(&state.payload).filter(|_| !self.memory);
        let mut messages = open_messages(&index, fields, expected).map_err(Failure)?;
        if let Some(disk) = self.current.messages.as_ref().filter(|_| self.memory) {
            messages.searchers.extend(disk.searchers.iter().cloned());
        }
        let snapshot = Snapshot::decode(state.bytes, state.payload, Some(messages), state.texts);
        Ok((snapshot.ok_or(Failure("index_damaged"))?, total))
    }

    /// Takes a few sources into a segment in memory.
    fn overlay(mut self) -> Result<(Snapshot, usize), Failure> {
        let (builder, fields) = Store::index_in_memory()?;
        let segment = builder.single_segment_index_writer(RamDirectory::create(), OVERLAY_BUFFER)?;
        let output = Output::Segment(Mutex::new(segment));
        let next_unit = AtomicU32::new(self.current.tables().units.len() as u32);
        let jobs = std::mem::take(&mut self.jobs);
        let sources = jobs.len();
        let mut seen = Progress::default();
        let outcomes = read_all(jobs, &Target { output: &output, fields, next_unit: &next_unit }, &mut seen, &|_| {})?;
        let mut frame = std::mem::take(&mut self.frame);
        frame.units.extend(self.removed.iter().map(|u| (*u, None)));
        frame.pending = self.current.tables().pending;
        let mut state = self.published();
        let texts = fill(&mut frame, outcomes, &state);
        let mut messages = self.current.messages.clone();
        if let Output::Segment(segment) = output
            && sources > 0
        {
            let index = segment.into_inner().map_err(|_| Failure("index_damaged"))?.finalize()?;
            let more = open_messages(&index, fields, None).map_err(Failure)?;
            messages.get_or_insert(Messages { searchers: Vec::new(), fields }).searchers.extend(more.searchers);
        }
        state.add_in_memory(frame, &texts);
        let snapshot = Snapshot::decode(state.bytes, state.payload, messages, state.texts);
        Ok((snapshot.ok_or(Failure("index_damaged"))?, sources))
    }

    fn published(&self) -> Published {
        Published {
            payload: self.current.payload.clone(),
            bytes: self.current.bytes().to_vec(),
            texts: self.current.texts.clone(),
            fresh: self.fresh,
        }
    }

    fn open(&self) -> Result<(Index, Fields), Failure> {
        if self.memory {
            let (builder, fields) = Store::index_in_memory()?;
            return Ok((builder.create_in_ram()?, fields));
        }
        if !self.fresh
            && let Ok(Some(found)) = self.store.open_index()
        {
            return Ok(found);
        }
        Ok(self.store.create_index()?)
    }

    /// Writes the catalog's part, then commits the messages with the payload that makes both valid.
    fn publish(&self, output: &mut Output, mut frame: Frame<'static>, texts: Vec<u8>, mut state: Published) -> Result<Published, Failure> {
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
        }
        state.bytes.extend_from_slice(&encoded);
        let payload = match self.compacted(&state, &texts) {
            Some((frames, texts)) => {
                state.bytes = [super::tables::MAGIC.as_slice(), &frames].concat();
                self.store.write_catalog(&state.payload, &frames, &texts, true)?
            }
            None => self.store.write_catalog(&state.payload, &encoded, &texts, state.fresh)?,
        };
        commit.set_payload(&serde_json::to_string(&payload).unwrap_or_default());
        commit.commit()?;
        Ok(Published { texts: self.store.texts(&payload), payload, bytes: state.bytes, fresh: false })
    }

    /// The whole catalog as one frame, when its log has grown to a multiple of what it says.
    fn compacted(&self, state: &Published, new_texts: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        const SLACK: usize = 1 << 20;
        if state.fresh || state.bytes.len() < 2 * self.current.tables().base_len + SLACK {
            return None;
        }
        let tables = Tables::decode(&state.bytes)?;
        if state.bytes.len() < 2 * tables.base_len + SLACK {
            return None;
        }
        let path = self.store.dir.file(&format!("texts-{}", state.payload.catalog));
        let mut all = stat::read_bounded(&path, u64::MAX).ok()?;
        all.truncate(usize::try_from(state.payload.texts_len).ok()?);
        all.extend_from_slice(new_texts);
        let mut frame = tables.to_frame();
        let mut texts = Vec::new();
        for unit in frame.units.iter_mut().filter_map(|(_, u)| u.as_mut()).filter(|u| u.texts.len > 0) {
            let from = unit.texts.offset as usize;
            let bytes = all.get(from..from + unit.texts.len as usize)?;
            unit.texts.offset = texts.len() as u64;
            texts.extend_from_slice(bytes);
        }
        Some((encode(&frame), texts))
    }
}

/// The catalog file's content as published so far.
struct Published {
    payload: Payload,
    bytes: Vec<u8>,
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
        self.payload.boot = format!("{:x}", xxhash_rust::xxh3::xxh3_64(&[self.payload.boot.as_bytes(), &encoded].concat()));
        self.payload.generation = frame.generation;
        self.fresh = false;
    }
}

fn unsure_file(tables: &Tables<'_>, id: u32) -> File<'static> {
    tables.source(id).map(|s| own(s).file).unwrap_or(File {
        dir: u32::MAX,
        name: Cow::Borrowed(""),
        kind: 0,
        fingerprint: stat::Fingerprint::default(),
        racy: false,
        link: false,
        health: Health::Good,
    })
}

fn unread(file: File<'static>) -> SourceRec<'static> {
    SourceRec {
        file,
        parser: 0,
        read: false,
        skipped: 0,
        shortened: 0,
        offset: None,
        mark: 0,
        state: Cow::Borrowed(&[]),
    }
}

fn own(rec: &SourceRec<'_>) -> SourceRec<'static> {
    SourceRec {
        file: File { name: Cow::Owned(rec.file.name.clone().into_owned()), ..rec.file },
        state: Cow::Owned(rec.state.clone().into_owned()),
        ..*rec
    }
}

/// Bytes a job is likely to read.
fn work(job: &Job) -> u64 {
    let size = job.rec.file.fingerprint.size;
    if job.facts.is_some() { size.saturating_sub(job.rec.offset.unwrap_or(0)) } else { size }
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

fn next_batch(jobs: &mut std::iter::Peekable<std::vec::IntoIter<Job>>) -> Vec<Job> {
    let mut batch = Vec::new();
    let mut bytes = 0;
    while let Some(job) = jobs.next_if(|_| bytes < COMMIT_EVERY) {
        bytes += work(&job);
        batch.push(job);
    }
    batch
}

/// Reads a batch on all cores.
fn read_all(
    batch: Vec<Job>,
    target: &Target<'_>,
    seen: &mut Progress,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<Outcome>, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(batch.len()).max(1);
    let jobs: Vec<Mutex<Option<Job>>> = batch.into_iter().map(|j| Mutex::new(Some(j))).collect();
    let next = AtomicUsize::new(0);
    let shown = Mutex::new(*seen);
    let worker = || -> tantivy::Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        while let Some(slot) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(job) = slot.lock().ok().and_then(|mut j| j.take()) else { continue };
            let outcome = ingest(job, target)?;
            if let Ok(mut p) = shown.lock() {
                p.sources_done += 1;
                p.bytes_done += outcome.bytes;
                progress(*p);
            }
            outcomes.push(outcome);
        }
        Ok(outcomes)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = vec![worker()];
        all.extend(
            others.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(tantivy::TantivyError::Poisoned))),
        );
        all
    });
    if let Ok(p) = shown.lock() {
        *seen = *p;
    }
    let mut outcomes = Vec::new();
    for r in results {
        outcomes.extend(r?);
    }
    Ok(outcomes)
}

/// Adds what was read to the frame. Returns the longer texts to append.
fn fill(frame: &mut Frame<'static>, outcomes: Vec<Outcome>, state: &Published) -> Vec<u8> {
    let base = state.texts.len + state.texts.more.len() as u64;
    let mut texts = Vec::new();
    for outcome in outcomes {
        frame.units.extend(outcome.removed.iter().map(|u| (*u, None)));
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
