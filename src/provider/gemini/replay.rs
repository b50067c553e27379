//! Which of a session's records hold: lines are written again when a message changes, and taken back.
//!
//! A message is told by its id, and the last line that writes it holds. `$set.messages` is a new list for the model: it writes the
//! messages in it, and what it leaves out (before a compression, notices) was said all the same. `$rewindTo` takes back.

use super::message::{answered, key};
use crate::provider::shared::json::{at, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use serde_json_borrow::Value;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// What a line is.
pub enum Record<'v> {
    Rewind(&'v str),
    Message,
    /// Facts of the session, with its messages if there are any.
    Session(&'v Value<'v>, &'v [Value<'v>]),
}

impl<'v> Record<'v> {
    pub fn of(v: &'v Value<'v>) -> Self {
        if let Some(id) = text(v, "$rewindTo") {
            return Self::Rewind(id);
        }
        if text(v, "id").is_some() {
            return Self::Message;
        }
        let set = get(v, "$set");
        if set.is_object() {
            return Self::Session(set, items(at(v, &["$set", "messages"])));
        }
        Self::Session(v, items(get(v, "messages")))
    }
}

/// Where a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    offset: u64,
    nth: u16,
    index: u32,
}

impl Spot {
    pub fn new(place: Place, index: usize) -> Self {
        Self { offset: place.offset, nth: place.nth, index: index.min(u32::MAX as usize) as u32 }
    }
}

struct Last {
    spot: Spot,
    /// The earliest time it was written with: a resume writes all anew.
    time: i64,
    /// The list it is in.
    list: u32,
}

/// The state of a session after some of its lines.
#[derive(Default)]
pub struct Replay {
    messages: HashMap<u64, Last>,
    /// The present list, in order.
    list: Vec<u64>,
    number: u32,
    /// Where the result of each tool call is written last: it stands with its call and in a message, and again after a resume.
    results: HashMap<u64, Spot>,
}

impl Replay {
    pub fn record(&mut self, v: &Value<'_>, place: Place) {
        match Record::of(v) {
            Record::Rewind(id) => self.rewind(xxh3_64(id.as_bytes())),
            Record::Message => self.write(v, Spot::new(place, 0)),
            Record::Session(_, []) => {}
            Record::Session(_, messages) => {
                self.number += 1;
                self.list.clear();
                for (i, m) in messages.iter().enumerate() {
                    self.write(m, Spot::new(place, i));
                }
            }
        }
    }

    fn write(&mut self, m: &Value<'_>, spot: Spot) {
        let (key, time) = (key(m), time(m, "timestamp").unwrap_or(0));
        let number = self.number;
        let last = self.messages.entry(key).or_insert(Last { spot, time, list: u32::MAX });
        last.spot = spot;
        answered(m, &mut |call| {
            self.results.insert(call, spot);
        });
        if time > 0 && (last.time == 0 || time < last.time) {
            last.time = time;
        }
        if last.list != number {
            last.list = number;
            self.list.push(key);
        }
    }

    /// Takes back a message and all that follow it; everything, if the list does not have it.
    fn rewind(&mut self, key: u64) {
        match self.list.iter().rposition(|k| *k == key) {
            Some(from) => {
                for key in self.list.drain(from..) {
                    self.messages.remove(&key);
                }
            }
            None => {
                self.messages.clear();
                self.list.clear();
            }
        }
    }

    /// The time of a message, if what is written at this place holds.
    pub fn holds(&self, m: &Value<'_>, spot: Spot) -> Option<i64> {
        self.messages.get(&key(m)).filter(|last| last.spot == spot).map(|last| last.time)
    }

    /// Whether the result of a call is to be taken from this place.
    pub fn holds_result(&self, call: u64, spot: Spot) -> bool {
        call == 0 || self.results.get(&call).is_none_or(|s| *s == spot)
    }
}
