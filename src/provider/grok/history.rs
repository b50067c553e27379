//! `chat_history.jsonl`: the conversation as the model sees it, without times. Read only where `updates.jsonl` has none.

use crate::model::{Facts, Role, UnitKind};
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{query, saw_prompt, workspace};
use crate::provider::{Checkpoint, Parsed, Resume, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn parse(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let shown = [u8::from(is_shown(source))];
    if from.is_some_and(|r| r.state != shown) {
        return Err(SourceError::NeedsAll);
    }
    sink.open("", 0);
    if shown == [1] {
        sink.close(super::id(source), Facts { kind: UnitKind::Side, ..Facts::default() });
        // The next change only asks again whether it is still so.
        let checkpoint = Some(Checkpoint { offset: source.fingerprint.size, state: shown.into() });
        return Ok(Parsed { checkpoint, ..Parsed::default() });
    }
    let mut facts = from.map_or_else(|| super::facts(source), |r| r.facts.clone().into_owned());
    let end = jsonl::each_record(source, from.map_or(0, |r| r.offset), |v, place| {
        record(v, place, &mut facts, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(shown.into());
    sink.close(super::id(source), facts);
    Ok(parsed)
}

/// Whether the conversation is in the file beside.
fn is_shown(source: &Source) -> bool {
    let beside = Source { path: source.path.with_file_name("updates.jsonl"), ..source.clone() };
    jsonl::any_before(&beside, u64::MAX, &["_message_chunk\"".to_owned()]).unwrap_or(false)
}

fn record(v: &Value<'_>, place: Place, facts: &mut Facts<'_>, emit: Emit<'_>) {
    let mut any = false;
    texts(v, place, &mut |m| {
        match m.role {
            Role::User => saw_prompt(facts, &m.text),
            Role::Assistant | Role::ToolInput => {}
            _ => return emit(m),
        }
        facts.messages += u32::from(!any);
        any = true;
        emit(m);
    });
    if let Some(model) = text(v, "model_id") {
        facts.model = Some(Cow::Owned(model.to_owned()));
    }
    if facts.project.is_empty()
        && kind(v) == "user"
        && let Some(dir) = workspace(&json::content(get(v, "content"), &["text"]))
    {
        facts.project = Cow::Owned(dir);
    }
}

/// What a record is; the earliest ones have a role instead.
fn kind<'v>(v: &'v Value<'v>) -> &'v str {
    text(v, "type").or_else(|| text(v, "role")).unwrap_or("")
}

/// The texts of one record.
pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) {
    let mut out = Out::new(emit, place, 0);
    let content = get(v, "content");
    match kind(v) {
        // Reminders and instructions say nothing of the conversation; what it was compacted to does.
        "user" if !get(v, "synthetic_reason").is_null() => {
            let reason = get(v, "synthetic_reason").to_string().to_ascii_lowercase();
            let said = if reason.contains("compact") { json::content(content, &["text"]) } else { "".into() };
            out.put(Role::System, said);
        }
        "user" => out.put(Role::User, query(&json::content(content, &["text"])).unwrap_or_default()),
        "assistant" => {
            out.put(Role::Assistant, json::content(content, &["text", "output_text"]));
            items(get(v, "tool_calls")).iter().for_each(|call| tool_call(call, &mut out));
        }
        "reasoning" => {
            out.put(Role::Thinking, json::content(get(v, "summary"), &[]));
            out.put(Role::Thinking, json::content(content, &[]));
        }
        "tool_result" | "tool" => out.put(Role::ToolOutput, json::content(content, &[])),
        "backend_tool_call" => tool_call(v, &mut out),
        _ => {}
    }
}

fn tool_call(call: &Value<'_>, out: &mut Out<'_>) {
    let function = get(call, "function");
    let call = if function.is_object() { function } else { call };
    out.tool(Role::ToolInput, json::embedded(get(call, "arguments")), text(call, "name"));
}
