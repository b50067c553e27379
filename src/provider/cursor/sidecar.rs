//! `meta.json`: title, directory and times of a chat.

use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Interactivity, TitleSource, UnitKind};
use crate::provider::shared::document;
use crate::provider::shared::json::{flag, text, time};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::path::Path;

/// What it says. Some builds write more into it, a key among it; nothing else is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sidecar {
    pub title: Option<String>,
    pub cwd: Option<String>,
    pub created_ms: i64,
    pub updated_ms: i64,
    pub subagent: bool,
}

impl Sidecar {
    fn of(v: &Value<'_>) -> Self {
        let own = |key: &str| text(v, key).map(str::to_owned);
        Self {
            title: text(v, "title").and_then(title),
            cwd: own("cwd"),
            created_ms: time(v, "createdAtMs").unwrap_or(0),
            updated_ms: time(v, "updatedAtMs").unwrap_or(0),
            subagent: flag(v, "isSubagent"),
        }
    }

    /// The one beside a store; nothing if there is none that can be read.
    pub fn beside(store: &Path) -> Option<Self> {
        let bytes = stat::read_bounded(&store.with_file_name("meta.json"), SIDE_FILE_MAX).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        serde_json::from_str::<Value<'_>>(text.trim_start_matches('\u{feff}')).ok().map(|v| Self::of(&v))
    }
}

/// A title, unless it is what stands there before there is one.
pub fn title(given: &str) -> Option<String> {
    let line = title_line(given);
    (!line.is_empty() && line != "New Agent" && line != "Untitled").then_some(line)
}

pub fn parse(source: &Source, id: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let sidecar = document::read(&source.path, SIDE_FILE_MAX, Sidecar::of)?.unwrap_or_default();
    let mut facts = Facts {
        kind: UnitKind::Side,
        project: Cow::Owned(sidecar.cwd.unwrap_or_default()),
        source_kind: "cli".into(),
        ..Facts::default()
    };
    facts.saw_time(sidecar.created_ms);
    facts.saw_time(sidecar.updated_ms);
    if let Some(title) = sidecar.title {
        facts.offer_title(Cow::Owned(title), TitleSource::Auto);
    }
    if sidecar.subagent {
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
    sink.open("", 0);
    sink.close(id, facts);
    Ok(Parsed::default())
}
