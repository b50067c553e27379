//! The order in which a session's units are read, and the numbers of their messages.
//!
//! A message's number must stay its own while the session grows, so that what a search found can be read later. Each unit
//! therefore has a block of numbers: the conversation's first file counts from 0, a further one from the next block; those of
//! children begin far behind, so that they do not move when the conversation goes on in another file.

use super::view::View;
use crate::index::tables::{Tables, UnitRec};
use crate::model::UnitKind;
use std::cmp::Reverse;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Numbers of one unit.
pub const BLOCK: u64 = 1_000_000_000;
/// The block of the first child, unless there are more files of the conversation itself.
const CHILDREN: u64 = 100;

/// A unit in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub unit: u32,
    /// The number of its first message.
    pub first: u64,
    /// Which child of the session it is, from 1; copies of one share the number.
    pub child: Option<u64>,
    /// The same for units that may be copies of each other.
    pub kin: u64,
    /// There are others of its kin.
    pub shared: bool,
    /// All of its kin say when things were said.
    pub timed: bool,
}

/// A unit and its number.
type Unit<'u> = (u32, &'u UnitRec<'u>);

/// The units of a session: its conversation in the order it went, then its children.
///
/// Of files that begin together the longest comes first: the others add what only they hold. What knows no times comes last.
pub fn parts(view: &View<'_>, session: u32) -> Vec<Part> {
    let tables = view.snapshot.tables();
    let leading = view.sessions.get(session as usize).map(|s| s.unit);
    let is_child = |(_, u): &Unit<'_>| u.facts.kind == UnitKind::Child;
    let says = |(_, u): &Unit<'_>| u.facts.kind != UnitKind::Side || u.seq > 0;
    let (mut children, mut mains): (Vec<_>, Vec<_>) = units(view, session).filter(says).partition(is_child);
    for units in [&mut mains, &mut children] {
        units.sort_by_key(|(id, u)| {
            let begun = u.facts.started_ms;
            (begun == 0, begun, Reverse(u.seq), Some(*id) != leading, u.row.clone(), u.source)
        });
    }
    let behind = CHILDREN.max((mains.len() as u64).next_multiple_of(CHILDREN));
    let mut groups = Groups::default();
    let kins: Vec<u64> = children.iter().map(|(_, u)| kin(tables, u)).collect();
    mains.iter().for_each(|u| groups.add(0, u));
    children.iter().zip(&kins).for_each(|(u, kin)| groups.add(*kin, u));
    let mains = mains.iter().enumerate().map(|(n, u)| groups.part(u.0, n as u64, 0));
    let children = children.iter().zip(&kins).enumerate();
    mains.chain(children.map(|(n, (u, kin))| groups.part(u.0, behind + n as u64, *kin))).collect()
}

/// Units that may be copies of each other, by their kin.
#[derive(Default)]
struct Groups(HashMap<u64, Group>);

struct Group {
    /// Which child it is, from 1.
    child: u64,
    units: usize,
    timed: bool,
}

impl Groups {
    fn add(&mut self, kin: u64, (_, unit): &Unit<'_>) {
        let child = (self.0.len() - usize::from(self.0.contains_key(&0))) as u64 + 1;
        let group = self.0.entry(kin).or_insert(Group { child, units: 0, timed: true });
        group.units += 1;
        group.timed &= unit.facts.started_ms > 0;
    }

    fn part(&self, unit: u32, block: u64, kin: u64) -> Part {
        let group = self.0.get(&kin);
        Part {
            unit,
            first: block * BLOCK,
            child: group.map(|g| g.child).filter(|_| kin != 0),
            kin,
            shared: group.is_some_and(|g| g.units > 1),
            timed: group.is_some_and(|g| g.timed),
        }
    }
}

/// Children of one name are copies of one.
fn kin(tables: &Tables<'_>, unit: &UnitRec<'_>) -> u64 {
    let name = tables.source(unit.source).map(|s| s.file.name.as_ref()).unwrap_or_default();
    xxh3_64(format!("{name}\0{}", unit.row).as_bytes()).max(1)
}

fn units<'v>(view: &'v View<'_>, session: u32) -> impl Iterator<Item = Unit<'v>> {
    let tables = view.snapshot.tables();
    let first = view.parts.mains.get(session as usize).copied();
    let others = view.parts.others.iter().copied();
    let own = others.filter(move |u| view.of_unit().get(*u as usize) == Some(&session));
    first.into_iter().chain(own).filter_map(move |u| Some((u, tables.unit(u)?)))
}
