//! Sessions of Copilot CLI before 0.0.342: one document with the messages as the model got them and a time line as it was shown.

use crate::limits::DOCUMENT_MAX;
use crate::model::{Facts, Message, Role};
use crate::provider::shared::document;
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// The id in `session_<id>_<time>.json` or `<id>.json`.
pub fn id_in_name(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".json")?;
    let id = stem.strip_prefix("session_").map_or(stem, |s| s.rsplit_once('_').map_or(s, |(id, _)| id));
    super::is_session_name(id).then_some(id)
}

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    let facts = texts(source, &mut |m| sink.message(m))?;
    sink.close(&facts.id.clone(), facts);
    Ok(Parsed::default())
}

/// Emits all texts and gives the facts.
pub fn texts(source: &Source, emit: &mut dyn FnMut(Message<'_>)) -> Result<Facts<'static>, SourceError> {
    let id = id_in_name(&source.rel).unwrap_or("");
    let mut facts =
        Facts { id: Cow::Owned(id.to_owned()), source_kind: "unknown".into(), ..Facts::default() };
    document::read(&source.path, DOCUMENT_MAX, |v| {
        let mut out = Texts::new(emit, source.fingerprint.size);
        facts.saw_time(time(v, "startTime").unwrap_or(0));
        facts.model = text(v, "selectedModel").map(|m| Cow::Owned(m.to_owned()));
        let line = items(get(v, "timeline"));
        if line.iter().any(|e| text(e, "type") == Some("user")) {
            line.iter().for_each(|e| shown(e, &mut facts, &mut out));
        } else {
            items(get(v, "chatMessages")).iter().for_each(|m| sent(m, &mut facts, &mut out));
        }
    })?;
    Ok(facts)
}

/// An entry of the time line.
fn shown(e: &Value<'_>, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    let at = time(e, "timestamp").unwrap_or(0);
    let said = get(e, "text").as_str().unwrap_or("");
    match text(e, "type").unwrap_or("") {
        "user" if !said.trim().is_empty() => {
            facts.messages += 1;
            saw_prompt(facts, said);
            out.put(Role::User, at, said);
        }
        "copilot" if !said.trim().is_empty() => {
            facts.messages += 1;
            out.put(Role::Assistant, at, said);
        }
        "tool_call_requested" => {
            out.tool(Role::ToolInput, at, json::strings(get(e, "arguments")), text(e, "name"));
        }
        "tool_call_completed" => {
            let result = get(e, "result");
            let log = text(result, "log").map_or_else(|| json::strings(result), Cow::Borrowed);
            out.put(Role::ToolOutput, at, log);
        }
        _ => return,
    }
    facts.saw_time(at);
}

/// A message as the model got it.
fn sent(m: &Value<'_>, facts: &mut Facts<'_>, out: &mut Texts<'_>) {
    let said = json::content(get(m, "content"), &["text"]);
    match text(m, "role").unwrap_or("") {
        "user" if !said.trim().is_empty() => {
            facts.messages += 1;
            saw_prompt(facts, &said);
            out.put(Role::User, 0, said);
        }
        "assistant" => {
            facts.messages += 1;
            out.put(Role::Assistant, 0, said);
            for call in items(get(m, "tool_calls")) {
                let function = get(call, "function");
                out.tool(
                    Role::ToolInput,
                    0,
                    json::embedded(get(function, "arguments")),
                    text(function, "name"),
                );
            }
        }
        "tool" => out.put(Role::ToolOutput, 0, said),
        _ => {}
    }
}
