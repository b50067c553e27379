//! The cache directory: finding, opening and replacing what lies there.

use super::directory::CacheDirectory;
use super::schema::{self, Fields};
use super::snapshot::{Messages, Payload, Snapshot, TextFile};
use super::tables::MAGIC;
use crate::io::cache_dir::{CacheDir, boot_id};
use crate::io::stat::{self, Fingerprint};
use serde::{Deserialize, Serialize};
use std::io;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError};
use tantivy::{Index, IndexBuilder, IndexSettings, ReloadPolicy, TantivyError};

/// The catalog's place on disk.
#[derive(Debug, Clone)]
pub struct Store {
    root: CacheDir,
    /// The directory of this format's version.
    pub dir: CacheDir,
}

/// The files of a published state as they were then.
#[derive(Serialize, Deserialize)]
struct Seal {
    generation: u64,
    boot: String,
    files: Vec<(String, Fingerprint)>,
}

/// What was found there.
pub enum Loaded {
    Ready(Box<Snapshot>),
    /// Nothing yet.
    Missing,
    /// Something that does not hold together.
    Damaged(&'static str),
}

/// Figures of the cache for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub path: String,
    pub state: &'static str,
    pub generation: u64,
    pub sources: usize,
    pub units: usize,
    pub messages: u64,
    pub segments: usize,
    pub pending: u32,
    pub bytes: u64,
}

impl Store {
    pub fn new(root: CacheDir) -> Self {
        let dir = root.sub(&format!("v{}", schema::VERSION));
        Self { root, dir }
    }

    /// The directory above all versions, where the lock lies.
    pub fn root(&self) -> &CacheDir {
        &self.root
    }

    /// The published state.
    pub fn load(&self) -> Loaded {
        // A writer may publish between our reading two files: look again.
        const TRIES: usize = 4;
        let mut last = "cannot be opened";
        for _ in 0..TRIES {
            match self.try_load() {
                Ok(Some(snapshot)) => return Loaded::Ready(Box::new(snapshot)),
                Ok(None) => return Loaded::Missing,
                Err(why) => last = why,
            }
        }
        Loaded::Damaged(last)
    }

    fn try_load(&self) -> Result<Option<Snapshot>, &'static str> {
        let Some((index, fields)) = self.open_index()? else { return Ok(None) };
        let payload = payload(&index)?;
        let Some(payload) = payload else { return Ok(None) };
        self.check(&index, &payload)?;
        let bytes = self.read_catalog(&payload).ok_or("catalog unreadable")?;
        let messages = open_messages(&index, fields, Some(&payload))?;
        let texts = self.texts(&payload);
        Snapshot::decode(bytes, payload, Some(messages), texts).map(Some).ok_or("catalog damaged")
    }

    /// The file of longer texts that belongs to a commit.
    pub fn texts(&self, payload: &Payload) -> TextFile {
        TextFile {
            path: Some(self.dir.file(&texts_name(payload.catalog))),
            len: payload.texts_len,
            ..TextFile::default()
        }
    }

    /// Opens the message index; `None` if there is none.
    pub fn open_index(&self) -> Result<Option<(Index, Fields)>, &'static str> {
        let directory = match CacheDirectory::open(self.dir.sub("ix")) {
            Ok(d) => d,
            Err(OpenDirectoryError::DoesNotExist(_)) => return Ok(None),
            Err(_) => return Err("index directory unreadable"),
        };
        let (expected, fields) = schema::schema().map_err(|_| "schema unusable")?;
        match Index::open(directory) {
            Ok(index) if index.schema() == expected => {
                schema::register(&index);
                Ok(Some((index, fields)))
            }
            Ok(_) => Err("index of another schema"),
            Err(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)))
                if self.dir.sub("ix").names().is_empty() =>
            {
                Ok(None)
            }
            Err(_) => Err("index damaged"),
        }
    }

    /// Makes an empty message index in place of whatever is there.
    pub fn create_index(&self) -> Result<(Index, Fields), TantivyError> {
        let ix = self.dir.sub("ix");
        self.dir.remove()?;
        ix.create()?;
        let (schema, fields) = schema::schema()?;
        let directory = CacheDirectory::open(ix)?;
        let index = Index::create(directory, schema, IndexSettings::default())?;
        schema::register(&index);
        Ok((index, fields))
    }

    /// The making of a message index in memory.
    pub fn index_in_memory() -> Result<(IndexBuilder, Fields), TantivyError> {
        let (schema, fields) = schema::schema()?;
        Ok((Index::builder().schema(schema).tokenizers(schema::tokenizers()), fields))
    }

    fn read_catalog(&self, payload: &Payload) -> Option<Vec<u8>> {
        use std::io::Read;
        let (file, fp) = stat::open_regular(&self.dir.file(&catalog_name(payload.catalog))).ok()?;
        if fp.size < payload.catalog_len {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(payload.catalog_len).ok()? + (64 << 10));
        file.take(payload.catalog_len).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 == payload.catalog_len).then_some(bytes)
    }

    /// Whether the files are as they were when they were published. What was written without waiting for the disk is verified once
    /// after a restart of the machine, and whatever was touched since is verified before it is believed.
    fn check(&self, index: &Index, payload: &Payload) -> Result<(), &'static str> {
        let seal = self.read_seal().filter(|s| s.generation == payload.generation && s.boot == boot_id());
        if seal.is_some_and(|s| s.files == self.files(payload)) {
            return Ok(());
        }
        if self.texts_size(payload) < payload.texts_len || !verify(index) {
            return Err("index does not match its checksums");
        }
        self.seal(payload);
        Ok(())
    }

    fn read_seal(&self) -> Option<Seal> {
        const MOST: u64 = 1 << 20;
        postcard::from_bytes(&stat::read_bounded(&self.dir.file("seal"), MOST).ok()?).ok()
    }

    /// Notes the state of all files of a published state.
    pub fn seal(&self, payload: &Payload) {
        let seal = Seal { generation: payload.generation, boot: boot_id(), files: self.files(payload) };
        let _ = self.dir.write_atomic("seal", &postcard::to_allocvec(&seal).unwrap_or_default());
    }

    /// The files that have no check of their own at reading: all but the catalog.
    fn files(&self, payload: &Payload) -> Vec<(String, Fingerprint)> {
        let ix = self.dir.sub("ix");
        let mut names = ix.names();
        names.retain(|n| !n.starts_with(".tantivy") && !n.ends_with(".tmp"));
        names.sort();
        let look = |dir: &CacheDir, name: String| Some((name.clone(), stat::stat(&dir.file(&name)).ok()?.0));
        let texts = look(&self.dir, texts_name(payload.catalog));
        names.into_iter().filter_map(|n| look(&ix, n)).chain(texts).collect()
    }

    fn texts_size(&self, payload: &Payload) -> u64 {
        stat::stat(&self.dir.file(&texts_name(payload.catalog))).map_or(0, |(fp, _)| fp.size)
    }

    /// Appends frames and texts to the catalog, or begins a new one with them. Returns the payload to commit.
    pub fn write_catalog(
        &self,
        old: &Payload,
        frames: &[u8],
        texts: &[u8],
        fresh: bool,
    ) -> io::Result<Payload> {
        let mut new = Payload { generation: old.generation + 1, boot: boot_id(), ..old.clone() };
        if fresh || old.catalog == 0 {
            new.catalog = old.catalog + 1;
            self.dir.write_tail(&catalog_name(new.catalog), 0, &[MAGIC.as_slice(), frames].concat())?;
            self.dir.write_tail(&texts_name(new.catalog), 0, texts)?;
            (new.catalog_len, new.texts_len) = ((MAGIC.len() + frames.len()) as u64, texts.len() as u64);
        } else {
            self.dir.write_tail(&catalog_name(new.catalog), old.catalog_len, frames)?;
            self.dir.write_tail(&texts_name(new.catalog), old.texts_len, texts)?;
            new.catalog_len += frames.len() as u64;
            new.texts_len += texts.len() as u64;
        }
        Ok(new)
    }

    /// Removes catalogs that no reader can still want, and what crashed writers left.
    pub fn sweep(&self, current: u64) {
        for name in self.dir.names() {
            let number = name
                .strip_prefix("catalog-")
                .or(name.strip_prefix("texts-"))
                .and_then(|n| n.parse::<u64>().ok());
            if number.is_some_and(|n| n + 1 < current || n > current) || name.ends_with(".tmp") {
                let _ = self.dir.remove_file(&name);
            }
        }
        let ix = self.dir.sub("ix");
        for name in ix.names().iter().filter(|n| n.ends_with(".tmp")) {
            let _ = ix.remove_file(name);
        }
    }

    pub fn status(&self) -> Status {
        let mut status = Status {
            path: self.root.path().to_string_lossy().into_owned(),
            state: "missing",
            generation: 0,
            sources: 0,
            units: 0,
            messages: 0,
            segments: 0,
            pending: 0,
            bytes: self.root.size(),
        };
        match self.load() {
            Loaded::Missing => {}
            Loaded::Damaged(_) => status.state = "damaged",
            Loaded::Ready(snapshot) => {
                let tables = snapshot.tables();
                status.state = if tables.pending == 0 { "complete" } else { "incomplete" };
                status.generation = tables.generation;
                status.pending = tables.pending;
                status.sources = tables.sources.iter().flatten().count();
                status.units = tables.units.iter().flatten().count();
                if let Some(messages) = &snapshot.messages {
                    status.messages = messages.segments().map(|(_, s)| u64::from(s.num_docs())).sum();
                    status.segments = messages.segments().count();
                }
            }
        }
        status
    }

    /// Reads everything and compares it with its checksums. `None` if there is nothing.
    pub fn verify(&self) -> Option<bool> {
        match self.load() {
            Loaded::Missing => None,
            Loaded::Damaged(_) => Some(false),
            Loaded::Ready(_) => Some(matches!(self.open_index(), Ok(Some((index, _))) if verify(&index))),
        }
    }
}

fn verify(index: &Index) -> bool {
    index.validate_checksum().is_ok_and(|damaged| damaged.is_empty())
}

fn catalog_name(n: u64) -> String {
    format!("catalog-{n}")
}

fn texts_name(n: u64) -> String {
    format!("texts-{n}")
}

/// The payload of the last commit.
pub fn payload(index: &Index) -> Result<Option<Payload>, &'static str> {
    let metas = index.load_metas().map_err(|_| "index damaged")?;
    match metas.payload {
        None => Ok(None),
        Some(text) => serde_json::from_str(&text).map(Some).map_err(|_| "index without its catalog"),
    }
}

/// A searcher over exactly the commit that the payload was read from; over whatever there is if none is named.
pub fn open_messages(
    index: &Index,
    fields: Fields,
    expected: Option<&Payload>,
) -> Result<Messages, &'static str> {
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(1).try_into();
    let reader: tantivy::IndexReader = reader.map_err(|_| "index segment damaged")?;
    if expected.is_some() && payload(index)?.as_ref() != expected {
        return Err("index changed while it was opened");
    }
    Ok(Messages { searchers: vec![reader.searcher()], fields })
}
