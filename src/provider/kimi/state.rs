//! What is kept beside a Kimi Code session: its name, its directory, where it comes from.

use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Interactivity, TitleSource, UnitKind};
use crate::provider::shared::json::{flag, get, text, time};
use crate::provider::shared::prompt::title_line;
use crate::provider::shared::{document, jsonl};
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// `state.json`. One that cannot be read takes nothing from its session but the name.
pub fn parse(source: &Source, key: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let facts = document::read(&source.path, SIDE_FILE_MAX, facts)?;
    sink.open("", 0);
    sink.close(key, facts.unwrap_or_else(nothing));
    Ok(Parsed::default())
}

pub fn nothing() -> Facts<'static> {
    Facts { kind: UnitKind::Side, ..Facts::default() }
}

fn facts(v: &Value<'_>) -> Facts<'static> {
    let mut facts = nothing();
    let custom = get(v, "custom");
    let own = |s: &str| Cow::Owned(s.to_owned());
    let either = |key: &str| text(v, key).or_else(|| text(custom, key)).map(own);
    if let Some(title) = text(v, "title").filter(|t| !matches!(t.trim(), "New Session" | "Untitled")) {
        let source = if flag(v, "isCustomTitle") { TitleSource::Custom } else { TitleSource::Auto };
        facts.offer_title(Cow::Owned(title_line(title)), source);
    }
    facts.project = either("cwd").or_else(|| either("workDir")).unwrap_or_default();
    facts.branch = either("gitBranch").filter(|b| b != "HEAD");
    facts.worktree = either("worktreeLabel");
    facts.archived = flag(v, "archived");
    facts.forked_from = text(v, "forkedFrom").map(own);
    facts.saw_time(time(v, "createdAt").unwrap_or(0));
    facts.saw_time(time(v, "updatedAt").unwrap_or(0));
    facts.parent = text(custom, "parent_session_id").map(own);
    if text(custom, "child_session_kind") == Some("child") {
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    facts
}

/// `session_index.jsonl`: the directory of each session; the last line of one holds.
pub fn index(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut dirs = BTreeMap::new();
    let end = jsonl::each_record(source, 0, |v, _| {
        if let (Some(key), Some(dir)) = (text(v, "sessionDir").and_then(key), text(v, "workDir")) {
            dirs.insert(key, dir.to_owned());
        }
        Ok(())
    })?;
    for (key, dir) in dirs {
        sink.open(&key, xxhash_rust::xxh3::xxh3_64(dir.as_bytes()));
        sink.close(&key, Facts { project: Cow::Owned(dir), ..nothing() });
    }
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

/// Workspace and id: the last two names of a session's path.
fn key(path: &str) -> Option<String> {
    let mut names = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']);
    let (id, workspace) = (names.next()?, names.next()?);
    Some(format!("{workspace}/{id}"))
}
