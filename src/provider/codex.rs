//! Codex CLI. Formats as written by 0.63 and 0.171 (npm, seen 2026-11-30); earlier ones from public reports.
//!
//! `<CODEX_HOME>/sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl` is a thread, moved to `archived_sessions/` by `codex archive`
//! and compressed to `.jsonl.zst` by some builds. The rollouts are the truth; `session_index.jsonl` and `state_<n>.sqlite` only
//! add the names given to threads. `auth.json` and the rest of the home are never opened.

mod items;
mod names;
mod rollout;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message};
use rollout::Rollout;

/// The provider.
pub struct Codex;

const ROLLOUT: u8 = 0;
const INDEX: u8 = 1;
const STATE: u8 = 2;
/// Directories below `sessions`: year, month, day, and some more for stores that were sorted by hand.
const LEVELS: usize = 6;

static INFO: Info = Info {
    id: "codex",
    name: "Codex",
    aliases: &["codex-cli", "openai-codex"],
    programs: &["codex"],
    modes: &[
        Mode::DEFAULT,
        Mode {
            label: "workspace-write",
            args: &["-a", "on-request", "-s", "workspace-write"],
            bypasses_approval: false,
        },
        Mode { label: "full-auto", args: &["-a", "never", "-s", "workspace-write"], bypasses_approval: true },
        Mode {
            label: "bypass sandbox",
            args: &["--dangerously-bypass-approvals-and-sandbox"],
            bypasses_approval: true,
        },
    ],
    // Elsewhere `codex resume` stops at a dialog that asks for the directory.
    cwd_rule: CwdRule::Required,
    home_var: Some("CODEX_HOME"),
    parser_version: 2,
};

impl Provider for Codex {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = |name: &str| env.dir_var(name).map(|d| (name.to_owned(), d.to_string_lossy().into_owned()));
        let vars: Vec<_> = ["CODEX_HOME", "CODEX_SQLITE_HOME"].into_iter().filter_map(set).collect();
        let Some(home) = env.dir_var("CODEX_HOME").or_else(|| env.in_home(".codex")) else {
            return Vec::new();
        };
        let root = |path, label| Root { path, label, env: vars.clone() };
        let mut roots = vec![
            root(home.join("sessions"), "sessions"),
            root(home.join("archived_sessions"), "archived"),
            root(home, "home"),
        ];
        roots.extend(env.dir_var("CODEX_SQLITE_HOME").map(|d| root(d, "sqlite")));
        roots
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (root.label, names, is_dir) {
            ("home" | "sqlite", [file], false) if is_state(file) => Class::Source(STATE),
            ("home", [names::INDEX], false) => Class::Source(INDEX),
            ("sessions" | "archived", names, true) if names.len() <= LEVELS => Class::Enter,
            ("sessions" | "archived", [.., file], false) if is_rollout(file) => Class::Source(ROLLOUT),
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
            INDEX => names::index(source, sink),
            STATE => names::state(source, sink),
            _ => rollout(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        jsonl::record_at(source, at, |v, place| {
            items::texts(v, place, &mut |m, _| found.push(jsonl::own(m)));
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["resume".into(), session_id.into()]
    }

    fn unarchive_hint(&self, session_id: &str) -> Option<String> {
        Some(format!("the session is archived: run `codex unarchive {session_id}` first"))
    }
}

fn is_state(file: &str) -> bool {
    let number = file.strip_prefix("state_").and_then(|f| f.strip_suffix(".sqlite"));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn is_rollout(file: &str) -> bool {
    file.starts_with("rollout-") && (file.ends_with(".jsonl") || file.ends_with(".jsonl.zst"))
}

fn rollout(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut reader = match from {
        Some(r) => Rollout::resumed(r)?,
        None => Rollout::new(file_id(&source.rel), source.root.label == "archived"),
    };
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end =
        jsonl::each_record(source, offset, |v, place| reader.record(v, place, &mut |m| sink.message(m)))?;
    reader.settle(&mut |m| sink.message(m));
    let parsed = end.parsed(reader.state());
    let facts = reader.finish();
    sink.close(&facts.id.clone(), facts);
    Ok(parsed)
}

/// The UUID at the end of a rollout's file name.
fn file_id(rel: &str) -> &str {
    const UUID: usize = 36;
    let file = rel.rsplit('/').next().unwrap_or(rel);
    let stem = file.trim_end_matches(".zst").trim_end_matches(".jsonl");
    stem.get(stem.len().saturating_sub(UUID)..).unwrap_or(stem)
}
