//! A session as clients see it.

use super::catalog::Ready;
use super::conversation::locate;
use super::lookup;
use super::response::{Match, Related, SessionRecord};
use super::scope::Selection;
use crate::index::snapshot::Messages;
use crate::limits::{
    DUPLICATES_MAX, ID_MAX, MATCHES_MAX, NAME_MAX, PATH_MAX, SUMMARIES_MAX, SUMMARY_MAX, TITLE_MAX,
};
use crate::model;
use crate::query::content::{Message, Stored, stored, twins};
use crate::query::copies::twin;
use crate::query::family::{Relation, family, forked_from};
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
        forked_from: forked_from(&ready.view, session).map(id),
        archived: f.archived,
        resume_kind: s.resume_kind().as_str().to_owned(),
        source_exists: s.vanished.then_some(false),
        store: s.elsewhere.map(|label| Clean::name(label, NAME_MAX)),
        matches: None,
        current: None,
        duplicates: None,
        duplicate_ids: Vec::new(),
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

/// The sessions that belong to one within the scope, and how many there are if they are more.
pub fn related(
    ready: &Ready<'_>,
    session: u32,
    scope: &Selection,
    texts: Texts,
) -> (Vec<Related>, Option<u64>) {
    let among = lookup::within(ready, scope, true).sessions;
    let family = family(&ready.view, session, &among);
    let related = |(relation, other): &(Relation, u32)| {
        let s = &ready.view.sessions[*other as usize];
        Related {
            relation: relation.as_str().to_owned(),
            agent: s.agent().to_owned(),
            session_id: id(&s.facts.id),
            title: s.facts.title.as_deref().filter(|_| texts.summaries).map(|t| Clean::line(t, TITLE_MAX)),
            timestamp_ms: s.facts.last_ms,
        }
    };
    let more = (family.total > family.members.len()).then_some(family.total as u64);
    (family.members.iter().map(related).collect(), more)
}

/// Names the copies that are counted with a session.
pub fn add_copies(ready: &Ready<'_>, copies: &[u32], record: &mut SessionRecord) {
    record.duplicates = Some(copies.len() as u64);
    let of = |s: &u32| id(&ready.view.sessions[*s as usize].facts.id);
    record.duplicate_ids = copies.iter().take(DUPLICATES_MAX).map(of).collect();
}

/// The passages of the messages that matched, as the live store has them now.
pub fn matches(ready: &Ready<'_>, session: u32, messages: &[Message], words: &HashSet<String>) -> Vec<Match> {
    let leading = ready.view.sessions[session as usize].unit;
    let mut shown: Vec<Match> = Vec::new();
    for message in messages {
        if shown.len() == MATCHES_MAX {
            break;
        }
        let Some(found) = passage(ready, leading, message, words) else { continue };
        // Copies of one message in several files show once.
        let same =
            |m: &Match| m.message == found.message || m.snippet == found.snippet && m.role == found.role;
        if !shown.iter().any(same) {
            shown.push(found);
        }
    }
    shown
}

fn passage(ready: &Ready<'_>, leading: u32, message: &Message, words: &HashSet<String>) -> Option<Match> {
    let index = ready.view.snapshot.messages.as_ref()?;
    let at = stored(index, message.address()).ok()?;
    if ready.view.of_unit().get(at.unit as usize).is_none_or(|s| *s == NONE) {
        return None;
    }
    // What several units hold is shown as the one has it that the session's facts are from: with its place and time.
    let there = (at.unit != leading).then(|| twin(index, leading, &at).ok().flatten()).flatten();
    there.and_then(|t| shown(ready, index, &t, words)).or_else(|| shown(ready, index, &at, words))
}

fn shown(ready: &Ready<'_>, index: &Messages, at: &Stored, words: &HashSet<String>) -> Option<Match> {
    let message = live(ready, at)?;
    let Snippet { text, highlights } = match &message.tool {
        Some(tool) => snippet(&format!("{tool}: {}", message.text), words),
        None => snippet(&message.text, words),
    }?;
    let (number, timestamp_ms) = place(ready, index, at, &message);
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
fn place(ready: &Ready<'_>, index: &Messages, at: &Stored, message: &model::Message<'_>) -> (u64, i64) {
    let session = ready.view.of_unit().get(at.unit as usize).copied().unwrap_or(NONE);
    let parts = order::parts(&ready.view, session);
    let Some(own) = parts.iter().find(|p| p.unit == at.unit) else {
        return (u64::from(at.seq), at.timestamp_ms);
    };
    let number = own.first + u64::from(at.seq);
    let found = match (own.shared, own.timed) {
        (false, _) => None,
        (true, true) => earlier(ready, index, &parts, own, at, message).map(|n| (n, at.timestamp_ms)),
        // Only reading tells which is which.
        (true, false) => locate(ready, session).ok().and_then(|c| {
            let shown = c.shown(number).ok().filter(|n| *n != number)?;
            Some((shown, c.time_of(shown).ok()??))
        }),
    };
    found.unwrap_or((number, at.timestamp_ms))
}

/// The number of the same message in an earlier file.
fn earlier(
    ready: &Ready<'_>,
    index: &Messages,
    parts: &[order::Part],
    own: &order::Part,
    at: &Stored,
    message: &model::Message<'_>,
) -> Option<u64> {
    let same =
        |twin: &Stored| live(ready, twin).is_some_and(|m| m.text == message.text && m.tool == message.tool);
    let mut before = parts.iter().filter(|p| p.kin == own.kin && p.first < own.first);
    before.find_map(|part| {
        let twins = twins(index, part.unit, at).ok()?;
        twins.iter().find(|t| same(t)).map(|t| part.first + u64::from(t.seq))
    })
}
