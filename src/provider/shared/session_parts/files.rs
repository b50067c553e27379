//! A file for each session, message and part, as releases before 1.2 keep them.
//!
//! The session's file is the source: it is written anew with each turn. What lies in the directories of its messages is read with it.
//! A text's place is its number in the conversation.

use super::INFO;
use super::message::Head;
use super::talk::{Cut, Given, Talk, headless};
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Locator, Message};
use crate::provider::shared::document;
use crate::provider::shared::json::{get, text, time};
use crate::provider::shared::jsonl;
use crate::provider::shared::out::{Emit, Texts};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let (facts, skipped) = conversation(source, &mut |m| sink.message(m))?;
    sink.close(&facts.id.clone(), facts);
    Ok(Parsed { skipped, ..Parsed::default() })
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    conversation(source, &mut |m| {
        if m.at == at {
            found.push(jsonl::own(m));
        }
    })?;
    Ok(found)
}

/// Emits all texts. Gives the facts, and how many files could not be read.
fn conversation(source: &Source, emit: Emit<'_>) -> Result<(Facts<'static>, u32), SourceError> {
    let places = Places::of(source);
    let given = document::read(&source.path, DOCUMENT_MAX, |v| given(&places.id, v))?;
    let mut talk = Talk::new(given.unwrap_or_else(|| Given { id: places.id.clone(), ..Given::default() }));
    let mut out = Texts::new(emit, source.fingerprint.size);
    let mut skipped = 0;
    for head in &heads(&places.messages, &mut skipped)? {
        if !talk.begin(head) {
            break;
        }
        for (id, path) in names(&places.parts(&head.id))? {
            let heard = |v: &Value<'_>| {
                talk.part(head, &id, v, &mut |role, at, said, tool| match tool {
                    Some(_) => out.tool(role, at, said, tool),
                    None => out.put(role, at, said),
                });
            };
            skipped += u32::from(document::read(&path, DOCUMENT_MAX, heard).is_err());
        }
        talk.end(head);
    }
    Ok((talk.finish(), skipped))
}

/// Where a session's messages and parts lie.
struct Places {
    id: String,
    messages: PathBuf,
    parts: PathBuf,
}

impl Places {
    fn of(source: &Source) -> Self {
        let stem = source.path.file_stem().unwrap_or_default();
        // `session/<project>/<id>.json` in `storage`, `info/<id>.json` in `storage/session`.
        let up = if source.kind == INFO { 2 } else { 3 };
        let base = source.path.ancestors().nth(up).unwrap_or(Path::new(""));
        let mut parts = base.join("part");
        if source.kind == INFO {
            parts.push(stem);
        }
        Self { id: stem.to_string_lossy().into_owned(), messages: base.join("message").join(stem), parts }
    }

    /// `message` is a file's name without its ending.
    fn parts(&self, message: &str) -> PathBuf {
        self.parts.join(message)
    }
}

/// The documents in a directory: their names without the ending, sorted, which is the order of time.
fn names(dir: &Path) -> Result<Vec<(String, PathBuf)>, SourceError> {
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let stem = name.to_str().and_then(|n| n.strip_suffix(".json")).filter(|n| !n.starts_with('.'));
        names.extend(stem.map(|s| (s.to_owned(), dir.join(&name))));
    }
    names.sort();
    Ok(names)
}

fn heads(dir: &Path, skipped: &mut u32) -> Result<Vec<Head>, SourceError> {
    let mut heads = Vec::new();
    for (id, path) in names(dir)? {
        match document::read(&path, DOCUMENT_MAX, |v| Head::new(0, &id, v)) {
            Ok(head) => heads.extend(head.flatten()),
            Err(_) => *skipped += 1,
        }
    }
    heads.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    Ok(heads)
}

fn given(id: &str, v: &Value<'_>) -> Given {
    let owned = |key: &str| text(v, key).map(str::to_owned);
    let when = |key: &str| time(get(v, "time"), key).unwrap_or(0);
    Given {
        id: id.to_owned(),
        parent: owned("parentID"),
        directory: owned("directory").unwrap_or_default(),
        title: owned("title").unwrap_or_default(),
        model: None,
        created: when("created"),
        updated: when("updated"),
        archived: when("archived") > 0,
        headless: headless(get(v, "permission")),
        cut: Cut::new(get(v, "revert")),
    }
}
