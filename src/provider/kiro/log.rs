//! A session's log, in either of the two formats that are written line by line.

use crate::model::{Facts, Message, Role, UnitKind};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::Emit;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::{Resume, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Emits the texts of a record. Returns what tells one reply from the next, if it is one: a reply may be written in several records.
pub type TextsOf = fn(&Value<'_>, Place, Emit<'_>) -> Option<u64>;

/// Gathers what a log says of its session.
pub struct Log {
    facts: Facts<'static>,
    last_reply: u64,
}

impl Log {
    pub fn new(id: &str, kind: UnitKind) -> Self {
        let mut facts = Facts { kind, id: Cow::Owned(id.to_owned()), ..Facts::default() };
        facts.source_kind = "unknown".into();
        facts.forked_from = taken_over(id).map(|from| Cow::Owned(from.to_owned()));
        Self { facts, last_reply: 0 }
    }

    pub fn resumed(from: &Resume<'_>) -> Result<Self, SourceError> {
        let state = from.state.try_into().map_err(|_| SourceError::NeedsAll)?;
        Ok(Self { facts: from.facts.clone().into_owned(), last_reply: u64::from_le_bytes(state) })
    }

    pub fn state(&self) -> Vec<u8> {
        self.last_reply.to_le_bytes().into()
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, texts: TextsOf, emit: Emit<'_>) {
        let reply = texts(v, place, &mut |m: Message<'_>| {
            self.facts.saw_time(m.timestamp_ms);
            if m.role == Role::User {
                self.facts.messages += 1;
                saw_prompt(&mut self.facts, &m.text);
            }
            emit(m);
        });
        if let Some(reply) = reply
            && reply != self.last_reply
        {
            self.last_reply = reply;
            self.facts.messages += 1;
        }
    }
}

/// What tells a reply from the next: its id, else its place.
pub fn reply_id(id: Option<&str>, place: Place) -> u64 {
    id.map_or(place.offset + 1, |id| xxh3_64(id.as_bytes()))
}

/// The session that another one was made from when the 3.0 engine took it over: `cli_<id>_<random>`.
fn taken_over(id: &str) -> Option<&str> {
    const UUID: usize = 36;
    let (from, _) = id.strip_prefix("cli_")?.rsplit_once('_')?;
    (from.len() == UUID).then_some(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_was_taken_over_names_its_origin() {
        let id = "0a5376f2-7e2f-4981-bcbc-67195586604a";
        assert_eq!(taken_over(&format!("cli_{id}_uHORXqEL")), Some(id));
        assert_eq!(taken_over(&format!("cli_{id}")), None);
        assert_eq!(taken_over(&format!("sess_{id}")), None);
    }
}
