//! `<id>/messages.jsonl` of 3.0: events, each `{id, timestamp, payload: {type, …}}`.
//!
//! `session_start` looks like a prompt and holds the system prompt. Most other types are marks of turns, use and permissions.

use super::log::reply_id;
use crate::model::Role;
use crate::provider::shared::json::{self, get, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use serde_json_borrow::Value;

/// What stands where reasoning was left out.
const ELIDED: &str = "...";

pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) -> Option<u64> {
    let payload = get(v, "payload");
    let content = || content(get(payload, "content"));
    let mut out = Out::new(emit, place, time(v, "timestamp").unwrap_or(0));
    match text(payload, "type")? {
        "user" => out.put(Role::User, content()),
        "assistant" => match text(payload, "operationType").unwrap_or("Say") {
            "Reasoning" if content().trim() == ELIDED => {}
            "Reasoning" => out.put(Role::Thinking, content()),
            "Summary" => out.put(Role::System, content()),
            _ => {
                let said = content();
                let reply = (!said.trim().is_empty()).then(|| reply_id(text(v, "id"), place));
                out.put(Role::Assistant, said);
                return reply;
            }
        },
        "tool_call" => {
            out.tool(Role::ToolInput, json::strings(get(payload, "args")), text(payload, "toolName"));
        }
        "tool_result" => out.put(Role::ToolOutput, json::strings(get(payload, "content"))),
        "sub_agent_start" => {
            out.tool(Role::ToolInput, json::strings(get(payload, "prompt")), text(payload, "subAgentName"));
        }
        "sub_agent_complete" => out.put(Role::ToolOutput, json::strings(get(payload, "response"))),
        "agent_note" => out.put(Role::System, content()),
        "error" => out.put(Role::System, json::strings(get(payload, "message"))),
        _ => {}
    }
    None
}

/// A text, or a list of blocks with texts.
fn content<'v>(v: &'v Value<'v>) -> std::borrow::Cow<'v, str> {
    json::content(v, &["text"])
}
