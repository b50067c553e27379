//! Bringing the catalog up to date.

use super::lock::{self, Refused};
use super::plan::Plan;
use super::snapshot::Snapshot;
use super::store::{Loaded, Store};
use super::write::{Failure, Writing};
use crate::discover::{Changes, SearchRoot, Trouble, scan};
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// How far a refresh is; for a progress bar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    pub sources_done: usize,
    pub sources: usize,
    pub bytes_done: u64,
    pub bytes: u64,
}

/// What a refresh did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Sources read.
    pub sources: usize,
    /// What stood in the way, as a warning code.
    pub trouble: Option<&'static str>,
}

/// What a refresh is asked to do.
pub struct Request<'r> {
    pub roots: Vec<SearchRoot>,
    /// What is known to be amiss before anything was looked at.
    pub troubles: Vec<Trouble>,
    /// Sessions that are gone from their stores stay findable.
    pub keep_vanished: bool,
    pub now_ms: i64,
    pub wait: Duration,
    /// What is there is not to be trusted: begin anew.
    pub rebuild: bool,
    /// Stop after about this long, with what was read by then; the next refresh goes on.
    pub budget: Option<Duration>,
    pub progress: &'r (dyn Fn(Progress) + Sync),
}

/// Brings the catalog up to date. Gives the best state that could be had, with the trouble met on the way.
pub fn refresh(store: &Store, request: &Request<'_>) -> (Snapshot, Refreshed, Changes) {
    let mut done = Refreshed::default();
    let guard = match lock::acquire(store.root(), request.wait) {
        Ok(guard) => Some(guard),
        Err(Refused::Busy) => {
            done.trouble = Some("index_busy");
            None
        }
        Err(Refused::Impossible) => {
            done.trouble = Some("index_not_writable");
            None
        }
    };
    // Another process may have done the work while we waited.
    let mut current = match store.load() {
        Loaded::Ready(newer) if !request.rebuild => *newer,
        Loaded::Ready(_) | Loaded::Damaged(_) | Loaded::Missing => Snapshot::empty(),
    };
    let mut changes = look(&current, request, None);
    if guard.is_some() {
        match write(store, &current, &mut changes, false, request) {
            Ok((snapshot, sources)) => {
                done.sources = sources;
                return (snapshot, done, changes);
            }
            Err(Failure(why)) => done.trouble = Some(why),
        }
        if let Loaded::Ready(published) = store.load() {
            current = *published;
        }
    }
    // Nothing can be written: what changed is taken into memory for this answer.
    let mut changes = look(&current, request, None);
    match write(store, &current, &mut changes, true, request) {
        Ok((snapshot, sources)) => {
            done.sources = sources;
            (snapshot, done, changes)
        }
        Err(Failure(why)) => {
            done.trouble = Some(why);
            (current, done, changes)
        }
    }
}

/// Takes changes into memory, on top of a state, if they are few: cheaper than publishing them, and as right. `None` if they are many.
pub fn overlay(
    store: &Store,
    current: &Snapshot,
    changes: &Changes,
    most: u64,
) -> Option<(Snapshot, Refreshed)> {
    const FILES: usize = 16;
    let plan = Plan::new(current, changes);
    // What is no longer to be remembered must go from the disk too.
    let forgets = current.tables().lost && !changes.keep_vanished;
    let many =
        forgets || plan.jobs.len() > FILES || plan.work() > most || plan.frame.sources.len() > 4 * FILES;
    if current.messages.is_none() || many {
        return None;
    }
    let (snapshot, sources) = Writing { store, current, memory: true, plan }.overlay().ok()?;
    Some((snapshot, Refreshed { sources, trouble: None }))
}

fn write(
    store: &Store,
    current: &Snapshot,
    changes: &mut Changes,
    memory: bool,
    request: &Request<'_>,
) -> Result<(Snapshot, usize), Failure> {
    let mut plan = Plan::new(current, changes);
    if !memory {
        plan.age_roots(&changes.active, request.now_ms);
    }
    Writing { store, current, memory, plan }.run(request.progress, request.budget)
}

/// Compares the stores with a state of the catalog.
pub fn look(snapshot: &Snapshot, request: &Request<'_>, only: Option<&HashSet<PathBuf>>) -> Changes {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let mut changes = scan(snapshot.tables(), request.roots.clone(), request.now_ms, threads, only);
    changes.troubles.extend(request.troubles.iter().cloned());
    changes.keep_vanished = request.keep_vanished;
    changes
}
