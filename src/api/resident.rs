//! Answers in a process that stays: the state is kept, and only what the system said has changed is looked at.

use super::catalog::{Catalog, Ready, attempt};
use crate::discover::{
    Changes, DirChange, Notices, Sentinel, Trouble, Watcher, activate, known_dirs, roots_stand,
};
use crate::error::{Error, Result};
use crate::index::{self, Loaded, Refreshed, Request, Snapshot};
use crate::io::cache_dir::CacheDir;
use crate::limits::OVERLAY_MAX;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Changes taken into memory one on the other before they are published.
const CHAIN_MAX: usize = 8;
/// Rounds of watching new directories before everything is looked at again by the next question.
const ROUNDS: usize = 4;

/// What is kept between questions.
#[derive(Default)]
pub struct Resident {
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    snapshot: Option<Snapshot>,
    troubles: Vec<Trouble>,
    /// Changes in memory that are not published.
    chain: usize,
    watcher: Option<Watcher>,
    tried_to_watch: bool,
    /// Everything was looked at since the watches were set.
    covered: bool,
}

/// A state to answer from, and what was done to get there.
struct Current {
    snapshot: Snapshot,
    troubles: Vec<Trouble>,
    done: Refreshed,
}

struct CacheSentinel(CacheDir);

impl Sentinel for CacheSentinel {
    fn dir(&self) -> &Path {
        self.0.path()
    }

    fn touch(&mut self, name: &str) -> std::io::Result<()> {
        self.0.open_write(name, true)?;
        self.0.remove_file(name)
    }
}

impl Catalog {
    /// Does `work` on the state kept, after bringing it up to date.
    pub(super) fn answer_resident<T>(
        &self,
        resident: &Resident,
        work: impl Fn(&Ready<'_>) -> Result<T>,
    ) -> Result<T> {
        for rebuild in [false, true] {
            // Where the stores are is looked up once for each question: some agents say it in files.
            let request = self.request(rebuild);
            let current = self.bring_up(resident, &request);
            let active = activate(current.snapshot.tables(), &request.roots);
            if let Some(answer) = attempt(&current.snapshot, &active, &current.troubles, &current.done, &work)
            {
                return answer;
            }
        }
        Err(Error::index("the index cannot be read"))
    }

    fn bring_up(&self, resident: &Resident, request: &Request<'_>) -> Current {
        let mut held = resident.held.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = held.snapshot.take().filter(|_| !request.rebuild);
        if kept.is_none() {
            held.forget();
        }
        let done = match kept.or_else(|| self.loaded(request.rebuild)) {
            None => held.publish(self, request),
            Some(snapshot) => held.follow(self, snapshot, request),
        };
        let snapshot = held.snapshot.clone().unwrap_or_else(Snapshot::empty);
        Current { snapshot, troubles: held.troubles.clone(), done }
    }

    fn loaded(&self, rebuild: bool) -> Option<Snapshot> {
        match self.store.load() {
            Loaded::Ready(s) if !rebuild => Some(*s),
            _ => None,
        }
    }
}

impl Held {
    /// The state kept is gone, by a panic while it was brought up to date: what the system had told of was for it, not for the one on
    /// disk, so everything is looked at again.
    fn forget(&mut self) {
        self.covered = false;
        self.chain = 0;
    }

    /// Looks at what may have changed, and takes it in.
    fn follow(&mut self, catalog: &Catalog, snapshot: Snapshot, request: &Request<'_>) -> Refreshed {
        self.start_watching(catalog);
        let changes = self.look(&snapshot, request);
        if index::is_current(snapshot.tables(), &changes) {
            self.snapshot = Some(snapshot);
            return Refreshed::default();
        }
        if self.chain < CHAIN_MAX
            && let Some((newer, done)) = index::overlay(&catalog.store, &snapshot, &changes, OVERLAY_MAX)
        {
            self.snapshot = Some(newer);
            self.chain += 1;
            return done;
        }
        self.publish(catalog, request)
    }

    /// Publishes all changes and goes on from what is on disk.
    fn publish(&mut self, catalog: &Catalog, request: &Request<'_>) -> Refreshed {
        self.start_watching(catalog);
        let (snapshot, done, changes) = index::refresh(&catalog.store, request);
        self.troubles = changes.troubles;
        self.chain = 0;
        // Directories found just now were listed before they were watched: the next question looks at everything.
        self.covered = false;
        self.snapshot = Some(snapshot);
        done
    }

    fn start_watching(&mut self, catalog: &Catalog) {
        if std::mem::replace(&mut self.tried_to_watch, true) {
            return;
        }
        let dir = catalog.store.root().sub("watch");
        if dir.create().is_ok() {
            self.watcher = Watcher::new(Box::new(CacheSentinel(dir)));
        }
    }

    fn look(&mut self, snapshot: &Snapshot, request: &Request<'_>) -> Changes {
        let active = activate(snapshot.tables(), &request.roots);
        let notices = match &mut self.watcher {
            Some(watcher) if self.covered && roots_stand(snapshot.tables(), &active) => watcher.take(),
            Some(watcher) => {
                watcher.take();
                Notices::Unknown
            }
            None => Notices::Unknown,
        };
        match notices {
            Notices::In(dirs) if dirs.is_empty() => Changes::default(),
            Notices::In(dirs) => self.look_in(snapshot, request, Some(dirs)),
            Notices::Unknown => {
                if let Some(watcher) = &mut self.watcher {
                    watcher.add(known_dirs(snapshot.tables(), &active));
                }
                let changes = self.look_in(snapshot, request, None);
                self.troubles.clone_from(&changes.troubles);
                changes
            }
        }
    }

    /// Looks, and watches the directories that are new; what was put into them in between is found by looking again.
    fn look_in(
        &mut self,
        snapshot: &Snapshot,
        request: &Request<'_>,
        mut only: Option<HashSet<PathBuf>>,
    ) -> Changes {
        self.covered = false;
        for _ in 0..ROUNDS {
            let changes = index::look(snapshot, request, only.as_ref());
            let Some(watcher) = &mut self.watcher else { return changes };
            let added = watcher.add(new_dirs(&changes));
            if added.is_empty() {
                self.covered = true;
                return changes;
            }
            if let Some(only) = &mut only {
                only.extend(added);
            }
        }
        index::look(snapshot, request, None)
    }
}

fn new_dirs(changes: &Changes) -> Vec<PathBuf> {
    let put = |change: &DirChange| match change {
        DirChange::Put(_, dir) => {
            let root = &changes.active.iter().find(|a| a.id == dir.root)?.root;
            Some(if dir.rel.is_empty() { root.path.clone() } else { root.path.join(dir.rel.as_ref()) })
        }
        DirChange::Gone(_) => None,
    };
    changes.dirs.iter().filter_map(put).collect()
}
