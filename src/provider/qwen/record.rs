//! The records of a Qwen Code session.

use crate::model::{Facts, Interactivity, Message, Role, TitleSource, UnitKind};
use crate::provider::shared::json::{self, at, flag, get, items, text, time};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{lineage, saw_prompt, title_line, without_elements};
use crate::provider::{Resume, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Stands between a prompt and the files it names.
const ATTACHED: &str = "--- Content from referenced files ---";

/// What the program puts before text that was typed while a tool ran.
const MID_TURN: &str = "[User message received during tool execution]:";

/// What a rewind took back stays in the file: all between the record that the rewind goes back to and the rewind itself.
#[derive(Debug, Default)]
pub struct Abandoned {
    /// Offsets, without their ends.
    ranges: Vec<(u64, u64)>,
}

impl Abandoned {
    /// Looks for rewinds. A file without any costs a search for one word.
    pub fn find(source: &Source) -> Result<Self, SourceError> {
        let mut found = Self::default();
        if !jsonl::any_before(source, u64::MAX, &["\"rewind\"".to_owned()])? {
            return Ok(found);
        }
        let mut places: HashMap<u64, u64> = HashMap::new();
        jsonl::each_record(source, 0, |v, place| {
            if is_rewind(v) {
                let place_of = |id: &str| places.get(&xxh3_64(id.as_bytes())).map(|at| at + 1);
                let back_to = match get(v, "parentUuid") {
                    Value::Null => Some(0),
                    id => id.as_str().and_then(place_of),
                };
                found.ranges.extend(back_to.map(|from| (from, place.offset)));
            }
            if let Some(id) = text(v, "uuid") {
                places.insert(xxh3_64(id.as_bytes()), place.offset);
            }
            Ok(())
        })?;
        Ok(found)
    }

    pub fn holds(&self, place: Place) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..*to).contains(&place.offset))
    }
}

pub fn is_rewind(v: &Value<'_>) -> bool {
    text(v, "type") == Some("system") && text(v, "subtype") == Some("rewind")
}

/// Gathers what the records say of their session.
pub struct Transcript {
    facts: Facts<'static>,
}

impl Transcript {
    pub fn new(id: &str, kind: UnitKind, archived: bool) -> Self {
        let id = if kind == UnitKind::Main { Cow::Owned(id.to_owned()) } else { Cow::Borrowed("") };
        Self { facts: Facts { id, kind, archived, source_kind: "unknown".into(), ..Facts::default() } }
    }

    pub fn resumed(from: &Resume<'_>) -> Self {
        Self { facts: from.facts.clone().into_owned() }
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    /// A record; of one that was taken back only what it says of the session counts.
    pub fn record(&mut self, v: &Value<'_>, place: Place, abandoned: bool, emit: Emit<'_>) {
        self.surroundings(v);
        if text(v, "type") == Some("system") {
            return self.system(text(v, "subtype").unwrap_or(""), get(v, "systemPayload"));
        }
        if abandoned {
            return;
        }
        let mut any = false;
        texts(v, place, &mut |m| {
            any = true;
            emit(m);
        });
        if any {
            self.facts.saw_time(time(v, "timestamp").unwrap_or(0));
            self.message(v);
        }
    }

    fn surroundings(&mut self, v: &Value<'_>) {
        let facts = &mut self.facts;
        if facts.lineage == 0 {
            facts.lineage = lineage(text(v, "uuid"));
        }
        if flag(v, "isSidechain") {
            return;
        }
        if facts.project.is_empty()
            && let Some(cwd) = text(v, "cwd")
        {
            facts.project = Cow::Owned(cwd.to_owned());
        }
        if let Some(branch) = text(v, "gitBranch") {
            facts.branch = (branch != "HEAD").then(|| Cow::Owned(branch.to_owned()));
        }
        if facts.forked_from.is_none()
            && let Some(from) = text(get(v, "forkedFrom"), "sessionId")
        {
            facts.forked_from = Some(Cow::Owned(from.to_owned()));
            facts.copied = true;
        }
    }

    fn system(&mut self, subtype: &str, payload: &Value<'_>) {
        match subtype {
            "custom_title" => {
                let auto = text(payload, "titleSource") == Some("auto");
                let source = if auto { TitleSource::Auto } else { TitleSource::Custom };
                let title = title_line(text(payload, "customTitle").unwrap_or(""));
                self.facts.offer_title(Cow::Owned(title), source);
            }
            "session_source" => self.started_by(text(payload, "sourceType").unwrap_or("")),
            "parent_session" => {
                if let Some(parent) = text(payload, "parentSessionId") {
                    self.facts.parent = Some(Cow::Owned(parent.to_owned()));
                    self.started_by("subagent");
                }
            }
            _ => {}
        }
    }

    fn started_by(&mut self, source: &str) {
        let (kind, interactive) = match source {
            "agent" | "subagent" => ("subagent", Interactivity::No),
            "background_agent" => ("background", Interactivity::No),
            "cli" => ("cli", Interactivity::Yes),
            "vscode" | "zed" | "ide" => ("ide", Interactivity::Yes),
            _ => return,
        };
        self.facts.source_kind = kind.into();
        self.facts.interactive = interactive;
    }

    fn message(&mut self, v: &Value<'_>) {
        if flag(v, "isSidechain") || self.facts.kind != UnitKind::Main {
            return;
        }
        match text(v, "type") {
            Some("user") if is_typed(v) => {
                self.facts.messages += 1;
                saw_prompt(&mut self.facts, &typed(v));
            }
            Some("assistant") => {
                self.facts.messages += 1;
                if let Some(model) = text(v, "model") {
                    self.facts.model = Some(Cow::Owned(model.to_owned()));
                }
            }
            _ => {}
        }
    }
}

/// Whether a person wrote it, not a notification, a schedule or a goal that drives itself.
fn is_typed(v: &Value<'_>) -> bool {
    let by_itself = ["notification", "cron", "goal_runtime", "background_task_completed", "agent_retry"];
    let written_by = text(v, "provenance").unwrap_or("real_user");
    !text(v, "subtype").is_some_and(|s| by_itself.contains(&s)) && written_by == "real_user"
}

/// The parts of a message with a text, but not the thoughts.
fn said<'v>(v: &'v Value<'v>) -> Cow<'v, str> {
    let parts = at(v, &["message", "parts"]);
    let mut texts = items(parts).iter().filter(|p| !flag(p, "thought")).filter_map(|p| text(p, "text"));
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(Cow::Borrowed(first), |all, t| Cow::Owned(format!("{all}\n{t}")))
}

/// A prompt as it was typed: without reminders and without the files it names.
fn typed<'v>(v: &'v Value<'v>) -> Cow<'v, str> {
    let shown = text(get(v, "systemPayload"), "displayText").filter(|t| !t.trim().is_empty());
    let all = shown.map_or_else(|| said(v), Cow::Borrowed);
    let own = |s: &str| {
        let s = s.split(ATTACHED).next().unwrap_or("").trim();
        let s = s.strip_prefix(MID_TURN).unwrap_or(s);
        without_elements(s, &["system-reminder"]).trim().to_owned()
    };
    Cow::Owned(own(&all))
}

/// The files that were sent along with a prompt.
fn attached(v: &Value<'_>) -> String {
    let all = said(v);
    all.find(ATTACHED).map_or_else(String::new, |i| all[i + ATTACHED.len()..].to_owned())
}

/// The texts of one record. `system` records repeat what others say.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, time(v, "timestamp").unwrap_or(0));
    let parts = items(at(v, &["message", "parts"]));
    match text(v, "type").unwrap_or("") {
        "user" => {
            out.put(if is_typed(v) { Role::User } else { Role::System }, typed(v));
            out.put(Role::ToolOutput, attached(v));
            parts.iter().for_each(|p| result(p, &mut out));
        }
        "assistant" => {
            for thought in parts.iter().filter(|p| flag(p, "thought")) {
                out.put(Role::Thinking, json::strings(get(thought, "text")));
            }
            out.put(Role::Assistant, said(v));
            for call in parts.iter().map(|p| get(p, "functionCall")).filter(|c| c.is_object()) {
                out.tool(Role::ToolInput, json::strings(get(call, "args")), text(call, "name"));
            }
        }
        "tool_result" => {
            parts.iter().for_each(|p| result(p, &mut out));
            out.put(Role::ToolOutput, said(v));
            if parts.is_empty() {
                let shown = at(v, &["toolCallResult", "resultDisplay"]);
                out.put(Role::ToolOutput, shown.as_str().unwrap_or(""));
            }
        }
        _ => {}
    }
}

fn result(part: &Value<'_>, out: &mut Out<'_>) {
    let response = get(part, "functionResponse");
    let said = json::strings(get(response, "response"));
    if !said.trim().is_empty() {
        out.tool(Role::ToolOutput, said, text(response, "name"));
    }
}
