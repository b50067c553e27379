//! Which workspace a conversation belongs to, as small files beside the conversations say.

use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, UnitKind, valid_session_id};
use crate::provider::shared::json::{text, time};
use crate::provider::shared::{document, jsonl, uri};
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// Workspaces by conversation, with the time of the first prompt if it is known.
type Workspaces = BTreeMap<String, (String, i64)>;

/// `history.jsonl`: a line a prompt. The first one tells where a conversation began.
pub fn history(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut known = Workspaces::new();
    let end = jsonl::each_record(source, 0, |v, _| {
        if let (Some(id), Some(workspace)) = (text(v, "conversationId"), text(v, "workspace")) {
            let at = time(v, "timestamp").unwrap_or(0);
            known.entry(id.to_owned()).or_insert_with(|| (workspace.to_owned(), at));
        }
        Ok(())
    })?;
    known.iter().for_each(|(id, (workspace, at))| put(sink, id, workspace, *at));
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

/// `cache/last_conversations.json`: the last conversation of each workspace.
pub fn last(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut known = Workspaces::new();
    document::read(&source.path, SIDE_FILE_MAX, |v| {
        for (workspace, id) in v.as_object().into_iter().flat_map(|o| o.iter()) {
            if let Some(id) = id.as_str() {
                known.insert(id.to_owned(), (workspace.to_owned(), 0));
            }
        }
    })?;
    known.iter().for_each(|(id, (workspace, at))| put(sink, id, workspace, *at));
    Ok(Parsed::default())
}

fn put(sink: &mut dyn Sink, id: &str, workspace: &str, at: i64) {
    let stamp = xxh3_64(format!("{workspace}\0{at}").as_bytes());
    if !valid_session_id(id) || sink.keep(id, stamp) {
        return;
    }
    let project = uri::file_path(workspace).map_or(Cow::Borrowed(workspace), Cow::Owned);
    sink.open(id, stamp);
    sink.close(id, Facts { kind: UnitKind::Side, project, started_ms: at, ..Facts::default() });
}
