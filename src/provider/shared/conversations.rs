//! `data.sqlite3` of Amazon Q Developer CLI and of Kiro CLI, which began as its copy. Layout and types from aws/amazon-q-developer-cli
//! (`sqlite_migrations/`, `cli/chat/conversation.rs`, `message.rs`); `conversations_v2` as public readers of Kiro's file know it.
//!
//! `conversations` has a row for each directory, keyed by it; `conversations_v2` one for each conversation. Either holds the whole
//! conversation as one document. The same file holds tokens in other tables: nothing but these two is ever selected.

use super::json::{self, get, items, text, time};
use super::out::{ROW_MAX, Texts};
use super::prompt::saw_prompt;
use crate::io::sqlite::{Db, Error, Param, Store};
use crate::limits::{DOCUMENT_MAX, ID_MAX, PATH_MAX};
use crate::model::{Facts, Locator, Message, ResumeKind, Role};
use crate::provider::shared::jsonl::own;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// The database's name.
pub const FILE: &str = "data.sqlite3";

/// A row's table is the lowest bit of its number in a locator.
const TABLES: [&str; 2] = ["conversations", "conversations_v2"];

/// What is known of a row without reading its document.
struct Row {
    table: usize,
    rowid: i64,
    directory: String,
    id: String,
    size: i64,
    created_ms: i64,
    updated_ms: i64,
}

impl Row {
    fn name(&self) -> String {
        format!("{} {}", self.table, self.rowid)
    }

    /// Saving a conversation of the old table gives it a new row; one of the new table gets a new time.
    fn stamp(&self) -> u64 {
        let what = format!("{}\0{}\0{}\0{}", self.directory, self.id, self.size, self.updated_ms);
        xxh3_64(what.as_bytes())
    }

    fn number(&self) -> u64 {
        (self.rowid as u64) << 1 | self.table as u64
    }
}

/// Reads the rows that changed. `kinds` says how sessions of the two tables are resumed.
pub fn parse(source: &Source, kinds: [ResumeKind; 2], sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut store = Store::at(&source.path);
    let mut parsed = Parsed::default();
    for (table, kind) in kinds.into_iter().enumerate() {
        let (rows, damage) = store.read(|db| list(db, table))?;
        parsed.skipped += u32::from(damage);
        for row in rows {
            if !sink.keep(&row.name(), row.stamp()) && conversation(&mut store, &row, kind, sink).is_none() {
                parsed.skipped += 1;
            }
        }
    }
    Ok(parsed)
}

/// The rows of a table, as far as they can be read, and whether that was not all.
fn list(db: &Db, table: usize) -> Result<(Vec<Row>, bool), Error> {
    let columns = db.columns(TABLES[table])?;
    let mut rows = Vec::new();
    if !columns.iter().any(|c| c == "value") {
        return Ok((rows, false));
    }
    let column = |name: &'static str| if columns.iter().any(|c| c == name) { name } else { "NULL" };
    let sql = format!(
        "SELECT rowid, substr({}, 1, {PATH_MAX}), substr({}, 1, {ID_MAX}), octet_length(value), {}, {} FROM {}",
        column("key"),
        column("conversation_id"),
        column("created_at"),
        column("updated_at"),
        TABLES[table],
    );
    let done = db.rows(&sql, &[], |row| {
        let words = |n| row.text(n).map(Cow::into_owned).unwrap_or_default();
        let when = |n| row.real(n).and_then(crate::model::timestamp::from_number).unwrap_or(0);
        let rowid = row.int(0).unwrap_or(0);
        if (1..(ROW_MAX >> 1) as i64).contains(&rowid) {
            let (directory, id, size) = (words(1), words(2), row.int(3).unwrap_or(0));
            rows.push(Row { table, rowid, directory, id, size, created_ms: when(4), updated_ms: when(5) });
        }
        Ok::<_, Error>(())
    });
    match done {
        Err(Error::Corrupt) if !rows.is_empty() => Ok((rows, true)),
        other => other.map(|()| (rows, false)),
    }
}

/// The document of a row.
fn document(store: &mut Store, table: usize, rowid: i64) -> Result<Option<String>, Error> {
    let sql = format!("SELECT value FROM {} WHERE rowid = ?1", TABLES[table]);
    store.read(|db| {
        let mut found = None;
        db.rows(&sql, &[Param::Int(rowid)], |row| {
            found = row.text(0).map(Cow::into_owned);
            Ok::<_, Error>(())
        })?;
        Ok(found)
    })
}

/// Hands over a conversation; nothing if its document is too large or no JSON.
fn conversation(store: &mut Store, row: &Row, resume: ResumeKind, sink: &mut dyn Sink) -> Option<()> {
    if row.size as u64 > DOCUMENT_MAX {
        return None;
    }
    let text = document(store, row.table, row.rowid).ok()??;
    let v: Value<'_> = serde_json::from_str(&text).ok()?;
    let mut facts = Facts {
        project: Cow::Owned(row.directory.clone()),
        source_kind: "cli".into(),
        resume,
        ..Facts::default()
    };
    let id = if row.id.is_empty() { json::text(&v, "conversation_id").unwrap_or("") } else { &row.id };
    facts.id = Cow::Owned(id.to_owned());
    facts.model = model(&v).map(|m| Cow::Owned(m.to_owned()));
    sink.open(&row.name(), row.stamp());
    history(&v, &mut facts, &mut Texts::of_row(&mut |m| sink.message(m), row.number()));
    if facts.last_ms == 0 {
        facts.saw_time(row.created_ms);
        facts.saw_time(row.updated_ms);
    }
    sink.close(&facts.id.clone(), facts);
    Some(())
}

/// The messages at a place.
pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let number = at.offset & ROW_MAX;
    let (table, rowid) = ((number & 1) as usize, (number >> 1) as i64);
    let mut found = Vec::new();
    let Some(text) = document(&mut Store::at(&source.path), table, rowid)? else { return Ok(found) };
    let v: Value<'_> = serde_json::from_str(&text).map_err(|_| SourceError::Format("not valid JSON"))?;
    let mut keep = |m: Message<'_>| {
        if m.at == at {
            found.push(own(m));
        }
    };
    history(&v, &mut Facts::default(), &mut Texts::of_row(&mut keep, number));
    Ok(found)
}

fn model<'v>(v: &'v Value<'v>) -> Option<&'v str> {
    let used =
        || items(get(v, "history")).iter().rev().find_map(|t| text(get(t, "request_metadata"), "model_id"));
    text(get(v, "model_info"), "model_id").or_else(|| text(v, "model")).or_else(used)
}

fn history(v: &Value<'_>, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    // What compaction left of the turns before these: a text, with notes on how it was made.
    let summary = get(v, "latest_summary");
    let summary = items(summary).first().unwrap_or(summary);
    out.put(Role::System, 0, summary.as_str().unwrap_or(""));
    for turn in items(get(v, "history")) {
        // The first releases wrote pairs.
        let (user, reply) = match turn.as_array() {
            Some([user, reply, ..]) => (user, reply),
            _ => (get(turn, "user"), get(turn, "assistant")),
        };
        let notes = get(turn, "request_metadata");
        let asked =
            time(user, "timestamp").or_else(|| time(notes, "request_start_timestamp_ms")).unwrap_or(0);
        let answered = time(notes, "stream_end_timestamp_ms").unwrap_or(asked);
        facts.saw_time(asked);
        facts.saw_time(answered);
        said(user, asked, facts, out);
        replied(reply, answered, facts, out);
    }
}

/// The variant of an enum as serde writes it.
fn variant<'v>(v: &'v Value<'v>, names: &[&str]) -> &'v Value<'v> {
    names.iter().map(|n| get(v, n)).find(|inner| !inner.is_null()).unwrap_or(&Value::Null)
}

/// The user's part of a turn: a prompt, results of tools, or both after tools were refused.
fn said(user: &Value<'_>, at: i64, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    let content = variant(get(user, "content"), &["Prompt", "CancelledToolUses", "ToolUseResults"]);
    for result in items(get(content, "tool_use_results")) {
        out.put(Role::ToolOutput, at, json::strings(get(result, "content")));
    }
    if let Some(prompt) = text(content, "prompt").filter(|p| !p.trim().is_empty()) {
        facts.messages += 1;
        saw_prompt(facts, prompt);
        out.put(Role::User, at, prompt);
    }
}

fn replied(reply: &Value<'_>, at: i64, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    let reply = variant(reply, &["Response", "ToolUse"]);
    if !reply.is_object() {
        return;
    }
    facts.messages += 1;
    out.put(Role::Thinking, at, thinking(get(reply, "thinking")));
    out.put(Role::Assistant, at, get(reply, "content").as_str().unwrap_or(""));
    for call in items(get(reply, "tool_uses")) {
        let input = variant(call, &["args", "input"]);
        out.tool(Role::ToolInput, at, json::strings(input), text(call, "name"));
    }
}

/// Published reasoning: a text, or one in an object beside its signature.
fn thinking<'v>(v: &'v Value<'v>) -> &'v str {
    let inner = variant(v, &["reasoning_text", "reasoningText", "ReasoningText"]);
    v.as_str()
        .or_else(|| inner.as_str())
        .or_else(|| text(v, "text"))
        .or_else(|| text(inner, "text"))
        .unwrap_or("")
}
