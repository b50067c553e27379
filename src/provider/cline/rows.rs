//! The table `sessions` of Cline's database: whose child a session is, and what its manifest says if there is none.

use super::session::Row;
use crate::io::sqlite::{self, Db};
use crate::model::{Facts, Interactivity, timestamp, valid_session_id};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// A session as it is handed over.
struct Found {
    id: String,
    stamp: u64,
    facts: Facts<'static>,
}

/// Text columns, in the order in which they are read; what the agent adds to others changes nothing.
const COLUMNS: &[&str] = &[
    "session_id",
    "source",
    "started_at",
    "ended_at",
    "interactive",
    "model",
    "cwd",
    "parent_session_id",
    "is_subagent",
    "prompt",
    "metadata_json",
];

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    // Made, but not yet filled.
    if source.fingerprint.size == 0 {
        return Ok(Parsed::default());
    }
    let (found, skipped) = sqlite::read(&source.path, sessions)?;
    for s in found {
        if !sink.keep(&s.id, s.stamp) {
            sink.open(&s.id, s.stamp);
            sink.close(&s.id, s.facts);
        }
    }
    Ok(Parsed { skipped, ..Parsed::default() })
}

fn sessions(db: &Db) -> Result<(Vec<Found>, u32), sqlite::Error> {
    let have = db.columns("sessions")?;
    if !have.iter().any(|c| c == "session_id") {
        return Err(sqlite::Error::Layout);
    }
    let column = |name: &&str| match have.iter().any(|c| c == name) {
        true => format!("substr({name}, 1, 65536)"),
        false => "NULL".to_owned(),
    };
    let columns: Vec<String> = COLUMNS.iter().map(column).collect();
    let (mut all, mut skipped) = (Vec::new(), 0);
    db.rows(&format!("SELECT {} FROM sessions ORDER BY rowid", columns.join(", ")), &[], |row| {
        match found(row) {
            Some(found) => all.push(found),
            None => skipped += 1,
        }
        Ok::<_, sqlite::Error>(())
    })?;
    Ok((all, skipped))
}

fn found(row: &sqlite::Row<'_>) -> Option<Found> {
    let id = row.text(0).filter(|id| valid_session_id(id))?.into_owned();
    let mut hash = Xxh3::new();
    for column in 0..COLUMNS.len() {
        hash.update(row.text(column).unwrap_or_default().as_bytes());
        hash.update(b"\0");
    }
    let [source, model, cwd, parent, prompt, metadata] = [1, 5, 6, 7, 9, 10].map(|c| row.text(c));
    let when = |c| row.text(c).and_then(|t| timestamp::parse_text(&t)).unwrap_or(0);
    let facts = Row {
        cwd: cwd.as_deref(),
        source: source.as_deref(),
        model: model.as_deref(),
        prompt: prompt.as_deref(),
        interactive: row.int(4).map(|n| n != 0),
        started: when(2),
        ended: when(3),
    };
    let metadata = metadata.unwrap_or_default();
    let metadata = serde_json::from_str::<Value<'_>>(&metadata).unwrap_or(Value::Null);
    let mut facts = facts.facts(&metadata);
    if let Some(parent) = parent.filter(|p| valid_session_id(p) && **p != *id) {
        facts.parent = Some(Cow::Owned(parent.into_owned()));
    }
    if row.flag(8) {
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    Some(Found { id, stamp: hash.digest(), facts })
}
