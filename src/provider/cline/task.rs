//! Tasks of the VS Code extension and of Cline before 3.0: a list of messages as the model got them, and a list of all tasks.

use super::session;
use crate::limits::{DOCUMENT_MAX, SIDE_FILE_MAX};
use crate::model::{Facts, Locator, Message, ResumeKind, TitleSource, UnitKind, valid_session_id};
use crate::provider::shared::json::{items, text, time};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::title_line;
use crate::provider::shared::{document, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// Each store has its own tasks, named by the time they began.
fn key(source: &Source, id: &str) -> String {
    format!("{}\0{id}", source.root.path.display())
}

fn id(source: &Source) -> &str {
    source.rel.split('/').nth(1).unwrap_or("")
}

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let (facts, skipped) = messages(source, &mut |m| sink.message(m))?;
    sink.close(&key(source, id(source)), facts);
    Ok(Parsed { skipped, ..Parsed::default() })
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    messages(source, &mut |m| {
        if m.at == at {
            found.push(jsonl::own(m));
        }
    })?;
    Ok(found)
}

fn messages(
    source: &Source,
    emit: &mut dyn FnMut(Message<'_>),
) -> Result<(Facts<'static>, u32), SourceError> {
    let in_editor = source.root.path.ends_with(super::EXTENSION);
    let mut facts = Facts {
        id: Cow::Owned(id(source).to_owned()),
        source_kind: if in_editor { "ide" } else { "unknown" }.into(),
        // No command leads back into one.
        resume: ResumeKind::None,
        ..Facts::default()
    };
    let mut skipped = 0;
    document::read(&source.path, DOCUMENT_MAX, |v| {
        let mut out = Texts::new(emit, source.fingerprint.size);
        for m in items(v) {
            skipped += u32::from(!m.is_object());
            session::message(m, &mut facts, &mut out);
        }
    })?;
    if facts.started_ms == 0 && facts.messages > 0 {
        facts.saw_time(
            id(source).parse::<f64>().ok().and_then(crate::model::timestamp::from_number).unwrap_or(0),
        );
    }
    Ok((facts, skipped))
}

/// `taskHistory.json`: where a task was held, and its text.
pub fn history(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    document::read(&source.path, SIDE_FILE_MAX, |v| {
        items(v).iter().for_each(|task| entry(task, source, sink));
    })?;
    Ok(Parsed::default())
}

fn entry(task: &Value<'_>, source: &Source, sink: &mut dyn Sink) {
    let Some(id) = text(task, "id").filter(|id| valid_session_id(id)) else { return };
    let owned = |key| text(task, key).map(|v| Cow::Owned(v.to_owned()));
    let mut facts = Facts {
        kind: UnitKind::Side,
        project: owned("cwdOnTaskInitialization").unwrap_or_default(),
        model: owned("modelId"),
        last_ms: time(task, "ts").unwrap_or(0),
        ..Facts::default()
    };
    if let Some(title) = text(task, "task") {
        facts.offer_title(Cow::Owned(title_line(&super::content::typed(title))), TitleSource::Prompt);
    }
    let stamp = xxh3_64(format!("{facts:?}").as_bytes());
    if !sink.keep(id, stamp) {
        sink.open(id, stamp);
        sink.close(&key(source, id), facts);
    }
}
