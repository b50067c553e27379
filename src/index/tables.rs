//! What is known of every directory, file and unit: a log of frames, each a set of changes, read back without copying strings.

use crate::discover::{Dir, File, Health, Known, NO_PARENT, RootId};
use crate::model::{Facts, UnitKind};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64;

/// Begins every catalog file.
pub const MAGIC: &[u8; 16] = b"agf-catalog-3\n\0\0";

/// A file of a store and how far it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRec<'a> {
    #[serde(borrow)]
    pub file: File<'a>,
    pub parser: u32,
    /// It was read at least once since it last changed.
    pub read: bool,
    pub skipped: u32,
    pub shortened: u32,
    /// Bytes before this are taken in and need not be read again when the file grows.
    pub offset: Option<u64>,
    /// Hash of what was read: of the bytes before `offset`, or of the whole file.
    #[serde(with = "postcard::fixint::le")]
    pub mark: u64,
    /// The provider's memory at `offset`.
    #[serde(borrow, with = "serde_bytes_cow")]
    pub state: Cow<'a, [u8]>,
}

impl SourceRec<'_> {
    /// Whether it was read, and can be read again.
    pub fn is_there(&self) -> bool {
        self.read && self.file.health != Health::Vanished
    }
}

/// A place in the file of longer texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextRef {
    pub offset: u64,
    pub len: u32,
}

/// A unit: the messages that are replaced together, and what they say of their session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitRec<'a> {
    pub source: u32,
    #[serde(borrow)]
    pub row: Cow<'a, str>,
    pub stamp: u64,
    /// Hash of agent and session key.
    #[serde(with = "postcard::fixint::le")]
    pub session: u64,
    /// Messages handed out so far.
    pub seq: u32,
    #[serde(borrow)]
    pub facts: Facts<'a>,
    pub texts: TextRef,
    /// It is gone from its store and kept in memory of it.
    pub vanished: bool,
}

impl UnitRec<'_> {
    /// The same, as gone from its store.
    pub fn as_vanished(&self) -> UnitRec<'static> {
        UnitRec {
            row: Cow::Owned(self.row.clone().into_owned()),
            facts: self.facts.clone().into_owned(),
            vanished: true,
            ..*self
        }
    }
}

/// A set of changes. `None` deletes.
#[derive(Debug, Clone, Default)]
pub struct Frame<'a> {
    pub generation: u64,
    /// Sources known but not read yet.
    pub pending: u32,
    pub roots: Vec<(u32, RootId<'a>)>,
    pub dirs: Vec<(u32, Option<Dir<'a>>)>,
    pub sources: Vec<(u32, Option<SourceRec<'a>>)>,
    pub units: Vec<(u32, Option<UnitRec<'a>>)>,
}

/// What begins a frame: everything but its entries, which follow one by one and are read straight into the tables.
#[derive(Debug, Serialize, Deserialize)]
struct Head<'a> {
    generation: u64,
    pending: u32,
    #[serde(borrow)]
    roots: Vec<(u32, RootId<'a>)>,
    dirs: u32,
    sources: u32,
    units: u32,
}

/// A frame with its length and hash, as it lies in the file.
pub fn encode(frame: &Frame<'_>) -> Vec<u8> {
    let head = Head {
        generation: frame.generation,
        pending: frame.pending,
        roots: frame.roots.clone(),
        dirs: frame.dirs.len() as u32,
        sources: frame.sources.len() as u32,
        units: frame.units.len() as u32,
    };
    let mut body = postcard::to_allocvec(&head).unwrap_or_default();
    append(&mut body, frame.dirs.iter());
    append(&mut body, frame.sources.iter());
    append(&mut body, frame.units.iter());
    framed(&body)
}

/// A frame's body with its length and hash before it.
fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + 12);
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(body).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fn append(body: &mut Vec<u8>, entries: impl Iterator<Item: Serialize>) {
    for entry in entries {
        body.extend(postcard::to_allocvec(&entry).unwrap_or_default());
    }
}

/// The tables after all frames of a catalog file.
#[derive(Debug, Default)]
pub struct Tables<'a> {
    pub generation: u64,
    pub pending: u32,
    pub roots: Vec<RootId<'a>>,
    pub dirs: Vec<Option<Dir<'a>>>,
    pub sources: Vec<Option<SourceRec<'a>>>,
    pub units: Vec<Option<UnitRec<'a>>>,
    files_in: Groups,
    dirs_in: Groups,
    units_of: Groups,
    /// Whether there are units that are gone from their stores.
    pub lost: bool,
    /// By which parsers the sources of each root were read: pairs of a root's number and a parser's version.
    pub parsers: BTreeSet<(u32, u32)>,
    /// Bytes of the first frame: what the rest is measured against.
    pub base_len: usize,
}

impl<'a> Tables<'a> {
    /// Reads a catalog file; `None` if it is damaged.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut tables = Self::default();
        tables.frames(bytes.strip_prefix(MAGIC.as_slice())?)?;
        tables.group();
        Some(tables)
    }

    /// These tables after further frames.
    pub fn with(&self, frames: &'a [u8]) -> Option<Self> {
        let mut tables = Self {
            generation: self.generation,
            pending: self.pending,
            roots: self.roots.clone(),
            dirs: self.dirs.clone(),
            sources: self.sources.clone(),
            units: self.units.clone(),
            base_len: self.base_len,
            ..Self::default()
        };
        tables.frames(frames)?;
        tables.group();
        Some(tables)
    }

    fn frames(&mut self, mut rest: &'a [u8]) -> Option<()> {
        while !rest.is_empty() {
            let (head, tail) = rest.split_at_checked(12)?;
            let len = u32::from_le_bytes(head[..4].try_into().ok()?) as usize;
            let hash = u64::from_le_bytes(head[4..].try_into().ok()?);
            let (body, tail) = tail.split_at_checked(len)?;
            if xxh3_64(body) != hash {
                return None;
            }
            self.apply(body)?;
            if self.base_len == 0 {
                self.base_len = len;
            }
            rest = tail;
        }
        Some(())
    }

    fn apply(&mut self, body: &'a [u8]) -> Option<()> {
        let (head, rest): (Head<'a>, _) = postcard::take_from_bytes(body).ok()?;
        self.generation = head.generation;
        self.pending = head.pending;
        for (id, root) in head.roots {
            put_root(&mut self.roots, id, root)?;
        }
        let rest = put_all(&mut self.dirs, head.dirs, rest)?;
        let rest = put_all(&mut self.sources, head.sources, rest)?;
        put_all(&mut self.units, head.units, rest).filter(|r| r.is_empty()).map(|_| ())
    }

    fn group(&mut self) {
        let by = |n: usize| n as u32;
        let dirs = self.dirs.len();
        self.files_in = Groups::new(
            dirs,
            self.sources.iter().enumerate().filter_map(|(i, s)| Some((s.as_ref()?.file.dir, by(i)))),
        );
        self.dirs_in = Groups::new(
            dirs,
            self.dirs
                .iter()
                .enumerate()
                .filter_map(|(i, d)| Some((d.as_ref()?.parent, by(i))).filter(|(p, _)| *p != NO_PARENT)),
        );
        let parser = |s: &SourceRec<'_>| Some((self.dirs.get(s.file.dir as usize)?.as_ref()?.root, s.parser));
        let mut parsers: Vec<(u32, u32)> =
            self.sources.iter().flatten().filter(|s| s.is_there()).filter_map(parser).collect();
        parsers.dedup();
        self.parsers = parsers.into_iter().collect();
        self.lost = self.units.iter().flatten().any(|u| u.vanished);
        self.units_of = Groups::new(
            self.sources.len(),
            self.units.iter().enumerate().filter_map(|(i, u)| Some((u.as_ref()?.source, by(i)))),
        );
    }

    pub fn source(&self, id: u32) -> Option<&SourceRec<'a>> {
        self.sources.get(id as usize)?.as_ref()
    }

    pub fn unit(&self, id: u32) -> Option<&UnitRec<'a>> {
        self.units.get(id as usize)?.as_ref()
    }

    /// The sessions whose conversation is in its store.
    pub fn live_sessions(&self) -> impl Iterator<Item = u64> {
        let live = |u: &&UnitRec<'_>| !u.vanished && u.facts.kind == UnitKind::Main;
        self.units.iter().flatten().filter(live).map(|u| u.session)
    }

    pub fn units_of(&self, source: u32) -> &[u32] {
        self.units_of.get(source)
    }

    /// Everything as one frame, as it lies in the file. `move_text` says where a unit's longer texts are from now on.
    pub fn encode(&self, mut move_text: impl FnMut(TextRef) -> Option<TextRef>) -> Option<Vec<u8>> {
        fn all<T>(table: &[Option<T>]) -> impl Iterator<Item = (u32, Option<&T>)> {
            table.iter().enumerate().filter_map(|(i, e)| Some((i as u32, Some(e.as_ref()?))))
        }
        let head = Head {
            generation: self.generation,
            pending: self.pending,
            roots: (0..).zip(self.roots.iter().cloned()).collect(),
            dirs: all(&self.dirs).count() as u32,
            sources: all(&self.sources).count() as u32,
            units: all(&self.units).count() as u32,
        };
        let mut body = postcard::to_allocvec(&head).unwrap_or_default();
        append(&mut body, all(&self.dirs));
        append(&mut body, all(&self.sources));
        for (id, unit) in all(&self.units) {
            // One at a time: a second copy of them all would take as much memory again.
            let mut unit = unit?.clone();
            unit.texts = move_text(unit.texts)?;
            append(&mut body, [(id, Some(&unit))].into_iter());
        }
        Some(framed(&body))
    }
}

impl Known for Tables<'_> {
    fn roots(&self) -> &[RootId<'_>] {
        &self.roots
    }

    fn dir(&self, id: u32) -> Option<&Dir<'_>> {
        self.dirs.get(id as usize)?.as_ref()
    }

    fn dir_count(&self) -> u32 {
        self.dirs.len() as u32
    }

    fn file(&self, id: u32) -> Option<&File<'_>> {
        self.source(id).map(|s| &s.file)
    }

    fn dirs_in(&self, dir: u32) -> &[u32] {
        self.dirs_in.get(dir)
    }

    fn files_in(&self, dir: u32) -> &[u32] {
        self.files_in.get(dir)
    }
}

/// Roots are numbered without gaps: one that is let go of stays as an empty name.
fn put_root<'a>(roots: &mut Vec<RootId<'a>>, id: u32, root: RootId<'a>) -> Option<()> {
    let at = id as usize;
    if at == roots.len() {
        roots.push(root);
        return Some(());
    }
    *roots.get_mut(at)? = root;
    Some(())
}

/// Reads entries into a table; returns what follows them.
fn put_all<'a, T: Deserialize<'a>>(
    table: &mut Vec<Option<T>>,
    count: u32,
    mut bytes: &'a [u8],
) -> Option<&'a [u8]> {
    const MOST: u32 = 1 << 28;
    // No entry is shorter than two bytes: a false count must not make memory run out.
    table.reserve((count as usize).min(bytes.len() / 2));
    for _ in 0..count {
        let ((id, entry), rest): ((u32, Option<T>), _) = postcard::take_from_bytes(bytes).ok()?;
        bytes = rest;
        match table.get_mut(id as usize) {
            Some(slot) => *slot = entry,
            None if id > MOST => return None,
            None => {
                table.resize_with(id as usize, || None);
                table.push(entry);
            }
        }
    }
    Some(bytes)
}

/// Numbers grouped by an owner's number.
#[derive(Debug, Default)]
struct Groups {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Groups {
    fn new(owners: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; owners + 1];
        for (owner, _) in pairs.clone() {
            if let Some(n) = starts.get_mut(owner as usize + 1) {
                *n += 1;
            }
        }
        for i in 0..owners {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut members = vec![0; starts[owners] as usize];
        for (owner, member) in pairs.filter(|(o, _)| (*o as usize) < owners) {
            members[next[owner as usize] as usize] = member;
            next[owner as usize] += 1;
        }
        Self { starts, members }
    }

    fn get(&self, owner: u32) -> &[u32] {
        let at = owner as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(a), Some(b)) => &self.members[*a as usize..*b as usize],
            _ => &[],
        }
    }
}

/// Borrowed bytes; serde's derive would copy them.
mod serde_bytes_cow {
    use serde::{Deserializer, Serializer, de::Visitor};
    use std::borrow::Cow;

    #[expect(clippy::ptr_arg, reason = "the signature is serde's")]
    pub fn serialize<S: Serializer>(bytes: &Cow<'_, [u8]>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cow<'de, [u8]>, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Cow<'de, [u8]>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_borrowed_bytes<E>(self, v: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(v))
            }
            fn visit_bytes<E>(self, v: &[u8]) -> Result<Self::Value, E> {
                Ok(Cow::Owned(v.to_vec()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}
