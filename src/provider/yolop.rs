//! Yolop. Formats from the program's public sources (2026-11) and those of the crates that define its events.
//!
//! `<data>/yolop/sessions/session_<32 hex>/events.jsonl` is a session, `workspace.json` beside it says where it works and what it is called. Early
//! builds wrote `session_<32 hex>.jsonl` directly in `sessions`; resuming copies such a file into a directory and leaves it behind.

mod events;

use super::shared::{document, jsonl};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Locator, Message};
use events::Log;
use std::path::PathBuf;

/// The provider.
pub struct Yolop;

const EVENTS: u8 = 0;
const WORKSPACE: u8 = 1;
const XDG: &str = "XDG_DATA_HOME";

static INFO: Info = Info {
    id: "yolop",
    name: "Yolop",
    aliases: &[],
    programs: &["yolop"],
    modes: &[Mode::DEFAULT],
    // It goes back to the workspace that was saved, unless it is told another.
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: None,
    parser_version: 1,
};

impl Provider for Yolop {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let linux = !cfg!(any(windows, target_os = "macos"));
        let set = env.dir_var(XDG).filter(|_| linux);
        let vars = set.iter().map(|d| (XDG.to_owned(), d.to_string_lossy().into_owned())).collect();
        let data = set.or_else(|| data_dir(env));
        let root =
            |data: PathBuf| Root { path: data.join("yolop").join("sessions"), label: "sessions", env: vars };
        data.map(root).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([dir], true) if is_id(dir) => Class::Enter,
            ([dir, "events.jsonl"], false) if is_id(dir) => Class::Source(EVENTS),
            ([dir, "workspace.json"], false) if is_id(dir) => Class::Source(WORKSPACE),
            ([file], false) if file.strip_suffix(".jsonl").is_some_and(is_id) => Class::Source(EVENTS),
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
            WORKSPACE => workspace(source, sink),
            _ => log(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        jsonl::record_at(source, at, |v, place| {
            events::texts(v, place, &mut |m| found.push(jsonl::own(m)));
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--session".into(), session_id.into()]
    }
}

/// Where the system keeps its users' data.
fn data_dir(env: &Env) -> Option<PathBuf> {
    if cfg!(windows) {
        env.dir_var("APPDATA").or_else(|| env.in_home("AppData/Roaming"))
    } else if cfg!(target_os = "macos") {
        env.in_home("Library/Application Support")
    } else {
        env.in_home(".local/share")
    }
}

fn is_id(name: &str) -> bool {
    const HEX: usize = 32;
    let hex = name.strip_prefix("session_");
    hex.is_some_and(|h| h.len() == HEX && h.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The session's id: the directory's name, or the file's.
fn id(source: &Source) -> &str {
    let name = source.rel.split('/').next().unwrap_or("");
    name.strip_suffix(".jsonl").unwrap_or(name)
}

fn log(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut log = from.map_or_else(|| Log::new(id(source)), Log::resumed);
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        log.event(v, place, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(log.state());
    sink.close(id(source), log.finish());
    Ok(parsed)
}

fn workspace(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let facts = document::read(&source.path, SIDE_FILE_MAX, events::workspace)?;
    sink.open("", 0);
    sink.close(id(source), facts.unwrap_or_else(events::no_workspace));
    Ok(Parsed::default())
}
