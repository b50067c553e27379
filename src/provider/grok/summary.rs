//! `summary.json`: what a session is called, where it runs and what it is.

use super::id;
use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Interactivity, TitleSource, UnitKind};
use crate::provider::shared::document;
use crate::provider::shared::json::{flag, get, text, time};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use crate::text::Clean;
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::path::Path;

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let facts = document::read(&source.path, SIDE_FILE_MAX, facts)?;
    let mut facts = facts.unwrap_or_else(|| Facts { kind: UnitKind::Side, ..Facts::default() });
    if facts.project.is_empty() {
        facts.project = Cow::Owned(group_directory(&source.rel).unwrap_or_default());
    }
    sink.open("", 0);
    sink.close(id(source), facts);
    Ok(Parsed::default())
}

/// The summary beside a conversation, if it can be read.
pub fn beside(file: &Path) -> Option<Facts<'static>> {
    let bytes = stat::read_bounded(&file.with_file_name("summary.json"), SIDE_FILE_MAX).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    serde_json::from_str::<Value<'_>>(text.trim_start_matches('\u{feff}')).ok().map(|v| facts(&v))
}

fn facts(v: &Value<'_>) -> Facts<'static> {
    let own = |key: &str| text(v, key).map(|s| Cow::Owned(s.to_owned()));
    let mut facts = Facts {
        kind: UnitKind::Side,
        project: text(get(v, "info"), "cwd").map(|c| Cow::Owned(c.to_owned())).unwrap_or_default(),
        branch: own("head_branch").filter(|b| b != "HEAD"),
        worktree: own("worktree_label"),
        model: own("current_model_id"),
        recap: text(v, "last_recap").map(|r| Cow::Owned(Clean::block(r, RECAP_MAX).into_string())),
        source_kind: "cli".into(),
        ..Facts::default()
    };
    for key in ["created_at", "last_active_at"] {
        facts.saw_time(time(v, key).unwrap_or(0));
    }
    if time(v, "last_active_at").is_none() {
        facts.saw_time(time(v, "updated_at").unwrap_or(0));
    }
    for (key, from) in [("session_summary", TitleSource::Summary), ("generated_title", TitleSource::Auto)] {
        if let Some(title) = text(v, key) {
            facts.offer_title(Cow::Owned(title_line(title)), from);
        }
    }
    kind(v, &mut facts);
    facts
}

/// Kept of a recap.
const RECAP_MAX: usize = crate::limits::SUMMARY_MAX;

/// A child names its parent, and so does a fork.
fn kind(v: &Value<'_>, facts: &mut Facts<'_>) {
    let parent = text(v, "parent_session_id").map(|p| Cow::Owned(p.to_owned()));
    let child = text(v, "session_kind").is_some_and(|k| k.starts_with("subagent"));
    if child {
        facts.parent = parent;
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    } else {
        facts.forked_from = parent;
    }
    if flag(v, "hidden") && !child {
        facts.interactive = Interactivity::No;
        facts.source_kind = "background".into();
    }
}

/// The directory whose percent-encoded form names the group; a name too long for that is a hash, which says nothing.
pub fn group_directory(rel: &str) -> Option<String> {
    let path = crate::provider::shared::uri::unescaped(rel.split('/').next()?);
    let drive = path.as_bytes().get(1) == Some(&b':');
    (path.starts_with('/') || drive).then_some(path)
}
