//! `store.db`: a chat as blobs named by the hash of their content.
//!
//! `meta` holds one JSON object in hexadecimal digits, with the key of an encryption that is not used among its fields: only the named
//! fields are taken out of it. Its `latestRootBlobId` leads to the state of the chat (protobuf): the ids of its messages (JSON) and of its
//! turns (`turns`), the workspace and the times. Blobs that are not reached from there are earlier states.

use super::sidecar::{self, Sidecar};
use super::transcript::{self, count};
use super::turns::{self, Entry, Kind, Turns};
use super::wire::{self, Value};
use crate::io::sqlite::{self, Param};
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Interactivity, Locator, Message, ResumeKind, Role, TitleSource};
use crate::provider::shared::json::{text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::uri::file_path;
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::fmt::Write;

/// A blob and its row.
pub struct Found {
    pub row: i64,
    pub bytes: Vec<u8>,
}

impl Found {
    pub fn get(db: &sqlite::Db, id: &str) -> Result<Option<Self>, sqlite::Error> {
        let sql = "SELECT rowid, data FROM blobs WHERE id = ?1 AND length(data) <= ?2";
        Self::first(db, sql, Param::Text(id))
    }

    fn at(db: &sqlite::Db, row: i64) -> Result<Option<Self>, sqlite::Error> {
        let sql = "SELECT rowid, data FROM blobs WHERE rowid = ?1 AND length(data) <= ?2";
        Self::first(db, sql, Param::Int(row))
    }

    fn first(db: &sqlite::Db, sql: &str, param: Param<'_>) -> Result<Option<Self>, sqlite::Error> {
        let mut found = None;
        let done = db.rows(sql, &[param, Param::Int(DOCUMENT_MAX as i64)], |row| {
            found = row.int(0).zip(row.blob(1)).map(|(n, b)| Self { row: n, bytes: b.to_vec() });
            Ok::<_, sqlite::Error>(())
        });
        match done {
            // A damaged page takes its own blobs with it, not the others.
            Err(sqlite::Error::Corrupt) => Ok(None),
            other => other.map(|()| found),
        }
    }
}

/// What `meta` says.
#[derive(Debug, Clone, Default)]
struct Meta {
    root: Option<String>,
    title: Option<String>,
    model: Option<String>,
    created_ms: i64,
}

/// The state of a chat.
#[derive(Debug, Clone, Default)]
struct Root {
    messages: Vec<String>,
    turns: Vec<String>,
    workspace: Option<String>,
    /// When each turn began and ended.
    times: Vec<(i64, i64)>,
}

pub fn parse(source: &Source, id: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut store = sqlite::Store::at(&source.path);
    let (meta, root, lost) = store.read(state)?;
    let turns = store.read(|db| Turns::of(db, &root.turns))?;
    let facts = facts(source, id, meta, &root);
    let mut chat = Chat { facts, times: root.times, prompts: 0, turns, skipped: u32::from(lost) };
    sink.open("", 0);
    let mut ids = &root.messages[..];
    while !ids.is_empty() {
        let batch = store.read(|db| gather(db, ids))?;
        ids = ids.get(batch.len()..).unwrap_or(&[]);
        for blob in batch {
            chat.message(&mut store, blob, sink)?;
        }
    }
    let rest = chat.turns.rest();
    chat.entries(&mut store, &rest, sink)?;
    sink.close(id, chat.facts);
    Ok(Parsed { skipped: chat.skipped, ..Parsed::default() })
}

/// The texts at a place.
pub fn read(source: &Source, at: Locator, emit: Emit<'_>) -> Result<(), SourceError> {
    let row = i64::try_from(at.offset).unwrap_or(-1);
    let Some(blob) = sqlite::read(&source.path, |db| Found::at(db, row))? else { return Ok(()) };
    for kind in [Kind::Message, Kind::Prompt, Kind::Step] {
        let mut out = Out::new(&mut *emit, place(row, kind), 0);
        if at.part < place(row, kind).part(0).part {
            break;
        }
        put(kind, &blob.bytes, &mut out);
    }
    Ok(())
}

fn place(row: i64, kind: Kind) -> Place {
    Place { offset: row.unsigned_abs(), len: 0, nth: kind as u16 }
}

/// Hands over the texts of a blob. Says whether it could be understood.
fn put(kind: Kind, blob: &[u8], out: &mut Out<'_>) -> bool {
    if kind != Kind::Message {
        let said = turns::texts(kind, blob);
        let understood = said.is_some();
        if let Some((role, said)) = said {
            out.put(role, said);
        }
        return understood;
    }
    let message = String::from_utf8_lossy(blob);
    match serde_json::from_str(&message) {
        Ok(v) => {
            transcript::put(&v, out);
            true
        }
        Err(_) => false,
    }
}

/// The next blobs of a list, up to a size.
fn gather(db: &sqlite::Db, ids: &[String]) -> Result<Vec<Option<Found>>, sqlite::Error> {
    const BATCH: usize = 256;
    const BYTES: usize = 4 << 20;
    let mut batch = Vec::new();
    let mut size = 0;
    for id in ids.iter().take(BATCH) {
        let found = Found::get(db, id)?;
        size += found.as_ref().map_or(0, |f| f.bytes.len());
        batch.push(found);
        if size > BYTES {
            break;
        }
    }
    Ok(batch)
}

/// What the store says of its chat, and whether a state was named that is not there.
fn state(db: &sqlite::Db) -> Result<(Meta, Root, bool), sqlite::Error> {
    let mut meta = Meta::default();
    if !db.table_exists("meta")? && !db.table_exists("blobs")? {
        // About to be made.
        return Ok((meta, Root::default(), false));
    }
    db.rows("SELECT value FROM meta WHERE key = '0' AND length(value) <= 1048576", &[], |row| {
        meta = row.text(0).map(|v| Meta::of(&v)).unwrap_or_default();
        Ok::<_, sqlite::Error>(())
    })?;
    let Some(id) = meta.root.clone() else { return Ok((meta, Root::default(), false)) };
    let root = Found::get(db, &id)?.map(|blob| Root::of(&blob.bytes));
    Ok((meta, root.clone().unwrap_or_default(), root.is_none()))
}

impl Meta {
    /// From hexadecimal digits of JSON; from JSON itself as well.
    fn of(value: &str) -> Self {
        let bytes = from_hex(value.trim()).unwrap_or_else(|| value.as_bytes().to_vec());
        let json = String::from_utf8_lossy(&bytes);
        let Ok(v) = serde_json::from_str(&json) else { return Self::default() };
        Self {
            root: text(&v, "latestRootBlobId").map(str::to_ascii_lowercase),
            title: text(&v, "name").and_then(sidecar::title),
            model: text(&v, "lastUsedModel").map(str::to_owned),
            created_ms: time(&v, "createdAt").unwrap_or(0),
        }
    }
}

impl Root {
    fn of(blob: &[u8]) -> Self {
        let mut root = Self::default();
        for (field, value) in wire::fields(blob) {
            let Value::Bytes(bytes) = value else { continue };
            match field {
                1 => root.messages.push(hex(bytes)),
                8 => root.turns.push(hex(bytes)),
                9 if root.workspace.is_none() => {
                    root.workspace = std::str::from_utf8(bytes).ok().and_then(file_path)
                }
                14 => root.times.push(times(bytes)),
                _ => {}
            }
        }
        root
    }
}

/// `{1: duration, 2: begin}`, in milliseconds.
fn times(timing: &[u8]) -> (i64, i64) {
    let number = |field| wire::number(timing, field).and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
    let begin = crate::model::timestamp::from_number(number(2) as f64).unwrap_or(0);
    (begin, if begin > 0 { begin.saturating_add(number(1)) } else { 0 })
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok();
    let whole = digits.len().is_multiple_of(2) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if whole { digits.as_bytes().chunks(2).map(pair).collect() } else { None }
}

fn facts(source: &Source, id: &str, meta: Meta, root: &Root) -> Facts<'static> {
    let beside = Sidecar::beside(&source.path).unwrap_or_default();
    let own = |s: Option<String>| s.map(Cow::Owned);
    let mut facts = Facts {
        id: Cow::Owned(id.to_owned()),
        project: own(beside.cwd.or_else(|| root.workspace.clone())).unwrap_or_default(),
        model: own(meta.model),
        source_kind: if source.root.label == "acp" { "ide".into() } else { "cli".into() },
        ..Facts::default()
    };
    if source.root.label == "acp" {
        // Chats that an editor began are kept apart from those that `--resume` looks through.
        facts.resume = ResumeKind::None;
    }
    if beside.subagent {
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    if let Some(title) = meta.title {
        facts.offer_title(Cow::Owned(title), TitleSource::Auto);
    }
    let ends = root.times.iter().flat_map(|(begin, end)| [*begin, *end]);
    for ms in ends.chain([meta.created_ms, beside.created_ms, beside.updated_ms]) {
        facts.saw_time(ms);
    }
    facts
}

/// A chat while its messages are read.
struct Chat {
    facts: Facts<'static>,
    times: Vec<(i64, i64)>,
    /// Prompts so far: each begins a turn.
    prompts: usize,
    turns: Turns,
    skipped: u32,
}

impl Chat {
    fn message(
        &mut self,
        store: &mut sqlite::Store,
        blob: Option<Found>,
        sink: &mut dyn Sink,
    ) -> Result<(), SourceError> {
        let Some(blob) = blob else {
            self.skipped += 1;
            return Ok(());
        };
        let mut said = Vec::new();
        let mut keep = |m: Message<'_>| said.push(crate::provider::shared::jsonl::own(m));
        let mut out = Out::new(&mut keep, place(blob.row, Kind::Message), 0);
        if !put(Kind::Message, &blob.bytes, &mut out) {
            self.skipped += 1;
        }
        let mut counted = false;
        for m in said {
            if matches!(m.role, Role::User | Role::Assistant | Role::Thinking) {
                let before = self.turns.before(&m.text);
                self.entries(store, &before, sink)?;
            }
            self.give(m, &mut counted, sink);
        }
        Ok(())
    }

    /// Hands over what only the turns have.
    fn entries(
        &mut self,
        store: &mut sqlite::Store,
        entries: &[Entry],
        sink: &mut dyn Sink,
    ) -> Result<(), SourceError> {
        for entry in entries {
            let Some(blob) = store.read(|db| Found::at(db, entry.row))? else { continue };
            let mut said = Vec::new();
            let mut keep = |m: Message<'_>| said.push(crate::provider::shared::jsonl::own(m));
            put(entry.kind, &blob.bytes, &mut Out::new(&mut keep, place(blob.row, entry.kind), 0));
            said.into_iter().for_each(|m| self.give(m, &mut false, sink));
        }
        Ok(())
    }

    fn give(&mut self, mut m: Message<'static>, counted: &mut bool, sink: &mut dyn Sink) {
        self.prompts += usize::from(m.role == Role::User);
        let turn = self.times.get(self.prompts.saturating_sub(1));
        m.timestamp_ms = turn.map_or(0, |(begin, _)| *begin);
        count(&m, counted, &mut self.facts);
        sink.message(m);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_is_json_or_its_digits() {
        let json = r#"{"latestRootBlobId":"AB","name":"New Agent","createdAt":"1785000000000","blobEncryptionKey":"k"}"#;
        for value in [json.to_owned(), hex(json.as_bytes())] {
            let meta = Meta::of(&value);
            assert_eq!(
                (meta.root.as_deref(), meta.title, meta.created_ms),
                (Some("ab"), None, 1_785_000_000_000)
            );
        }
        assert_eq!(Meta::of("zz").root, None);
    }
}
