//! Kiro CLI, in four generations of stores: formats as public readers of 1.x to 3.0 know them (kiro-cli-history 0.4.1, PyPI;
//! kenn-io/agentsview), seen 2026-11-30.
//!
//! `<data>/kiro-cli/data.sqlite3` holds conversations of 1.x (`conversations`) and 2.x (`conversations_v2`),
//! `<home>/sessions/cli/<id>.json` and `.jsonl` those of the classic 2.x interface, `<home>/sessions/<workspace>/<id>/session.json` and
//! `messages.jsonl` those of 3.0. A session may lie in several of them.

mod events;
mod journal;
mod log;
mod side;

use super::shared::data_dirs::data_dirs;
use super::shared::{conversations, jsonl};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Facts, Locator, Message, ResumeKind, UnitKind, valid_session_id};
use log::Log;

/// The provider.
pub struct Kiro;

const DATABASE: u8 = 0;
const JOURNAL: u8 = 1;
const JOURNAL_SIDE: u8 = 2;
const EVENTS: u8 = 3;
const EVENTS_SIDE: u8 = 4;
/// A sub-agent's log, kept with its session.
const CHILD: u8 = 5;

static INFO: Info = Info {
    id: "kiro",
    name: "Kiro CLI",
    aliases: &["kiro-cli"],
    programs: &["kiro-cli"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "trust all tools", args: &["--trust-all-tools"], bypasses_approval: true },
    ],
    cwd_rule: CwdRule::Any,
    home_var: Some("KIRO_HOME"),
    parser_version: 1,
};

impl Provider for Kiro {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = |name: &str| env.dir_var(name).map(|d| (name.to_owned(), d.to_string_lossy().into_owned()));
        let vars: Vec<_> = ["KIRO_HOME", "XDG_DATA_HOME"].into_iter().filter_map(set).collect();
        let root = |path, label| Root { path, label, env: vars.clone() };
        let home = env.dir_var("KIRO_HOME").or_else(|| env.in_home(".kiro"));
        let files = home.map(|h| root(h.join("sessions"), "sessions"));
        let databases = data_dirs(env)
            .into_iter()
            .zip(["data", "roaming"])
            .map(|(d, label)| root(d.join("kiro-cli"), label));
        files.into_iter().chain(databases).collect()
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (root.label, names, is_dir) {
            ("data" | "roaming", [conversations::FILE], false) => Class::Source(DATABASE),
            ("sessions", names, is_dir) => classify(names, is_dir),
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
            // 1.x knew no ids on its command line.
            DATABASE => conversations::parse(source, [ResumeKind::LastInDirectory, ResumeKind::Exact], sink),
            JOURNAL_SIDE | EVENTS_SIDE => side::parse(source, id(source), sink),
            _ => log(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        if source.kind == DATABASE {
            return conversations::read(source, at);
        }
        let mut found = Vec::new();
        let texts = texts_of(source);
        jsonl::record_at(source, at, |v, place| {
            texts(v, place, &mut |m| found.push(jsonl::own(m)));
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        let engine = if is_newest(session_id) { &["chat", "--v3"][..] } else { &["chat"] };
        engine.iter().copied().chain(["--resume-id", session_id]).map(str::to_owned).collect()
    }

    fn resume_from(&self, facts: &Facts<'_>, _root: &Root, _rel: &str) -> Vec<String> {
        match facts.resume {
            ResumeKind::LastInDirectory => vec!["chat".into(), "--resume".into()],
            _ => self.resume(&facts.id),
        }
    }

    fn cwd_rule(&self, facts: &Facts<'_>) -> CwdRule {
        let bound = facts.resume == ResumeKind::LastInDirectory || is_newest(&facts.id);
        if bound { CwdRule::Required } else { INFO.cwd_rule }
    }
}

/// Whether an id is of the 3.0 store: its own, or that of a session taken over from the one before. Looked up by another
/// engine than `--v3`, or from another workspace, it is not found, and a new session begins.
fn is_newest(id: &str) -> bool {
    id.starts_with("sess_") || id.starts_with("cli_")
}

/// Names of sessions and of the directories they are sorted into; no copies, no hidden ones.
fn is_name(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn classify(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        (["cli", file], false) => match file.rsplit_once('.') {
            Some((id, "jsonl")) if is_name(id) => Class::Source(JOURNAL),
            Some((id, "json")) if is_name(id) => Class::Source(JOURNAL_SIDE),
            _ => Class::Skip,
        },
        (["cli", ..], true) => {
            if names.len() == 1 {
                Class::Enter
            } else {
                Class::Skip
            }
        }
        ([.., name], true) if names.len() <= 2 && is_name(name) => Class::Enter,
        // A session's own directory: below its workspace's, or at the top.
        ([_, .., "sub-executions"], true) if names.len() <= 3 => Class::Enter,
        ([_, "messages.jsonl"] | [_, _, "messages.jsonl"], false) => Class::Source(EVENTS),
        ([_, "session.json"] | [_, _, "session.json"], false) => Class::Source(EVENTS_SIDE),
        ([_, .., "sub-executions", file], false) if file.ends_with(".jsonl") => Class::Source(CHILD),
        _ => Class::Skip,
    }
}

/// The session a file belongs to: its own name, or that of its directory.
fn id(source: &Source) -> &str {
    let (above, file) = source.rel.rsplit_once('/').unwrap_or(("", &source.rel));
    match source.kind {
        JOURNAL | JOURNAL_SIDE => file.rsplit_once('.').map_or(file, |(id, _)| id),
        _ => {
            let dir = above.strip_suffix("/sub-executions").unwrap_or(above);
            dir.rsplit('/').next().unwrap_or(dir)
        }
    }
}

fn texts_of(source: &Source) -> log::TextsOf {
    if source.kind == JOURNAL { journal::texts } else { events::texts }
}

fn log(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut reader = match from {
        Some(r) => Log::resumed(r)?,
        None => Log::new(id(source), if source.kind == CHILD { UnitKind::Child } else { UnitKind::Main }),
    };
    let texts = texts_of(source);
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        reader.record(v, place, texts, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(reader.state());
    sink.close(id(source), reader.finish());
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(id: &str, resume: ResumeKind) -> (String, CwdRule) {
        let facts = Facts { id: id.into(), resume, ..Facts::default() };
        let root = Root { path: "/x".into(), label: "home", env: Vec::new() };
        (Kiro.resume_from(&facts, &root, "").join(" "), Kiro.cwd_rule(&facts))
    }

    #[test]
    fn each_generation_is_resumed_in_its_own_way() {
        assert_eq!(plan("a", ResumeKind::LastInDirectory), ("chat --resume".into(), CwdRule::Required));
        assert_eq!(plan("a", ResumeKind::Exact), ("chat --resume-id a".into(), CwdRule::Any));
        let newest = ("chat --v3 --resume-id sess_a".into(), CwdRule::Required);
        assert_eq!(plan("sess_a", ResumeKind::Exact), newest);
    }

    #[test]
    fn only_logs_and_what_stands_beside_them_are_read() {
        let of = |path: &str, is_dir| classify(&path.split('/').collect::<Vec<_>>(), is_dir);
        for (path, kind) in [
            ("cli/a-1.jsonl", JOURNAL),
            ("cli/a-1.json", JOURNAL_SIDE),
            ("c2b2/sess_1/messages.jsonl", EVENTS),
            ("sess_1/session.json", EVENTS_SIDE),
            ("c2b2/sess_1/sub-executions/x.jsonl", CHILD),
        ] {
            assert_eq!(of(path, false), Class::Source(kind), "{path}");
        }
        for path in
            ["cli/a-1.lock", "cli/a-1.history", "cli/a (copy).jsonl", "c2b2/sess_1/publish.cursor", "x.jsonl"]
        {
            assert_eq!(of(path, false), Class::Skip, "{path}");
        }
        for path in ["cli", "c2b2", "c2b2/sess_1", "c2b2/sess_1/sub-executions", "sess_1/sub-executions"] {
            assert_eq!(of(path, true), Class::Enter, "{path}");
        }
        for path in ["cli/dir", "c2b2/sess_1/tool-outputs", "c2b2/sess_1/snapshots", ".hidden"] {
            assert_eq!(of(path, true), Class::Skip, "{path}");
        }
    }
}
