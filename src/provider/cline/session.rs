//! Sessions of Cline 3.x: a document with the messages, and one that says what the session is.

use super::content;
use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Interactivity, Locator, Message, TitleSource, UnitKind, valid_session_id};
use crate::provider::shared::json::{at, get, items, text, time};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::{saw_prompt, title_line};
use crate::provider::shared::{document, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let (facts, skipped) = messages(source, &mut |m| sink.message(m))?;
    sink.close(&facts.id.clone(), facts);
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
    let file = source.rel.rsplit('/').next().unwrap_or("");
    let stem = file.strip_suffix(".messages.json").unwrap_or(file);
    let mut facts = Facts { source_kind: "unknown".into(), ..Facts::default() };
    let mut skipped = 0;
    document::read(&source.path, DOCUMENT_MAX, |v| {
        let own = text(v, "sessionId").filter(|id| valid_session_id(id));
        facts.id = Cow::Owned(own.unwrap_or(stem).to_owned());
        let mut out = Texts::new(emit, source.fingerprint.size);
        // The first ones were a bare list.
        let list = if v.is_array() { v } else { get(v, "messages") };
        for m in items(list) {
            skipped += u32::from(!m.is_object());
            message(m, &mut facts, &mut out);
        }
    })?;
    if facts.id.is_empty() {
        facts.id = Cow::Owned(stem.to_owned());
    }
    subagent(&mut facts);
    Ok((facts, skipped))
}

/// Takes in a message of a conversation.
pub fn message(m: &Value<'_>, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    let when = time(m, "ts").unwrap_or(0);
    let prompt = content::texts(m, when, out);
    match text(m, "role") {
        Some("assistant") => {
            let content = get(m, "content");
            let empty = content.as_str().is_none_or(|c| c.trim().is_empty()) && items(content).is_empty();
            facts.messages += u32::from(!empty);
            if let Some(model) =
                text(get(m, "modelInfo"), "id").or_else(|| text(get(m, "modelInfo"), "modelId"))
            {
                facts.model = Some(Cow::Owned(model.to_owned()));
            }
        }
        Some("user") => {
            if let Some(prompt) = prompt {
                facts.messages += 1;
                saw_prompt(facts, &prompt);
            }
        }
        _ => return,
    }
    facts.saw_time(when);
}

/// The id of a sub-agent's session begins with that of the one it was started from.
fn subagent(facts: &mut Facts<'_>) {
    let parent = facts.id.split_once("__").filter(|(root, agent)| !root.is_empty() && !agent.is_empty());
    if let Some(parent) = parent.map(|(root, _)| root.to_owned()) {
        facts.parent = Some(Cow::Owned(parent));
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
}

/// `<id>.json`.
pub fn manifest(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let stem = source.rel.split('/').next().unwrap_or("");
    let found = document::read(&source.path, DOCUMENT_MAX, |v| {
        let id = text(v, "session_id").filter(|id| valid_session_id(id)).unwrap_or(stem);
        let row = Row {
            cwd: text(v, "cwd"),
            source: text(v, "source"),
            model: text(v, "model"),
            prompt: text(v, "prompt"),
            interactive: get(v, "interactive").as_bool(),
            started: time(v, "started_at").unwrap_or(0),
            ended: time(v, "ended_at").unwrap_or(0),
        };
        (id.to_owned(), row.facts(get(v, "metadata")))
    })?;
    sink.open("", 0);
    let (id, facts) = found.unwrap_or((stem.to_owned(), Facts { kind: UnitKind::Side, ..Facts::default() }));
    sink.close(&id, facts);
    Ok(Parsed::default())
}

/// What the manifest and the database both say of a session.
pub struct Row<'r> {
    pub cwd: Option<&'r str>,
    pub source: Option<&'r str>,
    pub model: Option<&'r str>,
    pub prompt: Option<&'r str>,
    pub interactive: Option<bool>,
    pub started: i64,
    pub ended: i64,
}

impl Row<'_> {
    pub fn facts(&self, metadata: &Value<'_>) -> Facts<'static> {
        let owned = |v: Option<&str>| v.filter(|v| !v.is_empty()).map(|v| Cow::Owned(v.to_owned()));
        // Started by a schedule, not by a person.
        let scheduled = text(get(metadata, "sessionHistoryOrigin"), "trigger").is_some();
        let interactive = self.interactive.filter(|_| !scheduled).unwrap_or(!scheduled);
        let mut facts = Facts {
            kind: UnitKind::Side,
            project: owned(self.cwd).unwrap_or_default(),
            branch: owned(text(get(metadata, "git"), "branch").filter(|b| *b != "HEAD")),
            model: owned(self.model),
            started_ms: self.started,
            last_ms: self.ended.max(self.started),
            interactive: match self.interactive {
                None if !scheduled => Interactivity::Unknown,
                _ if interactive => Interactivity::Yes,
                _ => Interactivity::No,
            },
            source_kind: if scheduled { "background" } else { kind(self.source, interactive) }.into(),
            forked_from: owned(
                text(at(metadata, &["fork"]), "forkedFromSessionId").filter(|id| valid_session_id(id)),
            ),
            ..Facts::default()
        };
        if let Some(title) = text(metadata, "title") {
            let from = if repeats(title, self.prompt) { TitleSource::Prompt } else { TitleSource::Auto };
            facts.offer_title(Cow::Owned(title_line(title)), from);
        }
        facts
    }
}

/// A title that nobody gave is the beginning of the prompt.
fn repeats(title: &str, prompt: Option<&str>) -> bool {
    let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    let beginning = words(title.trim_end_matches('…').trim_end_matches("..."));
    prompt.is_some_and(|p| words(&content::typed(p)).starts_with(&beginning))
}

fn kind(source: Option<&str>, interactive: bool) -> &'static str {
    match source {
        Some("cli") if !interactive => "exec",
        Some("cli") => "cli",
        Some("vscode" | "jetbrains" | "neovim" | "desktop" | "kanban") => "ide",
        Some("core") => "sdk",
        _ => "unknown",
    }
}
