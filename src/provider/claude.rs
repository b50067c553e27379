//! Claude Code. Formats as written by 2.0.30 and 2.1.332 (npm, seen 2026-11-30); earlier ones from public reports.
//!
//! `<config>/projects/<slug>/<id>.jsonl` is a session; `slug` is its working directory with everything outside `[A-Za-z0-9]`
//! as `-`, which cannot be undone, so the directory comes from the records. Side chains without an id of their own
//! (`agent-*.jsonl` beside the sessions or in `<id>/subagents/`) belong to their parent; `agent-acompact-*` are copies of it.

mod record;

use super::shared::{json, jsonl};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Facts, Locator, Message, TitleSource, UnitKind, valid_session_id};
use record::Transcript;
use std::borrow::Cow;

/// The provider.
pub struct Claude;

const MAIN: u8 = 0;
const CHILD: u8 = 1;
const TITLE: u8 = 2;

static INFO: Info = Info {
    id: "claude",
    name: "Claude Code",
    aliases: &["claude-code"],
    programs: &["claude"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "acceptEdits", args: &["--permission-mode", "acceptEdits"], bypasses_approval: false },
        Mode { label: "plan (read-only)", args: &["--permission-mode", "plan"], bypasses_approval: false },
        Mode {
            label: "bypass permissions",
            args: &["--dangerously-skip-permissions"],
            bypasses_approval: true,
        },
    ],
    // `claude --resume ID` works from anywhere since 2.1.3; older releases need the directory the session began in.
    cwd_rule: CwdRule::Required,
    home_var: Some("CLAUDE_CONFIG_DIR"),
    parser_version: 1,
};

impl Provider for Claude {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("CLAUDE_CONFIG_DIR");
        let vars =
            set.iter().map(|d| ("CLAUDE_CONFIG_DIR".to_owned(), d.to_string_lossy().into_owned())).collect();
        let config = set.or_else(|| env.in_home(".claude"));
        config.map(|c| Root { path: c.join("projects"), label: "projects", env: vars }).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([_project], true) => Class::Enter,
            ([_project, session], true) if is_session_name(session) => Class::Enter,
            ([_project, _session, "subagents"], true) => Class::Enter,
            ([_project, _session, "subagents", rest @ ..], true) if rest.len() <= 3 => Class::Enter,
            ([_project, file], false) => match file.strip_suffix(".jsonl") {
                Some(stem) if is_child_name(stem) => Class::Source(CHILD),
                Some(stem) if is_session_name(stem) => Class::Source(MAIN),
                _ => Class::Skip,
            },
            ([_project, _session, "custom-title.json"], false) => Class::Source(TITLE),
            ([_project, _session, "subagents", .., file], false) => match file.strip_suffix(".jsonl") {
                Some(stem) if is_child_name(stem) => Class::Source(CHILD),
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
            TITLE => title_file(source, sink),
            _ => transcript(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        let mut reader = transcript_for(source, None)?;
        jsonl::record_at(source, at, |v, place| reader.record(v, place, &mut |m| found.push(jsonl::own(m))))?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

/// Ids are UUIDs today; anything else that can be a plain name is taken too, but no copies (`x (conflicted copy)`, `x.bak`).
fn is_session_name(stem: &str) -> bool {
    valid_session_id(stem) && stem.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn is_child_name(stem: &str) -> bool {
    stem.starts_with("agent-") && !stem.starts_with("agent-acompact-")
}

fn stem(source: &Source) -> &str {
    let file = source.rel.rsplit('/').next().unwrap_or("");
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

fn slug(source: &Source) -> &str {
    source.rel.split('/').next().unwrap_or("")
}

/// Sessions are told apart by directory and id: one id can occur in two projects.
fn session_key(slug: &str, id: &str) -> String {
    format!("{slug}/{id}")
}

fn transcript_for<'s>(source: &'s Source, from: Option<&Resume<'_>>) -> Result<Transcript<'s>, SourceError> {
    let kind = if source.kind == CHILD { UnitKind::Child } else { UnitKind::Main };
    match from {
        Some(r) => Transcript::resumed(slug(source), kind, r),
        None => {
            Ok(Transcript::new(slug(source), kind, if kind == UnitKind::Main { stem(source) } else { "" }))
        }
    }
}

fn transcript(
    source: &Source,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let mut reader = transcript_for(source, from)?;
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end =
        jsonl::each_record(source, offset, |v, place| reader.record(v, place, &mut |m| sink.message(m)))?;
    if jsonl::any_before(source, offset, reader.suspects())? {
        return Err(SourceError::NeedsAll);
    }
    let parsed = end.parsed(reader.state());
    let (owner, facts) = reader.finish(&source.rel);
    sink.close(&session_key(slug(source), &owner), facts);
    Ok(parsed)
}

/// `<id>/custom-title.json`: the name given with `/rename`.
fn title_file(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let bytes = crate::io::stat::read_bounded(&source.path, crate::limits::SIDE_FILE_MAX)?;
    let mut facts = Facts { kind: UnitKind::Side, ..Facts::default() };
    jsonl::values(&bytes, |v| {
        if let Some(t) = json::text(v, "customTitle") {
            facts.offer_title(Cow::Owned(super::shared::prompt::title_line(t)), TitleSource::Custom);
        }
        Ok(())
    })?;
    let id = source.rel.split('/').nth(1).unwrap_or("");
    sink.open("", 0);
    sink.close(&session_key(slug(source), id), facts);
    Ok(Parsed::default())
}
