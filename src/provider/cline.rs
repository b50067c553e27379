//! Cline CLI. Formats as written by 3.0.65 (npm, run 2026-11-30) and by the agent's source (`sdk/packages/core/src/session`,
//! `sdk/packages/shared/src/storage/paths.ts`, read 2026-11); the tasks of 1.x, 2.x and of the VS Code extension from its `disk.ts`.
//!
//! `<data>/sessions/<id>/<id>.messages.json` is a session, one document; `<id>.json` beside it and the table `sessions` of
//! `<data>/db/sessions.db` say the rest, each of them more than the other. `tasks/<ms>/api_conversation_history.json` is a task of the extension
//! or of a CLI before 3.0. Settings, and with them all keys, are never opened.

mod content;
mod rows;
mod session;
mod task;

use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, valid_session_id};
use std::path::PathBuf;

/// The provider.
pub struct Cline;

const MESSAGES: u8 = 0;
const MANIFEST: u8 = 1;
const DATABASE: u8 = 2;
const TASK: u8 = 3;
const TASKS: u8 = 4;

/// What moves the store.
const VARIABLES: &[&str] = &["CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR", "CLINE_DB_DATA_DIR"];
/// The extension's directory in an editor's.
const EXTENSION: &str = "User/globalStorage/saoudrizwan.claude-dev";
const EDITORS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

static INFO: Info = Info {
    id: "cline",
    name: "Cline",
    aliases: &["cline-cli"],
    programs: &["cline"],
    // Left to itself the agent acts without asking; a plan says so only if that was asked for.
    modes: &[
        Mode { label: "default", args: &["--auto-approve", "false"], bypasses_approval: false },
        Mode { label: "plan (read-only)", args: &["--plan"], bypasses_approval: false },
        Mode {
            label: "auto-approve (no approval)",
            args: &["--auto-approve", "true"],
            bypasses_approval: true,
        },
    ],
    cwd_rule: CwdRule::Required,
    home_var: Some("CLINE_DIR"),
    parser_version: 1,
};

impl Provider for Cline {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = |v: &&str| Some(((*v).to_owned(), env.dir_var(v)?.to_string_lossy().into_owned()));
        let vars: Vec<_> = VARIABLES.iter().filter_map(set).collect();
        let root = |path, label| Root { path, label, env: vars.clone() };
        let home = env.dir_var("CLINE_DIR").or_else(|| env.in_home(".cline"));
        let data = env.dir_var("CLINE_DATA_DIR").or_else(|| Some(home?.join("data")));
        let below = |name| Some(data.as_ref()?.join(name));
        let sessions = env.dir_var("CLINE_SESSION_DATA_DIR").or_else(|| below("sessions"));
        let database = env.dir_var("CLINE_DB_DATA_DIR").or_else(|| below("db"));
        let mut roots: Vec<Root> = sessions.map(|p| root(p, "sessions")).into_iter().collect();
        roots.extend(database.map(|p| root(p, "db")));
        roots.extend(data.map(|p| root(p, "tasks")));
        roots.extend(editors(env).into_iter().map(|path| Root { path, label: "tasks", env: Vec::new() }));
        roots
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (root.label, names, is_dir) {
            ("sessions", [id] | [id, _], true) if valid_session_id(id) => Class::Enter,
            ("sessions", [.., file], false) if names.len() > 1 => session_file(names, file),
            ("db", ["sessions.db"], false) => Class::Source(DATABASE),
            ("tasks", ["tasks" | "state"], true) => Class::Enter,
            ("tasks", ["tasks", id], true) if valid_session_id(id) => Class::Enter,
            ("tasks", ["tasks", _, "api_conversation_history.json"], false) => Class::Source(TASK),
            ("tasks", ["state", "taskHistory.json"], false) => Class::Source(TASKS),
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
            MANIFEST => session::manifest(source, sink),
            DATABASE => rows::parse(source, sink),
            TASK => task::parse(source, sink),
            TASKS => task::history(source, sink),
            _ => session::parse(source, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        match source.kind {
            TASK => task::read(source, at),
            _ => session::read(source, at),
        }
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--id".into(), session_id.into()]
    }
}

/// Where the extension keeps its tasks, in each editor that it runs in.
fn editors(env: &Env) -> Vec<PathBuf> {
    let config = if cfg!(windows) {
        env.dir_var("APPDATA")
    } else if cfg!(target_os = "macos") {
        env.in_home("Library/Application Support")
    } else {
        env.dir_var("XDG_CONFIG_HOME").or_else(|| env.in_home(".config"))
    };
    let in_editor = |c: PathBuf| EDITORS.iter().map(move |e| c.join(e).join(EXTENSION));
    let mut all: Vec<PathBuf> = config.into_iter().flat_map(in_editor).collect();
    // An editor's server, for work on this machine from another one.
    all.extend(env.in_home(".vscode-server/data").map(|d| d.join(EXTENSION)));
    all
}

/// `<id>.messages.json`, a sub-agent's perhaps in its session's directory, and `<id>.json`.
fn session_file(names: &[&str], file: &str) -> Class {
    match file.strip_suffix(".json") {
        Some(stem) if stem.ends_with(".messages") => Class::Source(MESSAGES),
        Some(stem) if names == [stem, file] => Class::Source(MANIFEST),
        _ => Class::Skip,
    }
}
