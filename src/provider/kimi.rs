//! Kimi Code. Formats as written by 2.1.0 (npm, seen 2026-11-30); where things lie from its public documentation, kinds of records from its
//! public source. Also the sessions of kimi-cli 1.52.0 (PyPI), the program before it, which cannot be resumed any more.
//!
//! `<home>/sessions/<workspace>/<id>/agents/main/wire.jsonl` is a session, `agents/<other>/wire.jsonl` a sub-agent's part of it, `state.json`
//! its name and directory. `<home>/session_index.jsonl` has the directory too. The workspace's name cannot be turned back into a path.

mod legacy;
mod state;
mod wire;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, UnitKind, valid_session_id};
use wire::{Undone, Wire};

/// The provider.
pub struct Kimi;

const WIRE: u8 = 0;
const STATE: u8 = 1;
const INDEX: u8 = 2;
const LEGACY_WIRE: u8 = 3;
const LEGACY_CONTEXT: u8 = 4;
const LEGACY_STATE: u8 = 5;

static INFO: Info = Info {
    id: "kimi",
    name: "Kimi Code",
    aliases: &["kimi-code", "kimi-cli"],
    programs: &["kimi"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "plan (read-only)", args: &["--plan"], bypasses_approval: false },
        Mode { label: "auto", args: &["--auto"], bypasses_approval: true },
        Mode { label: "yolo (no approval)", args: &["--yolo"], bypasses_approval: true },
    ],
    // Elsewhere it says which directory to change to, and ends.
    cwd_rule: CwdRule::Required,
    home_var: Some("KIMI_CODE_HOME"),
    parser_version: 1,
};

impl Provider for Kimi {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("KIMI_CODE_HOME");
        let vars: Vec<_> =
            set.iter().map(|d| ("KIMI_CODE_HOME".to_owned(), d.to_string_lossy().into_owned())).collect();
        let mut roots = Vec::new();
        if let Some(home) = set.or_else(|| env.in_home(".kimi-code")) {
            roots.push(Root { path: home.join("sessions"), label: "sessions", env: vars.clone() });
            roots.push(Root { path: home, label: "home", env: vars });
        }
        let before = env.dir_var("KIMI_SHARE_DIR").or_else(|| env.in_home(".kimi"));
        roots.extend(before.map(|d| Root { path: d.join("sessions"), label: "legacy", env: Vec::new() }));
        roots
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match root.label {
            "home" if names == ["session_index.jsonl"] && !is_dir => Class::Source(INDEX),
            "sessions" => classify(names, is_dir),
            "legacy" => legacy::classify(names, is_dir),
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
            STATE => state::parse(source, &key(source), sink),
            INDEX => state::index(source, sink),
            LEGACY_WIRE => legacy::wire(source, sink),
            LEGACY_CONTEXT => legacy::context(source, sink),
            LEGACY_STATE => legacy::state(source, sink),
            _ => session(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        jsonl::record_at(source, at, |v, place| {
            let mut keep = |m: Message<'_>| {
                if m.at == at {
                    found.push(jsonl::own(m));
                }
            };
            match source.kind {
                LEGACY_WIRE | LEGACY_CONTEXT => legacy::texts(v, place, &mut keep),
                _ => wire::texts(v, place, &mut keep),
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--session".into(), session_id.into()]
    }
}

fn classify(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        ([name] | [_, name], true) if is_plain(name) => Class::Enter,
        ([_, _, "agents" | "session-meta"] | [_, _, "agents", _], true) => Class::Enter,
        ([_, _, "agents", _, "wire.jsonl"], false) => Class::Source(WIRE),
        ([_, _, "state.json"] | [_, _, "session-meta", "state.json"], false) => Class::Source(STATE),
        _ => Class::Skip,
    }
}

/// A directory's name that is no marker (`.index-dirty`).
fn is_plain(name: &str) -> bool {
    valid_session_id(name) && !name.starts_with('.')
}

/// The session's directory in the store. Sessions are told apart by workspace and id.
fn key(source: &Source) -> String {
    source.rel.splitn(3, '/').take(2).collect::<Vec<_>>().join("/")
}

fn session(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let id = source.rel.split('/').nth(1).unwrap_or("");
    let main = source.rel.ends_with("/agents/main/wire.jsonl");
    let mut reader = match from {
        Some(r) => Wire::resumed(r)?,
        None => Wire::new(id, if main { UnitKind::Main } else { UnitKind::Child }),
    };
    let undone = if from.is_none() { Undone::find(source)? } else { Undone::default() };
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        if from.is_some() && wire::is_undo(v) {
            return Err(SourceError::NeedsAll);
        }
        reader.record(v, place, undone.holds(place), &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(reader.state());
    sink.close(&key(source), reader.finish());
    Ok(parsed)
}
