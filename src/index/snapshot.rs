//! One published state: tables and messages that belong together.

use super::schema::Fields;
use super::tables::{Tables, TextRef};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tantivy::{Searcher, SegmentReader, Term};

/// What tables borrow from: a catalog file's bytes, or a frame's on top of other tables.
struct Source {
    base: Option<Arc<Cell>>,
    bytes: Vec<u8>,
}

self_cell::self_cell!(
    struct Cell {
        owner: Source,
        #[covariant]
        dependent: Tables,
    }
);

/// What a commit says of the catalog that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Payload {
    pub generation: u64,
    /// Number of the catalog file, and how much of it counts.
    pub catalog: u64,
    pub catalog_len: u64,
    pub texts_len: u64,
    pub boot: String,
}

/// A state of the catalog. Cheap to clone; later refreshes do not touch it.
#[derive(Clone)]
pub struct Snapshot {
    cell: Arc<Cell>,
    pub payload: Payload,
    /// Absent while the catalog is empty.
    pub messages: Option<Messages>,
    pub texts: TextFile,
    derived: Arc<OnceLock<Box<dyn Any + Send + Sync>>>,
}

/// The message index as of a snapshot: what is on disk, and what is only in memory.
#[derive(Clone)]
pub struct Messages {
    pub searchers: Vec<Searcher>,
    pub fields: Fields,
}

impl Messages {
    /// All segments, with the searcher each belongs to. A segment's number is its place here.
    pub fn segments(&self) -> impl Iterator<Item = (&Searcher, &SegmentReader)> {
        self.searchers.iter().flat_map(|s| s.segment_readers().iter().map(move |r| (s, r)))
    }

    pub fn segment(&self, number: u32) -> Option<&SegmentReader> {
        self.segments().nth(number as usize).map(|(_, r)| r)
    }

    /// In how many messages a word stands.
    pub fn doc_freq(&self, term: &Term) -> u64 {
        self.searchers.iter().map(|s| s.doc_freq(term).unwrap_or(0)).sum()
    }
}

/// The longer texts: a file, and what is only in memory after it.
#[derive(Debug, Clone, Default)]
pub struct TextFile {
    pub path: Option<PathBuf>,
    pub len: u64,
    pub more: Arc<Vec<u8>>,
}

/// The longer texts of a unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Texts<'a> {
    #[serde(borrow)]
    pub summaries: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    pub recap: Cow<'a, str>,
}

impl Snapshot {
    /// An empty catalog.
    pub fn empty() -> Self {
        let cell = Cell::new(Source { base: None, bytes: Vec::new() }, |_| Tables::default());
        Self {
            cell: Arc::new(cell),
            payload: Payload::default(),
            messages: None,
            texts: TextFile::default(),
            derived: Arc::default(),
        }
    }

    /// From a catalog file's bytes; `None` if they are damaged.
    pub fn decode(
        bytes: Vec<u8>,
        payload: Payload,
        messages: Option<Messages>,
        texts: TextFile,
    ) -> Option<Self> {
        let source = Source { base: None, bytes };
        let cell = Cell::try_new(source, |s| Tables::decode(&s.bytes).ok_or(())).ok()?;
        Some(Self { cell: Arc::new(cell), payload, messages, texts, derived: Arc::default() })
    }

    pub fn tables(&self) -> &Tables<'_> {
        self.cell.borrow_dependent()
    }

    /// What a reader works out from this state, kept with it: the state does not change, so it need not be worked out again.
    pub fn derived<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        self.derived.get_or_init(|| Box::new(make())).downcast_ref()
    }

    /// The content of the catalog file that would give this state.
    pub fn bytes(&self) -> Vec<u8> {
        fn collect(cell: &Cell, out: &mut Vec<u8>) {
            let source = cell.borrow_owner();
            if let Some(base) = &source.base {
                collect(base, out);
            }
            out.extend_from_slice(&source.bytes);
        }
        let mut out = Vec::new();
        collect(&self.cell, &mut out);
        out
    }

    /// This state with a further frame, without reading again what came before.
    pub fn extend(
        &self,
        frame: Vec<u8>,
        payload: Payload,
        messages: Option<Messages>,
        texts: TextFile,
    ) -> Option<Self> {
        let source = Source { base: Some(self.cell.clone()), bytes: frame };
        let cell = Cell::try_new(source, |s| {
            let base = s.base.as_ref().ok_or(())?.borrow_dependent();
            base.with(&s.bytes).ok_or(())
        });
        Some(Self { cell: Arc::new(cell.ok()?), payload, messages, texts, derived: Arc::default() })
    }

    /// The summaries and recap at a place.
    pub fn read_texts(&self, at: TextRef) -> Texts<'static> {
        self.texts.bytes(at.offset, u64::from(at.len)).and_then(|b| own_texts(&b)).unwrap_or_default()
    }

    /// All longer texts, to look through.
    pub fn all_texts(&self) -> Vec<u8> {
        let mut all = self.texts.bytes(0, self.texts.len).unwrap_or_default();
        all.extend_from_slice(&self.texts.more);
        all
    }
}

impl TextFile {
    fn bytes(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        use std::io::{Read, Seek};
        if len == 0 {
            return None;
        }
        if let Some(from) = offset.checked_sub(self.len) {
            let from = usize::try_from(from).ok()?;
            return self.more.get(from..from.checked_add(usize::try_from(len).ok()?)?).map(<[u8]>::to_vec);
        }
        let (mut file, _) = crate::io::stat::open_regular(self.path.as_ref()?).ok()?;
        file.seek(std::io::SeekFrom::Start(offset)).ok()?;
        let mut bytes = vec![0; usize::try_from(len.min(self.len)).ok()?];
        file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Reads texts from the bytes at a place.
pub fn texts_at(all: &[u8], at: TextRef) -> Option<Texts<'_>> {
    let from = usize::try_from(at.offset).ok()?;
    postcard::from_bytes(all.get(from..from.checked_add(at.len as usize)?)?).ok()
}

fn own_texts(bytes: &[u8]) -> Option<Texts<'static>> {
    let texts: Texts<'_> = postcard::from_bytes(bytes).ok()?;
    Some(Texts {
        summaries: texts.summaries.into_iter().map(|s| Cow::Owned(s.into_owned())).collect(),
        recap: Cow::Owned(texts.recap.into_owned()),
    })
}
