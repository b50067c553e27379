//! Grok Build (xAI's `grok`). Layout and fields after its published source (`xai-org/grok-build`, 2026-07: `persistence.rs`, user guide 17-sessions)
//! and public descriptions of sessions of 0.2.103 to 1.0.41; flags from the same source (`app/cli.rs`).
//!
//! `sessions/<percent-encoded directory>/<id>/updates.jsonl` is the conversation as it was shown, in pieces as they came. `chat_history.jsonl`
//! beside it is the same as the model sees it, without times; it is read only where there is no other. `summary.json` has title, directory,
//! branch and kind. Children lie in `subagents/<id>/` of their parent, or beside it.

mod history;
mod joiner;
mod summary;
mod updates;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Facts, Interactivity, Locator, Message, valid_session_id};
use std::borrow::Cow;

/// The provider.
pub struct Grok;

const UPDATES: u8 = 0;
const HISTORY: u8 = 1;
const SUMMARY: u8 = 2;

static INFO: Info = Info {
    id: "grok",
    name: "Grok Build",
    aliases: &["grok-build", "grok-cli", "xai"],
    programs: &["grok"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "acceptEdits", args: &["--permission-mode", "acceptEdits"], bypasses_approval: false },
        Mode { label: "yolo (no approval)", args: &["--always-approve"], bypasses_approval: true },
    ],
    cwd_rule: CwdRule::Required,
    home_var: Some("GROK_HOME"),
    parser_version: 1,
};

impl Provider for Grok {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("GROK_HOME");
        let vars = set.iter().map(|d| ("GROK_HOME".to_owned(), d.to_string_lossy().into_owned())).collect();
        let home = set.or_else(|| env.in_home(".grok"));
        home.map(|h| Root { path: h.join("sessions"), label: "sessions", env: vars }).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([group], true) if !group.starts_with('.') => Class::Enter,
            ([_, id], true) if is_session_name(id) => Class::Enter,
            ([_, _, "subagents"], true) => Class::Enter,
            ([_, _, "subagents", id], true) if is_session_name(id) => Class::Enter,
            ([_, id, file] | [_, _, "subagents", id, file], false) if is_session_name(id) => match *file {
                "updates.jsonl" => Class::Source(UPDATES),
                "chat_history.jsonl" => Class::Source(HISTORY),
                "summary.json" => Class::Source(SUMMARY),
                _ => Class::Skip,
            },
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        match source.kind {
            SUMMARY => summary::parse(source, sink),
            HISTORY => history::parse(source, from, sink),
            _ => updates::parse(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        let mut keep = |m: Message<'_>| {
            if m.at == at {
                found.push(jsonl::own(m));
            }
        };
        match source.kind {
            HISTORY => jsonl::record_at(source, at, |v, place| {
                history::texts(v, place, &mut keep);
                Ok(())
            })?,
            _ => updates::read(source, at, &mut keep)?,
        }
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

/// Ids are UUIDs.
fn is_session_name(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// A file's session: its directory's name.
fn id(source: &Source) -> &str {
    source.rel.rsplit('/').nth(1).unwrap_or("")
}

/// What a conversation knows of itself from where it lies and from the summary beside it.
fn facts(source: &Source) -> Facts<'static> {
    let mut facts =
        Facts { id: Cow::Owned(id(source).to_owned()), source_kind: "unknown".into(), ..Facts::default() };
    if let [_, _, "subagents", ..] = source.rel.split('/').collect::<Vec<_>>().as_slice() {
        facts.parent = source.rel.split('/').nth(1).map(|p| Cow::Owned(p.to_owned()));
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    match summary::beside(&source.path) {
        Some(summary) => {
            facts.recap = summary.recap;
            facts.saw_time(summary.started_ms);
            facts.saw_time(summary.last_ms);
        }
        // The summary has the directory, which can change; the name of the group is what it was at the start.
        None => facts.project = Cow::Owned(summary::group_directory(&source.rel).unwrap_or_default()),
    }
    facts
}
