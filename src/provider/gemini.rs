//! Gemini CLI. Formats as written by 0.61.0 (npm, seen 2026-11-30) and, one document a session, by 0.20.0; the order of replay from the
//! public source of its chat recording service.
//!
//! `<home>/.gemini/tmp/<project>/chats/session-<minute>-<id's head>.jsonl` (or `.json`) is a session, `chats/<parent's id>/<id>.jsonl` a
//! sub-agent's. `<project>` is a name with `.project_root` beside it, or the SHA-256 of the path. One session can have several files:
//! a stub that a resume left, the document it was before, and copies of both where the CLI moved from hashes to names.

mod chat;
mod message;
mod project;
mod replay;

use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};

/// The provider.
pub struct Gemini;

const LINES: u8 = 0;
const DOCUMENT: u8 = 1;

static INFO: Info = Info {
    id: "gemini",
    name: "Gemini CLI",
    aliases: &["gemini-cli", "google-gemini"],
    programs: &["gemini"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "auto_edit", args: &["--approval-mode", "auto_edit"], bypasses_approval: false },
        Mode { label: "plan (read-only)", args: &["--approval-mode", "plan"], bypasses_approval: false },
        Mode { label: "sandbox", args: &["-s"], bypasses_approval: false },
        Mode { label: "yolo (no approval)", args: &["-y"], bypasses_approval: true },
    ],
    // Sessions are looked for in the project of the directory only.
    cwd_rule: CwdRule::Required,
    home_var: Some("GEMINI_CLI_HOME"),
    parser_version: 1,
};

impl Provider for Gemini {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        // The variable stands for the home directory, not for `.gemini`.
        let set = env.dir_var("GEMINI_CLI_HOME");
        let vars = set.iter().map(|d| ("GEMINI_CLI_HOME".to_owned(), d.to_string_lossy().into_owned()));
        let vars = vars.collect();
        let home = set.or_else(|| env.home().map(Into::into));
        let root = |h: std::path::PathBuf| Root { path: h.join(".gemini/tmp"), label: "tmp", env: vars };
        home.map(root).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([_project] | [_project, "chats"], true) => Class::Enter,
            ([_project, "chats", parent], true) if chat::is_plain(parent) => Class::Enter,
            ([_project, "chats", file], false) if file.starts_with("session-") => kind(file),
            ([_project, "chats", _parent, file], false) => kind(file),
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        _from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        match source.kind {
            DOCUMENT => chat::document(source, sink),
            _ => chat::lines(source, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        match source.kind {
            DOCUMENT => chat::read_document(source, at),
            _ => chat::read_line(source, at),
        }
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

fn kind(file: &str) -> Class {
    let kinds = [(".jsonl", LINES), (".json", DOCUMENT)];
    let kind =
        kinds.iter().find(|(ending, _)| file.strip_suffix(ending).is_some_and(|stem| !stem.is_empty()));
    kind.map_or(Class::Skip, |(_, kind)| Class::Source(*kind))
}
