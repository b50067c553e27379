//! Qwen Code. Formats as written by 0.24.4 and 0.15.10 (npm, seen 2026-11-30); names of record types, archive and sub-agents' transcripts
//! from its public source.
//!
//! `<runtime>/projects/<cwd with - for others>/chats/<id>.jsonl` is a session, `chats/archive/<id>.jsonl` an archived one,
//! `subagents/<id>/agent-….jsonl` a sub-agent's part of one. `<runtime>/tmp/<hash>/chats/session-….json` is what early releases wrote,
//! in the manner of the program they come from.

mod legacy;
mod record;
mod settings;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, UnitKind, valid_session_id};
use record::{Abandoned, Transcript};
use std::path::{Path, PathBuf};

/// The provider.
pub struct Qwen;

const SESSION: u8 = 0;
const CHILD: u8 = 1;
const LEGACY: u8 = 2;

static INFO: Info = Info {
    id: "qwen",
    name: "Qwen Code",
    aliases: &["qwen-code", "qwen-cli"],
    programs: &["qwen"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "plan (read-only)", args: &["--approval-mode", "plan"], bypasses_approval: false },
        Mode { label: "auto-edit", args: &["--approval-mode", "auto-edit"], bypasses_approval: false },
        Mode { label: "sandbox", args: &["-s"], bypasses_approval: false },
        Mode { label: "yolo (no approval)", args: &["--approval-mode", "yolo"], bypasses_approval: true },
    ],
    // Elsewhere it says that there is no such session.
    cwd_rule: CwdRule::Required,
    home_var: Some("QWEN_HOME"),
    parser_version: 1,
};

impl Provider for Qwen {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let home_var = env.dir_var("QWEN_HOME");
        let Some(home) = home_var.clone().or_else(|| env.in_home(".qwen")) else { return Vec::new() };
        let vars = |runtime: Option<&Path>| {
            let set = |name: &str, dir: &Path| (name.to_owned(), dir.to_string_lossy().into_owned());
            let home = home_var.as_deref().map(|d| set("QWEN_HOME", d));
            home.into_iter().chain(runtime.map(|d| set("QWEN_RUNTIME_DIR", d))).collect::<Vec<_>>()
        };
        if let Some(runtime) = env.dir_var("QWEN_RUNTIME_DIR") {
            return stores(&runtime, ["projects", "tmp"], vars(Some(&runtime))).into();
        }
        // Settings move what is written from then on; what was written before is still where it was.
        let configured = settings::runtime_dir(env, &home).filter(|d| *d != home);
        let home_vars = vars(configured.as_ref().map(|_| home.as_path()));
        let mut roots = Vec::from(stores(&home, ["projects", "tmp"], home_vars));
        if let Some(runtime) = configured {
            let labels = ["configured-projects", "configured-tmp"];
            roots.extend(stores(&runtime, labels, vars(Some(&runtime))));
        }
        roots
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        let early = root.label.ends_with("tmp");
        match (names, is_dir) {
            ([_project] | [_project, "chats"], true) => Class::Enter,
            ([_project, "chats", "archive"] | [_project, "subagents"], true) if !early => Class::Enter,
            ([_project, "subagents", session], true) if !early && is_plain(session) => Class::Enter,
            ([_, "chats", file], false) if early => legacy::classify(file),
            ([_, "chats", file] | [_, "chats", "archive", file], false) if is_transcript(file) => {
                Class::Source(SESSION)
            }
            ([_, "subagents", _, file], false) if is_transcript(file) => Class::Source(CHILD),
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
            LEGACY => legacy::parse(source, sink),
            _ => transcript(source, from, sink),
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
                record::texts(v, place, &mut keep);
                Ok(())
            })?,
        }
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }

    fn unarchive_hint(&self, _session_id: &str) -> Option<String> {
        Some("the session is archived: take it out of the archive in Qwen Code first".into())
    }
}

fn stores(runtime: &Path, labels: [&'static str; 2], vars: Vec<(String, String)>) -> [Root; 2] {
    let dirs: [PathBuf; 2] = ["projects", "tmp"].map(|name| runtime.join(name));
    let [projects, tmp] = dirs;
    [
        Root { path: projects, label: labels[0], env: vars.clone() },
        Root { path: tmp, label: labels[1], env: vars },
    ]
}

fn is_plain(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_transcript(file: &str) -> bool {
    file.strip_suffix(".jsonl").is_some_and(is_plain)
}

fn stem(source: &Source) -> &str {
    let file = source.rel.rsplit('/').next().unwrap_or("");
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

/// The session a file belongs to. Sessions are told apart by directory and id.
fn key(source: &Source) -> String {
    let names: Vec<&str> = source.rel.split('/').collect();
    let id = if let [_, "subagents", session, _] = names.as_slice() { session } else { stem(source) };
    format!("{}/{id}", names.first().unwrap_or(&""))
}

fn transcript(
    source: &Source,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let kind = if source.kind == CHILD { UnitKind::Child } else { UnitKind::Main };
    let abandoned = if from.is_none() { Abandoned::find(source)? } else { Abandoned::default() };
    let mut reader = match from {
        Some(r) => Transcript::resumed(r),
        None => Transcript::new(stem(source), kind, source.rel.contains("/chats/archive/")),
    };
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        if from.is_some() && record::is_rewind(v) {
            return Err(SourceError::NeedsAll);
        }
        reader.record(v, place, abandoned.holds(place), &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(Vec::new());
    sink.close(&key(source), reader.finish());
    Ok(parsed)
}
