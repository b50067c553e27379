//! A session as clients see it.

use super::catalog::Ready;
use super::conversation::locate;
use super::response::{Match, SessionRecord};
use crate::index::snapshot::Messages;
use crate::limits::{ID_MAX, MATCHES_MAX, NAME_MAX, PATH_MAX, SUMMARIES_MAX, SUMMARY_MAX, TITLE_MAX};
use crate::model::{self, Facts};
use crate::query::content::{Message, Stored, stored, twins};
use crate::query::metadata::project_name;
use crate::query::order;
use crate::query::snippet::{Snippet, snippet};
use crate::query::view::NONE;
use crate::text::Clean;
use std::collections::HashSet;

/// Which text may be in the record.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts {
    pub summaries: bool,
    pub content: bool,
}

/// Builds the record of a session.
pub fn record(ready: &Ready<'_>, session: u32, texts: Texts) -> SessionRecord {
    let s = &ready.view.sessions[session as usize];
    let f = &s.facts;
    let info = s.provider.info();
    let path = Clean::name(&f.project, PATH_MAX);
    let name = Clean::name(project_name(&f.project), NAME_MAX);
    let mut record = SessionRecord {
        key: format!("{}:{}", info.id, f.id),
        agent: info.id.to_owned(),
        agent_name: info.name.to_owned(),
        session_id: f.id.clone().into_owned(),
        project_name: if name.is_empty() { Clean::name("unknown", NAME_MAX) } else { name },
        project_path: path,
        timestamp_ms: f.last_ms,
        git_branch: f.branch.as_deref().map(|b| Clean::name(b, NAME_MAX)),
        worktree: f.worktree.as_deref().map(|w| Clean::name(w, PATH_MAX)),
        interactive: s.interactive(),
        summaries: None,
        recap: None,
        title: None,
        title_source: f.title_source.map(|t| t.as_str().to_owned()),
        model: f.model.as_deref().map(|m| Clean::name(m, NAME_MAX)),
        started_ms: f.started_ms,
        message_count: u64::from(f.messages),
        source_kind: f.source_kind.clone().into_owned(),
        parent_session_id: f.parent.as_deref().map(id),
        forked_from: forked_from(ready, session),
        archived: f.archived,
        resume_kind: s.resume_kind().as_str().to_owned(),
        source_exists: s.vanished.then_some(false),
        store: s.elsewhere.map(|label| Clean::name(label, NAME_MAX)),
        matches: None,
        current: None,
    };
    if texts.summaries || texts.content {
        record.title = Some(f.title.as_deref().map(|t| Clean::line(t, TITLE_MAX)));
    }
    if texts.summaries {
        add_summaries(ready, session, &mut record);
    }
    record
}

fn id(id: &str) -> String {
    Clean::name(id, ID_MAX).into_string()
}

fn add_summaries(ready: &Ready<'_>, session: u32, record: &mut SessionRecord) {
    let unit = ready.view.sessions[session as usize].unit;
    let texts = ready
        .view
        .snapshot
        .tables()
        .unit(unit)
        .map(|u| ready.view.snapshot.read_texts(u.texts))
        .unwrap_or_default();
    record.summaries =
        Some(texts.summaries.iter().take(SUMMARIES_MAX).map(|s| Clean::block(s, SUMMARY_MAX)).collect());
    record.recap = Some(Some(Clean::block(&texts.recap, SUMMARY_MAX)).filter(|r| !r.is_empty()));
}

/// The session a copy was made from: as recorded, or the one that has the same beginning without having copied it.
fn forked_from(ready: &Ready<'_>, session: u32) -> Option<String> {
    let facts = |s: u32| -> &Facts<'_> { &ready.view.sessions[s as usize].facts };
    let f = facts(session);
    if f.forked_from.is_some() || !f.copied || f.lineage == 0 {
        return f.forked_from.as_deref().map(id);
    }
    let agent = ready.view.sessions[session as usize].agent();
    let others = (0..ready.view.sessions.len() as u32)
        .filter(|s| *s != session && ready.view.sessions[*s as usize].agent() == agent);
    let origin = others
        .filter(|s| facts(*s).lineage == f.lineage && !facts(*s).copied)
        .max_by_key(|s| facts(*s).last_ms)?;
    Some(id(&facts(origin).id))
}

/// The passages of the messages that matched, as the live store has them now.
pub fn matches(ready: &Ready<'_>, messages: &[Message], words: &HashSet<String>) -> Vec<Match> {
    let mut shown: Vec<Match> = Vec::new();
    for message in messages {
        if shown.len() == MATCHES_MAX {
            break;
        }
        let Some(found) = passage(ready, message, words) else { continue };
        // Copies of one message in several files show once.
        let same =
            |m: &Match| m.message == found.message || m.snippet == found.snippet && m.role == found.role;
        if !shown.iter().any(same) {
            shown.push(found);
        }
    }
    shown
}

fn passage(ready: &Ready<'_>, message: &Message, words: &HashSet<String>) -> Option<Match> {
    let index = ready.view.snapshot.messages.as_ref()?;
    let at = stored(index, message.address()).ok()?;
    if ready.view.of_unit().get(at.unit as usize).is_none_or(|s| *s == NONE) {
        return None;
    }
    let message = live(ready, &at)?;
    let Snippet { text, highlights } = match &message.tool {
        Some(tool) => snippet(&format!("{tool}: {}", message.text), words),
        None => snippet(&message.text, words),
    }?;
    let (number, timestamp_ms) = shown(ready, index, &at, &message);
    Some(Match {
        message: number,
        role: at.role.as_str().to_owned(),
        timestamp_ms,
        snippet: text,
        highlights: highlights.into_iter().map(|r| (r.start, r.end)).collect(),
    })
}

/// A message as the live store has it.
fn live(ready: &Ready<'_>, at: &Stored) -> Option<model::Message<'static>> {
    let (provider, source) = super::lookup::source_of(ready, at.unit)?;
    provider.read(&source, at.at).ok()?.into_iter().find(|m| m.at == at.at)
}

/// A message's number in its session and its time: of copies in several files, those of the one that reading shows.
fn shown(ready: &Ready<'_>, index: &Messages, at: &Stored, message: &model::Message<'_>) -> (u64, i64) {
    let session = ready.view.of_unit().get(at.unit as usize).copied().unwrap_or(NONE);
    let parts = order::parts(&ready.view, session);
    let Some(own) = parts.iter().find(|p| p.unit == at.unit) else {
        return (u64::from(at.seq), at.timestamp_ms);
    };
    let number = own.first + u64::from(at.seq);
    let found = match (own.shared, own.timed) {
        (false, _) => None,
        (true, true) => twin(ready, index, &parts, own, at, message).map(|n| (n, at.timestamp_ms)),
        // Only reading tells which is which.
        (true, false) => locate(ready, session).ok().and_then(|c| {
            let shown = c.shown(number).ok().filter(|n| *n != number)?;
            Some((shown, c.time_of(shown).ok()??))
        }),
    };
    found.unwrap_or((number, at.timestamp_ms))
}

/// The number of the same message in an earlier file.
fn twin(
    ready: &Ready<'_>,
    index: &Messages,
    parts: &[order::Part],
    own: &order::Part,
    at: &Stored,
    message: &model::Message<'_>,
) -> Option<u64> {
    let same =
        |twin: &Stored| live(ready, twin).is_some_and(|m| m.text == message.text && m.tool == message.tool);
    let mut earlier = parts.iter().filter(|p| p.kin == own.kin && p.first < own.first);
    earlier.find_map(|part| {
        let twins = twins(index, part.unit, at).ok()?;
        twins.iter().find(|t| same(t)).map(|t| part.first + u64::from(t.seq))
    })
}
