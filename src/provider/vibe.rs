//! Mistral Vibe. Formats as written by 3.0.2 (PyPI, run 2026-11-30) and by 2.x (its source of 2026-07); the layout of the 3.x store is
//! `mistral.vibe.unified-session-store/v1`, minor 9, and public readers of it.
//!
//! `<save_dir>/session_<time>_<id8>/{meta.json,messages.jsonl}` is a session of 2.x and earlier, `agents/…` in it its sub-agents.
//! `<save_dir>/unified/<id>/` is one of 3.x: `CURRENT` names a generation, whose manifest lists the chunks of the conversation;
//! what came after it stands in a journal until the turn has ended. Chunks that are not listed are superseded.

mod directory;
mod entries;
mod meta;
mod save_dir;
mod unified;

use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, valid_session_id};

/// The provider.
pub struct Vibe;

const MESSAGES: u8 = 0;
const META: u8 = 1;
const CURRENT: u8 = 2;
const JOURNAL: u8 = 3;

static INFO: Info = Info {
    id: "vibe",
    name: "Mistral Vibe",
    aliases: &["mistral-vibe", "mistral"],
    programs: &["vibe"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "accept edits", args: &["--agent", "accept-edits"], bypasses_approval: false },
        Mode { label: "smart-approve", args: &["--smart-approve"], bypasses_approval: true },
        Mode { label: "auto-approve (no approval)", args: &["--auto-approve"], bypasses_approval: true },
    ],
    // A session is found and goes on from anywhere.
    cwd_rule: CwdRule::Any,
    home_var: Some("VIBE_HOME"),
    parser_version: 1,
};

impl Provider for Vibe {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let Some(path) = save_dir::find(env) else { return Vec::new() };
        vec![Root { path, label: "sessions", env: save_dir::variables(env) }]
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            (["unified"], true) => Class::Enter,
            (["unified", rest @ ..], is_dir) => unified_store(rest, is_dir),
            ([dir], true) if is_session_dir(dir) => Class::Enter,
            ([_, "agents"], true) => Class::Enter,
            ([_, "agents", dir], true) if is_session_dir(dir) => Class::Enter,
            ([_, file] | [_, "agents", _, file], false) => match *file {
                "messages.jsonl" => Class::Source(MESSAGES),
                "meta.json" => Class::Source(META),
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
            META => meta::parse(source, key(source), sink),
            MESSAGES => directory::parse(source, key(source), from, sink),
            _ => unified::parse(source, key(source), sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        match source.kind {
            MESSAGES => directory::read(source, at),
            _ => unified::read(source, at),
        }
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

/// A name below `unified`.
fn unified_store(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        ([id] | [id, "journal"], true) if valid_session_id(id) => Class::Enter,
        ([_, "CURRENT"], false) => Class::Source(CURRENT),
        ([_, "meta.json"], false) => Class::Source(META),
        ([_, "journal", file], false) if file.ends_with(".jsonl") => Class::Source(JOURNAL),
        _ => Class::Skip,
    }
}

/// `<prefix>_<YYYYMMDD>_<HHMMSS>_<id8>`; the prefix can be configured, and is the agent's name for sub-agents.
fn is_session_dir(name: &str) -> bool {
    let digits = |part: Option<&str>, n: usize| {
        part.is_some_and(|p| p.len() == n && p.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut parts = name.rsplit('_');
    let id = parts.next().is_some_and(|id| !id.is_empty() && valid_session_id(id));
    id && digits(parts.next(), 6) && digits(parts.next(), 8) && parts.next().is_some()
}

/// The session's directory below the root: what all its files have in common.
fn key(source: &Source) -> &str {
    let dir = source.rel.rsplit_once('/').map_or("", |(dir, _)| dir);
    dir.strip_suffix("/journal").unwrap_or(dir)
}
