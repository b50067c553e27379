//! The tree of a session's entries: which of them lead to the place where the conversation stands.

use crate::limits::SUMMARIES_MAX;
use crate::provider::SourceError;
use crate::provider::shared::jsonl::Place;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

const NONE: u32 = u32::MAX;

/// Entries by the hashes of their ids. Small: a session can have hundreds of thousands.
#[derive(Debug, Default)]
pub struct Tree {
    numbers: HashMap<u64, u32>,
    parents: Vec<u32>,
    prompts: Vec<(u32, Place)>,
    /// Hash of the id of the entry the next one follows; 0 before the first.
    leaf: u64,
    branched: bool,
    /// What came before is known by its leaf only.
    tail: bool,
}

pub fn hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes()).max(1)
}

impl Tree {
    pub fn tail(leaf: u64) -> Self {
        Self { leaf, tail: true, ..Self::default() }
    }

    pub fn leaf(&self) -> u64 {
        self.leaf
    }

    /// Takes an entry in. False if it was there before: a stretch written twice.
    pub fn add(&mut self, id: u64, parent: u64) -> Result<bool, SourceError> {
        if self.leaf != 0 && parent != self.leaf {
            if self.tail {
                return Err(SourceError::NeedsAll);
            }
            if self.numbers.contains_key(&id) {
                return Ok(false);
            }
            self.branched = true;
        }
        let number = self.parents.len().min(NONE as usize - 1) as u32;
        self.parents.push(self.numbers.get(&parent).copied().unwrap_or(NONE));
        self.numbers.insert(id, number);
        self.leaf = id;
        Ok(true)
    }

    /// The entry just added is a prompt.
    pub fn prompt(&mut self, place: Place) {
        if let Some(last) = self.parents.len().checked_sub(1) {
            self.prompts.push((last as u32, place));
        }
    }

    /// The conversation goes on from an earlier entry.
    pub fn go_to(&mut self, id: u64) -> Result<(), SourceError> {
        if self.tail && id != self.leaf {
            return Err(SourceError::NeedsAll);
        }
        self.branched |= id != self.leaf;
        self.leaf = id;
        Ok(())
    }

    /// If there are branches: the current one's first prompt and its newest ones, in order.
    pub fn current(&self) -> Option<Vec<Place>> {
        if !self.branched {
            return None;
        }
        let mut on_path = vec![false; self.parents.len()];
        let mut at = self.numbers.get(&self.leaf).copied().unwrap_or(NONE);
        while let Some(seen) = on_path.get_mut(at as usize).filter(|seen| !**seen) {
            *seen = true;
            at = self.parents.get(at as usize).copied().unwrap_or(NONE);
        }
        let known = |n: u32| on_path.get(n as usize).copied().unwrap_or(false);
        let mut places: Vec<Place> =
            self.prompts.iter().filter(|(n, _)| known(*n)).map(|(_, p)| *p).collect();
        // One more than are kept, as equal neighbours are kept once.
        let keep = SUMMARIES_MAX + 1;
        if places.len() > keep + 1 {
            places.drain(1..places.len() - keep);
        }
        Some(places).filter(|p| !p.is_empty())
    }
}
