//! `sessions.db`: every session a row, every message a row. The columns differ between releases; those that are there are used.

use super::content::{Counter, Stored, note};
use crate::io::sqlite::{self, Db, Param, Row};
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Interactivity, Locator, TitleSource, timestamp, valid_session_id};
use crate::provider::shared::json::text;
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// Messages read at a time.
const BATCH: usize = 64;

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut store = sqlite::Store::at(&source.path);
    let sessions = store.read(sessions)?;
    let columns = store.read(|db| db.columns("messages"))?;
    let mut skipped = 0;
    for session in sessions {
        if !valid_session_id(&session.facts.id) {
            skipped += 1;
        } else if !sink.keep(&session.facts.id, session.stamp) {
            skipped += one(&mut store, &columns, session, sink)?;
        }
    }
    Ok(Parsed { skipped, ..Parsed::default() })
}

/// A row of `sessions`.
struct Session {
    facts: Facts<'static>,
    /// Changes when the row or its messages do.
    stamp: u64,
    updated_ms: i64,
}

/// The columns of `sessions` that are used, in this order.
const COLUMNS: [&str; 12] = [
    "id",
    "name",
    "description",
    "user_set_name",
    "session_type",
    "working_dir",
    "created_at",
    "updated_at",
    "model_config_json",
    "archived_at",
    "parent_session_id",
    "schedule_id",
];

fn sessions(db: &Db) -> Result<Vec<Session>, sqlite::Error> {
    let mut found = Vec::new();
    let there = db.columns("sessions")?;
    if !there.iter().any(|c| c == "id") {
        return Ok(found);
    }
    let columns: Vec<String> = COLUMNS
        .iter()
        .map(
            |c| if there.iter().any(|t| t == c) { format!("substr(s.{c}, 1, 65536)") } else { "NULL".into() },
        )
        .collect();
    let (last, join) = last_message(db)?;
    let sql = format!("SELECT {}, {last} FROM sessions s{join}", columns.join(", "));
    db.rows(&sql, &[], |row| {
        found.extend(session(row));
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(found)
}

/// How to find a session's newest message: through the index, where there is one.
fn last_message(db: &Db) -> Result<(&'static str, &'static str), sqlite::Error> {
    if !db.table_exists("messages")? {
        return Ok(("NULL", ""));
    }
    let mut indexed = false;
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'messages' AND sql LIKE '%(session_id%'";
    db.rows(sql, &[], |_| {
        indexed = true;
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(if indexed {
        ("(SELECT max(m.rowid) FROM messages m WHERE m.session_id = s.id)", "")
    } else {
        (
            "g.last",
            " LEFT JOIN (SELECT session_id, max(rowid) AS last FROM messages GROUP BY session_id) g ON g.session_id = s.id",
        )
    })
}

fn session(row: &Row<'_>) -> Option<Session> {
    let mut hash = Xxh3::new();
    for column in 0..=COLUMNS.len() {
        hash.update(row.text(column).unwrap_or_default().as_bytes());
        hash.update(b"\0");
    }
    let own = |column: usize| row.text(column).map(Cow::into_owned).filter(|t| !t.trim().is_empty());
    let when = |column: usize| row.text(column).and_then(|t| timestamp::parse_text(&t)).unwrap_or(0);
    let mut facts = Facts {
        id: own(0)?.into(),
        project: own(5).unwrap_or_default().into(),
        model: own(8).and_then(|c| model(&c)).map(Cow::Owned),
        archived: own(9).is_some(),
        parent: own(10).map(Cow::Owned),
        started_ms: when(6),
        last_ms: when(6),
        ..Facts::default()
    };
    kind(own(4).as_deref(), &mut facts);
    let by_hand = row.flag(3) || row.text(3).is_some_and(|t| t.eq_ignore_ascii_case("true"));
    for (column, from) in
        [(2, TitleSource::Auto), (1, if by_hand { TitleSource::Custom } else { TitleSource::Auto })]
    {
        if let Some(title) = own(column).filter(|t| by_hand || !is_placeholder(t, &facts.id)) {
            facts.offer_title(Cow::Owned(title_line(&title)), from);
        }
    }
    Some(Session { facts, stamp: hash.digest(), updated_ms: when(7) })
}

fn model(config: &str) -> Option<String> {
    let config: Value<'_> = serde_json::from_str(config).ok()?;
    text(&config, "model_name").map(str::to_owned)
}

/// What stands where a title will be.
fn is_placeholder(title: &str, id: &str) -> bool {
    let title = title.trim();
    let fixed = ["CLI Session", "New Chat", "New Session", "Untitled"];
    title == id || fixed.iter().any(|f| title.eq_ignore_ascii_case(f)) || title.starts_with("New session ")
}

/// What began a session.
fn kind(kind: Option<&str>, facts: &mut Facts<'_>) {
    let (name, interactive) = match kind {
        None | Some("user") => ("unknown", Interactivity::Unknown),
        Some("terminal") => ("cli", Interactivity::Yes),
        Some("acp") => ("ide", Interactivity::Unknown),
        Some("sub_agent") => ("subagent", Interactivity::No),
        Some("scheduled" | "hidden") => ("background", Interactivity::No),
        Some(other) => (other, Interactivity::Unknown),
    };
    facts.source_kind = Cow::Owned(name.chars().take(64).collect());
    facts.interactive = interactive;
}

/// A row of `messages`.
struct Record {
    row: i64,
    role: Option<String>,
    /// Absent if it is too large.
    content: Option<String>,
    metadata: Option<String>,
    time: i64,
    id: Option<String>,
}

impl Record {
    fn of(row: &Row<'_>) -> Self {
        let own = |column: usize| row.text(column).map(Cow::into_owned);
        Self {
            row: row.int(0).unwrap_or(0),
            role: own(1),
            content: own(2),
            metadata: own(3),
            time: row.text(4).and_then(|t| timestamp::parse_text(&t)).unwrap_or(0),
            id: own(5).filter(|i| !i.is_empty()),
        }
    }

    /// Hands over the texts. Says whether the content could be understood.
    fn put(&self, emit: Emit<'_>) -> bool {
        let Some(content) = self.content.as_deref().and_then(|c| serde_json::from_str(c).ok()) else {
            return false;
        };
        let metadata =
            self.metadata.as_deref().and_then(|m| serde_json::from_str(m).ok()).unwrap_or(Value::Null);
        let place = Place { offset: self.row.unsigned_abs(), len: 0, nth: 0 };
        let stored = Stored { role: self.role.as_deref(), content: &content, metadata: &metadata };
        stored.put(&mut Out::new(emit, place, self.time));
        true
    }
}

fn select(columns: &[String], rest: &str) -> String {
    let column = |name: &'static str| if columns.iter().any(|c| c == name) { name } else { "NULL" };
    format!(
        "SELECT rowid, {}, CASE WHEN length(content_json) <= {DOCUMENT_MAX} THEN content_json END, {}, {}, {} FROM messages {rest}",
        column("role"),
        column("metadata_json"),
        column("created_timestamp"),
        column("message_id"),
    )
}

/// Reads a session's messages. Gives how many could not be.
fn one(
    store: &mut sqlite::Store,
    columns: &[String],
    session: Session,
    sink: &mut dyn Sink,
) -> Result<u32, SourceError> {
    let Session { mut facts, stamp, updated_ms } = session;
    let id = facts.id.clone();
    let sql = select(columns, &format!("WHERE session_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT {BATCH}"));
    let (mut skipped, mut last, mut counter, mut timed) = (0, i64::MIN, Counter::default(), false);
    sink.open(&id, stamp);
    while !columns.is_empty() {
        let batch = match store.read(|db| batch(db, &sql, &id, last)) {
            // A damaged page takes its own session with it, not the others.
            Err(sqlite::Error::Corrupt) => {
                skipped += 1;
                break;
            }
            other => other?,
        };
        for record in &batch {
            last = record.row;
            let mut counts = counter.message(record.id.as_deref());
            let understood = record.put(&mut |m| {
                timed |= m.timestamp_ms > 0;
                facts.saw_time(m.timestamp_ms);
                note(&m, &mut counts, &mut facts);
                sink.message(m);
            });
            skipped += u32::from(!understood);
        }
        if batch.len() < BATCH {
            break;
        }
    }
    if !timed {
        facts.saw_time(updated_ms);
    }
    sink.close(&id, facts);
    Ok(skipped)
}

fn batch(db: &Db, sql: &str, id: &str, last: i64) -> Result<Vec<Record>, sqlite::Error> {
    let mut batch = Vec::new();
    db.rows(sql, &[Param::Text(id), Param::Int(last)], |row| {
        batch.push(Record::of(row));
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(batch)
}

/// The texts at a place.
pub fn read(source: &Source, at: Locator, emit: Emit<'_>) -> Result<(), SourceError> {
    let row = i64::try_from(at.offset).unwrap_or(-1);
    let record = sqlite::read(&source.path, |db| {
        let sql = select(&db.columns("messages")?, "WHERE rowid = ?1");
        let mut found = None;
        db.rows(&sql, &[Param::Int(row)], |row| {
            found = Some(Record::of(row));
            Ok::<_, sqlite::Error>(())
        })?;
        Ok::<_, sqlite::Error>(found)
    })?;
    if let Some(record) = record {
        record.put(emit);
    }
    Ok(())
}
