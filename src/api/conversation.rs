//! A whole conversation from the live stores: all units of a session, one after the other, copies told apart.

use super::catalog::Ready;
use super::lookup;
use super::response::Warning;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{PATH_MAX, READ_COPIES_MAX};
use crate::model::{Facts, Message};
use crate::provider::{Provider, Sink, Source, SourceError};
use crate::query::order::{self, BLOCK};
use crate::text::Clean;
use std::collections::HashMap;
use std::io::ErrorKind;
use xxhash_rust::xxh3::Xxh3;

/// Where a session lies.
pub struct Conversation {
    parts: Vec<Part>,
}

/// A unit of the session.
struct Part {
    provider: &'static dyn Provider,
    source: Source,
    row: String,
    place: order::Part,
}

/// A message in its place in the session.
#[derive(Debug)]
pub struct Spoken<'m> {
    pub index: u64,
    /// The child that said it, if it has a unit of its own.
    pub child: Option<u64>,
    /// The number of the same message in an earlier unit.
    pub copy_of: Option<u64>,
    /// A hash of what was said, by whom and when.
    pub key: u64,
    pub message: Message<'m>,
}

/// What became of a unit.
enum Fate {
    Read,
    Gone,
    Unreadable,
}

/// Looks up the units of a session. It must not be one that is only remembered.
pub fn locate(ready: &Ready<'_>, session: u32) -> Result<Conversation> {
    let tables = ready.view.snapshot.tables();
    let places = order::parts(&ready.view, session);
    let part = |place: &order::Part| {
        let (provider, source) = lookup::source_of(ready, place.unit)?;
        let row = tables.unit(place.unit)?.row.clone().into_owned();
        Some(Part { provider, source, row, place: *place })
    };
    let parts: Vec<Part> = places.iter().filter_map(part).collect();
    if parts.is_empty() || ready.view.sessions[session as usize].vanished {
        return Err(gone());
    }
    Ok(Conversation { parts })
}

/// The session was there when the stores were last compared, or is only remembered.
fn gone() -> Error {
    Error::new(ErrorCode::NotFound, "the session's file is gone")
        .hint("the agent or the user removed it; its conversation cannot be read any more")
}

impl Conversation {
    /// Hands over every message, copies included, in the order of their numbers.
    pub fn walk(&self, each: &mut dyn FnMut(Spoken<'_>)) -> Result<Vec<Warning>> {
        let mut seen = Seen::new(READ_COPIES_MAX);
        let mut warnings = Vec::new();
        let (mut read, mut unreadable) = (false, false);
        for part in &self.parts {
            match part.walk(&mut seen, each) {
                Fate::Read => read = true,
                Fate::Gone => warnings.push(part.warning("gone", "a file of the session is gone")),
                Fate::Unreadable => {
                    unreadable = true;
                    warnings.push(part.warning("unreadable", "a file of the session cannot be read"));
                }
            }
        }
        if let Some(part) = self.parts.last().filter(|_| seen.full) {
            warnings.push(
                part.warning("copies", "the session is too large to leave out all copies of its messages"),
            );
        }
        match (read, unreadable) {
            (true, _) => Ok(warnings),
            (false, true) => Err(Error::new(ErrorCode::ScanFailed, "the session's file cannot be read")),
            (false, false) => Err(gone()),
        }
    }

    /// The number under which a message is shown: that of the earlier unit if it is a copy.
    pub fn shown(&self, index: u64) -> Result<u64> {
        let first = |kin: u64| self.parts.iter().find(|p| p.place.kin == kin).map(|p| p.place.first);
        let own = self.parts.iter().find(|p| p.place.first == index / BLOCK * BLOCK);
        if own.is_none_or(|p| !p.place.shared || first(p.place.kin) == Some(p.place.first)) {
            return Ok(index);
        }
        let mut shown = index;
        self.walk(&mut |s| {
            if s.index == index {
                shown = s.copy_of.unwrap_or(index);
            }
        })?;
        Ok(shown)
    }

    /// When a message was said.
    pub fn time_of(&self, index: u64) -> Result<Option<i64>> {
        let mut time = None;
        self.walk(&mut |s| {
            if s.index == index {
                time = Some(s.message.timestamp_ms);
            }
        })?;
        Ok(time)
    }
}

impl Part {
    fn walk(&self, seen: &mut Seen, each: &mut dyn FnMut(Spoken<'_>)) -> Fate {
        let mut walker =
            Walker { part: self, seen, each, open: false, found: false, seq: 0, said: HashMap::new() };
        let parsed = self.provider.parse(&self.source, None, &mut walker);
        match parsed {
            Ok(_) if walker.found => Fate::Read,
            Err(SourceError::Io(e)) if e.kind() != ErrorKind::NotFound => Fate::Unreadable,
            Err(SourceError::Format(_) | SourceError::NeedsAll) => Fate::Unreadable,
            Ok(_) | Err(SourceError::Io(_)) => Fate::Gone,
        }
    }

    fn warning(&self, code: &str, message: &str) -> Warning {
        Warning {
            agent: Some(self.provider.info().id.to_owned()),
            code: code.to_owned(),
            message: message.to_owned(),
            count: 1,
            source: Some(Clean::name(&self.source.rel, PATH_MAX)),
        }
    }
}

/// What was said in units that others may be copies of: hash and number.
struct Seen {
    numbers: HashMap<u64, u64>,
    most: usize,
    /// Not all could be remembered.
    full: bool,
}

impl Seen {
    fn new(most: usize) -> Self {
        Self { numbers: HashMap::new(), most, full: false }
    }

    /// The number of the same message in an earlier unit. The first of equal ones is remembered.
    fn copy_of(&mut self, key: u64, index: u64) -> Option<u64> {
        match self.numbers.get(&key) {
            Some(earlier) => Some(*earlier).filter(|e| e / BLOCK != index / BLOCK),
            None => {
                self.full |= self.numbers.len() == self.most;
                if !self.full {
                    self.numbers.insert(key, index);
                }
                None
            }
        }
    }
}

/// Numbers the messages of one unit.
struct Walker<'w> {
    part: &'w Part,
    seen: &'w mut Seen,
    each: &'w mut dyn FnMut(Spoken<'_>),
    open: bool,
    found: bool,
    seq: u64,
    /// How often each thing was said, where copies cannot be told by their times.
    said: HashMap<u64, u64>,
}

impl Sink for Walker<'_> {
    fn open(&mut self, row: &str, _stamp: u64) {
        self.open = row == self.part.row;
        self.found |= self.open;
    }

    fn message(&mut self, message: Message<'_>) {
        if !self.open || self.seq == BLOCK {
            return;
        }
        let place = &self.part.place;
        let index = place.first + self.seq;
        let key = self.key(&message);
        self.seq += 1;
        let copy_of = if place.shared { self.seen.copy_of(key, index) } else { None };
        (self.each)(Spoken { index, child: place.child, copy_of, key, message });
    }

    fn close(&mut self, _session: &str, _facts: Facts<'_>) {
        self.open = false;
    }

    fn keep(&mut self, row: &str, _stamp: u64) -> bool {
        row != self.part.row
    }
}

impl Walker<'_> {
    /// Names a message by who said what and when. Without times, what is said again is told by how often it was said before.
    fn key(&mut self, m: &Message<'_>) -> u64 {
        let place = &self.part.place;
        if place.shared && !place.timed {
            let what = hash(place.kin, m, 0, 0);
            if self.said.len() >= READ_COPIES_MAX {
                return what;
            }
            let before = self.said.entry(what).or_insert(0);
            *before += 1;
            return hash(place.kin, m, 0, *before);
        }
        hash(place.kin, m, m.timestamp_ms, if m.timestamp_ms == 0 { self.seq } else { u64::MAX })
    }
}

fn hash(kin: u64, m: &Message<'_>, time: i64, nth: u64) -> u64 {
    let mut hash = Xxh3::new();
    for n in [kin, m.role as u64, time as u64, nth] {
        hash.update(&n.to_le_bytes());
    }
    hash.update(m.tool.as_deref().unwrap_or("").as_bytes());
    hash.update(b"\0");
    hash.update(m.text.as_bytes());
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_earlier_unit_holds_is_a_copy() {
        let mut seen = Seen::new(2);
        assert_eq!((seen.copy_of(7, 0), seen.copy_of(7, 1)), (None, None));
        assert_eq!((seen.copy_of(7, BLOCK), seen.copy_of(8, BLOCK + 1)), (Some(0), None));
        assert!(!seen.full);
        // Beyond the limit nothing is remembered, and that is known.
        assert_eq!((seen.copy_of(9, BLOCK + 2), seen.copy_of(9, 2 * BLOCK), seen.full), (None, None, true));
    }
}
