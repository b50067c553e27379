//! Sessions of kimi-cli, the program before Kimi Code. `<share>/sessions/<MD5 of cwd>/<id>/wire.jsonl` is a session, `context.jsonl` beside it
//! the same as the model got it, without times: read only where there is no wire. The oldest are `<MD5>/<id>.jsonl`, a context.

use super::wire::{output, tool_call};
use crate::io::stat::{self, FileKind};
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Message, ResumeKind, Role, TitleSource, UnitKind, valid_session_id};
use crate::provider::shared::json::{self, at, flag, get, items, text, time};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::Out;
use crate::provider::shared::prompt::{saw_prompt, title_line, without_elements};
use crate::provider::shared::{document, hash};
use crate::provider::{Class, Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn classify(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        ([name] | [_, name] | [_, _, "subagents", name], true) if is_plain(name) => Class::Enter,
        ([_, _, "subagents"], true) => Class::Enter,
        ([_, _, file] | [_, _, "subagents", _, file], false) => match *file {
            "wire.jsonl" => Class::Source(super::LEGACY_WIRE),
            "context.jsonl" => Class::Source(super::LEGACY_CONTEXT),
            "state.json" if names.len() == 3 => Class::Source(super::LEGACY_STATE),
            _ => Class::Skip,
        },
        ([_, file], false) if file.strip_suffix(".jsonl").is_some_and(is_plain) => {
            Class::Source(super::LEGACY_CONTEXT)
        }
        _ => Class::Skip,
    }
}

fn is_plain(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn id(source: &Source) -> &str {
    let name = source.rel.split('/').nth(1).unwrap_or("");
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// Never that of a session of today: those have a workspace's name in front.
fn key(source: &Source) -> String {
    format!("legacy/{}/{}", source.rel.split('/').next().unwrap_or(""), id(source))
}

fn facts(source: &Source) -> Facts<'static> {
    if source.rel.contains("/subagents/") {
        return Facts { kind: UnitKind::Child, ..Facts::default() };
    }
    Facts {
        id: Cow::Owned(id(source).to_owned()),
        project: project(source).unwrap_or_default().into(),
        source_kind: "unknown".into(),
        resume: ResumeKind::None,
        ..Facts::default()
    }
}

/// `kimi.json` lists the directories, and which session was in which.
fn project(source: &Source) -> Option<String> {
    let dir = source.rel.split('/').next()?;
    let path = source.root.path.parent()?.join("kimi.json");
    let found = document::read(&path, SIDE_FILE_MAX, |v| {
        let of_session = text(get(v, "session_to_workdir"), id(source));
        let mut dirs = items(get(v, "work_dirs")).iter().filter_map(|d| text(d, "path"));
        of_session.or_else(|| dirs.find(|path| hash::md5(path) == dir)).map(str::to_owned)
    });
    found.ok()??
}

pub fn wire(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    lines(source, sink)
}

/// A context, unless the wire beside it says the same with times.
pub fn context(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let wire = source.path.with_file_name("wire.jsonl");
    let in_session = source.rel.split('/').count() > 2;
    let has_wire = matches!(stat::stat(&wire), Ok((fp, FileKind::Regular)) if fp.size > 0);
    if !(in_session && has_wire) {
        return lines(source, sink);
    }
    sink.open("", 0);
    sink.close(&key(source), super::state::nothing());
    Ok(Parsed::default())
}

fn lines(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut facts = facts(source);
    sink.open("", 0);
    let end = jsonl::each_record(source, 0, |v, place| {
        let mut any = false;
        texts(v, place, &mut |m| {
            any = true;
            if m.role == Role::User {
                saw_prompt(&mut facts, &m.text);
            }
            sink.message(m);
        });
        if any {
            facts.saw_time(time(v, "timestamp").unwrap_or(0));
            facts.messages += u32::from(is_counted(v));
        }
        Ok(())
    })?;
    if facts.messages > 0 && facts.last_ms == 0 {
        facts.saw_time(source.fingerprint.mtime_ms());
    }
    sink.close(&key(source), facts);
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

/// Prompts and answers. In a wire each text part of an answer is one.
fn is_counted(v: &Value<'_>) -> bool {
    let (kind, part) = (at(v, &["message", "type"]), at(v, &["message", "payload", "type"]));
    match kind.as_str() {
        Some("TurnBegin" | "SteerInput") => true,
        Some("ContentPart") => part.as_str() == Some("text"),
        Some(_) => false,
        None => matches!(text(v, "role"), Some("user" | "assistant")),
    }
}

/// The texts of one record, of either kind of file.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, time(v, "timestamp").unwrap_or(0));
    match at(v, &["message", "type"]).as_str() {
        Some(kind) => wire_texts(kind, at(v, &["message", "payload"]), &mut out),
        None => context_texts(v, &mut out),
    }
}

fn wire_texts(kind: &str, payload: &Value<'_>, out: &mut Out<'_>) {
    match kind {
        "TurnBegin" | "SteerInput" => out.put(Role::User, typed(get(payload, "user_input"))),
        "ContentPart" => part(payload, out),
        "ToolCall" => tool_call(payload, out),
        "ToolResult" => out.put(Role::ToolOutput, output(get(payload, "return_value"))),
        _ => {}
    }
}

fn part(part: &Value<'_>, out: &mut Out<'_>) {
    out.put(Role::Thinking, json::strings(get(part, "think")));
    out.put(Role::Assistant, json::strings(get(part, "text")));
}

/// Roles that begin with `_` are marks.
fn context_texts(v: &Value<'_>, out: &mut Out<'_>) {
    let content = get(v, "content");
    match text(v, "role").unwrap_or("") {
        "user" => out.put(Role::User, typed(content)),
        "assistant" => {
            items(content).iter().for_each(|p| part(p, out));
            out.put(Role::Assistant, content.as_str().unwrap_or(""));
            items(get(v, "tool_calls")).iter().for_each(|c| tool_call(c, out));
        }
        "tool" => out.put(Role::ToolOutput, json::content(content, &["text"])),
        _ => {}
    }
}

fn typed(content: &Value<'_>) -> String {
    let all = json::content(content, &["text"]);
    without_elements(&all, &["system-reminder", "system"]).trim().to_owned()
}

/// `state.json`: a name, and whether it was put away.
pub fn state(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut facts = super::state::nothing();
    document::read(&source.path, SIDE_FILE_MAX, |v| {
        if let Some(title) = text(v, "custom_title") {
            let by_itself = flag(v, "title_generated");
            let from = if by_itself { TitleSource::Auto } else { TitleSource::Custom };
            facts.offer_title(Cow::Owned(title_line(title)), from);
        }
        facts.archived = flag(v, "archived");
    })?;
    sink.open("", 0);
    sink.close(&key(source), facts);
    Ok(Parsed::default())
}
