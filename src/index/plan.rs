//! What a refresh has to do: which sources to read, from where on, and what is gone.

use super::ingest::{Job, OldUnit, mark};
use super::snapshot::Snapshot;
use super::tables::{Frame, SourceRec, Tables, UnitRec};
use crate::discover::{Active, Changes, Dir, DirChange, File, FileChange, Health, Known};
use crate::io::stat;
use crate::model::UnitKind;
use crate::provider::{Provider, Root};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Whether there is anything to do: changes, sources left over from an interrupted pass, or another parser.
pub fn is_current(tables: &Tables<'_>, changes: &Changes) -> bool {
    if tables.lost && !changes.keep_vanished {
        return false;
    }
    changes.is_empty() && tables.pending == 0 && !any_outdated(tables, &changes.active)
        || changes.new_roots.is_empty()
            && changes.dirs.is_empty()
            && tables.pending == 0
            && only_unsure(tables, changes)
}

/// Whether another version of a parser has read something.
fn any_outdated(tables: &Tables<'_>, active: &[Active]) -> bool {
    let by_another = |a: &Active, (root, parser): &(u32, u32)| {
        *root == a.id && *parser != a.provider.info().parser_version
    };
    active.iter().any(|a| tables.parsers.iter().any(|p| by_another(a, p)))
}

fn outdated(tables: &Tables<'_>, source: &SourceRec<'_>, active: &[Active]) -> bool {
    let root = tables.dir(source.file.dir).map(|d| d.root);
    source.is_there()
        && active.iter().any(|a| Some(a.id) == root && a.provider.info().parser_version != source.parser)
}

/// Files written just before they were read, that a look at their content shows to be as they were.
fn only_unsure(tables: &Tables<'_>, changes: &Changes) -> bool {
    const FEW: usize = 64;
    changes.files.len() <= FEW
        && changes
            .files
            .iter()
            .all(|f| matches!(f, FileChange::Unsure(id) if unchanged(tables, *id, &changes.active)))
        && !any_outdated(tables, &changes.active)
}

fn unchanged(tables: &Tables<'_>, id: u32, active: &[Active]) -> bool {
    let Some(rec) = tables.source(id) else { return false };
    let Some((_, root, rel)) = locate(tables, &rec.file, active) else { return false };
    let Ok((mut file, fp)) = stat::open_regular(&root.path.join(rel)) else { return false };
    mark(&mut file, rec.offset.unwrap_or(fp.size)).is_ok_and(|m| m == rec.mark)
}

/// A file's provider, root and path below it, if its root belongs to this environment.
pub fn locate<'a>(
    tables: &impl Known,
    file: &File<'_>,
    active: &'a [Active],
) -> Option<(&'static dyn Provider, &'a Root, String)> {
    let dir = tables.dir(file.dir)?;
    let a = active.iter().find(|a| a.id == dir.root)?;
    let rel = if dir.rel.is_empty() {
        file.name.clone().into_owned()
    } else {
        format!("{}/{}", dir.rel, file.name)
    };
    Some((a.provider, &a.root, rel))
}

/// A file's provider, root and path below it.
type Place = Option<(&'static dyn Provider, Arc<Root>, String)>;

/// The work of one refresh.
pub struct Plan<'s> {
    pub(super) current: &'s Snapshot,
    /// Changes of the tables that need no reading.
    pub frame: Frame<'static>,
    /// Sources to read, the newest first.
    pub jobs: Vec<Job>,
    /// Units whose source is gone.
    pub removed: Vec<u32>,
    touched: HashSet<u32>,
    pub(super) keep_vanished: bool,
    /// What is let go of must leave the catalog file at once.
    pub compact: bool,
}

impl<'s> Plan<'s> {
    /// Plans how to get from a state to the stores as they were found.
    pub fn new(current: &'s Snapshot, changes: &Changes) -> Self {
        let mut plan = Self {
            current,
            frame: Frame::default(),
            jobs: Vec::new(),
            removed: Vec::new(),
            touched: HashSet::new(),
            keep_vanished: changes.keep_vanished,
            compact: false,
        };
        let first = current.tables().roots.len() as u32;
        plan.frame.roots = (first..).zip(changes.new_roots.iter().cloned()).collect();
        let new_dirs: HashMap<u32, &Dir<'static>> = changes.dirs.iter().filter_map(put).collect();
        let place = |file: &File<'_>| plan_place(current.tables(), &new_dirs, &changes.active, file);
        plan.files(changes, &place);
        plan.left_over(changes, &place);
        if current.tables().lost {
            plan.forget();
        }
        plan.directories(changes);
        plan.jobs.sort_by_key(|j| std::cmp::Reverse(j.rec.file.fingerprint.mtime_ns));
        plan
    }

    /// Bytes that are likely to be read.
    pub fn work(&self) -> u64 {
        self.jobs.iter().map(work).sum()
    }

    fn directories(&mut self, changes: &Changes) {
        let any_gone = changes.dirs.iter().any(|c| matches!(c, DirChange::Gone(_)));
        let needed = if any_gone { self.above_the_vanished() } else { HashSet::new() };
        let dirs = changes.dirs.iter().map(|change| match change {
            DirChange::Put(id, dir) => (*id, Some(dir.clone())),
            DirChange::Gone(id) if needed.contains(id) => (*id, self.gone_dir(*id)),
            DirChange::Gone(id) => (*id, None),
        });
        let dirs: Vec<_> = dirs.collect();
        self.frame.dirs.extend(dirs);
    }

    fn gone_dir(&self, id: u32) -> Option<Dir<'static>> {
        let dir = self.current.tables().dir(id)?;
        Some(Dir { rel: Cow::Owned(dir.rel.clone().into_owned()), gone: true, ..*dir })
    }

    /// The directories that lead to sources which are gone and kept.
    fn above_the_vanished(&self) -> HashSet<u32> {
        let tables = self.current.tables();
        let now: HashMap<u32, Option<&SourceRec<'_>>> =
            self.frame.sources.iter().map(|(id, s)| (*id, s.as_ref())).collect();
        let earlier = tables.sources.iter().enumerate().map(|(id, s)| (id as u32, s.as_ref()));
        let kept = earlier
            .filter_map(|(id, s)| now.get(&id).copied().unwrap_or(s))
            .filter(|s| s.file.health == Health::Vanished);
        let mut needed = HashSet::new();
        for source in kept {
            let mut at = source.file.dir;
            while needed.insert(at) {
                let Some(dir) = tables.dir(at) else { break };
                at = dir.parent;
            }
        }
        needed
    }

    /// Lets go of what is kept but no longer wanted: all of it, or what is back under another name.
    fn forget(&mut self) {
        let tables = self.current.tables();
        let live: HashSet<u64> = tables.live_sessions().collect();
        let keep = self.keep_vanished;
        let unwanted = |u: &UnitRec<'_>| {
            u.vanished && (!keep || (u.facts.kind == UnitKind::Main && live.contains(&u.session)))
        };
        let units = tables.units.iter().enumerate().filter_map(|(i, u)| Some((i as u32, u.as_ref()?)));
        let gone: Vec<u32> = units.filter(|(_, u)| unwanted(u)).map(|(i, _)| i).collect();
        for (id, source) in
            tables.sources.iter().enumerate().filter_map(|(i, s)| Some((i as u32, s.as_ref()?)))
        {
            let empty = || tables.units_of(id).iter().all(|u| gone.contains(u));
            if source.file.health == Health::Vanished && !self.touched.contains(&id) && empty() {
                self.frame.sources.push((id, None));
            }
        }
        self.removed.extend(gone);
        if !keep {
            let dirs = tables.dirs.iter().enumerate().filter(|(_, d)| d.as_ref().is_some_and(|d| d.gone));
            self.frame.dirs.extend(dirs.map(|(id, _)| (id as u32, None)));
        }
    }

    fn files(&mut self, changes: &Changes, place: &impl Fn(&File<'_>) -> Place) {
        let tables = self.current.tables();
        let mut next = tables.sources.len() as u32;
        for change in &changes.files {
            match change {
                FileChange::New(file) => {
                    self.add(next, unread(file.clone()), place(file));
                    next += 1;
                }
                FileChange::Changed(id, file) => self.changed(*id, file, place(file)),
                FileChange::Unsure(id) => {
                    if let Some(file) = tables.file(*id) {
                        self.unsure(*id, &changes.active, place(file));
                    }
                }
                FileChange::Gone(id) => self.gone(*id),
            }
        }
    }

    fn gone(&mut self, id: u32) {
        self.touched.insert(id);
        let tables = self.current.tables();
        let units = || tables.units_of(id).iter().filter_map(|u| Some((*u, tables.unit(*u)?)));
        let kept = tables.source(id).filter(|_| self.keep_vanished && units().any(|(_, u)| said(u)));
        let Some(source) = kept else {
            self.frame.sources.push((id, None));
            self.removed.extend(tables.units_of(id));
            return;
        };
        let mut rec = SourceRec { read: true, offset: None, state: Cow::Borrowed(&[]), ..own(source) };
        rec.file.health = Health::Vanished;
        self.frame.sources.push((id, Some(rec)));
        self.frame.units.extend(units().map(|(u, unit)| (u, Some(unit.as_vanished()))));
    }

    fn add(&mut self, id: u32, rec: SourceRec<'static>, place: Place) {
        self.touched.insert(id);
        let Some((provider, root, rel)) = place else { return };
        if rec.file.health != Health::Good {
            self.frame
                .sources
                .push((id, Some(SourceRec { read: true, parser: provider.info().parser_version, ..rec })));
            return;
        }
        let tables = self.current.tables();
        let old = tables.units_of(id).iter().filter_map(|u| Some((*u, tables.unit(*u)?)));
        let units: HashMap<String, OldUnit> = old
            .clone()
            .map(|(id, u)| {
                (
                    u.row.clone().into_owned(),
                    OldUnit { id, stamp: u.stamp, seq: u.seq, vanished: u.vanished, said: said(u) },
                )
            })
            .collect();
        let facts = rec.offset.and_then(|_| old.clone().find(|(_, u)| u.row.is_empty())).map(|(_, u)| {
            let mut facts = u.facts.clone().into_owned();
            let texts = self.current.read_texts(u.texts);
            facts.summaries = texts.summaries;
            facts.recap = Some(texts.recap).filter(|r| !r.is_empty());
            Box::new(facts)
        });
        let keep_vanished = self.keep_vanished;
        self.jobs.push(Job { id, provider, root, rel, rec, units, facts, keep_vanished });
    }

    fn changed(&mut self, id: u32, file: &File<'static>, place: Place) {
        self.touched.insert(id);
        let tables = self.current.tables();
        let Some(old) = tables.source(id) else { return };
        let mut rec = own(old);
        // Another file under the same name is read from its start.
        if !file.fingerprint.same_file(&old.file.fingerprint) || old.file.health == Health::Vanished {
            rec.offset = None;
        }
        rec.file = file.clone();
        match file.health {
            Health::NotRegular => {
                self.removed.extend(tables.units_of(id));
                self.frame.sources.push((id, Some(SourceRec { read: true, offset: None, ..rec })));
            }
            Health::Good => self.add(id, rec, place),
            _ => self.frame.sources.push((id, Some(SourceRec { read: true, ..rec }))),
        }
    }

    fn unsure(&mut self, id: u32, active: &[Active], place: Place) {
        let tables = self.current.tables();
        let Some(old) = tables.source(id) else { return };
        let mut rec = own(old);
        rec.file.racy = false;
        if unchanged(tables, id, active) {
            self.frame.sources.push((id, Some(rec)));
        } else {
            self.add(id, rec, place);
        }
    }

    /// Sources that an interrupted pass did not reach, and those read by another version of their parser.
    fn left_over(&mut self, changes: &Changes, place: &impl Fn(&File<'_>) -> Place) {
        let tables = self.current.tables();
        for (id, rec) in tables.sources.iter().enumerate().filter_map(|(i, s)| Some((i as u32, s.as_ref()?)))
        {
            let due = !rec.read || outdated(tables, rec, &changes.active);
            if due && !self.touched.contains(&id) {
                self.add(id, SourceRec { offset: None, ..own(rec) }, place(&rec.file));
            }
        }
    }
}

/// Whether somebody said something in a unit.
fn said(unit: &UnitRec<'_>) -> bool {
    unit.facts.messages > 0 || unit.facts.inherits
}

fn put(change: &DirChange) -> Option<(u32, &Dir<'static>)> {
    match change {
        DirChange::Put(id, dir) => Some((*id, dir)),
        DirChange::Gone(_) => None,
    }
}

fn plan_place(
    tables: &Tables<'_>,
    new_dirs: &HashMap<u32, &Dir<'static>>,
    active: &[Active],
    file: &File<'_>,
) -> Place {
    let dir = new_dirs.get(&file.dir).map(|d| (d.root, &d.rel));
    let (root, rel) = dir.or_else(|| tables.dir(file.dir).map(|d| (d.root, &d.rel)))?;
    let a = active.iter().find(|a| a.id == root)?;
    let rel = if rel.is_empty() { file.name.clone().into_owned() } else { format!("{rel}/{}", file.name) };
    Some((a.provider, a.root.clone(), rel))
}

fn unread(file: File<'static>) -> SourceRec<'static> {
    SourceRec {
        file,
        parser: 0,
        read: false,
        skipped: 0,
        shortened: 0,
        offset: None,
        mark: 0,
        state: Cow::Borrowed(&[]),
    }
}

fn own(rec: &SourceRec<'_>) -> SourceRec<'static> {
    SourceRec {
        file: File { name: Cow::Owned(rec.file.name.clone().into_owned()), ..rec.file },
        state: Cow::Owned(rec.state.clone().into_owned()),
        ..*rec
    }
}

/// Bytes a job is likely to read.
pub fn work(job: &Job) -> u64 {
    let size = job.rec.file.fingerprint.size;
    if job.facts.is_some() { size.saturating_sub(job.rec.offset.unwrap_or(0)) } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{NO_PARENT, RootId};
    use crate::index::tables::{MAGIC, encode};
    use crate::provider::registry;
    use std::path::PathBuf;

    /// A catalog of one source, read by this version of its parser.
    fn catalog(parser: u32, health: Health) -> Vec<u8> {
        let dir = Dir {
            root: 0,
            parent: NO_PARENT,
            rel: "".into(),
            fingerprint: stat::Fingerprint::default(),
            racy: false,
            failed: false,
            gone: false,
        };
        let file = File {
            dir: 0,
            name: "x".into(),
            kind: 0,
            fingerprint: stat::Fingerprint::default(),
            racy: false,
            link: false,
            health,
        };
        let source = SourceRec { parser, read: true, ..unread(file) };
        let frame = Frame {
            roots: vec![(0, RootId::default())],
            dirs: vec![(0, Some(dir))],
            sources: vec![(0, Some(source))],
            ..Frame::default()
        };
        [MAGIC.as_slice(), &encode(&frame)].concat()
    }

    #[test]
    fn what_another_version_of_a_parser_read_is_read_again() {
        let provider = registry::ALL[0];
        let version = provider.info().parser_version;
        let root = Arc::new(Root { path: PathBuf::from("/x"), label: "x", env: Vec::new() });
        let active = |id| [Active { id, provider, root: root.clone(), elsewhere: None }];
        let outdated = |parser, health, id| {
            let bytes = catalog(parser, health);
            any_outdated(&Tables::decode(&bytes).unwrap(), &active(id))
        };
        assert!(outdated(version + 1, Health::Good, 0));
        assert!(!outdated(version, Health::Good, 0));
        // Of another environment; gone from its store.
        assert!(!outdated(version + 1, Health::Good, 1));
        assert!(!outdated(version + 1, Health::Vanished, 0));
    }
}
