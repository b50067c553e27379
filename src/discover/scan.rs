//! The difference between the stores now and as they were last seen.
//!
//! Every known file is statted each time: nothing else shows that it grew. A directory is listed again only if its own stamp
//! changed, for that is what shows new names. Known directories are looked at in parallel; what is new is walked afterwards.

use super::list::{Entry, list, look};
use super::tree::{Dir, File, Health, Known, NO_PARENT, RootId, Trouble};
use crate::io::stat::{self, FileKind, Fingerprint};
use crate::limits::RACY_MS;
use crate::provider::{Provider, Root};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place to look at.
#[derive(Clone)]
pub struct SearchRoot {
    pub provider: &'static dyn Provider,
    pub root: Root,
    /// What the user calls a store that is not the agent's own on this machine.
    pub elsewhere: Option<Arc<str>>,
}

/// A root of the present environment, with its place in the remembered table.
pub struct Active {
    pub id: u32,
    pub provider: &'static dyn Provider,
    pub root: Arc<Root>,
    pub elsewhere: Option<Arc<str>>,
}

/// A change of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirChange {
    Put(u32, Dir<'static>),
    Gone(u32),
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    New(File<'static>),
    Changed(u32, File<'static>),
    /// Looks the same, but was written too shortly before it was read to be sure.
    Unsure(u32),
    Gone(u32),
}

/// All that a look found.
#[derive(Default)]
pub struct Changes {
    pub active: Vec<Active>,
    /// Roots not in the remembered table; their ids follow it.
    pub new_roots: Vec<RootId<'static>>,
    pub dirs: Vec<DirChange>,
    pub files: Vec<FileChange>,
    /// Directories that could not be looked at now. Files are marked by their health instead.
    pub troubles: Vec<Trouble>,
    /// What is gone stays known as such.
    pub keep_vanished: bool,
}

impl Changes {
    /// Whether everything is surely as it was.
    pub fn is_empty(&self) -> bool {
        self.dirs.is_empty() && self.files.is_empty() && self.new_roots.is_empty()
    }
}

/// Gives these roots their numbers in the remembered table. New ones follow it.
pub fn activate(known: &impl Known, roots: &[SearchRoot]) -> Vec<Active> {
    let mut changes = Changes::default();
    number_roots(known, roots.to_vec(), &mut changes);
    changes.active
}

/// Compares the stores of these roots with what is known. `now_ms` is taken before the first look. `only` names the directories in
/// which something can have changed, if that is known: then only they and those directly in them are looked at.
pub fn scan(
    known: &(impl Known + Sync),
    roots: Vec<SearchRoot>,
    now_ms: i64,
    threads: usize,
    only: Option<&HashSet<PathBuf>>,
) -> Changes {
    let mut changes = Changes::default();
    number_roots(known, roots, &mut changes);
    let mut walk = Walk {
        known,
        racy_from: (now_ms - RACY_MS as i64).saturating_mul(1_000_000),
        next_dir: known.dir_count(),
        seen: HashSet::new(),
        changes,
    };
    let looks = walk.look_at_known(threads, only);
    walk.settle(looks);
    walk.drop_copies();
    walk.changes
}

fn number_roots(known: &impl Known, roots: Vec<SearchRoot>, changes: &mut Changes) {
    for SearchRoot { provider, root, elsewhere } in roots {
        let is = |r: &RootId<'_>| {
            r.agent == provider.info().id && r.label == root.label && Path::new(r.path.as_ref()) == root.path
        };
        let Some(path) = root.path.to_str() else { continue };
        let id = known.roots().iter().position(is).unwrap_or_else(|| {
            changes.new_roots.push(RootId {
                agent: Cow::Borrowed(provider.info().id),
                label: Cow::Borrowed(root.label),
                path: Cow::Owned(path.to_owned()),
                seen_ms: 0,
            });
            known.roots().len() + changes.new_roots.len() - 1
        });
        changes.active.push(Active { id: id as u32, provider, root: Arc::new(root), elsewhere });
    }
}

/// What became of a known directory.
enum Look {
    Same,
    List(Fingerprint),
    Gone,
    Failed(&'static str),
}

struct Walk<'k, K> {
    known: &'k K,
    racy_from: i64,
    next_dir: u32,
    /// Directories met, by device and inode: each is read once, whatever links lead to it.
    seen: HashSet<(u64, u64)>,
    changes: Changes,
}

impl<K: Known + Sync> Walk<'_, K> {
    fn active(&self, root: u32) -> Option<usize> {
        self.changes.active.iter().position(|a| a.id == root)
    }

    /// Stats every known directory of the active roots and every known file in it.
    fn look_at_known(&mut self, threads: usize, only: Option<&HashSet<PathBuf>>) -> Vec<(u32, usize, Look)> {
        let ids: Vec<(u32, usize)> = (0..self.known.dir_count())
            .filter_map(|id| Some((id, self.active(self.known.dir(id)?.root)?)))
            .collect();
        let threads = threads.clamp(1, 1 + ids.len() / 64);
        let per = ids.len().div_ceil(threads).max(1);
        let (known, active, racy) = (self.known, &self.changes.active, self.racy_from);
        let mut looks = Vec::with_capacity(ids.len());
        let mut files = Vec::new();
        std::thread::scope(|scope| {
            let work = |part: &[(u32, usize)]| {
                let mut files = Vec::new();
                let look = |id: u32, a: usize, files: &mut Vec<FileChange>| match only {
                    Some(only) if !concerns(known, &active[a].root, id, only) => Look::Same,
                    _ => look_at(known, &active[a], id, racy, files),
                };
                let looks: Vec<_> = part.iter().map(|(id, a)| (*id, *a, look(*id, *a, &mut files))).collect();
                (looks, files)
            };
            let mut parts = ids.chunks(per);
            let first = parts.next().unwrap_or(&[]);
            let others: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
            let mut results = vec![work(first)];
            results.extend(others.into_iter().filter_map(|t| t.join().ok()));
            for (l, f) in results {
                looks.extend(l);
                files.extend(f);
            }
        });
        self.changes.files = files;
        looks
    }

    /// Acts on what became of the known directories, then walks into new ones.
    fn settle(&mut self, looks: Vec<(u32, usize, Look)>) {
        let mut rooted = HashSet::new();
        for (id, _, look) in &looks {
            let Some(dir) = self.known.dir(*id) else { continue };
            // As it is now: the number it had may be another directory's by now.
            let now = match look {
                Look::List(fp) => Some(fp),
                Look::Same | Look::Failed(_) => Some(&dir.fingerprint).filter(|_| !dir.gone),
                Look::Gone => None,
            };
            self.seen.extend(now.map(inode));
            if dir.parent == NO_PARENT {
                rooted.insert(dir.root);
            }
        }
        for (id, active, look) in looks {
            match look {
                Look::Same => {}
                Look::Gone => self.gone(id),
                Look::Failed(code) => self.failed(id, active, code),
                Look::List(fp) => self.relist(id, active, fp),
            }
        }
        for active in 0..self.changes.active.len() {
            if !rooted.contains(&self.changes.active[active].id) {
                self.enter(active, NO_PARENT, String::new());
            }
        }
    }

    fn trouble(&mut self, active: usize, rel: &str, code: &'static str) {
        let agent = self.changes.active[active].provider.info().id;
        self.changes.troubles.push(Trouble { agent: Some(agent), place: rel.to_owned(), code });
    }

    fn gone(&mut self, id: u32) {
        self.changes.dirs.push(DirChange::Gone(id));
        let there = |f: &&u32| self.known.file(**f).is_some_and(|f| f.health != Health::Vanished);
        let files = self.known.files_in(id).iter().filter(there).map(|f| FileChange::Gone(*f));
        self.changes.files.extend(files);
        // Directories below are known too, and are found gone by themselves.
    }

    fn failed(&mut self, id: u32, active: usize, code: &'static str) {
        let Some(dir) = self.known.dir(id) else { return };
        let rel = dir.rel.clone().into_owned();
        if !dir.failed {
            let dir = Dir { rel: Cow::Owned(rel.clone()), failed: true, ..dir.clone() };
            self.changes.dirs.push(DirChange::Put(id, own(dir)));
        }
        self.trouble(active, &rel, code);
    }

    /// Compares a directory's names with those it had.
    fn relist(&mut self, id: u32, active: usize, fingerprint: Fingerprint) {
        let Some(dir) = self.known.dir(id) else { return };
        let rel = dir.rel.clone().into_owned();
        let a = &self.changes.active[active];
        let entries = match list(a.provider, &a.root, &rel, &at(&a.root, &rel)) {
            Ok(entries) => entries,
            Err(e) => return self.failed(id, active, code(&e)),
        };
        let racy = self.is_racy(&fingerprint);
        if fingerprint != dir.fingerprint || racy != dir.racy || dir.failed || dir.gone {
            let put =
                Dir { rel: Cow::Owned(rel.clone()), fingerprint, racy, failed: false, gone: false, ..*dir };
            self.changes.dirs.push(DirChange::Put(id, put));
        }
        let files: HashMap<&str, u32> = self
            .known
            .files_in(id)
            .iter()
            .filter_map(|f| Some((self.known.file(*f)?.name.as_ref(), *f)))
            .collect();
        let dirs: HashSet<&str> =
            self.known.dirs_in(id).iter().filter_map(|d| Some(name(&self.known.dir(*d)?.rel))).collect();
        let new: Vec<&Entry> = entries
            .iter()
            .filter(|e| {
                if e.kind.is_some() {
                    !files.contains_key(e.name.as_str())
                } else {
                    !dirs.contains(e.name.as_str())
                }
            })
            .collect();
        self.take_in(active, id, &rel, &new);
    }

    /// Walks into a directory that is not known.
    fn enter(&mut self, active: usize, parent: u32, rel: String) {
        let a = &self.changes.active[active];
        let path = at(&a.root, &rel);
        let fingerprint = match stat::stat(&path) {
            Ok((fp, FileKind::Directory)) => fp,
            Err(e) if e.kind() == ErrorKind::NotFound => return,
            Err(e) => return self.trouble(active, &rel, code(&e)),
            Ok(_) if rel.is_empty() => return self.trouble(active, &rel, "not_a_directory"),
            Ok(_) => return,
        };
        if !self.seen.insert((fingerprint.dev, fingerprint.ino)) {
            return;
        }
        let id = self.next_dir;
        self.next_dir += 1;
        let listed = list(a.provider, &a.root, &rel, &path);
        let dir = Dir {
            root: a.id,
            parent,
            rel: Cow::Owned(rel.clone()),
            fingerprint,
            racy: self.is_racy(&fingerprint),
            failed: listed.is_err(),
            gone: false,
        };
        self.changes.dirs.push(DirChange::Put(id, dir));
        match listed {
            Ok(entries) => self.take_in(active, id, &rel, &entries.iter().collect::<Vec<_>>()),
            Err(e) => self.trouble(active, &rel, code(&e)),
        }
    }

    fn take_in(&mut self, active: usize, dir: u32, rel: &str, entries: &[&Entry]) {
        let path = at(&self.changes.active[active].root, rel);
        let handle = stat::Dir::open(&path);
        for entry in entries {
            let Some(kind) = entry.kind else {
                let below = if rel.is_empty() { entry.name.clone() } else { format!("{rel}/{}", entry.name) };
                self.enter(active, dir, below);
                continue;
            };
            let Ok(handle) = &handle else { continue };
            let Some((fingerprint, health)) = condition(look(handle, &entry.name), entry.odd) else {
                continue;
            };
            let racy = self.is_racy(&fingerprint);
            let file = File {
                dir,
                name: Cow::Owned(entry.name.clone()),
                kind,
                fingerprint,
                racy,
                link: entry.link,
                health,
            };
            self.changes.files.push(FileChange::New(file));
        }
    }

    /// A link to a file that is in the store under its own name is not another session.
    fn drop_copies(&mut self) {
        let linked = |f: &FileChange| matches!(f, FileChange::New(f) if f.link);
        if !self.changes.files.iter().any(linked) {
            return;
        }
        let mut real: HashSet<(u64, u64)> = HashSet::new();
        for id in 0..self.known.dir_count() {
            real.extend(
                self.known
                    .files_in(id)
                    .iter()
                    .filter_map(|f| self.known.file(*f))
                    .filter(|f| !f.link && f.health != Health::Vanished)
                    .map(|f| inode(&f.fingerprint)),
            );
        }
        real.extend(self.changes.files.iter().filter_map(|f| match f {
            FileChange::New(f) if !f.link => Some(inode(&f.fingerprint)),
            _ => None,
        }));
        self.changes.files.retain(|f| match f {
            FileChange::New(f) if f.link => real.insert(inode(&f.fingerprint)),
            _ => true,
        });
    }

    fn is_racy(&self, fp: &Fingerprint) -> bool {
        is_racy(fp, self.racy_from)
    }
}

/// Whether a change in one of these directories can concern a directory: it is one of them or lies directly in one.
fn concerns(known: &impl Known, root: &Root, id: u32, only: &HashSet<PathBuf>) -> bool {
    let Some(dir) = known.dir(id) else { return false };
    let path = at(root, &dir.rel);
    only.contains(&path) || path.parent().is_some_and(|p| only.contains(p))
}

/// Whether the roots are where they were: a directory above one may have been moved, of which no notice comes.
pub fn roots_stand(known: &impl Known, active: &[Active]) -> bool {
    (0..known.dir_count()).filter_map(|id| known.dir(id)).filter(|d| d.parent == NO_PARENT).all(|d| {
        let Some(a) = active.iter().find(|a| a.id == d.root) else { return true };
        stat::stat(&a.root.path).map_or(d.gone, |(fp, _)| !d.gone && fp.same_file(&d.fingerprint))
    }) && active.iter().all(|a| has_root_dir(known, a.id) || stat::stat(&a.root.path).is_err())
}

fn has_root_dir(known: &impl Known, root: u32) -> bool {
    (0..known.dir_count()).filter_map(|id| known.dir(id)).any(|d| d.parent == NO_PARENT && d.root == root)
}

/// The directories of the active roots, by path.
pub fn known_dirs<'k>(known: &'k impl Known, active: &'k [Active]) -> impl Iterator<Item = PathBuf> + 'k {
    (0..known.dir_count()).filter_map(|id| {
        let dir = known.dir(id)?;
        Some(at(&active.iter().find(|a| a.id == dir.root)?.root, &dir.rel))
    })
}

fn inode(fp: &Fingerprint) -> (u64, u64) {
    (fp.dev, fp.ino)
}

/// Whether a stamp is too young (or in the future) to prove that nothing was written after it.
pub fn is_racy(fp: &Fingerprint, racy_from_ns: i64) -> bool {
    fp.mtime_ns >= racy_from_ns
}

fn look_at(
    known: &(impl Known + Sync),
    active: &Active,
    id: u32,
    racy_from: i64,
    files: &mut Vec<FileChange>,
) -> Look {
    let Some(dir) = known.dir(id) else { return Look::Gone };
    let handle = match stat::Dir::open(&at(&active.root, &dir.rel)) {
        Ok(handle) => handle,
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return if dir.gone { Look::Same } else { Look::Gone };
        }
        Err(e) => return Look::Failed(code(&e)),
    };
    for file in known.files_in(id) {
        files.extend(look_at_file(known, &handle, *file, racy_from));
    }
    match handle.fingerprint() {
        Ok(fp) if fp == dir.fingerprint && !dir.racy && !dir.failed && !dir.gone => Look::Same,
        Ok(fp) => Look::List(fp),
        Err(e) => Look::Failed(code(&e)),
    }
}

fn look_at_file(known: &impl Known, dir: &stat::Dir, id: u32, racy_from: i64) -> Option<FileChange> {
    let file = known.file(id)?;
    let Some((fingerprint, health)) = condition(look(dir, &file.name), false) else {
        return (file.health != Health::Vanished).then_some(FileChange::Gone(id));
    };
    let odd = file.health == Health::NotRegular && health == Health::NotRegular;
    let same = health == Health::Good || odd || health == file.health;
    if fingerprint == file.fingerprint && same && file.health != Health::Vanished {
        return (file.racy && health == Health::Good).then_some(FileChange::Unsure(id));
    }
    let file = File {
        name: Cow::Owned(file.name.clone().into_owned()),
        fingerprint,
        health,
        racy: is_racy(&fingerprint, racy_from),
        ..*file
    };
    Some(FileChange::Changed(id, file))
}

/// A file's state and whether it can be read; `None` if it is not there (a dangling link is not).
fn condition(found: std::io::Result<(Fingerprint, FileKind)>, odd: bool) -> Option<(Fingerprint, Health)> {
    match found {
        Ok((fp, FileKind::Regular)) => Some((fp, Health::Good)),
        // The stamp of what is no file says nothing: a directory's changes with its content.
        Ok((fp, kind)) if odd || kind == FileKind::Other || kind == FileKind::Directory => {
            Some((Fingerprint { dev: fp.dev, ino: fp.ino, ..Fingerprint::default() }, Health::NotRegular))
        }
        Err(e) if e.kind() != ErrorKind::NotFound => Some((Fingerprint::default(), Health::Unreadable)),
        _ => None,
    }
}

fn code(e: &std::io::Error) -> &'static str {
    match e.kind() {
        ErrorKind::PermissionDenied => "permission_denied",
        ErrorKind::NotADirectory => "not_a_directory",
        _ => "unreadable",
    }
}

fn at(root: &Root, rel: &str) -> PathBuf {
    if rel.is_empty() { root.path.clone() } else { root.path.join(rel) }
}

fn name(rel: &str) -> &str {
    rel.rsplit('/').next().unwrap_or(rel)
}

fn own(dir: Dir<'_>) -> Dir<'static> {
    Dir { rel: Cow::Owned(dir.rel.into_owned()), ..dir }
}
