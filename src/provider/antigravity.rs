//! Antigravity CLI (`agy`). All from public readers (2026-11): the program is not to be had from a package registry.
//!
//! `~/.gemini/antigravity-cli/brain/<id>/.system_generated/logs/transcript.jsonl` (or `transcript_full.jsonl`, which then holds) is what was said.
//! `conversations/<id>.db` is what the agent resumes: it names the workspace, and holds prompts and answers in a wire format; it speaks
//! only where there is no transcript. `history.jsonl` and `cache/last_conversations.json` name workspaces, too. Older `.pb` conversations are
//! encrypted. The editor's store (`~/.gemini/antigravity`) is another program's: its ids cannot be resumed here.

mod conversation;
mod names;
mod transcript;
mod wire;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::io::stat::{self, FileKind};
use crate::model::{Facts, Locator, Message, valid_session_id};
use std::path::{Path, PathBuf};
use transcript::Transcript;

/// The provider.
pub struct Antigravity;

const TRANSCRIPT: u8 = 0;
const FULL: u8 = 1;
const CONVERSATION: u8 = 2;
const HISTORY: u8 = 3;
const LAST: u8 = 4;

const LOGS: &str = ".system_generated/logs";
const SHORT_LOG: &str = "transcript.jsonl";
const FULL_LOG: &str = "transcript_full.jsonl";

static INFO: Info = Info {
    id: "antigravity",
    name: "Antigravity CLI",
    aliases: &["agy", "antigravity-cli"],
    programs: &["agy"],
    modes: &[
        Mode::DEFAULT,
        Mode {
            label: "yolo (no approval)",
            args: &["--dangerously-skip-permissions"],
            bypasses_approval: true,
        },
    ],
    cwd_rule: CwdRule::Any,
    home_var: None,
    parser_version: 1,
};

impl Provider for Antigravity {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let path = env.in_home(".gemini/antigravity-cli");
        path.map(|path| Root { path, label: "cli", env: Vec::new() }).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            (["brain" | "conversations" | "cache"], true) => Class::Enter,
            (["brain", id], true) if valid_session_id(id) => Class::Enter,
            (["brain", _, ".system_generated"] | ["brain", _, ".system_generated", "logs"], true) => {
                Class::Enter
            }
            (["brain", _, ".system_generated", "logs", SHORT_LOG], false) => Class::Source(TRANSCRIPT),
            (["brain", _, ".system_generated", "logs", FULL_LOG], false) => Class::Source(FULL),
            (["conversations", file], false) if file.ends_with(".db") && !file.starts_with('.') => {
                Class::Source(CONVERSATION)
            }
            (["history.jsonl"], false) => Class::Source(HISTORY),
            (["cache", "last_conversations.json"], false) => Class::Source(LAST),
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
            CONVERSATION => conversation::parse(source, id(source), has_transcript(source), sink),
            HISTORY => names::history(source, sink),
            LAST => names::last(source, sink),
            TRANSCRIPT if speaks(&source.path.with_file_name(FULL_LOG)) => said_elsewhere(source, sink),
            _ => transcript(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        if source.kind == CONVERSATION {
            return conversation::read(source, at);
        }
        let mut found = Vec::new();
        jsonl::record_at(source, at, |v, place| {
            transcript::texts(v, place, &mut |m| found.push(jsonl::own(m)));
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--conversation".into(), session_id.into()]
    }
}

/// The directory's name in `brain`, the file's in `conversations`.
fn id(source: &Source) -> &str {
    let second = source.rel.split('/').nth(1).unwrap_or("");
    second.strip_suffix(".db").unwrap_or(second)
}

/// Whether there is a log with anything in it.
fn speaks(log: &Path) -> bool {
    stat::stat(log).is_ok_and(|(fp, kind)| kind == FileKind::Regular && fp.size > 0)
}

/// Whether a conversation is also told in plain text.
fn has_transcript(source: &Source) -> bool {
    let logs: PathBuf = source.root.path.join("brain").join(id(source)).join(LOGS);
    speaks(&logs.join(SHORT_LOG)) || speaks(&logs.join(FULL_LOG))
}

/// A shortened log beside the full one adds nothing.
fn said_elsewhere(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    sink.open("", 0);
    sink.close(id(source), Facts { id: id(source).to_owned().into(), ..Facts::default() });
    Ok(Parsed::default())
}

fn transcript(
    source: &Source,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let mut reader = from.map_or_else(|| Transcript::new(id(source)), Transcript::resumed);
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        reader.record(v, place, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(Vec::new());
    sink.close(id(source), reader.finish());
    Ok(parsed)
}
