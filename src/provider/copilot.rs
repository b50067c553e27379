//! GitHub Copilot CLI. Formats as written by 1.0.102 (npm, seen 2026-11-30), event types from `@github/copilot-sdk` 1.0.14;
//! the legacy documents of releases before 0.0.342 from public readers.
//!
//! `<home>/session-state/<id>/events.jsonl` is a session (`session-state/<id>.jsonl` in early builds), `workspace.yaml` beside it holds its
//! name and directory. `history-session-state/session_<id>_<time>.json` is the same conversation before it was resumed by a newer release.
//! `session-store.db` is not used: it lags behind the files and says nothing that they do not.

mod events;
mod legacy;
mod workspace;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, valid_session_id};
use events::Events;

/// The provider.
pub struct Copilot;

const EVENTS: u8 = 0;
const WORKSPACE: u8 = 1;
const LEGACY: u8 = 2;

static INFO: Info = Info {
    id: "copilot",
    name: "GitHub Copilot CLI",
    aliases: &["copilot-cli", "github-copilot", "github-copilot-cli"],
    programs: &["copilot"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "plan (read-only)", args: &["--mode", "plan"], bypasses_approval: false },
        Mode { label: "allow all tools", args: &["--allow-all-tools"], bypasses_approval: true },
        Mode { label: "yolo (no approval)", args: &["--allow-all"], bypasses_approval: true },
    ],
    // A resumed session goes back to its recorded directory.
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: Some("COPILOT_HOME"),
    parser_version: 1,
};

impl Provider for Copilot {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("COPILOT_HOME");
        let vars: Vec<_> =
            set.iter().map(|d| ("COPILOT_HOME".to_owned(), d.to_string_lossy().into_owned())).collect();
        let Some(home) = set.or_else(|| env.in_home(".copilot")) else { return Vec::new() };
        ["session-state", "history-session-state"]
            .map(|label| Root { path: home.join(label), label, env: vars.clone() })
            .into()
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (root.label, names, is_dir) {
            ("session-state", [id], true) if is_session_name(id) => Class::Enter,
            ("session-state", [id, "events.jsonl"], false) if is_session_name(id) => Class::Source(EVENTS),
            ("session-state", [id, "workspace.yaml"], false) if is_session_name(id) => {
                Class::Source(WORKSPACE)
            }
            ("session-state", [file], false) => match file.strip_suffix(".jsonl") {
                Some(id) if is_session_name(id) => Class::Source(EVENTS),
                _ => Class::Skip,
            },
            ("history-session-state", [file], false) if legacy::id_in_name(file).is_some() => {
                Class::Source(LEGACY)
            }
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
            WORKSPACE => workspace::parse(source, id(source), sink),
            LEGACY => legacy::parse(source, sink),
            _ => events(source, from, sink),
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
            LEGACY => legacy::texts(source, &mut keep).map(drop)?,
            _ => jsonl::record_at(source, at, |v, place| {
                events::texts(v, place, &mut keep);
                Ok(())
            })?,
        }
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec![format!("--resume={session_id}")]
    }
}

/// Ids are UUIDs; names that begin with a dot are locks.
fn is_session_name(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The session a file of `session-state` belongs to: its directory's name, or its own.
fn id(source: &Source) -> &str {
    let first = source.rel.split('/').next().unwrap_or("");
    first.strip_suffix(".jsonl").unwrap_or(first)
}

fn events(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut reader = match from {
        Some(r) => Events::resumed(r)?,
        None => Events::new(id(source)),
    };
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        reader.record(v, place, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(reader.state());
    sink.close(id(source), reader.finish());
    Ok(parsed)
}
