//! The sessions of a snapshot: units that belong together, folded into one.

use crate::discover::Active;
use crate::index::Snapshot;
use crate::index::tables::{Tables, UnitRec};
use crate::model::{Facts, Interactivity, UnitKind};
use crate::provider::Provider;
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// No session.
pub const NONE: u32 = u32::MAX;

/// A session as it can be found.
pub struct Session<'a> {
    pub number: u64,
    pub provider: &'static dyn Provider,
    pub facts: Cow<'a, Facts<'a>>,
    /// The unit the facts are mainly from.
    pub unit: u32,
}

impl Session<'_> {
    pub fn agent(&self) -> &'static str {
        self.provider.info().id
    }

    pub fn interactive(&self) -> bool {
        self.facts.interactive != Interactivity::No
    }
}

/// All sessions of the present environment.
pub struct View<'a> {
    pub snapshot: &'a Snapshot,
    pub sessions: Vec<Session<'a>>,
    /// The session of each unit.
    pub of_unit: Vec<u32>,
}

impl<'a> View<'a> {
    pub fn new(snapshot: &'a Snapshot, active: &[Active]) -> Self {
        let tables = snapshot.tables();
        let providers = providers_of_dirs(tables, active);
        let mut view = Self { snapshot, sessions: Vec::new(), of_unit: vec![NONE; tables.units.len()] };
        let mut by_number: HashMap<u64, u32, BuildHasherDefault<Same>> = HashMap::default();
        let mut others = Vec::new();
        for (id, unit) in tables.units.iter().enumerate().filter_map(|(i, u)| Some((i as u32, u.as_ref()?))) {
            let Some(provider) =
                tables.source(unit.source).and_then(|s| *providers.get(s.file.dir as usize)?)
            else {
                continue;
            };
            if unit.facts.kind != UnitKind::Main || by_number.contains_key(&unit.session) {
                others.push((id, unit));
                continue;
            }
            by_number.insert(unit.session, view.sessions.len() as u32);
            view.of_unit[id as usize] = view.sessions.len() as u32;
            view.sessions.push(Session {
                number: unit.session,
                provider,
                facts: Cow::Borrowed(&unit.facts),
                unit: id,
            });
        }
        for (id, unit) in others {
            if let Some(session) = by_number.get(&unit.session) {
                view.of_unit[id as usize] = *session;
                view.sessions[*session as usize].fold(id, unit);
            }
        }
        view
    }

    /// Whether a session is one: somebody said something in it, or in the one it goes on from.
    pub fn is_row(&self, session: u32) -> bool {
        self.sessions.get(session as usize).is_some_and(|s| s.facts.messages > 0 || s.facts.inherits)
    }

    /// The units of a session.
    pub fn units(&self, session: u32) -> impl Iterator<Item = (u32, &'a UnitRec<'a>)> {
        let tables = self.snapshot.tables();
        self.of_unit
            .iter()
            .enumerate()
            .filter(move |(_, s)| **s == session)
            .filter_map(|(u, _)| Some((u as u32, tables.unit(u as u32)?)))
    }
}

fn providers_of_dirs(tables: &Tables<'_>, active: &[Active]) -> Vec<Option<&'static dyn Provider>> {
    let of_root = |root: u32| active.iter().find(|a| a.id == root).map(|a| a.provider);
    tables.dirs.iter().map(|d| of_root(d.as_ref()?.root)).collect()
}

impl<'a> Session<'a> {
    /// Adds what a further unit says: the newer conversation leads, gaps are filled, the time span widens.
    fn fold(&mut self, id: u32, unit: &'a UnitRec<'a>) {
        let other = &unit.facts;
        match other.kind {
            UnitKind::Child => {}
            UnitKind::Side => side(self.facts.to_mut(), other),
            UnitKind::Main if other.last_ms > self.facts.last_ms && other.messages > 0 => {
                let older = std::mem::replace(&mut self.facts, Cow::Borrowed(other));
                self.unit = id;
                fill(self.facts.to_mut(), &older);
            }
            UnitKind::Main => fill(self.facts.to_mut(), other),
        }
    }
}

fn side<'a>(facts: &mut Facts<'a>, other: &Facts<'a>) {
    if let (Some(title), Some(source)) = (&other.title, other.title_source) {
        facts.offer_title(title.clone(), source);
    }
    if facts.parent.is_none() {
        facts.parent = other.parent.clone();
    }
    facts.archived |= other.archived;
}

fn fill<'a>(facts: &mut Facts<'a>, older: &Facts<'a>) {
    if let (Some(title), Some(source)) = (&older.title, older.title_source)
        && facts.title_source.is_none_or(|s| s < source)
    {
        facts.offer_title(title.clone(), source);
    }
    if facts.project.is_empty() {
        facts.project = older.project.clone();
    }
    for (mine, theirs) in [
        (&mut facts.branch, &older.branch),
        (&mut facts.worktree, &older.worktree),
        (&mut facts.model, &older.model),
        (&mut facts.parent, &older.parent),
        (&mut facts.forked_from, &older.forked_from),
    ] {
        if mine.is_none() {
            *mine = theirs.clone();
        }
    }
    if facts.interactive == Interactivity::Unknown {
        facts.interactive = older.interactive;
    }
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
