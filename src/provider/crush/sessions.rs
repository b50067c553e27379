//! The sessions of a Crush database.

use super::texts::{Row, Said, texts};
use crate::io::sqlite::{self, Db, Param, Store};
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Interactivity, Locator, Message, TitleSource, UnitKind, timestamp};
use crate::provider::shared::jsonl;
use crate::provider::shared::prompt::{saw_prompt, title_line};
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes of messages read in one go.
const BATCH: usize = 8 << 20;
/// Sub-agents of sub-agents, at most.
const DEPTH: usize = 16;

/// A row of `sessions`.
#[derive(Debug)]
struct Session {
    id: String,
    parent: Option<String>,
    title: String,
    created: i64,
    updated: i64,
    stamp: u64,
}

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    // Made, but not yet filled.
    if source.fingerprint.size == 0 {
        return Ok(Parsed::default());
    }
    let mut store = Store::at(&source.path);
    let (sessions, layout) = store.read(|db| Ok::<_, sqlite::Error>((list(db)?, Layout::of(db)?)))?;
    let parents: HashMap<&str, &str> =
        sessions.iter().filter_map(|s| Some((s.id.as_str(), s.parent.as_deref()?))).collect();
    let mut parsed = Parsed::default();
    let (mut failure, mut kept) = (None, false);
    for session in &sessions {
        // A session in which a title was thought up holds nothing but its beginning again.
        if session.id.starts_with("title-") && session.parent.is_some() {
            continue;
        }
        if sink.keep(&session.id, session.stamp) {
            kept = true;
            continue;
        }
        let root = ancestor(&session.id, &parents);
        match read_session(&mut store, &layout, source, session, root, sink) {
            Ok(skipped) => {
                parsed.skipped += skipped;
                kept = true;
            }
            // A damaged page takes away one session, not all.
            Err(e) => {
                parsed.skipped += 1;
                failure.get_or_insert(e);
            }
        }
    }
    match failure {
        Some(e) if !kept => Err(e.into()),
        _ => Ok(parsed),
    }
}

/// The session that all others above this one come from.
fn ancestor<'s>(mut id: &'s str, parents: &HashMap<&str, &'s str>) -> &'s str {
    for _ in 0..DEPTH {
        match parents.get(id) {
            Some(parent) => id = parent,
            None => break,
        }
    }
    id
}

/// All sessions, each with a stamp that changes when it or its messages do: their number, the last of them, and the size of the
/// last few, which grow while a reply comes in.
fn list(db: &Db) -> Result<Vec<Session>, sqlite::Error> {
    const SQL: &str =
        "SELECT s.id, s.parent_session_id, substr(s.title, 1, 4096), s.created_at, s.updated_at,
        (SELECT count(*) FROM messages m WHERE m.session_id = s.id),
        (SELECT max(m.rowid) FROM messages m WHERE m.session_id = s.id),
        (SELECT total(size) FROM (SELECT octet_length(m.parts) + m.updated_at AS size FROM messages m
            WHERE m.session_id = s.id ORDER BY m.rowid DESC LIMIT 4))
        FROM sessions s ORDER BY s.rowid";
    let mut all = Vec::new();
    db.rows(SQL, &[], |row| {
        let Some(id) = row.text(0).map(Cow::into_owned).filter(|id| !id.is_empty()) else { return Ok(()) };
        let parent = row.text(1).map(Cow::into_owned).filter(|p| !p.is_empty() && *p != id);
        let title = row.text(2).map(Cow::into_owned).unwrap_or_default();
        let numbers = [3, 4, 5, 6, 7].map(|n| row.int(n).unwrap_or(0));
        let stamp = xxh3_64(format!("{title}\0{parent:?}\0{numbers:?}").as_bytes());
        let [created, updated] = [numbers[0], numbers[1]].map(ms);
        all.push(Session { id, parent, title, created, updated, stamp });
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(all)
}

/// Times are seconds, whatever the comments in the schema say; by their size they can be told from milliseconds.
fn ms(n: i64) -> i64 {
    timestamp::from_number(n as f64).unwrap_or(0)
}

/// Columns that older databases lack.
struct Layout {
    columns: String,
}

impl Layout {
    fn of(db: &Db) -> Result<Self, sqlite::Error> {
        let have = db.columns("messages")?;
        let column = |name: &'static str| if have.iter().any(|c| c == name) { name } else { "NULL" };
        let columns = format!(
            "rowid, created_at, role, CASE WHEN octet_length(parts) <= {DOCUMENT_MAX} THEN parts END, {}, {}, {}",
            column("model"),
            column("finished_at"),
            column("is_summary_message"),
        );
        Ok(Self { columns })
    }
}

fn row(row: &sqlite::Row<'_>) -> Option<Row> {
    Some(Row {
        rowid: u64::try_from(row.int(0)?).ok()?,
        created: row.int(1).map_or(0, ms),
        role: row.text(2)?.into_owned(),
        parts: row.text(3).map(Cow::into_owned),
        model: row.text(4).map(Cow::into_owned).filter(|m| !m.is_empty()),
        finished: row.int(5).map_or(0, ms),
        summary: row.flag(6),
    })
}

fn message(db: &Db, layout: &Layout, rowid: i64) -> Result<Option<Row>, sqlite::Error> {
    let sql = format!("SELECT {} FROM messages WHERE rowid = ?1", layout.columns);
    let mut found = None;
    db.rows(&sql, &[Param::Int(rowid)], |r| {
        found = row(r);
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(found)
}

/// The messages of a session, by the numbers of their rows, in the order in which they are shown.
fn order(store: &mut Store, session: &str) -> Result<Vec<i64>, sqlite::Error> {
    let mut rows = store.read(|db| {
        let mut rows = Vec::new();
        db.rows(
            "SELECT rowid, created_at FROM messages WHERE session_id = ?1",
            &[Param::Text(session)],
            |r| {
                rows.extend(r.int(0).map(|rowid| (r.int(1).unwrap_or(0), rowid)));
                Ok::<_, sqlite::Error>(())
            },
        )?;
        Ok::<_, sqlite::Error>(rows)
    })?;
    rows.sort_unstable();
    Ok(rows.into_iter().map(|(_, rowid)| rowid).collect())
}

/// The first of these messages, and how many of them were looked at. One that cannot be read is counted by the caller.
fn batch(store: &mut Store, layout: &Layout, rows: &[i64]) -> Result<(Vec<Row>, usize), sqlite::Error> {
    store.read(|db| {
        let (mut found, mut bytes, mut seen) = (Vec::new(), 0, 0);
        for rowid in rows {
            seen += 1;
            if let Ok(Some(row)) = message(db, layout, *rowid) {
                bytes += row.parts.as_ref().map_or(0, String::len);
                found.push(row);
            }
            if bytes >= BATCH {
                break;
            }
        }
        Ok((found, seen))
    })
}

fn read_session(
    store: &mut Store,
    layout: &Layout,
    source: &Source,
    session: &Session,
    root: &str,
    sink: &mut dyn Sink,
) -> Result<u32, sqlite::Error> {
    let mut gather = Gather { facts: facts(source, session, root), skipped: 0 };
    let order = order(store, &session.id)?;
    let mut rest = order.as_slice();
    sink.open(&session.id, session.stamp);
    while let (false, Ok((rows, seen))) = (rest.is_empty(), batch(store, layout, rest)) {
        gather.skipped += (seen - rows.len()) as u32;
        rows.iter().for_each(|row| gather.row(row, sink));
        rest = rest.get(seen..).unwrap_or(&[]);
    }
    gather.skipped += rest.len() as u32;
    if gather.facts.last_ms == 0 {
        gather.facts.saw_time(session.created);
        gather.facts.saw_time(session.updated);
    }
    // Projects that were copied with their databases have the same ids, and are not the same.
    sink.close(&format!("{}\0{root}", source.root.path.display()), gather.facts);
    Ok(gather.skipped)
}

fn facts(source: &Source, session: &Session, root: &str) -> Facts<'static> {
    const UNATTENDED: &str = "Non-interactive: ";
    let mut facts = Facts {
        id: Cow::Owned(session.id.clone()),
        project: Cow::Borrowed(source.root.label),
        source_kind: "unknown".into(),
        ..Facts::default()
    };
    if root != session.id {
        facts.kind = UnitKind::Child;
        return facts;
    }
    let title = match session.title.strip_prefix(UNATTENDED) {
        // `crush run`: the title is the prompt.
        Some(_) => {
            facts.interactive = Interactivity::No;
            facts.source_kind = "exec".into();
            return facts;
        }
        None => title_line(&session.title),
    };
    if !matches!(title.as_str(), "New Session" | "Untitled Session") {
        facts.offer_title(Cow::Owned(title), TitleSource::Auto);
    }
    facts
}

/// Gathers what the messages say of their session.
struct Gather {
    facts: Facts<'static>,
    skipped: u32,
}

impl Gather {
    fn row(&mut self, row: &Row, sink: &mut dyn Sink) {
        let mut seen = false;
        let said = texts(row, &mut |m| {
            seen = true;
            sink.message(m);
        });
        match said {
            Said::Prompt(prompt) => {
                self.facts.messages += 1;
                saw_prompt(&mut self.facts, &prompt);
            }
            Said::Answer if seen => {
                self.facts.messages += 1;
                self.facts.model = row.model.clone().map(Cow::Owned).or_else(|| self.facts.model.take());
            }
            Said::Nothing => self.skipped += 1,
            _ => {}
        }
        if seen {
            self.facts.saw_time(row.created);
            self.facts.saw_time(row.finished);
        }
    }
}

/// The texts of one row.
pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let Ok(rowid) = i64::try_from(at.offset) else { return Ok(Vec::new()) };
    let found = sqlite::read(&source.path, |db| message(db, &Layout::of(db)?, rowid))?;
    let mut messages = Vec::new();
    if let Some(row) = found {
        texts(&row, &mut |m| {
            if m.at == at {
                messages.push(jsonl::own(m));
            }
        });
    }
    Ok(messages)
}
