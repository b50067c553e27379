//! Sessions that belong together: a parent and its sub-agents, an original and its forks, a session and the one that goes on from it.

use super::view::{Session, View};
use crate::limits::RELATED_MAX;

/// What another session is to one, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// It started this one, or this one goes on from it.
    Parent,
    /// This one began as its copy.
    ForkedFrom,
    /// It goes on from this one.
    Continuation,
    /// It began as a copy of this one.
    Fork,
    /// This one started it.
    Subagent,
    /// It shares its beginning with this one, and neither is the other's original.
    Sibling,
    /// It has the same id: the same session in another place.
    Copy,
}

impl Relation {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::ForkedFrom => "forked_from",
            Self::Continuation => "continuation",
            Self::Fork => "fork",
            Self::Subagent => "subagent",
            Self::Sibling => "sibling",
            Self::Copy => "copy",
        }
    }
}

/// The sessions nearest to one.
#[derive(Debug, Default)]
pub struct Family {
    pub members: Vec<(Relation, u32)>,
    /// How many there are; `members` holds at most [`RELATED_MAX`].
    pub total: usize,
}

/// The family of a session among these sessions.
pub fn family(view: &View<'_>, of: u32, among: &[bool]) -> Family {
    let me = &view.sessions[of as usize];
    let original = original(view, me);
    let relation = |other: u32| {
        let x = &view.sessions[other as usize];
        let here = other != of && among[other as usize] && view.is_row(other) && x.agent() == me.agent();
        here.then(|| relation(me, x, original)).flatten()
    };
    let all = (0..view.sessions.len() as u32).filter_map(|x| Some((relation(x)?, x)));
    let mut members: Vec<(Relation, u32)> = all.collect();
    members.sort_by(|a, b| {
        let (x, y) = (&view.sessions[a.1 as usize].facts, &view.sessions[b.1 as usize].facts);
        a.0.cmp(&b.0).then_with(|| y.last_ms.cmp(&x.last_ms)).then_with(|| x.id.cmp(&y.id))
    });
    let total = members.len();
    members.truncate(RELATED_MAX);
    Family { members, total }
}

/// What `x` is to `me`. `original` is the number of the session that has their beginning without having copied it.
fn relation(me: &Session<'_>, x: &Session<'_>, original: Option<u64>) -> Option<Relation> {
    let (mine, other) = (&me.facts, &x.facts);
    let names = |id: &Option<std::borrow::Cow<'_, str>>, of: &str| id.as_deref() == Some(of);
    let derived = |copy: &Session<'_>, from: &Session<'_>| {
        shares_beginning(copy, from)
            && copy.facts.copied
            && copy.facts.forked_from.is_none()
            && original == Some(from.number)
    };
    if mine.id == other.id {
        return Some(Relation::Copy);
    }
    if names(&mine.parent, &other.id) {
        return Some(Relation::Parent);
    }
    if names(&mine.forked_from, &other.id) || derived(me, x) {
        return Some(Relation::ForkedFrom);
    }
    if names(&other.parent, &mine.id) {
        let goes_on = x.interactive() && other.source_kind != "subagent";
        return Some(if goes_on { Relation::Continuation } else { Relation::Subagent });
    }
    if names(&other.forked_from, &mine.id) || derived(x, me) {
        return Some(Relation::Fork);
    }
    let same_origin = mine.forked_from.is_some() && mine.forked_from == other.forked_from;
    (same_origin || shares_beginning(me, x)).then_some(Relation::Sibling)
}

fn shares_beginning(a: &Session<'_>, b: &Session<'_>) -> bool {
    a.facts.lineage != 0 && a.facts.lineage == b.facts.lineage && a.agent() == b.agent()
}

/// The newest session that has the beginning of this one without having copied it: this one itself if it did not.
fn original(view: &View<'_>, me: &Session<'_>) -> Option<u64> {
    let own = |s: &&Session<'_>| shares_beginning(me, s) && !s.facts.copied;
    view.sessions.iter().filter(own).max_by_key(|s| s.facts.last_ms).map(|s| s.number)
}

/// The id of the session a copy was made from: as recorded, or the one that has the same beginning without having copied it.
pub fn forked_from<'v>(view: &'v View<'_>, session: u32) -> Option<&'v str> {
    let me = &view.sessions[session as usize];
    if me.facts.forked_from.is_some() || !me.facts.copied || me.facts.lineage == 0 {
        return me.facts.forked_from.as_deref();
    }
    let number = original(view, me)?;
    view.sessions.iter().find(|s| s.number == number).map(|s| s.facts.id.as_ref())
}

/// Whether two sessions are one conversation in part: one was copied from the other, or both from a third.
pub fn are_copies(a: &Session<'_>, b: &Session<'_>) -> bool {
    let (x, y) = (&a.facts, &b.facts);
    a.agent() == b.agent()
        && (x.id == y.id
            || shares_beginning(a, b)
            || x.forked_from.as_deref() == Some(&y.id)
            || y.forked_from.as_deref() == Some(&x.id)
            || (x.forked_from.is_some() && x.forked_from == y.forked_from))
}
