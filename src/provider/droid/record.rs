//! The records of a Droid session, and its settings.

use crate::model::{Facts, Interactivity, Message, Role, TitleSource, UnitKind};
use crate::provider::Resume;
use crate::provider::shared::json::{self, flag, get, items, text, time};
use crate::provider::shared::jsonl::Place;
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::{lineage, saw_prompt, title_line, without_elements};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Gathers what the records say of their session.
pub struct Transcript {
    facts: Facts<'static>,
}

/// What the harness puts into user messages.
const INJECTED: &[&str] = &["system-reminder", "system-notification"];

impl Transcript {
    pub fn new(id: &str) -> Self {
        let id = Cow::Owned(id.to_owned());
        Self { facts: Facts { id, source_kind: "unknown".into(), ..Facts::default() } }
    }

    pub fn resumed(from: &Resume<'_>) -> Self {
        Self { facts: from.facts.clone().into_owned() }
    }

    pub fn finish(self) -> Facts<'static> {
        self.facts
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) {
        match text(v, "type") {
            Some("session_start") => self.start(v),
            Some("message") => self.message(v),
            _ => {}
        }
        let mut any = false;
        texts(v, place, &mut |m| {
            any = true;
            emit(m);
        });
        if any {
            self.facts.saw_time(time(v, "timestamp").unwrap_or(0));
        }
    }

    fn start(&mut self, v: &Value<'_>) {
        // An earlier layout had the same fields one level down.
        let inner = get(v, "session");
        let v = if inner.is_object() { inner } else { v };
        let own = |key: &str| text(v, key).map(|s| Cow::Owned(s.to_owned()));
        if let Some(title) = text(v, "title").filter(|t| !is_placeholder(t)) {
            let by_hand = flag(v, "isSessionTitleManuallySet");
            let from = if by_hand { TitleSource::Custom } else { TitleSource::Auto };
            self.facts.offer_title(Cow::Owned(title_line(title)), from);
        }
        self.facts.project = own("cwd").unwrap_or_default();
        self.facts.forked_from = own("parent");
        if let Some(caller) = own("callingSessionId") {
            self.facts.parent = Some(caller);
            self.not_interactive("subagent");
        }
    }

    fn not_interactive(&mut self, kind: &'static str) {
        self.facts.interactive = Interactivity::No;
        self.facts.source_kind = kind.into();
    }

    fn message(&mut self, v: &Value<'_>) {
        let message = get(v, "message");
        let speaker = Speaker::of(v);
        if self.facts.lineage == 0 && speaker == Speaker::User {
            self.facts.lineage = lineage(text(v, "id"));
        }
        match speaker {
            Speaker::User => {
                let said = prompt(get(message, "content"));
                if !said.trim().is_empty() {
                    self.facts.messages += 1;
                    self.sent_from(text(message, "userMessageSource"));
                    saw_prompt(&mut self.facts, &said);
                }
            }
            Speaker::Assistant => {
                self.facts.messages += 1;
                if let Some(model) = text(message, "modelId") {
                    self.facts.model = Some(Cow::Owned(model.to_owned()));
                }
            }
            Speaker::Harness => {}
        }
    }

    /// Newer builds say where a prompt came from. The first one tells what the session is.
    fn sent_from(&mut self, from: Option<&str>) {
        if self.facts.source_kind != "unknown" {
            return;
        }
        let (kind, interactive) = match from.unwrap_or("") {
            "cli_tui" => ("cli", Interactivity::Yes),
            "cli_acp" => ("ide", Interactivity::Yes),
            "web" | "desktop" => ("desktop", Interactivity::Yes),
            "cli_exec" => ("exec", Interactivity::No),
            "sdk" | "api" | "sessions_api" => ("sdk", Interactivity::No),
            "automation" => ("background", Interactivity::No),
            _ => return,
        };
        self.facts.source_kind = kind.into();
        self.facts.interactive = interactive;
    }
}

/// What stands where a title will be.
fn is_placeholder(title: &str) -> bool {
    let title = title.trim().trim_start_matches("[Fork]").trim();
    title.is_empty()
        || title.eq_ignore_ascii_case("untitled")
        || title == "New Session"
        || title == "Generating title…"
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
    /// Reminders for the model, hooks and notices for the user.
    Harness,
}

impl Speaker {
    fn of(v: &Value<'_>) -> Self {
        let message = get(v, "message");
        let one_sided = matches!(text(message, "visibility"), Some("llm_only" | "user_only"));
        let context = text(v, "id").is_some_and(|id| id.starts_with("context-"));
        if one_sided || context || text(message, "hookEventName").is_some() {
            return Self::Harness;
        }
        match text(message, "role") {
            Some("user") => Self::User,
            Some("assistant") => Self::Assistant,
            _ => Self::Harness,
        }
    }
}

/// What a person typed, without what the harness added.
fn prompt<'v>(content: &'v Value<'v>) -> Cow<'v, str> {
    match json::content(content, &["text"]) {
        Cow::Borrowed(said) => without_elements(said, INJECTED),
        Cow::Owned(said) => Cow::Owned(without_elements(&said, INJECTED).into_owned()),
    }
}

/// The texts of one record.
pub fn texts(v: &Value<'_>, place: Place, emit: &mut dyn FnMut(Message<'_>)) {
    let mut out = Out::new(emit, place, time(v, "timestamp").unwrap_or(0));
    match text(v, "type") {
        Some("message") => message_texts(v, &mut out),
        Some("compaction_state") => out.put(Role::System, json::strings(get(v, "summaryText"))),
        _ => {}
    }
}

fn message_texts(v: &Value<'_>, out: &mut Out<'_>) {
    let content = json::at(v, &["message", "content"]);
    let speaker = Speaker::of(v);
    for block in items(content) {
        match text(block, "type").unwrap_or("") {
            "thinking" => out.put(Role::Thinking, json::strings(get(block, "thinking"))),
            "tool_use" => out.tool(Role::ToolInput, json::strings(get(block, "input")), text(block, "name")),
            "tool_result" => out.put(Role::ToolOutput, json::content(get(block, "content"), &["text"])),
            "text" if speaker == Speaker::Assistant => {
                out.put(Role::Assistant, json::strings(get(block, "text")))
            }
            _ => {}
        }
    }
    match speaker {
        Speaker::User => out.put(Role::User, prompt(content).trim()),
        Speaker::Assistant => out.put(Role::Assistant, content.as_str().unwrap_or("")),
        Speaker::Harness => out.put(Role::System, prompt(content).trim()),
    }
}

/// A unit of settings that say nothing.
pub fn no_settings() -> Facts<'static> {
    Facts { kind: UnitKind::Side, ..Facts::default() }
}

/// What `<id>.settings.json` says. Tags name what started the session.
pub fn settings(v: &Value<'_>) -> Facts<'static> {
    let mut facts = no_settings();
    facts.model = text(v, "model").map(|m| Cow::Owned(m.to_owned()));
    facts.archived = text(v, "archivedAt").is_some();
    for tag in items(get(v, "tags")) {
        let kind = match text(tag, "name").unwrap_or("") {
            "exec" => "exec",
            "subagent" | "mission-worker" | "software-factory-subagent" | "software-factory-worker" => {
                "subagent"
            }
            "automation" => "background",
            _ => continue,
        };
        facts.interactive = Interactivity::No;
        facts.source_kind = kind.into();
    }
    facts
}
