//! One published state: tables and messages that belong together.

use super::schema::Fields;
use super::tables::{Tables, TextRef};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use tantivy::Searcher;

self_cell::self_cell!(
    struct Cell {
        owner: Vec<u8>,
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
    pub texts: Option<PathBuf>,
}

/// The message index as of a snapshot.
#[derive(Clone)]
pub struct Messages {
    pub searcher: Searcher,
    pub fields: Fields,
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
        let cell = Cell::new(Vec::new(), |_| Tables::default());
        Self { cell: Arc::new(cell), payload: Payload::default(), messages: None, texts: None }
    }

    /// From a catalog file's bytes; `None` if they are damaged.
    pub fn decode(bytes: Vec<u8>, payload: Payload, messages: Option<Messages>, texts: Option<PathBuf>) -> Option<Self> {
        let cell = Cell::try_new(bytes, |b| Tables::decode(b).ok_or(())).ok()?;
        Some(Self { cell: Arc::new(cell), payload, messages, texts })
    }

    pub fn tables(&self) -> &Tables<'_> {
        self.cell.borrow_dependent()
    }

    pub fn bytes(&self) -> &[u8] {
        self.cell.borrow_owner()
    }

    /// The summaries and recap at a place, read from the file.
    pub fn read_texts(&self, at: TextRef) -> Texts<'static> {
        self.text_bytes(at.offset, u64::from(at.len)).and_then(|b| own_texts(&b)).unwrap_or_default()
    }

    /// All of the texts file, to look through.
    pub fn all_texts(&self) -> Vec<u8> {
        self.text_bytes(0, self.payload.texts_len).unwrap_or_default()
    }

    fn text_bytes(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        use std::io::{Read, Seek};
        if len == 0 || offset.checked_add(len)? > self.payload.texts_len {
            return None;
        }
        let (mut file, _) = crate::io::stat::open_regular(self.texts.as_ref()?).ok()?;
        file.seek(std::io::SeekFrom::Start(offset)).ok()?;
        let mut bytes = vec![0; usize::try_from(len).ok()?];
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
