//! `meta.json`: what a session is called, where and when it was held.

use crate::limits::{DOCUMENT_MAX, SIDE_FILE_MAX};
use crate::model::{Facts, TitleSource, UnitKind, valid_session_id};
use crate::provider::shared::json::{content, flag, get, text, time};
use crate::provider::shared::prompt::title_line;
use crate::provider::shared::{document, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::path::Path;

pub const FILE: &str = "meta.json";

pub fn parse(source: &Source, key: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let facts = document::read(&source.path, DOCUMENT_MAX, |v| facts(v, source))?;
    sink.open("", 0);
    sink.close(key, facts.unwrap_or(Facts { kind: UnitKind::Side, ..Facts::default() }));
    Ok(Parsed::default())
}

fn facts(meta: &Value<'_>, source: &Source) -> Facts<'static> {
    let owned = |v: Option<&str>| v.map(|v| Cow::Owned(v.to_owned()));
    let ran = text(get(meta, "environment"), "working_directory");
    let began = text(meta, "origin_directory").or(ran);
    let config = get(meta, "config");
    let mut facts = Facts {
        kind: UnitKind::Side,
        project: owned(began).unwrap_or_default(),
        resume_cwd: owned(ran.filter(|r| began != Some(*r))),
        branch: owned(text(meta, "git_branch").filter(|b| *b != "HEAD")),
        model: owned(text(config, "model_name").or_else(|| text(config, "active_model"))),
        started_ms: time(meta, "start_time").unwrap_or(0),
        last_ms: time(meta, "end_time").unwrap_or(0),
        archived: time(meta, "archived_at").is_some(),
        // A conversation that was compacted, rewound or forked goes on under an id of its own.
        forked_from: owned(text(meta, "parent_session_id").filter(|p| valid_session_id(p))),
        ..Facts::default()
    };
    if let Some(title) = text(meta, "title").filter(|t| *t != "Untitled session") {
        facts.offer_title(Cow::Owned(title_line(title)), title_source(meta, title, source));
    }
    facts
}

/// A title of 2.x that nobody gave is the beginning of the first prompt.
fn title_source(meta: &Value<'_>, title: &str, source: &Source) -> TitleSource {
    if text(meta, "title_source") == Some("manual") {
        return TitleSource::Custom;
    }
    let repeats = |prompt: String| prompt.starts_with(title.trim_end_matches('…'));
    if first_prompt(source).is_some_and(repeats) { TitleSource::Prompt } else { TitleSource::Auto }
}

fn first_prompt(source: &Source) -> Option<String> {
    let path = source.path.with_file_name("messages.jsonl");
    let messages = Source { path, ..source.clone() };
    let mut found = None;
    let _ = jsonl::each_record(&messages, 0, |v, _| {
        if text(v, "role") != Some("user") || flag(v, "injected") {
            return Ok(());
        }
        found = Some(content(get(v, "content"), &[]).into_owned());
        // Enough is read.
        Err(SourceError::NeedsAll)
    });
    found
}

/// The id of the session in a directory, if its `meta.json` can be read.
pub fn id(dir: &Path) -> Option<String> {
    let id = document::read(&dir.join(FILE), SIDE_FILE_MAX, |v| text(v, "session_id").map(str::to_owned));
    id.ok()??.filter(|id| valid_session_id(id))
}
