//! `sessions/cli/<id>.jsonl`: prompts, replies and results of the classic 2.x interface, each `{version, kind, data}`.
//!
//! `Compaction` also holds a copy of what was said before, which is not read again. `ResetTo` steps back in the conversation;
//! what was said before it stays.

use super::log::reply_id;
use crate::model::Role;
use crate::provider::shared::json::{self, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use serde_json_borrow::Value;

pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) -> Option<u64> {
    let data = get(v, "data");
    let blocks = items(get(data, "content"));
    let mut out = Out::new(emit, place, time(get(data, "meta"), "timestamp").unwrap_or(0));
    match text(v, "kind")? {
        "Prompt" => {
            let said: Vec<&str> = blocks.iter().filter_map(said).collect();
            out.put(Role::User, said.join("\n"));
            None
        }
        "AssistantMessage" => {
            blocks.iter().for_each(|b| block(b, &mut out));
            (!blocks.is_empty()).then(|| reply_id(text(data, "message_id"), place))
        }
        "ToolResults" => {
            blocks.iter().for_each(|b| block(b, &mut out));
            None
        }
        "Compaction" => {
            out.put(Role::System, json::strings(get(data, "summary")));
            None
        }
        _ => None,
    }
}

fn said<'v>(block: &'v Value<'v>) -> Option<&'v str> {
    (text(block, "kind") == Some("text")).then(|| text(block, "data")).flatten()
}

fn block(block: &Value<'_>, out: &mut Out<'_>) {
    let data = get(block, "data");
    match text(block, "kind").unwrap_or("") {
        "text" => out.put(Role::Assistant, data.as_str().unwrap_or("")),
        "thinking" => out.put(Role::Thinking, get(data, "text").as_str().unwrap_or("")),
        "toolUse" => out.tool(Role::ToolInput, json::strings(get(data, "input")), text(data, "name")),
        "toolResult" => {
            let parts: Vec<_> =
                items(get(data, "content")).iter().map(|p| json::strings(get(p, "data"))).collect();
            out.put(Role::ToolOutput, parts.join("\n"));
        }
        _ => {}
    }
}
