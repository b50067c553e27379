//! Sessions of early releases, one document each, in the manner of Gemini CLI. No present release opens them.

use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Message, ResumeKind, Role};
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::{saw_prompt, without_leading_elements};
use crate::provider::shared::{document, hash};
use crate::provider::{Class, Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn classify(file: &str) -> Class {
    let is_session = file.starts_with("session-") && file.ends_with(".json");
    if is_session { Class::Source(super::LEGACY) } else { Class::Skip }
}

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let facts = texts(source, &mut |m| sink.message(m))?;
    let dir = source.rel.split('/').next().unwrap_or("");
    sink.close(&format!("{dir}/{}", facts.id), facts);
    Ok(Parsed::default())
}

/// Emits all texts and gives the facts.
pub fn texts(source: &Source, emit: &mut dyn FnMut(Message<'_>)) -> Result<Facts<'static>, SourceError> {
    let mut facts = Facts { source_kind: "unknown".into(), resume: ResumeKind::None, ..Facts::default() };
    document::read(&source.path, DOCUMENT_MAX, |v| {
        let id = text(v, "sessionId").unwrap_or_else(|| super::stem(source));
        facts.id = Cow::Owned(id.to_owned());
        let mut out = Texts::new(emit, source.fingerprint.size);
        for m in items(get(v, "messages")) {
            message(m, text(v, "projectHash").unwrap_or(""), &mut facts, &mut out);
        }
        if facts.messages > 0 && facts.last_ms == 0 {
            facts.saw_time(time(v, "lastUpdated").or_else(|| time(v, "startTime")).unwrap_or(0));
        }
    })?;
    Ok(facts)
}

fn message(m: &Value<'_>, hash: &str, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    const CONTEXT: &str = "This is the Qwen Code. We are setting up the context for our chat";
    let at = time(m, "timestamp").unwrap_or(0);
    let content = json::content(get(m, "content"), &[]);
    match text(m, "type").unwrap_or("") {
        "user" => {
            let said = without_leading_elements(&content, &["session_context"]);
            if said.starts_with(CONTEXT) {
                return directory(said, hash, facts);
            }
            if said.trim().is_empty() {
                return;
            }
            facts.messages += 1;
            saw_prompt(facts, said);
            out.put(Role::User, at, said);
        }
        "qwen" | "gemini" => {
            facts.messages += 1;
            for thought in items(get(m, "thoughts")) {
                out.put(Role::Thinking, at, json::strings(get(thought, "description")));
            }
            out.put(Role::Assistant, at, content);
            for call in items(get(m, "toolCalls")) {
                let name = text(call, "name");
                out.tool(Role::ToolInput, at, json::strings(get(call, "args")), name);
                result(get(call, "result"), at, name, out);
            }
            if let Some(model) = text(m, "model") {
                facts.model = Some(Cow::Owned(model.to_owned()));
            }
        }
        "info" | "error" | "warning" => out.put(Role::System, at, content),
        _ => return,
    }
    facts.saw_time(at);
}

fn result(result: &Value<'_>, at: i64, tool: Option<&str>, out: &mut Texts<'_>) {
    if let Some(said) = result.as_str() {
        return out.tool(Role::ToolOutput, at, said, tool);
    }
    for part in items(result) {
        let said = json::strings(json::at(part, &["functionResponse", "response"]));
        if !said.trim().is_empty() {
            out.tool(Role::ToolOutput, at, said, tool);
        }
    }
}

/// The directory that the context names, if its hash is the project's.
fn directory(context: &str, hash: &str, facts: &mut Facts<'_>) {
    const LINES: usize = 64;
    let paths =
        context.lines().take(LINES).filter_map(|l| l.find('/').map(|i| l[i..].trim_end_matches(['/', '.'])));
    if let Some(path) = paths.into_iter().find(|p| hash::sha256(p) == hash) {
        facts.project = Cow::Owned(path.to_owned());
    }
}
