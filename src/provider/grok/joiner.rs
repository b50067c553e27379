//! Putting together what came in pieces: one message of a conversation is many lines of `updates.jsonl`.

use crate::model::{Locator, Message, Role};
use crate::provider::shared::json::{self, flag, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::prompt::query;
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Takes a message that is whole, and whether its prompt has a number (as prompts by people have, in builds that number them).
pub type Give<'e> = &'e mut dyn FnMut(Message<'_>, bool);

/// A message is cut where it gets longer than this.
const RUN_MAX: usize = 1 << 20;
/// Bytes of a file that one message can span.
const SPAN_MAX: u64 = 64 << 20;

/// A message that is still coming in.
struct Run {
    role: Role,
    text: String,
    time: i64,
    start: Place,
    end: u64,
    prompt: Option<i64>,
}

/// See the module.
#[derive(Default)]
pub struct Joiner {
    run: Option<Run>,
    /// Where the next record begins if none is missing.
    next: u64,
}

impl Joiner {
    /// The role of the message that is still coming in.
    pub fn open(&self) -> Option<Role> {
        self.run.as_ref().map(|r| r.role)
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, give: Give<'_>) {
        if place.nth > 0 || place.offset != self.next {
            self.finish(give);
        }
        self.next = place.offset + u64::from(place.len) + 1;
        let update = update(v);
        match piece(v) {
            Some((role, said)) => self.piece(v, role, said, place, give),
            None if is_tool(v) || kind(v) == "plan" => {
                self.finish(give);
                tool(update, moment(v), place, give);
            }
            None => {}
        }
    }

    fn piece(&mut self, v: &Value<'_>, role: Role, said: &str, place: Place, give: Give<'_>) {
        let prompt = prompt_index(v);
        let goes_on = self.run.as_ref().is_some_and(|r| {
            r.role == role
                && r.prompt == prompt
                && r.text.len() < RUN_MAX
                && place.offset.saturating_sub(r.start.offset) < SPAN_MAX
        });
        if !goes_on {
            self.finish(give);
        }
        let run = self.run.get_or_insert_with(|| Run {
            role,
            text: String::new(),
            time: moment(v),
            start: place,
            end: 0,
            prompt,
        });
        run.text.push_str(said);
        run.end = place.offset + u64::from(place.len);
    }

    /// Hands over what has come in so far.
    pub fn finish(&mut self, give: Give<'_>) {
        let Some(run) = self.run.take() else { return };
        let said = if run.role == Role::User { query(&run.text).unwrap_or_default() } else { run.text };
        if said.trim().is_empty() {
            return;
        }
        let len = (run.end - run.start.offset).min(u64::from(u32::MAX)) as u32;
        let at = Place { len, ..run.start }.part(0);
        send(run.role, said, None, run.time, at, run.prompt.is_some(), give);
    }
}

fn send(role: Role, text: String, tool: Option<&str>, time: i64, at: Locator, marked: bool, give: Give<'_>) {
    let tool = tool.map(Cow::Borrowed);
    give(Message { role, timestamp_ms: time, text: Cow::Owned(text), at, tool, sidechain: false }, marked);
}

/// What a record is about. Early builds wrote the update without its envelope.
pub fn update<'v>(v: &'v Value<'v>) -> &'v Value<'v> {
    let inner = json::at(v, &["params", "update"]);
    if inner.is_object() { inner } else { v }
}

/// When it was written.
pub fn moment(v: &Value<'_>) -> i64 {
    let params = get(v, "params");
    let meta = |of| time(get(of, "_meta"), "agentTimestampMs");
    meta(params).or_else(|| meta(update(v))).or_else(|| time(v, "timestamp")).unwrap_or(0)
}

/// The number of the prompt that a piece belongs to.
pub fn prompt_index(v: &Value<'_>) -> Option<i64> {
    get(get(update(v), "_meta"), "promptIndex").as_i64()
}

/// A piece of text and whose it is.
pub fn piece<'v>(v: &'v Value<'v>) -> Option<(Role, &'v str)> {
    let update = update(v);
    let role = match kind(v) {
        "user_message_chunk" if !flag(get(update, "_meta"), "hostTurn") => Role::User,
        "agent_message_chunk" => Role::Assistant,
        "agent_thought_chunk" => Role::Thinking,
        _ => return None,
    };
    let content = get(update, "content");
    Some((role, content.as_str().or_else(|| text(content, "text"))?))
}

/// What a record shows. The vendor's own channel (`_x.ai/session/update`) shows nothing.
fn kind<'v>(v: &'v Value<'v>) -> &'v str {
    let own = text(v, "method").is_some_and(|m| m.starts_with('_'));
    text(update(v), "sessionUpdate").filter(|_| !own).unwrap_or("")
}

pub fn is_tool(v: &Value<'_>) -> bool {
    matches!(kind(v), "tool_call" | "tool_call_update")
}

/// The texts of a tool's record: its input is number 0, its output number 1.
fn tool(update: &Value<'_>, time: i64, place: Place, give: Give<'_>) {
    if text(update, "sessionUpdate") == Some("plan") {
        let steps: Vec<&str> =
            items(get(update, "entries")).iter().filter_map(|e| text(e, "content")).collect();
        if !steps.is_empty() {
            send(Role::ToolInput, steps.join("\n"), Some("plan"), time, place.part(0), false, give);
        }
        return;
    }
    let arguments = json::strings(get(update, "rawInput"));
    let own_name = text(json::at(update, &["_meta", "x.ai/tool"]), "name");
    let title = text(update, "title");
    let begins = text(update, "sessionUpdate") == Some("tool_call");
    if !arguments.is_empty() {
        send(Role::ToolInput, arguments.into_owned(), own_name.or(title), time, place.part(0), false, give);
    } else if let Some(title) = title.filter(|_| begins) {
        let name = own_name.or_else(|| text(update, "kind"));
        send(Role::ToolInput, title.to_owned(), name, time, place.part(0), false, give);
    }
    let output = output(update);
    if !output.trim().is_empty() {
        send(Role::ToolOutput, output, own_name, time, place.part(1), false, give);
    }
}

/// What came of a call: the content shown, else the strings of the raw output, which can also hold bytes as numbers.
fn output(update: &Value<'_>) -> String {
    let mut shown = String::new();
    for block in items(get(update, "content")) {
        let inner = get(block, "content");
        let said = inner.as_str().or_else(|| text(inner, "text")).or_else(|| text(block, "text"));
        for s in [said, text(block, "path"), text(block, "newText")].into_iter().flatten() {
            line(s, &mut shown);
        }
    }
    if shown.trim().is_empty() {
        words(get(update, "rawOutput"), &mut shown);
    }
    shown
}

fn words(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Str(s) => line(s, out),
        Value::Array(all) => all.iter().for_each(|v| words(v, out)),
        Value::Object(map) => map.iter().for_each(|(_, v)| words(v, out)),
        _ => {}
    }
}

fn line(s: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(s);
}
