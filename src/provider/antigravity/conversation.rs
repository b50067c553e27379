//! `conversations/<id>.db`: the steps of a conversation in protocol buffers, and its workspace.

use super::transcript::request;
use super::wire;
use crate::io::sqlite::{Db, Error, Param, Row, Store};
use crate::limits::LINE_MAX;
use crate::model::{Facts, Locator, Message, Role, UnitKind, timestamp};
use crate::provider::shared::jsonl::own;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::shared::uri;
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;

/// Steps gathered at once.
const CHUNK: usize = 128;
const PROMPT: i64 = 14;
const ANSWER: i64 = 15;

/// A prompt or an answer.
struct Step {
    idx: i64,
    role: Role,
    at: i64,
    text: String,
}

/// `told` if a transcript tells the conversation: then only its workspace is of interest.
pub fn parse(source: &Source, id: &str, told: bool, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut store = Store::at(&source.path);
    let mut facts = Facts {
        kind: if told { UnitKind::Side } else { UnitKind::Main },
        id: Cow::Owned(id.to_owned()),
        source_kind: "unknown".into(),
        ..Facts::default()
    };
    facts.project = store.read(workspace)?.map(Cow::Owned).unwrap_or_default();
    sink.open("", 0);
    let mut parsed = Parsed::default();
    if !told && let Err(e) = conversation(&mut store, &mut facts, &mut parsed, &mut |m| sink.message(m)) {
        if facts.messages == 0 {
            return Err(e.into());
        }
        parsed.skipped += 1;
    }
    sink.close(id, facts);
    Ok(parsed)
}

fn conversation(
    store: &mut Store,
    facts: &mut Facts<'_>,
    parsed: &mut Parsed,
    emit: &mut dyn FnMut(Message<'_>),
) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let chunk = store.read(|db| steps(db, "idx > ?1", after))?;
        parsed.skipped += chunk.bad;
        for step in &chunk.steps {
            facts.messages += 1;
            facts.saw_time(step.at);
            if step.role == Role::User {
                saw_prompt(facts, &step.text);
            }
            emit(message(step));
        }
        match chunk.last {
            // In a damaged table the steps may be in no order.
            Some(last) if last > after => after = last,
            _ => return Ok(()),
        }
    }
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let chunk = Store::at(&source.path).read(|db| steps(db, "idx = ?1", at.offset as i64))?;
    Ok(chunk.steps.iter().map(|s| own(message(s))).collect())
}

fn message(step: &Step) -> Message<'_> {
    let at = Locator { offset: step.idx as u64, len: 0, part: 0 };
    Message {
        role: step.role,
        timestamp_ms: step.at,
        text: Cow::Borrowed(&step.text),
        at,
        tool: None,
        sidechain: false,
    }
}

#[derive(Default)]
struct Chunk {
    steps: Vec<Step>,
    /// The last step looked at, if there was any.
    last: Option<i64>,
    bad: u32,
}

fn steps(db: &Db, which: &str, param: i64) -> Result<Chunk, Error> {
    let sql = format!(
        "SELECT idx, step_type, CASE WHEN octet_length(step_payload) <= {LINE_MAX} THEN step_payload END
         FROM steps WHERE {which} ORDER BY idx LIMIT {CHUNK}"
    );
    let mut chunk = Chunk::default();
    db.rows(&sql, &[Param::Int(param)], |row| {
        chunk.last = row.int(0).or(chunk.last);
        match step(row) {
            Some(Some(step)) => chunk.steps.push(step),
            Some(None) => {}
            None => chunk.bad += 1,
        }
        Ok::<_, Error>(())
    })?;
    Ok(chunk)
}

/// A step that says something; nothing at all if it should but cannot be understood.
fn step(row: &Row<'_>) -> Option<Option<Step>> {
    let (role, path) = match row.int(1)? {
        PROMPT => (Role::User, [19, 2]),
        ANSWER => (Role::Assistant, [20, 1]),
        _ => return Some(None),
    };
    let payload = row.blob(2)?;
    let seconds = wire::number(payload, &[5, 1], 1).unwrap_or(0);
    let at = timestamp::from_number(seconds as f64).unwrap_or(0);
    // An answer that is only tool calls has no text.
    let said = wire::text(payload, &path).unwrap_or_default();
    let text = if role == Role::User { request(&said).into_owned() } else { said };
    Some((!text.trim().is_empty()).then_some(Step { idx: row.int(0)?, role, at, text }))
}

/// The directory of the first workspace.
fn workspace(db: &Db) -> Result<Option<String>, Error> {
    let mut found = None;
    if !db.table_exists("trajectory_metadata_blob")? {
        return Ok(None);
    }
    db.rows("SELECT data FROM trajectory_metadata_blob WHERE id = 'main'", &[], |row| {
        let data = row.blob(0).unwrap_or_default();
        let uris = [&[1, 1][..], &[7, 1], &[7]].map(|path| wire::text(data, path));
        found = uris.iter().flatten().find_map(|u| uri::file_path(u));
        Ok::<_, Error>(())
    })?;
    Ok(found)
}
