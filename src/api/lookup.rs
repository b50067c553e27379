//! From an identity to a session, and from a unit to its file.

use super::catalog::Ready;
use super::scope::Selection;
use crate::error::{Candidate, Error, ErrorCode, Result};
use crate::limits::{self, CANDIDATES_MAX};
use crate::model::valid_session_id;
use crate::provider::{Provider, Source};
use crate::query::filter::{Allowed, SessionFilter, allowed};
use crate::query::{Query, View};

/// Refuses ids that cannot be one, before anything is looked up.
pub fn check_id(id: &str) -> Result<()> {
    if valid_session_id(id) {
        return Ok(());
    }
    Err(Error::invalid_request(format!(
        "session id must have 1 to {} bytes, no leading '-' and no control characters",
        limits::ID_MAX
    )))
}

/// The one session an identity means within the selection.
pub fn find(ready: &Ready<'_>, selection: &Selection, id: &str, non_interactive: bool) -> Result<u32> {
    let allowed = within(ready, selection, non_interactive);
    let with_id = |flags: &[bool]| -> Vec<u32> {
        (0..flags.len() as u32)
            .filter(|s| flags[*s as usize] && ready.view.sessions[*s as usize].facts.id == id)
            .collect()
    };
    let found = with_id(&allowed.sessions);
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(not_found(!with_id(&allowed.hidden).is_empty())),
        _ => Err(ambiguous(&ready.view, &found)),
    }
}

/// The sessions of a selection.
pub fn within(ready: &Ready<'_>, selection: &Selection, non_interactive: bool) -> Allowed {
    let filter = SessionFilter {
        agent: selection.agent.map(|p| p.info().id),
        project: selection.project.clone(),
        include_non_interactive: non_interactive,
        ..SessionFilter::default()
    };
    allowed(&ready.view, &filter, &Query::default())
}

pub fn not_found(hidden: bool) -> Error {
    let error = Error::new(ErrorCode::NotFound, "session not found within the requested scope");
    if hidden {
        return error.hint(
            "it is not interactive: ask again with include_non_interactive (--include-non-interactive)",
        );
    }
    error.hint("search for it, and use the exact agent and session_id of a result")
}

pub fn ambiguous(view: &View<'_>, found: &[u32]) -> Error {
    let candidate = |s: &u32| {
        let session = &view.sessions[*s as usize];
        Candidate {
            agent: session.agent().to_owned(),
            session_id: session.facts.id.clone().into_owned(),
            project_path: crate::text::Clean::name(&session.facts.project, limits::PATH_MAX).into_string(),
            timestamp_ms: session.facts.last_ms,
        }
    };
    let mut error = Error::new(ErrorCode::AmbiguousSession, "several sessions have this agent and id")
        .hint("name the project of the one you mean (--project)");
    error.candidates = found.iter().take(CANDIDATES_MAX).map(candidate).collect();
    error
}

/// The live file of a unit.
pub fn source_of(ready: &Ready<'_>, unit: u32) -> Option<(&'static dyn Provider, Source)> {
    let tables = ready.view.snapshot.tables();
    let rec = tables.source(tables.unit(unit)?.source)?;
    let (provider, root, rel) = crate::index::locate(tables, &rec.file, ready.active)?;
    let source = Source {
        root: root.clone(),
        path: root.path.join(&rel),
        rel,
        kind: rec.file.kind,
        fingerprint: rec.file.fingerprint,
    };
    Some((provider, source))
}
