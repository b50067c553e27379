//! The sessions of a snapshot: units that belong together, folded into one.

use super::metadata::Haystack;
use crate::discover::Active;
use crate::index::Snapshot;
use crate::index::tables::{Tables, UnitRec};
use crate::model::{Facts, Interactivity, ResumeKind, UnitKind};
use crate::provider::Provider;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// No session.
pub const NONE: u32 = u32::MAX;

/// Facts as they lie in the catalog, or a copy where those of several units were folded. Small: there is one for every session.
pub enum Held<'a> {
    Lent(&'a Facts<'a>),
    Own(Box<Facts<'a>>),
}

impl<'a> Held<'a> {
    fn to_mut(&mut self) -> &mut Facts<'a> {
        match self {
            Self::Own(facts) => facts,
            Self::Lent(facts) => {
                *self = Self::Own(Box::new((*facts).clone()));
                self.to_mut()
            }
        }
    }
}

impl<'a> std::ops::Deref for Held<'a> {
    type Target = Facts<'a>;

    fn deref(&self) -> &Facts<'a> {
        match self {
            Self::Lent(facts) => facts,
            Self::Own(facts) => facts,
        }
    }
}

/// A session as it can be found.
pub struct Session<'a> {
    pub number: u64,
    pub provider: &'static dyn Provider,
    pub facts: Held<'a>,
    /// The unit the facts are mainly from.
    pub unit: u32,
    /// The last activity that this unit itself tells of.
    unit_last_ms: i64,
    /// The agent has deleted it.
    pub vanished: bool,
    /// What the user calls the copied store it is in.
    pub elsewhere: Option<&'a str>,
}

impl Session<'_> {
    pub fn agent(&self) -> &'static str {
        self.provider.info().id
    }

    pub fn interactive(&self) -> bool {
        self.facts.interactive != Interactivity::No
    }

    /// What the agent can do with it here.
    pub fn resume_kind(&self) -> ResumeKind {
        if self.vanished || self.elsewhere.is_some() { ResumeKind::None } else { self.facts.resume }
    }
}

/// All sessions of the present environment.
pub struct View<'a> {
    pub snapshot: &'a Snapshot,
    pub sessions: Vec<Session<'a>>,
    pub(super) parts: Cow<'a, Parts>,
    haystack: &'a OnceLock<Haystack>,
}

/// How units make up sessions: the same for every question to a state.
#[derive(Clone, Default)]
pub(super) struct Parts {
    /// Numbers of the active roots it was made for.
    active: Vec<u32>,
    /// The session of each unit.
    of_unit: Vec<u32>,
    /// The first conversation of each session.
    pub(super) mains: Vec<u32>,
    pub(super) others: Vec<u32>,
}

/// What is kept with a state.
#[derive(Default)]
struct Derived {
    parts: Parts,
    haystack: OnceLock<Haystack>,
}

impl<'a> View<'a> {
    /// Groups a state's units, or takes the grouping kept with it.
    pub fn new(snapshot: &'a Snapshot, active: &'a [Active]) -> Self {
        static EMPTY: OnceLock<Haystack> = OnceLock::new();
        let make = || Derived { parts: Parts::new(snapshot.tables(), active), haystack: OnceLock::new() };
        let kept: Option<&Derived> = snapshot.derived(make);
        let same = |d: &&Derived| d.parts.active.iter().copied().eq(active.iter().map(|a| a.id));
        let (parts, haystack) = match kept.filter(same) {
            Some(d) => (Cow::Borrowed(&d.parts), &d.haystack),
            None => (Cow::Owned(Parts::new(snapshot.tables(), active)), &EMPTY),
        };
        let mut view = Self { snapshot, sessions: Vec::with_capacity(parts.mains.len()), parts, haystack };
        view.fill(active);
        view
    }

    fn fill(&mut self, active: &'a [Active]) {
        let tables = self.snapshot.tables();
        let roots = roots_of_dirs(tables, active);
        for id in &self.parts.mains {
            let Some(unit) = tables.unit(*id) else { continue };
            let Some(root) = root_of(tables, unit, &roots) else { continue };
            self.sessions.push(Session {
                number: unit.session,
                provider: root.provider,
                facts: Held::Lent(&unit.facts),
                unit: *id,
                unit_last_ms: unit.facts.last_ms,
                vanished: unit.vanished,
                elsewhere: root.elsewhere.as_deref(),
            });
        }
        for id in &self.parts.others {
            let session = self.parts.of_unit.get(*id as usize).copied().unwrap_or(NONE);
            let Some(unit) = tables.unit(*id) else { continue };
            let Some(root) = root_of(tables, unit, &roots) else { continue };
            if let Some(session) = self.sessions.get_mut(session as usize) {
                session.fold(*id, unit, root.elsewhere.as_deref());
            }
        }
        for session in self.sessions.iter_mut().filter(|s| s.facts.last_ms == 0 && s.facts.messages > 0) {
            session.date(tables);
        }
    }

    /// The session of each unit.
    pub fn of_unit(&self) -> &[u32] {
        &self.parts.of_unit
    }

    /// Everything metadata can be searched for, folded, one session after the other.
    pub fn haystack(&self) -> Cow<'a, Haystack> {
        if self.haystack.get().is_some_and(|h| h.len() != self.sessions.len()) {
            return Cow::Owned(Haystack::new(&self.sessions));
        }
        let haystack = self.haystack;
        Cow::Borrowed(haystack.get_or_init(|| Haystack::new(&self.sessions)))
    }

    /// The units of a session.
    pub fn units(&self, session: u32) -> impl Iterator<Item = (u32, &'a UnitRec<'a>)> {
        let tables = self.snapshot.tables();
        self.parts
            .of_unit
            .iter()
            .enumerate()
            .filter(move |(_, s)| **s == session)
            .filter_map(|(u, _)| Some((u as u32, tables.unit(u as u32)?)))
    }

    /// Whether a session is one: somebody said something in it, or in the one it goes on from.
    pub fn is_row(&self, session: u32) -> bool {
        self.sessions.get(session as usize).is_some_and(|s| s.facts.messages > 0 || s.facts.inherits)
    }
}

impl Parts {
    fn new(tables: &Tables<'_>, active: &[Active]) -> Self {
        let roots = roots_of_dirs(tables, active);
        let live: HashSet<u64> = if tables.lost { tables.live_sessions().collect() } else { HashSet::new() };
        // What is back, or lies in the store under another name too, is not remembered beside itself.
        let stale =
            |u: &UnitRec<'_>| u.vanished && u.facts.kind == UnitKind::Main && live.contains(&u.session);
        let mut parts = Self {
            active: active.iter().map(|a| a.id).collect(),
            of_unit: vec![NONE; tables.units.len()],
            ..Self::default()
        };
        let mut by_number: HashMap<u64, u32, BuildHasherDefault<Same>> = HashMap::default();
        let mut others = Vec::new();
        for (id, unit) in tables.units.iter().enumerate().filter_map(|(i, u)| Some((i as u32, u.as_ref()?))) {
            if stale(unit) || root_of(tables, unit, &roots).is_none() {
                continue;
            }
            if unit.facts.kind != UnitKind::Main || by_number.contains_key(&unit.session) {
                others.push((id, unit.session));
                continue;
            }
            by_number.insert(unit.session, parts.mains.len() as u32);
            parts.of_unit[id as usize] = parts.mains.len() as u32;
            parts.mains.push(id);
        }
        // Of names of equal rank the newest one is offered last, and holds.
        others.sort_by_key(|(id, _)| tables.unit(*id).map(|u| (u.facts.title_source, u.facts.last_ms)));
        for (id, number) in others {
            if let Some(session) = by_number.get(&number) {
                parts.of_unit[id as usize] = *session;
                parts.others.push(id);
            }
        }
        parts
    }
}

fn root_of<'r>(
    tables: &Tables<'_>,
    unit: &UnitRec<'_>,
    of_dirs: &[Option<&'r Active>],
) -> Option<&'r Active> {
    *of_dirs.get(tables.source(unit.source)?.file.dir as usize)?
}

fn roots_of_dirs<'r>(tables: &Tables<'_>, active: &'r [Active]) -> Vec<Option<&'r Active>> {
    tables.dirs.iter().map(|d| active.iter().find(|a| Some(a.id) == d.as_ref().map(|d| d.root))).collect()
}

impl<'a> Session<'a> {
    /// A conversation that says nothing of time is as old as its file.
    fn date(&mut self, tables: &Tables<'_>) {
        let source = tables.unit(self.unit).and_then(|u| tables.source(u.source));
        if let Some(source) = source {
            self.facts.to_mut().saw_time(source.file.fingerprint.mtime_ms());
        }
    }

    /// Adds what a further unit says: the newer conversation leads, gaps are filled, the time span widens.
    /// One that lies where the agent looks comes before a copy elsewhere.
    fn fold(&mut self, id: u32, unit: &'a UnitRec<'a>, elsewhere: Option<&'a str>) {
        let other = &unit.facts;
        // Times that were filled in from beside the conversation don't count.
        let rank = |elsewhere: Option<&str>, last_ms: i64| (elsewhere.is_none(), last_ms);
        match other.kind {
            UnitKind::Child => {}
            UnitKind::Side => side(self.facts.to_mut(), other),
            UnitKind::Main
                if other.messages > 0
                    && rank(elsewhere, other.last_ms) > rank(self.elsewhere, self.unit_last_ms) =>
            {
                self.elsewhere = elsewhere;
                let older = std::mem::replace(&mut self.facts, Held::Lent(other));
                (self.unit, self.unit_last_ms) = (id, other.last_ms);
                fill(self.facts.to_mut(), &older);
            }
            UnitKind::Main => fill(self.facts.to_mut(), other),
        }
    }
}

/// Adds what is kept outside the conversation. What the conversation itself says stays, but for the title.
fn side<'a>(facts: &mut Facts<'a>, other: &Facts<'a>) {
    if let (Some(title), Some(source)) = (&other.title, other.title_source) {
        facts.offer_title(title.clone(), source);
    }
    fill_gaps(facts, other);
    if facts.last_ms == 0 {
        facts.saw_time(other.started_ms);
        facts.saw_time(other.last_ms);
    }
    facts.archived |= other.archived;
}

/// What is not known of a session, from another of its units.
fn fill_gaps<'a>(facts: &mut Facts<'a>, other: &Facts<'a>) {
    if facts.project.is_empty() {
        facts.project = other.project.clone();
    }
    for (mine, theirs) in [
        (&mut facts.branch, &other.branch),
        (&mut facts.worktree, &other.worktree),
        (&mut facts.model, &other.model),
        (&mut facts.parent, &other.parent),
        (&mut facts.forked_from, &other.forked_from),
        (&mut facts.resume_cwd, &other.resume_cwd),
    ] {
        if mine.is_none() {
            *mine = theirs.clone();
        }
    }
    if facts.interactive == Interactivity::Unknown {
        facts.interactive = other.interactive;
    }
    if matches!(facts.source_kind.as_ref(), "" | "unknown") && !other.source_kind.is_empty() {
        facts.source_kind = other.source_kind.clone();
    }
}

fn fill<'a>(facts: &mut Facts<'a>, older: &Facts<'a>) {
    if let (Some(title), Some(source)) = (&older.title, older.title_source)
        && facts.title_source.is_none_or(|s| s < source)
    {
        facts.offer_title(title.clone(), source);
    }
    fill_gaps(facts, older);
    facts.messages = facts.messages.max(older.messages);
    facts.saw_time(older.started_ms);
    facts.saw_time(older.last_ms);
    // In the archive and outside it: it is not archived.
    facts.archived &= older.archived || older.messages == 0;
}

/// Session numbers are hashes already.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*b);
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}
