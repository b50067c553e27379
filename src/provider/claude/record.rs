//! The records of a Claude Code transcript, read in order.

use crate::model::{Facts, Interactivity, Message, Role, TitleSource, UnitKind};
use crate::provider::shared::json::{self, flag, get, items, text, time};
use crate::provider::shared::jsonl::{Place, Step};
use crate::provider::shared::prompt::{
    begins_with_element, element, saw_prompt, title_line, without_leading_elements,
};
use crate::provider::{Resume, SourceError};
use serde::{Deserialize, Serialize};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

type Emit<'e> = &'e mut dyn FnMut(Message<'_>);

/// What a later pass needs to go on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct State {
    /// Hash of the last assistant `message.id`: its further blocks are the same message.
    last_reply: u64,
    /// Newest time of a conversation record: an older one later on may be a copy.
    newest_ms: i64,
    /// The project was confirmed by the directory's name.
    project_fits: bool,
    /// A record outside a side chain was seen.
    own: bool,
    /// First time stamp of any record.
    head_ms: i64,
    /// Messages of side chains, and the first prompt of one: they count if there is nothing else.
    side_messages: u32,
    side_title: Option<String>,
    /// `/command args`, the title of a session that holds nothing else.
    command: Option<String>,
    /// `sessionId` of the first record.
    owner: String,
    /// Summaries that name the message they were made from: they count if that message is here, or comes later.
    summaries: Vec<(u64, String)>,
}

/// Reads records and gathers what they say of the session.
pub struct Transcript<'s> {
    slug: &'s str,
    facts: Facts<'static>,
    state: State,
    resumed: bool,
    /// Ids of records of a tail that are as old as what came before it.
    suspects: Vec<String>,
    seen: HashSet<u64>,
}

/// Suspects worth looking for; more of them mean a copied stretch.
const SUSPECTS_MAX: usize = 16;

/// Text a harness puts in the place of a prompt.
const NOTICES: &[&str] = &[
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
    "task-notification",
    "user-prompt-submit-hook",
    "session-start-hook",
    "bash-stdout",
    "bash-stderr",
    "teammate-message",
];

/// Context a harness puts in front of a prompt.
const CONTEXT: &[&str] =
    &["system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "uploaded_files"];

impl<'s> Transcript<'s> {
    pub fn new(slug: &'s str, kind: UnitKind, id: &str) -> Self {
        let facts =
            Facts { kind, id: Cow::Owned(id.to_owned()), source_kind: "unknown".into(), ..Facts::default() };
        Self {
            slug,
            facts,
            state: State::default(),
            resumed: false,
            suspects: Vec::new(),
            seen: HashSet::new(),
        }
    }

    pub fn resumed(slug: &'s str, kind: UnitKind, from: &Resume<'_>) -> Result<Self, SourceError> {
        let state: State = postcard::from_bytes(from.state).map_err(|_| SourceError::NeedsAll)?;
        let mut facts = Facts { kind, ..from.facts.clone().into_owned() };
        if facts.title_source == Some(TitleSource::Prompt)
            && facts.title.as_deref() == state.command.as_deref()
        {
            // The command stood in for a prompt, which may still come.
            (facts.title, facts.title_source) = (None, None);
        }
        Ok(Self { slug, facts, state, resumed: true, suspects: Vec::new(), seen: HashSet::new() })
    }

    /// Ids that must not occur in the part read before, or the tail repeats it.
    pub fn suspects(&self) -> &[String] {
        &self.suspects
    }

    pub fn state(&self) -> Vec<u8> {
        let mut state = self.state.clone();
        let settled = state.summaries.iter().rposition(|(leaf, _)| self.seen.contains(leaf));
        state.summaries.drain(..settled.map_or(0, |i| i + 1));
        postcard::to_allocvec(&state).unwrap_or_default()
    }

    /// The session the records belong to, and what is known of it.
    pub fn finish(mut self, rel: &str) -> (String, Facts<'static>) {
        if let Some((_, title)) = self.state.summaries.iter().rev().find(|(leaf, _)| self.seen.contains(leaf))
        {
            self.facts.offer_title(Cow::Owned(title.clone()), TitleSource::Summary);
        }
        if self.facts.kind == UnitKind::Child {
            let mut names = rel.split('/');
            let parent =
                if names.clone().count() > 2 { names.nth(1).unwrap_or("") } else { &self.state.owner };
            return (parent.to_owned(), self.facts);
        }
        self.facts.copied = self.state.head_ms > self.facts.started_ms && self.facts.started_ms > 0;
        if self.facts.title.is_none()
            && let Some(c) = &self.state.command
        {
            self.facts.title = Some(Cow::Owned(c.clone()));
            self.facts.title_source = Some(TitleSource::Prompt);
        }
        if self.state.side_messages > 0 && !self.state.own {
            self.side_chain();
        }
        (self.facts.id.clone().into_owned(), self.facts)
    }

    /// A file of its own that holds nothing but a side chain: a child with an id.
    fn side_chain(&mut self) {
        self.facts.messages = self.state.side_messages;
        if let Some(title) = self.state.side_title.clone() {
            self.facts.offer_title(Cow::Owned(title), TitleSource::Prompt);
        }
        self.facts.interactive = Interactivity::No;
        self.facts.source_kind = "subagent".into();
        if self.state.owner != self.facts.id {
            self.facts.parent = Some(Cow::Owned(self.state.owner.clone()));
        }
    }

    pub fn record(&mut self, v: &Value<'_>, place: Place, emit: Emit<'_>) -> Step {
        let at = time(v, "timestamp");
        if self.state.head_ms == 0 {
            self.state.head_ms = at.unwrap_or(0);
        }
        let kind = text(v, "type").unwrap_or("");
        match kind {
            "user" | "assistant" => return self.conversation(kind, v, at.unwrap_or(0), place, emit),
            "system" => self.system(v, at.unwrap_or(0), place, emit),
            "attachment" | "progress" => self.surroundings(v),
            "custom-title" => self.title(v, "customTitle", TitleSource::Custom),
            "ai-title" => self.title(v, "aiTitle", TitleSource::Auto),
            "worktree-state" => self.worktree(get(v, "worktreeSession")),
            "summary" => return self.summary(v),
            _ => {}
        }
        Ok(())
    }

    fn title(&mut self, v: &Value<'_>, key: &str, source: TitleSource) {
        if let Some(t) = text(v, key) {
            self.facts.offer_title(Cow::Owned(title_line(t)), source);
        }
    }

    fn summary(&mut self, v: &Value<'_>) -> Step {
        let (Some(title), Some(leaf)) = (text(v, "summary"), text(v, "leafUuid")) else { return Ok(()) };
        if self.resumed {
            // Whether it belongs here cannot be told without the earlier records.
            return Err(SourceError::NeedsAll);
        }
        self.state.summaries.push((xxh3_64(leaf.as_bytes()), title_line(title)));
        if self.state.summaries.len() > 64 {
            self.state.summaries.remove(0);
        }
        Ok(())
    }

    fn worktree(&mut self, session: &Value<'_>) {
        if let Some(name) = text(session, "worktreeName") {
            self.facts.worktree = Some(Cow::Owned(name.to_owned()));
        }
    }

    /// What a record says of the session besides its text.
    fn surroundings(&mut self, v: &Value<'_>) {
        if let Some(cwd) = text(v, "cwd") {
            self.cwd(cwd);
        }
        if flag(v, "isSidechain") {
            return;
        }
        if let Some(branch) = text(v, "gitBranch") {
            self.facts.branch = (branch != "HEAD").then(|| Cow::Owned(branch.to_owned()));
        }
        if self.facts.source_kind == "unknown" {
            self.source_kind(v);
        }
        if self.facts.forked_from.is_none()
            && let Some(from) = text(get(v, "forkedFrom"), "sessionId")
        {
            self.facts.forked_from = Some(Cow::Owned(from.to_owned()));
        }
    }

    /// The start directory is the one the store is keyed on, whatever comes first in the file.
    fn cwd(&mut self, cwd: &str) {
        if self.state.project_fits {
            return;
        }
        let fits = slug_matches(self.slug, cwd);
        if self.facts.project.is_empty() || fits {
            self.facts.project = Cow::Owned(cwd.to_owned());
            self.state.project_fits = fits;
            if let Some((_, name)) = cwd.split_once("/.claude/worktrees/") {
                let name = name.split('/').next().unwrap_or(name);
                self.facts.worktree = Some(Cow::Owned(name.to_owned()));
            }
        }
    }

    fn source_kind(&mut self, v: &Value<'_>) {
        let entry = text(v, "entrypoint");
        let (kind, interactive) = match entry {
            _ if text(v, "teamName").is_some() => ("team", Interactivity::No),
            Some(e) if e.starts_with("sdk") => ("sdk", Interactivity::No),
            Some("cli") if text(v, "sessionKind") == Some("bg") => ("background", Interactivity::Yes),
            Some("cli") => ("cli", Interactivity::Yes),
            Some(e) if e.contains("vscode") || e.contains("jetbrains") => ("ide", Interactivity::Yes),
            Some(e) if e.contains("desktop") => ("desktop", Interactivity::Yes),
            _ => return,
        };
        self.facts.source_kind = kind.into();
        self.facts.interactive = interactive;
    }

    fn conversation(&mut self, kind: &str, v: &Value<'_>, at: i64, place: Place, emit: Emit<'_>) -> Step {
        self.surroundings(v);
        let side = flag(v, "isSidechain") && self.facts.kind == UnitKind::Main;
        if self.state.owner.is_empty()
            && let Some(id) = text(v, "sessionId")
        {
            self.state.owner = id.to_owned();
        }
        if let Some(uuid) = text(v, "uuid") {
            let hash = xxh3_64(uuid.as_bytes());
            if self.resumed && at <= self.state.newest_ms && !self.seen.contains(&hash) {
                // Older than what was read before: perhaps a copy of it.
                self.suspects.push(uuid.to_owned());
                if self.suspects.len() > SUSPECTS_MAX {
                    return Err(SourceError::NeedsAll);
                }
            }
            if !self.seen.insert(hash) {
                return Ok(());
            }
            if self.facts.lineage == 0 {
                self.facts.lineage = hash;
            }
        }
        self.state.own |= !side;
        self.facts.saw_time(at);
        self.state.newest_ms = self.state.newest_ms.max(at);
        let mut out = Out { emit, at, place, part: 0, side };
        match kind {
            "user" => self.user(v, side, &mut out),
            _ => self.assistant(v, side, &mut out),
        }
        Ok(())
    }

    fn user(&mut self, v: &Value<'_>, side: bool, out: &mut Out<'_>) {
        let content = json::at(v, &["message", "content"]);
        for block in items(content) {
            if text(block, "type") == Some("tool_result") {
                out.put(Role::ToolOutput, json::content(get(block, "content"), &["text"]), None);
            }
        }
        let said = json::content(content, &["text"]);
        if said.trim().is_empty() || flag(v, "isMeta") {
            return;
        }
        if flag(v, "isCompactSummary") || is_sent_by_harness(v) {
            return out.put(Role::System, said, None);
        }
        self.said(&said, side, out);
    }

    /// User text: a prompt, a command typed into the harness, or a notice of it.
    fn said(&mut self, said: &str, side: bool, out: &mut Out<'_>) {
        if let Some(command) = element(said, "command-name") {
            let args = element(said, "command-args").unwrap_or("");
            if self.state.command.is_none()
                && !matches!(command, "/clear" | "/exit" | "/quit" | "/login" | "/logout")
            {
                self.state.command = Some(title_line(&format!("{command} {args}")));
            }
            return out.put(Role::System, format!("{command} {args}").trim().to_owned().into(), None);
        }
        if let Some(input) = element(said, "bash-input") {
            return out.put(Role::ToolInput, input.to_owned().into(), None);
        }
        if begins_with_element(said, &["bash-stdout", "bash-stderr"]) {
            return out.put(Role::ToolOutput, said.to_owned().into(), None);
        }
        if begins_with_element(said, NOTICES) || said.starts_with("Caveat: The messages below were generated")
        {
            return out.put(Role::System, said.to_owned().into(), None);
        }
        let prompt = without_leading_elements(said, CONTEXT).trim();
        if prompt.is_empty() || prompt.starts_with("[Request interrupted by user") {
            return;
        }
        out.put(Role::User, prompt.to_owned().into(), None);
        if side {
            self.state.side_messages += 1;
            self.state.side_title.get_or_insert_with(|| title_line(prompt));
        } else if self.facts.kind == UnitKind::Main {
            self.facts.messages += 1;
            saw_prompt(&mut self.facts, prompt);
        }
    }

    fn assistant(&mut self, v: &Value<'_>, side: bool, out: &mut Out<'_>) {
        let message = get(v, "message");
        let failed = flag(v, "isApiErrorMessage");
        let content = get(message, "content");
        if let Some(said) = content.as_str() {
            out.put(if failed { Role::System } else { Role::Assistant }, said.into(), None);
        }
        for block in items(content) {
            match text(block, "type").unwrap_or("") {
                "text" if failed => out.put(Role::System, json::strings(get(block, "text")), None),
                "text" => out.put(Role::Assistant, json::strings(get(block, "text")), None),
                "thinking" => out.put(Role::Thinking, json::strings(get(block, "thinking")), None),
                "tool_use" | "server_tool_use" => {
                    let name = text(block, "name").map(Cow::Borrowed);
                    out.put(Role::ToolInput, json::strings(get(block, "input")), name);
                }
                _ => {}
            }
        }
        if failed {
            return;
        }
        if side {
            self.state.side_messages += 1;
            return;
        }
        if let Some(model) = text(message, "model").filter(|m| *m != "<synthetic>") {
            self.facts.model = Some(Cow::Owned(model.to_owned()));
        }
        let reply = text(message, "id").or_else(|| text(v, "uuid")).map_or(0, |id| xxh3_64(id.as_bytes()));
        if reply != self.state.last_reply {
            self.state.last_reply = reply;
            self.facts.messages += 1;
        }
    }

    fn system(&mut self, v: &Value<'_>, at: i64, place: Place, emit: Emit<'_>) {
        self.surroundings(v);
        let Some(content) = text(v, "content") else { return };
        let mut out = Out { emit, at, place, part: 0, side: false };
        match text(v, "subtype").unwrap_or("") {
            "away_summary" => {
                let recap = content.trim_end().trim_end_matches("(disable recaps in /config)").trim_end();
                let recap = crate::text::Clean::block(recap, crate::limits::SUMMARY_MAX).into_string();
                self.facts.recap = Some(Cow::Owned(recap));
                out.put(Role::System, content.into(), None);
            }
            "local_command" => self.said(content, true, &mut out),
            _ => {}
        }
    }
}

/// Newer releases say who sent a prompt.
fn is_sent_by_harness(v: &Value<'_>) -> bool {
    let origin = text(get(v, "origin"), "kind");
    origin.is_some_and(|k| k != "human") || text(v, "promptSource") == Some("system")
}

/// Whether a directory is stored under this name: everything outside `[A-Za-z0-9]` is `-`, a unit of UTF-16 each; long ones are cut at 200 and hashed.
fn slug_matches(slug: &str, cwd: &str) -> bool {
    const CUT: usize = 200;
    let mut units = cwd.encode_utf16().map(|u| match u8::try_from(u) {
        Ok(b) if b.is_ascii_alphanumeric() => b,
        _ => b'-',
    });
    let slug = slug.as_bytes();
    let head = slug.len().min(CUT);
    let same = slug[..head].iter().all(|b| units.next() == Some(*b));
    same && (units.next().is_none() && slug.len() <= CUT || slug.len() > CUT)
}

/// Emits the texts of one record, numbered.
struct Out<'e> {
    emit: Emit<'e>,
    at: i64,
    place: Place,
    part: usize,
    /// The record belongs to a side chain in the conversation's own file.
    side: bool,
}

impl Out<'_> {
    fn put(&mut self, role: Role, text: Cow<'_, str>, tool: Option<Cow<'_, str>>) {
        if text.trim().is_empty() && tool.is_none() {
            return;
        }
        let at = self.place.part(self.part);
        self.part += 1;
        let sidechain = self.side;
        (self.emit)(Message { role, timestamp_ms: self.at, text, at, tool, sidechain });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_name_of_a_directory() {
        assert!(slug_matches("-w-my-proj--v2-api-server", "/w/my_proj/.v2/api-server"));
        assert!(slug_matches("-home-dev-work-My-Caf--app-v1-2", "/home/dev/work/My Café_app v1.2"));
        assert!(!slug_matches("-w-app", "/w/app/sub"));
        assert!(!slug_matches("-w-app-sub", "/w/app"));
        let long = format!("/{}", "segment/".repeat(40));
        let slug: String =
            long.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(200).collect();
        assert!(slug_matches(&format!("{slug}-40dyox"), &long));
    }
}
