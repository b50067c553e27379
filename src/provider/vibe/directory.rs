//! Sessions of Vibe 2.x and earlier: a line for each message, as the model got it. Lines carry no time.

use super::meta;
use crate::model::{Facts, Interactivity, Locator, Message, ResumeKind, Role};
use crate::provider::shared::json::{self, flag, get, items, text};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::Out;
use crate::provider::shared::prompt::saw_prompt;
use crate::provider::{Parsed, Resume, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::path::Path;

pub fn parse(
    source: &Source,
    key: &str,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let mut facts = from.map_or_else(Facts::default, |r| r.facts.clone().into_owned());
    identify(&mut facts, source, key);
    sink.open("", 0);
    let end = jsonl::each_record(source, from.map_or(0, |r| r.offset), |v, place| {
        record(v, place, &mut facts, sink);
        Ok(())
    })?;
    sink.close(key, facts);
    let parsed = end.parsed(Vec::new());
    Ok(parsed)
}

/// The whole id is in `meta.json`, which is written after the first messages; the agent also takes its first eight characters.
fn identify(facts: &mut Facts<'_>, source: &Source, key: &str) {
    let Some(dir) = source.path.parent() else { return };
    let name = key.rsplit('/').next().unwrap_or(key);
    let short = || name.rsplit('_').next().unwrap_or(name).to_owned();
    facts.id = Cow::Owned(meta::id(dir).unwrap_or_else(short));
    facts.source_kind = "unknown".into();
    if let Some((above, _)) = key.split_once("/agents/") {
        facts.source_kind = "subagent".into();
        facts.interactive = Interactivity::No;
        facts.parent = Some(Cow::Owned(parent_id(dir, above)));
        // The agent does not look for sessions there.
        facts.resume = ResumeKind::None;
    }
}

fn parent_id(dir: &Path, name: &str) -> String {
    let short = || name.rsplit('_').next().unwrap_or(name).to_owned();
    dir.ancestors().nth(2).and_then(meta::id).unwrap_or_else(short)
}

fn record(v: &Value<'_>, place: Place, facts: &mut Facts<'_>, sink: &mut dyn Sink) {
    let mut seen = false;
    texts(v, place, &mut |m| {
        seen = true;
        if m.role == Role::User {
            saw_prompt(facts, &m.text);
        }
        sink.message(m);
    });
    let counts = match text(v, "role") {
        Some("user") => !flag(v, "injected"),
        Some("assistant") => true,
        _ => false,
    };
    facts.messages += u32::from(counts && seen);
}

/// The texts of a message.
fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, 0);
    let content = json::content(get(v, "content"), &[]);
    match text(v, "role").unwrap_or("") {
        "user" if flag(v, "injected") => out.put(Role::System, content),
        "user" => out.put(Role::User, content),
        "assistant" => {
            out.put(Role::Thinking, json::content(get(v, "reasoning_content"), &[]));
            out.put(Role::Assistant, content);
            for call in items(get(v, "tool_calls")) {
                let function = get(call, "function");
                out.tool(Role::ToolInput, json::embedded(get(function, "arguments")), text(function, "name"));
            }
        }
        "tool" if !content.trim().is_empty() => out.tool(Role::ToolOutput, content, text(v, "name")),
        // The system prompt.
        _ => {}
    }
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    jsonl::record_at(source, at, |v, place| {
        texts(v, place, &mut |m| {
            if m.at == at {
                found.push(jsonl::own(m));
            }
        });
        Ok(())
    })?;
    Ok(found)
}
