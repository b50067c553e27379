//! What is written about a session beside its log: `<id>.json` of 2.x, `session.json` of 3.0.

use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Interactivity, TitleSource, UnitKind};
use crate::provider::shared::document;
use crate::provider::shared::json::{at, get, items, text, time};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn parse(source: &Source, id: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let about = if source.kind == super::JOURNAL_SIDE { classic } else { newest };
    let facts = document::read(&source.path, SIDE_FILE_MAX, about)?;
    sink.open("", 0);
    sink.close(id, facts.unwrap_or_else(side));
    Ok(Parsed::default())
}

fn side() -> Facts<'static> {
    Facts { kind: UnitKind::Side, ..Facts::default() }
}

fn owned(s: Option<&str>) -> Option<Cow<'static, str>> {
    s.map(|s| Cow::Owned(s.to_owned()))
}

fn classic(v: &Value<'_>) -> Facts<'static> {
    let state = get(v, "session_state");
    let mut facts = side();
    facts.project = owned(text(v, "cwd")).unwrap_or_default();
    facts.model = owned(
        text(at(state, &["rts_model_state", "model_info"]), "model_id")
            .or_else(|| text(at(state, &["model_info"]), "model_id")),
    );
    facts.source_kind = "cli".into();
    titled(&mut facts, text(v, "title"));
    facts.saw_time(time(v, "created_at").unwrap_or(0));
    facts.saw_time(time(v, "updated_at").unwrap_or(0));
    // The reason is `subagent` in many a session that is none. A session of a person's has an agent's name and no parent.
    let says_so =
        text(v, "session_created_reason") == Some("subagent") && text(state, "agent_name").is_none();
    child(&mut facts, text(v, "parent_session_id"), says_so);
    facts
}

fn newest(v: &Value<'_>) -> Facts<'static> {
    let place = |key| items(get(v, key)).first().and_then(|p| p.as_str()).filter(|p| !p.is_empty());
    let mut facts = side();
    facts.project = owned(place("workspacePaths").or_else(|| place("rootPaths"))).unwrap_or_default();
    facts.model = owned(text(v, "modelId"));
    titled(&mut facts, text(v, "title"));
    facts.saw_time(time(v, "createdAt").unwrap_or(0));
    facts.saw_time(time(v, "lastModifiedAt").unwrap_or(0));
    child(&mut facts, text(v, "parentSessionId"), text(v, "createdReason") == Some("subagent"));
    facts
}

fn titled(facts: &mut Facts<'static>, title: Option<&str>) {
    if let Some(title) = title.filter(|t| *t != "New Session") {
        facts.offer_title(Cow::Owned(title_line(title)), TitleSource::Auto);
    }
}

fn child(facts: &mut Facts<'static>, parent: Option<&str>, says_so: bool) {
    if parent.is_some() || says_so {
        facts.parent = owned(parent);
        facts.interactive = Interactivity::No;
        facts.source_kind = "subagent".into();
    }
}
