//! The database: tables `session`, `message` and `part`. No other one is read; some hold credentials, `event` repeats these.
//!
//! A session is a unit. Its stamp is made of its row and of the name of its newest message, which an index gives: the row alone does
//! not change with every message (it is left alone when the user runs a command). A session whose newest message was not whole when it
//! was read is read again with the next change. A text's place is its message's row and its number in it.

use super::message::{self, Head, Speaker};
use super::talk::{Cut, Given, Talk, headless};
use crate::io::lines::LineReader;
use crate::io::sqlite::{Db, Error, Param, Row, Store};
use crate::limits::{LINE_MAX, SQLITE_VALUE_MAX};
use crate::model::{Locator, Message, timestamp};
use crate::provider::shared::json;
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

/// What is read of a session's row, where the layout has it.
const COLUMNS: [&str; 9] = [
    "parent_id",
    "directory",
    "title",
    "model",
    "permission",
    "revert",
    "time_created",
    "time_updated",
    "time_archived",
];

/// Messages whose parts are gathered at once.
const CHUNK: usize = 64;
/// Bytes of parts gathered at once; what is beyond is left out.
const GATHER_MAX: usize = 64 << 20;

/// A message that was begun this long before the newest one will not be finished any more.
const UNFINISHED_MS: i64 = 24 * 3_600_000;

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut store = Store::at(&source.path);
    let Some(layout) = store.read(Layout::of)? else { return Ok(Parsed::default()) };
    let mut list = store.read(|db| layout.list(db, true))?;
    if list.damage.is_some() {
        list = store.read(|db| layout.list(db, false))?;
    }
    let lost = u32::from(list.damage.is_some());
    let mut parsed = Parsed { skipped: list.nameless + lost, ..Parsed::default() };
    let (mut damage, mut any) = (list.damage, false);
    for listed in &list.sessions {
        if sink.keep(&listed.id, listed.stamp) {
            any = true;
            continue;
        }
        let mut reading =
            Reading { store: &mut store, layout: &layout, newest: list.newest, parsed: &mut parsed };
        match reading.session(listed, sink) {
            Ok(()) => any = true,
            // It is lost. The others are not.
            Err(e @ (Error::Corrupt | Error::Other)) => {
                parsed.skipped += 1;
                damage = Some(e);
            }
            Err(e) => return Err(e.into()),
        }
    }
    match damage {
        Some(e) if !any => Err(e.into()),
        _ => Ok(parsed),
    }
}

struct Reading<'r> {
    store: &'r mut Store,
    layout: &'r Layout,
    /// When the newest message of all was begun.
    newest: i64,
    parsed: &'r mut Parsed,
}

impl Reading<'_> {
    /// Reads a session; what of its text is lost counts as skipped.
    fn session(&mut self, listed: &Listed, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some(given) = self.store.read(|db| self.layout.given(db, listed.row))? else { return Ok(()) };
        let (heads, bad) = self.store.read(|db| heads(db, "session_id = ?1", Param::Text(&listed.id)))?;
        self.parsed.skipped += bad;
        let whole = self.is_whole(&heads).unwrap_or(true);
        // A stamp that no list has.
        sink.open(&listed.id, if whole { listed.stamp } else { !listed.stamp });
        let mut talk = Talk::new(given);
        match self.messages(&heads, &mut talk, &mut |m| sink.message(m)) {
            Err(Error::Corrupt | Error::Other) => self.parsed.skipped += 1,
            other => other?,
        }
        sink.close(&listed.id, talk.finish());
        Ok(())
    }

    /// Whether nothing more is expected: the newest message is an answer that was completed, or an old one.
    fn is_whole(&mut self, heads: &[Head]) -> Result<bool, Error> {
        let Some(last) = heads.last() else { return Ok(true) };
        if last.created < self.newest.saturating_sub(UNFINISHED_MS) {
            return Ok(true);
        }
        if last.speaker == Speaker::User || last.completed == 0 {
            return Ok(false);
        }
        let parts = self.store.read(|db| parts(db, std::slice::from_ref(last)))?;
        let runs = |(_, data): &(String, String)| value(data).is_some_and(|v| message::is_running(&v));
        Ok(!parts.of.values().flatten().any(runs))
    }

    fn messages(&mut self, heads: &[Head], talk: &mut Talk, emit: Emit<'_>) -> Result<(), Error> {
        for chunk in heads.chunks(CHUNK) {
            let parts = self.store.read(|db| parts(db, chunk))?;
            self.parsed.shortened += parts.shortened;
            for head in chunk {
                if !talk.begin(head) {
                    return Ok(());
                }
                let mut out = Out::new(emit, place(head), 0);
                for (id, data) in parts.of.get(&head.id).into_iter().flatten() {
                    match value(data) {
                        Some(v) => talk.part(head, id, &v, &mut |role, at, said, tool| {
                            out.time = at;
                            put(&mut out, role, said, tool);
                        }),
                        None => self.parsed.skipped += 1,
                    }
                }
                talk.end(head);
            }
        }
        Ok(())
    }
}

fn put(out: &mut Out<'_>, role: crate::model::Role, said: Cow<'_, str>, tool: Option<&str>) {
    match tool {
        Some(_) => out.tool(role, said, tool),
        None => out.put(role, said),
    }
}

fn place(head: &Head) -> Place {
    Place { offset: head.row as u64, len: 0, nth: 0 }
}

fn value(data: &str) -> Option<Value<'_>> {
    serde_json::from_str(data).ok()
}

/// The texts of the message at `at`.
pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut store = Store::at(&source.path);
    let (heads, parts) = store.read(|db| {
        let (heads, _) = heads(db, "rowid = ?1", Param::Int(at.offset as i64))?;
        let parts = parts(db, &heads)?;
        Ok::<_, Error>((heads, parts))
    })?;
    let mut found = Vec::new();
    for head in &heads {
        let mut keep = |m: Message<'_>| {
            if m.at == at {
                found.push(jsonl::own(m));
            }
        };
        let mut out = Out::new(&mut keep, place(head), 0);
        for v in parts.of.get(&head.id).into_iter().flatten().filter_map(|(_, data)| value(data)) {
            message::texts(head, &v, &mut |role, time, said, tool| {
                out.time = time;
                put(&mut out, role, said, tool);
            });
        }
    }
    Ok(found)
}

/// The columns that a release's tables have.
struct Layout {
    session: Vec<String>,
}

/// A session of the list.
struct Listed {
    row: i64,
    id: String,
    stamp: u64,
}

#[derive(Default)]
struct List {
    sessions: Vec<Listed>,
    nameless: u32,
    newest: i64,
    damage: Option<Error>,
}

impl Layout {
    /// Nothing if there are no tables yet.
    fn of(db: &Db) -> Result<Option<Self>, Error> {
        let session = db.columns("session")?;
        if session.iter().any(|c| c == "id") {
            return Ok(Some(Self { session }));
        }
        let mut empty = true;
        db.rows("SELECT 1 FROM sqlite_schema LIMIT 1", &[], |_| {
            empty = false;
            Ok::<_, Error>(())
        })?;
        if empty { Ok(None) } else { Err(Error::Layout) }
    }

    fn columns(&self) -> String {
        let has = |name: &str| self.session.iter().any(|c| c == name);
        let of = |name: &str| if has(name) { format!("s.{name}") } else { "NULL".to_owned() };
        COLUMNS.map(of).join(", ")
    }

    /// All sessions with their stamps; without their messages if those are damaged.
    fn list(&self, db: &Db, messages: bool) -> Result<List, Error> {
        const NEWEST: &str = "(SELECT time_created || ' ' || id FROM message WHERE session_id = s.id
            ORDER BY time_created DESC, id DESC LIMIT 1)";
        let newest = if messages { NEWEST } else { "NULL" };
        let sql = format!("SELECT s.rowid, s.id, {}, {newest} FROM session s", self.columns());
        let mut list = List::default();
        let result = db.rows(&sql, &[], |row| {
            let newest = row.text(2 + COLUMNS.len());
            let begun = newest.and_then(|n| n.split(' ').next()?.parse().ok());
            list.newest = list.newest.max(begun.unwrap_or(0));
            match (row.int(0), row.text(1)) {
                (Some(n), Some(id)) => {
                    list.sessions.push(Listed { row: n, id: id.into_owned(), stamp: stamp(row) });
                }
                _ => list.nameless += 1,
            }
            Ok::<_, Error>(())
        });
        match result {
            Err(e @ (Error::Corrupt | Error::TooLong)) => list.damage = Some(e),
            other => other?,
        }
        Ok(list)
    }

    /// What a session's row says.
    fn given(&self, db: &Db, row: i64) -> Result<Option<Given>, Error> {
        let sql = format!("SELECT s.id, {} FROM session s WHERE s.rowid = ?1", self.columns());
        let mut given = None;
        db.rows(&sql, &[Param::Int(row)], |row| {
            given = Some(self::given(row));
            Ok::<_, Error>(())
        })?;
        Ok(given)
    }
}

/// A hash of a listed row without its id.
fn stamp(row: &Row<'_>) -> u64 {
    let mut hash = Xxh3::new();
    for column in 2..=2 + COLUMNS.len() {
        match row.blob(column) {
            Some(bytes) => hash.update(bytes),
            None => hash.update(&row.int(column).unwrap_or(i64::MIN).to_le_bytes()),
        }
        hash.update(b"\0");
    }
    hash.digest()
}

fn given(row: &Row<'_>) -> Given {
    let text = |n: usize| row.text(n).map(Cow::into_owned).filter(|t| !t.is_empty());
    let when = |n: usize| row.int(n).and_then(|t| timestamp::from_number(t as f64)).unwrap_or(0);
    let (model, rules, revert) = (text(4), text(5), text(6));
    Given {
        id: text(0).unwrap_or_default(),
        parent: text(1),
        directory: text(2).unwrap_or_default(),
        title: text(3).unwrap_or_default(),
        model: model.as_deref().and_then(value).and_then(|m| json::text(&m, "id").map(str::to_owned)),
        created: when(7),
        updated: when(8),
        archived: row.int(9).is_some_and(|t| t > 0),
        headless: rules.as_deref().and_then(value).is_some_and(|r| headless(&r)),
        cut: revert.as_deref().and_then(value).and_then(|r| Cut::new(&r)),
    }
}

/// Messages without their parts, and how many could not be understood.
fn heads(db: &Db, which: &str, param: Param<'_>) -> Result<(Vec<Head>, u32), Error> {
    let sql =
        format!("SELECT rowid, id, {} FROM message WHERE {which} ORDER BY time_created, id", bounded("data"));
    let (mut heads, mut bad) = (Vec::new(), 0);
    db.rows(&sql, &[param], |row| {
        let head = row.text(2).and_then(|data| {
            let v = value(&data)?;
            Some(Head::new(row.int(0)?, &row.text(1)?, &v))
        });
        match head {
            Some(head) => heads.extend(head),
            None => bad += 1,
        }
        Ok::<_, Error>(())
    })?;
    Ok((heads, bad))
}

/// A column, or nothing where it is larger than any value may be: that would end the query.
fn bounded(column: &str) -> String {
    format!("CASE WHEN octet_length({column}) <= {} THEN {column} END", SQLITE_VALUE_MAX / 2)
}

/// The parts of some messages, in order: their ids and their JSON.
#[derive(Default)]
struct Parts {
    of: HashMap<String, Vec<(String, String)>>,
    size: usize,
    shortened: u32,
}

impl Parts {
    fn add(&mut self, message: &str, id: &str, data: Cow<'_, str>) {
        let long = data.len() > LINE_MAX;
        let data = if long { shorten(&data) } else { data.into_owned() };
        let full = self.size + data.len() > GATHER_MAX;
        self.shortened += u32::from(long || full);
        if !full {
            self.size += data.len();
            self.of.entry(message.to_owned()).or_default().push((id.to_owned(), data));
        }
    }
}

fn parts(db: &Db, heads: &[Head]) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    if heads.is_empty() {
        return Ok(parts);
    }
    let places = vec!["?"; heads.len()].join(",");
    let sql = format!("SELECT message_id, id, {} FROM part WHERE message_id IN ({places})", bounded("data"));
    let ids: Vec<Param<'_>> = heads.iter().map(|h| Param::Text(&h.id)).collect();
    db.rows(&sql, &ids, |row| {
        if let (Some(message), Some(id)) = (row.text(0), row.text(1)) {
            parts.add(&message, &id, row.text(2).unwrap_or_default());
        }
        Ok::<_, Error>(())
    })?;
    parts.of.values_mut().for_each(|of| of.sort_by(|a, b| a.0.cmp(&b.0)));
    Ok(parts)
}

/// Without the tails of its long strings.
fn shorten(data: &str) -> String {
    let mut reader = LineReader::new(data.as_bytes(), 0);
    let line = reader.next_line().ok().flatten();
    line.map(|l| String::from_utf8_lossy(l.bytes).into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::stat::{self, Fingerprint};
    use crate::model::Facts;
    use crate::provider::Root;
    use std::collections::BTreeMap;
    use std::path::Path;

    const TABLES: &str = "CREATE TABLE session(id text PRIMARY KEY, directory text, title text, time_created integer, time_updated integer);
        CREATE TABLE message(id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
        CREATE TABLE part(id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text);
        CREATE INDEX m ON message(session_id, time_created, id);
        CREATE INDEX p ON part(message_id, id);
        CREATE INDEX s ON part(session_id);";

    fn made(path: &Path, sessions: &[(&str, &str)]) -> rusqlite::Connection {
        let c = rusqlite::Connection::open(path).unwrap();
        c.execute_batch(TABLES).unwrap();
        for (n, (id, said)) in sessions.iter().enumerate() {
            c.execute("INSERT INTO session VALUES(?1, '/w', ?1, 1790000000000, 1790000000000)", [id])
                .unwrap();
            say(&c, id, n, said);
        }
        c
    }

    fn say(c: &rusqlite::Connection, session: &str, n: usize, said: &str) {
        let id = format!("{n:04}");
        let head = r#"{"role":"assistant","time":{"created":1790000000000,"completed":1790000000001}}"#;
        let message = "INSERT INTO message VALUES(?1, ?2, 1790000000000, 1, ?3)";
        c.execute(message, [&id, session, head]).unwrap();
        let part = format!("{{\"type\":\"text\",\"text\":\"{said}\"}}");
        c.execute("INSERT INTO part VALUES(?1, ?1, ?2, 1, 1, ?3)", [&id, session, &part]).unwrap();
    }

    fn source(path: &Path) -> Source {
        let root = Root { path: path.parent().unwrap().into(), label: "data", env: Vec::new() };
        let fingerprint = stat::stat(path).map_or(Fingerprint::default(), |(fp, _)| fp);
        Source { root, rel: "x.db".into(), kind: 0, path: path.into(), fingerprint }
    }

    /// What a pass brings, and the stamps for the next one.
    #[derive(Default)]
    struct Seen {
        stamps: BTreeMap<String, u64>,
        open: String,
        said: BTreeMap<String, Vec<String>>,
    }

    impl Sink for Seen {
        fn open(&mut self, row: &str, stamp: u64) {
            self.open = row.to_owned();
            self.stamps.insert(row.to_owned(), stamp);
            self.said.insert(row.to_owned(), Vec::new());
        }

        fn message(&mut self, m: Message<'_>) {
            self.said.entry(self.open.clone()).or_default().push(m.text.into_owned());
        }

        fn close(&mut self, _session: &str, _facts: Facts<'_>) {}

        fn keep(&mut self, row: &str, stamp: u64) -> bool {
            self.stamps.get(row) == Some(&stamp)
        }
    }

    fn changed(path: &Path, seen: &mut Seen) -> Vec<String> {
        seen.said.clear();
        parse(&source(path), seen).unwrap();
        seen.said.keys().cloned().collect()
    }

    #[test]
    fn only_what_changed_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let c = made(&path, &[("a", "one"), ("b", "two"), ("c", "three")]);
        let mut seen = Seen::default();
        assert_eq!(changed(&path, &mut seen), ["a", "b", "c"]);
        assert!(changed(&path, &mut seen).is_empty());
        say(&c, "b", 10, "more");
        assert_eq!(changed(&path, &mut seen), ["b"]);
        assert_eq!(seen.said["b"], ["two", "more"]);
        for (sql, expected) in [
            ("UPDATE session SET title = 'renamed', time_updated = 1790000000001 WHERE id = 'c'", "c"),
            ("DELETE FROM message WHERE id = '0010'", "b"),
            // An answer is begun, and grows in its place.
            (
                "INSERT INTO message VALUES('0011', 'a', 1790000000009, 1, '{\"role\":\"assistant\",\"time\":{\"created\":1790000000009}}')",
                "a",
            ),
            ("INSERT INTO part VALUES('0011', '0011', 'a', 1, 1, '{\"type\":\"text\",\"text\":\"\"}')", "a"),
            ("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"grown\"}' WHERE id = '0011'", "a"),
            (
                "UPDATE message SET data = '{\"role\":\"assistant\",\"time\":{\"completed\":1790000000010}}' WHERE id = '0011'",
                "a",
            ),
        ] {
            c.execute(sql, []).unwrap();
            assert_eq!(changed(&path, &mut seen), [expected], "{sql}");
        }
        assert_eq!(seen.said["a"], ["one", "grown"]);
        assert!(changed(&path, &mut seen).is_empty());
        c.execute("INSERT INTO session VALUES('d', '/w', 'd', 1790000000000, 1790000000000)", []).unwrap();
        assert_eq!(changed(&path, &mut seen), ["d"]);
    }

    /// Page numbers of the database on which a text stands.
    fn pages_with(bytes: &[u8], text: &str, size: usize) -> Vec<usize> {
        let holds = |p: &&[u8]| memchr::memmem::find(p, text.as_bytes()).is_some();
        bytes.chunks(size).enumerate().filter(|(_, p)| holds(p)).map(|(n, _)| n).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "a test looks at its own small file")]
    #[test]
    fn a_damaged_page_costs_what_stands_on_it() {
        const PAGE: usize = 4096;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let long: Vec<String> = ["alpha", "beta", "gamma"].map(|w| format!("{w} ").repeat(500)).into();
        let sessions = [("a", long[0].as_str()), ("b", long[1].as_str()), ("c", long[2].as_str())];
        drop(made(&path, &sessions));
        let mut bytes = std::fs::read(&path).unwrap();
        let (first, last) = (pages_with(&bytes, "alpha", PAGE), pages_with(&bytes, "gamma", PAGE));
        let hit: Vec<_> = pages_with(&bytes, "beta", PAGE);
        let hit = hit.iter().find(|n| !first.contains(n) && !last.contains(n)).unwrap();
        bytes[hit * PAGE..(hit + 1) * PAGE].fill(0xee);
        std::fs::write(&path, bytes).unwrap();
        let mut seen = Seen::default();
        assert_eq!(parse(&source(&path), &mut seen).unwrap().skipped, 1, "the loss is told");
        let found = |id: &str| seen.said[id].iter().map(|s| s.len()).sum::<usize>();
        assert_eq!((found("a"), found("c")), (long[0].len(), long[2].len()));
        assert!(seen.said.contains_key("b"), "its row is still there");
    }
}
