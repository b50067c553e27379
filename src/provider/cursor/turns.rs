//! The second history in a store: turns with their prompt and steps as protobuf.
//!
//! It repeats what the messages say, but has reasoning and answers that they lack, above all when they were compacted.

use super::store::Found;
use super::wire::{self, Value, bytes};
use crate::io::sqlite;
use crate::model::Role;
use crate::provider::shared::prompt::query;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// What a blob of a turn is: the number stands in the locator, for the blob itself does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Message = 0,
    Prompt = 1,
    Step = 2,
}

/// A text of a turn, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub row: i64,
    pub kind: Kind,
    hash: u64,
}

/// The texts of a chat's turns that were not yet met among its messages.
#[derive(Debug, Default)]
pub struct Turns {
    entries: Vec<Entry>,
    next: usize,
    said: HashSet<u64>,
}

/// Entries of the turns, at most; a chat beyond that is read by its messages alone.
const ENTRIES_MAX: usize = 200_000;
/// How far ahead a text may stand.
const AHEAD: usize = 256;

impl Turns {
    /// Reads the turns of these ids.
    pub fn of(db: &sqlite::Db, ids: &[String]) -> Result<Self, sqlite::Error> {
        let mut entries = Vec::new();
        for id in ids {
            let Some(turn) = Found::get(db, id)? else { continue };
            let Some(turn) = bytes(&turn.bytes, 1) else { continue };
            for (field, value) in wire::fields(turn) {
                let Value::Bytes(id) = value else { continue };
                let kind = match field {
                    1 => Kind::Prompt,
                    2 => Kind::Step,
                    _ => continue,
                };
                let Some(blob) = Found::get(db, &super::store::hex(id))? else { continue };
                entries.extend(texts(kind, &blob.bytes).map(|(_, t)| Entry {
                    row: blob.row,
                    kind,
                    hash: hash(&t),
                }));
                if entries.len() > ENTRIES_MAX {
                    return Ok(Self::default());
                }
            }
        }
        Ok(Self { entries, ..Self::default() })
    }

    /// A text is about to be handed over: gives the entries that come before it and are not among the messages.
    pub fn before(&mut self, text: &str) -> Vec<Entry> {
        let hash = hash(text);
        let ahead = self.entries[self.next..].iter().take(AHEAD).position(|e| e.hash == hash);
        let skipped = ahead.map_or_else(Vec::new, |n| self.take(n));
        if ahead.is_some() {
            self.next += 1;
        }
        self.said.insert(hash);
        skipped
    }

    /// What is left at the end.
    pub fn rest(&mut self) -> Vec<Entry> {
        self.take(self.entries.len() - self.next)
    }

    fn take(&mut self, n: usize) -> Vec<Entry> {
        let taken = self.entries[self.next..self.next + n].to_vec();
        self.next += n;
        taken.into_iter().filter(|e| !self.said.contains(&e.hash)).collect()
    }
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.trim().as_bytes())
}

/// The text of a prompt (`{1: text}`) or of a step (`{1: {1: answer}}` or `{3: {1: reasoning}}`).
pub fn texts(kind: Kind, blob: &[u8]) -> Option<(Role, String)> {
    let text = |b| Some(std::str::from_utf8(bytes(b, 1)?).ok()?.to_owned()).filter(|t| !t.trim().is_empty());
    match kind {
        Kind::Prompt => Some((Role::User, query(&text(blob)?)?)),
        Kind::Step => match (bytes(blob, 1), bytes(blob, 3)) {
            (Some(answer), _) => Some((Role::Assistant, text(answer)?)),
            (None, Some(reasoning)) => Some((Role::Thinking, text(reasoning)?)),
            _ => None,
        },
        Kind::Message => None,
    }
}
