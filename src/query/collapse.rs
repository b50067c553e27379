//! Copies of one conversation among the results: one result where what was found is what they share.
//!
//! A fork holds the messages of its original up to where it left it; what matches there would be found once for each. Such a result is
//! counted with its original instead. One that matches in words of its own stays.

use super::copies::said;
use super::family::are_copies;
use super::metadata::Folded;
use super::parse::Query;
use super::run::{Found, Options};
use super::view::View;
use std::collections::{HashMap, HashSet};

/// Collapses copies. The order of the other results stays; where they are ranked, the first copy's place is kept.
pub fn collapse(
    view: &View<'_>,
    query: &Query,
    options: &Options,
    ranked: bool,
    found: &mut Found,
) -> tantivy::Result<()> {
    let groups = groups(view, found);
    let Some(messages) = view.snapshot.messages.as_ref().filter(|_| !groups.is_empty()) else {
        return Ok(());
    };
    let mut sessions = vec![false; view.sessions.len()];
    groups.iter().flatten().for_each(|at| sessions[found.hits[*at].session as usize] = true);
    let said = said(view, messages, &found.wanted, &query.roles, &sessions)?;
    let mut places: Vec<usize> = (0..found.hits.len()).collect();
    let mut gone = HashSet::new();
    for group in groups {
        let judge = Judge { view, query, options, said: &said };
        for (kept, copies) in judge.sort(&group, found) {
            if ranked {
                places[kept] = copies.iter().copied().chain([kept]).min().unwrap_or(kept);
            }
            gone.extend(copies.iter().copied());
            let ids: Vec<u32> = copies.iter().map(|at| found.hits[*at].session).collect();
            if !ids.is_empty() {
                found.copies.insert(found.hits[kept].session, ids);
            }
        }
    }
    let hits = std::mem::take(&mut found.hits).into_iter().enumerate().filter(|(at, _)| !gone.contains(at));
    let mut hits: Vec<_> = hits.collect();
    hits.sort_by_key(|(at, _)| places[*at]);
    found.hits = hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(())
}

/// Results, by their places, that may be copies of one another: at least two, all found in their messages.
fn groups(view: &View<'_>, found: &Found) -> Vec<Vec<usize>> {
    let mut owner: HashMap<(&str, Key<'_>), usize> = HashMap::new();
    let mut group: Vec<usize> = (0..found.hits.len()).collect();
    for (at, hit) in found.hits.iter().enumerate().filter(|(_, h)| !h.messages.is_empty()) {
        let session = &view.sessions[hit.session as usize];
        let f = &session.facts;
        let lineage = (f.lineage != 0).then_some(Key::Lineage(f.lineage));
        let keys = [Some(Key::Id(f.id.as_ref())), lineage, f.forked_from.as_deref().map(Key::Id)];
        for key in keys.into_iter().flatten() {
            let first = *owner.entry((session.agent(), key)).or_insert(at);
            let (a, b) = (root(&group, first), root(&group, at));
            group[a.max(b)] = a.min(b);
        }
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in (0..found.hits.len()).filter(|at| !found.hits[*at].messages.is_empty()) {
        members.entry(root(&group, at)).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = members.into_values().filter(|m| m.len() > 1).collect();
    groups.sort();
    groups
}

#[derive(PartialEq, Eq, Hash)]
enum Key<'v> {
    Id(&'v str),
    Lineage(u64),
}

fn root(group: &[usize], mut at: usize) -> usize {
    while group[at] != at {
        at = group[at];
    }
    at
}

struct Judge<'s, 'v> {
    view: &'s View<'v>,
    query: &'s Query,
    options: &'s Options,
    said: &'s HashMap<u32, HashSet<u64>>,
}

impl Judge<'_, '_> {
    /// The members that stay, each with those that say nothing beyond it.
    fn sort(&self, group: &[usize], found: &Found) -> Vec<(usize, Vec<usize>)> {
        let session = |at: usize| found.hits[at].session;
        let mut order = group.to_vec();
        // An original comes before its copies, and what can be resumed before what cannot.
        order.sort_by_key(|at| {
            let s = &self.view.sessions[session(*at) as usize];
            let copied = s.facts.copied || s.facts.forked_from.is_some();
            (s.vanished || s.elsewhere.is_some(), copied, *at)
        });
        let mut kept: Vec<(usize, Vec<usize>)> = Vec::new();
        for at in order {
            match kept.iter_mut().find(|(k, _)| self.holds(session(*k), session(at))) {
                Some((_, copies)) => copies.push(at),
                None => kept.push((at, Vec::new())),
            }
        }
        kept.iter_mut().for_each(|(_, copies)| copies.sort_unstable());
        kept
    }

    /// Whether everything that was found of one session was found of another as well.
    fn holds(&self, all: u32, part: u32) -> bool {
        let sessions = &self.view.sessions;
        are_copies(&sessions[all as usize], &sessions[part as usize])
            && matches!((self.said.get(&all), self.said.get(&part)), (Some(a), Some(p)) if p.is_subset(a))
            && !self.says_more(part, all)
    }

    /// Whether a session is found by its name, place or summaries where another one is not.
    fn says_more(&self, session: u32, than: u32) -> bool {
        let (mine, other) = (self.folded(session), self.folded(than));
        let terms = self.query.clauses.iter().filter(|c| !c.negated).flat_map(|c| &c.any);
        terms.into_iter().any(|t| mine.score(t, self.query.place) > other.score(t, self.query.place))
    }

    fn folded(&self, session: u32) -> Folded {
        let session = &self.view.sessions[session as usize];
        let unit = self.view.snapshot.tables().unit(session.unit).filter(|_| self.options.summaries);
        let texts = unit.map(|u| self.view.snapshot.read_texts(u.texts)).unwrap_or_default();
        Folded::new(session, &(texts.summaries.join("\n") + "\n" + &texts.recap))
    }
}
