//! What is known of a session: what its record says, and what its messages add.

use super::message::{self, Head, Put, Speaker};
use crate::model::{Facts, Interactivity, Role, TitleSource};
use crate::provider::shared::json::{items, text};
use crate::provider::shared::prompt::{saw_prompt, title_line};
use serde_json_borrow::Value;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What a session's record says.
#[derive(Debug, Default)]
pub struct Given {
    pub id: String,
    pub parent: Option<String>,
    pub directory: String,
    pub title: String,
    pub model: Option<String>,
    pub created: i64,
    pub updated: i64,
    pub archived: bool,
    /// Made by a command that asks nobody.
    pub headless: bool,
    pub cut: Option<Cut>,
}

/// Where a session was taken back to: this message and all that follow do not count, or all parts from one of its on.
#[derive(Debug, PartialEq, Eq)]
pub struct Cut {
    message: String,
    part: Option<String>,
}

impl Cut {
    pub fn new(revert: &Value<'_>) -> Option<Self> {
        let part = text(revert, "partID").map(str::to_owned);
        Some(Self { message: text(revert, "messageID")?.to_owned(), part })
    }
}

/// The command that runs one prompt denies whatever would ask the user.
pub fn headless(rules: &Value<'_>) -> bool {
    const ASKING: [&str; 3] = ["question", "plan_enter", "plan_exit"];
    let denied = |what: &str| {
        items(rules).iter().any(|r| text(r, "permission") == Some(what) && text(r, "action") == Some("deny"))
    };
    ASKING.into_iter().all(denied)
}

/// A title that only says when the session began.
fn is_placeholder(title: &str) -> bool {
    let rest = ["New session - ", "Child session - "].iter().find_map(|p| title.strip_prefix(p));
    rest.is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
}

/// A conversation as it is read.
pub struct Talk {
    facts: Facts<'static>,
    created: i64,
    /// Made by a command that asks nobody, and so far led by nothing else.
    headless: bool,
    cut: Option<Cut>,
    over: bool,
    /// The message that stands for the user before a command of the user's.
    shell: Option<String>,
    turn: Turn,
}

/// What was said in the message at hand.
#[derive(Default)]
struct Turn {
    prompted: bool,
    spoke: bool,
}

impl Talk {
    pub fn new(given: Given) -> Self {
        let mut facts = Facts {
            id: Cow::Owned(given.id),
            project: Cow::Owned(given.directory),
            parent: given.parent.map(Cow::Owned),
            model: given.model.map(Cow::Owned),
            archived: given.archived,
            source_kind: "unknown".into(),
            ..Facts::default()
        };
        if facts.parent.is_some() {
            facts.interactive = Interactivity::No;
            facts.source_kind = "subagent".into();
        }
        if !is_placeholder(&given.title) {
            facts.offer_title(Cow::Owned(title_line(&given.title)), TitleSource::Auto);
        }
        facts.saw_time(given.created);
        facts.saw_time(given.updated);
        let Given { created, headless, cut, .. } = given;
        Self { facts, created, headless, cut, over: false, shell: None, turn: Turn::default() }
    }

    /// Whether a message counts; its parts follow, then [`Self::end`].
    pub fn begin(&mut self, head: &Head) -> bool {
        self.turn = Turn::default();
        self.over |= self.cut.as_ref().is_some_and(|c| c.message == head.id && c.part.is_none());
        !self.over
    }

    pub fn part(&mut self, head: &Head, id: &str, part: &Value<'_>, put: Put<'_>) {
        let cut = |c: &Cut| c.message == head.id && c.part.as_deref() == Some(id);
        self.over |= self.cut.as_ref().is_some_and(cut);
        if self.over {
            return;
        }
        if message::is_shell(part) {
            self.shell = Some(head.id.clone());
        }
        message::texts(head, part, &mut |role, at, said, tool| {
            self.heard(head, role, &said);
            put(role, at, said, tool);
        });
    }

    fn heard(&mut self, head: &Head, role: Role, said: &str) {
        if role == Role::User && !said.trim().is_empty() {
            let typed = said.trim();
            let said = unquoted(typed);
            // Such a command puts a prompt of several words in quotes. One without them was typed.
            self.headless &= said != typed || !typed.contains(char::is_whitespace);
            if self.facts.lineage == 0 {
                self.facts.lineage = xxh3_64(format!("{}\0{said}", head.created).as_bytes());
            }
            if !self.turn.prompted {
                saw_prompt(&mut self.facts, &said);
            }
            self.turn.prompted = true;
        }
        self.turn.spoke |= matches!(role, Role::Assistant | Role::Thinking | Role::ToolInput);
    }

    pub fn end(&mut self, head: &Head) {
        let shell = self.shell.is_some() && self.shell == head.parent;
        let counts = match head.speaker {
            Speaker::User => self.turn.prompted,
            Speaker::Assistant => self.turn.spoke && !head.summary && !shell,
        };
        self.facts.messages += u32::from(counts);
        // A fork's messages have new ids but the times of those they were copied from.
        self.facts.copied |= head.created > 0 && head.created < self.created;
        for time in [head.created, head.completed].into_iter().filter(|t| *t > 0) {
            self.facts.saw_time(time.max(self.created));
        }
        if let Some(model) = head.model.as_ref().filter(|_| counts) {
            self.facts.model = Some(Cow::Owned(model.clone()));
        }
        if let Some(cwd) = head.cwd.as_ref().filter(|_| self.facts.project.is_empty()) {
            self.facts.project = Cow::Owned(cwd.clone());
        }
    }

    pub fn finish(mut self) -> Facts<'static> {
        if self.headless && self.facts.parent.is_none() {
            self.facts.interactive = Interactivity::No;
            self.facts.source_kind = "exec".into();
        }
        self.facts
    }
}

/// A prompt of several words that was given on the command line is kept in quotes.
fn unquoted(said: &str) -> Cow<'_, str> {
    let inner = said.strip_prefix('"').and_then(|s| s.strip_suffix('"'));
    let Some(inner) = inner.filter(|s| !s.replace("\\\"", "").contains('"')) else {
        return Cow::Borrowed(said);
    };
    Cow::Owned(inner.replace("\\\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pair_of_quotes_goes() {
        assert_eq!(unquoted("\"Fix the parser\""), "Fix the parser");
        assert_eq!(unquoted(r#""say \"hi\" twice""#), "say \"hi\" twice");
        assert_eq!(unquoted("\"a\" and \"b\""), "\"a\" and \"b\"");
        assert_eq!(unquoted("\""), "\"");
    }

    #[test]
    fn a_placeholder_is_no_title() {
        assert!(is_placeholder("New session - 2026-11-30T21:13:33.208Z"));
        assert!(is_placeholder("Child session - 2026-11-30T21:13:33.208Z"));
        assert!(!is_placeholder("New session - how to begin"));
    }
}
