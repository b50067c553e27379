//! The façade: brings the index up to date, then answers.

use super::resident::Resident;
use super::response::IndexState;
use super::scope::Scope;
use crate::config::Config;
use crate::discover::{Active, Trouble, activate};
use crate::error::{Error, Result};
use crate::index::{self, Loaded, Progress, Refreshed, Request, Snapshot, Status, Store};
use crate::io::cache_dir::CacheDir;
use crate::io::env::Env;
use crate::limits::{LOCK_WAIT_MS, OVERLAY_MAX};
use crate::query::View;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Whether an answer may be older than the stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// What changed is read first.
    #[default]
    Refresh,
    /// From the last published state, at once.
    AsIs,
}

type Watch = dyn Fn(Progress) + Send + Sync;

/// The catalog of one user, as one front end sees it.
pub struct Catalog {
    pub(super) env: Env,
    pub(super) config: Config,
    pub(super) scope: Scope,
    pub(super) store: Store,
    freshness: Freshness,
    progress: Box<Watch>,
    pub(super) resident: Option<Resident>,
    budget: Option<Duration>,
    /// Whether words are looked for in titles.
    pub(super) titles: bool,
}

/// A state to answer from.
pub(super) struct Ready<'r> {
    pub view: View<'r>,
    pub active: &'r [Active],
    pub index: IndexState,
    pub troubles: &'r [Trouble],
    /// What kept the refresh from being complete.
    pub trouble: Option<&'static str>,
}

impl Catalog {
    /// The catalog in the user's cache directory.
    pub fn new(env: Env, scope: Scope) -> Self {
        let cache = Self::cache_of(&env);
        Self::in_cache(env, scope, cache)
    }

    fn cache_of(env: &Env) -> CacheDir {
        // Without any directory everything is taken into memory: the path cannot be made, and the refresh says so.
        CacheDir::locate(env).unwrap_or_else(|| CacheDir::at("/nonexistent/agf-catalog"))
    }

    /// The catalog in a directory of the caller's choice.
    pub fn in_cache(env: Env, scope: Scope, cache: CacheDir) -> Self {
        Self {
            config: Config::load(&env),
            env,
            scope,
            store: Store::new(cache),
            freshness: Freshness::default(),
            progress: Box::new(|_| {}),
            resident: None,
            budget: None,
            titles: true,
        }
    }

    pub fn freshness(mut self, freshness: Freshness) -> Self {
        self.freshness = freshness;
        self
    }

    /// For a process that stays: keeps the state between questions and has the system tell what changes.
    pub fn resident(mut self) -> Self {
        self.resident = Some(Resident::default());
        self
    }

    /// Answers after about this long even if not everything was read: what is missing is said, and the next question goes on.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Whether a word may find a session by its title, which is often its first prompt.
    pub fn titles(mut self, searched: bool) -> Self {
        self.titles = searched;
        self
    }

    /// Has the progress of a refresh told.
    pub fn on_progress(mut self, watch: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Box::new(watch);
        self
    }

    pub fn env(&self) -> &Env {
        &self.env
    }

    pub fn status(&self) -> Status {
        self.store.status()
    }

    /// Whether the index agrees with its checksums; `None` if there is none.
    pub fn verify(&self) -> Option<bool> {
        self.store.verify()
    }

    /// Removes the index. The stores are not touched.
    pub fn clear(&self) -> Result<()> {
        self.store.dir.remove().map_err(|e| Error::index(format!("cannot remove the index: {}", e.kind())))
    }

    /// Builds the index anew.
    pub fn rebuild(&self) -> Result<Refreshed> {
        let (_, done, _) = index::refresh(&self.store, &self.request(true));
        match done.trouble {
            Some(code) => Err(Error::index(format!("cannot rebuild the index: {code}"))),
            None => Ok(done),
        }
    }

    pub(super) fn request(&self, rebuild: bool) -> Request<'_> {
        Request {
            roots: self.config.roots(&self.env),
            troubles: self.config.troubles(),
            keep_vanished: self.config.keep_vanished,
            now_ms: self.env.now_ms(),
            wait: Duration::from_millis(LOCK_WAIT_MS),
            rebuild,
            budget: self.budget,
            progress: &*self.progress,
        }
    }

    /// Does `work` on a state that is as fresh as asked for. It may be done twice: once while the stores are compared with the
    /// last published state, and again if something changed.
    pub(super) fn answer<T: Send>(&self, work: impl Fn(&Ready<'_>) -> Result<T> + Sync) -> Result<T> {
        if let Some(resident) = self.resident.as_ref().filter(|_| self.freshness == Freshness::Refresh) {
            return self.answer_resident(resident, work);
        }
        let (snapshot, damaged) = match self.store.load() {
            Loaded::Ready(snapshot) => (*snapshot, false),
            Loaded::Missing => (Snapshot::empty(), false),
            Loaded::Damaged(_) => (Snapshot::empty(), true),
        };
        let request = self.request(damaged);
        if self.freshness == Freshness::AsIs {
            return self.as_is(&snapshot, &request, work);
        }
        let mut rebuild = damaged;
        if snapshot.messages.is_some() {
            let active = activate(snapshot.tables(), &request.roots);
            let early = |work: &dyn Fn(&Ready<'_>) -> Result<T>| {
                attempt(&snapshot, &active, &[], &Refreshed::default(), work)
            };
            let (changes, early) = std::thread::scope(|scope| {
                let look = scope.spawn(|| index::look(&snapshot, &request, None));
                let early = early(&work);
                (look.join(), early)
            });
            let changes = changes.map_err(|_| Error::index("the stores could not be compared"))?;
            if index::is_current(snapshot.tables(), &changes) {
                match early {
                    Some(answer) if changes.troubles.is_empty() => return answer,
                    Some(_) => {
                        if let Some(answer) = attempt(
                            &snapshot,
                            &changes.active,
                            &changes.troubles,
                            &Refreshed::default(),
                            &work,
                        ) {
                            return answer;
                        }
                    }
                    None => rebuild = true,
                }
            } else if early.is_none() {
                rebuild = true;
            } else if let Some((newer, done)) = index::overlay(&self.store, &snapshot, &changes, OVERLAY_MAX)
                && let Some(answer) = attempt(&newer, &changes.active, &changes.troubles, &done, &work)
            {
                return answer;
            }
        }
        self.refreshed(rebuild, work)
    }

    fn as_is<T>(
        &self,
        snapshot: &Snapshot,
        request: &Request<'_>,
        work: impl Fn(&Ready<'_>) -> Result<T>,
    ) -> Result<T> {
        let active = activate(snapshot.tables(), &request.roots);
        attempt(snapshot, &active, &request.troubles, &Refreshed::default(), &work)
            .unwrap_or_else(|| Err(Error::index("the index is damaged")))
    }

    fn refreshed<T>(&self, mut rebuild: bool, work: impl Fn(&Ready<'_>) -> Result<T>) -> Result<T> {
        // A damaged index may only show while it is read: then it is built anew, once.
        for _ in 0..2 {
            let (snapshot, done, changes) = index::refresh(&self.store, &self.request(rebuild));
            if let Some(answer) = attempt(&snapshot, &changes.active, &changes.troubles, &done, &work) {
                return answer;
            }
            rebuild = true;
        }
        Err(Error::index("the index cannot be read"))
    }
}

/// Does the work on a state; `None` if the state turns out to be damaged.
pub(super) fn attempt<T>(
    snapshot: &Snapshot,
    active: &[Active],
    troubles: &[Trouble],
    done: &Refreshed,
    work: &(impl Fn(&Ready<'_>) -> Result<T> + ?Sized),
) -> Option<Result<T>> {
    // Damaged columns make the decoder panic; that must not end a server.
    let result = catch_unwind(AssertUnwindSafe(|| {
        let tables = snapshot.tables();
        let index = IndexState {
            generation: tables.generation,
            complete: tables.pending == 0 && snapshot.messages.is_some(),
            pending_sources: u64::from(tables.pending),
            refreshed_sources: done.sources as u64,
        };
        work(&Ready { view: View::new(snapshot, active), active, index, troubles, trouble: done.trouble })
    }));
    match result {
        Ok(Err(e)) if e.code == crate::error::ErrorCode::IndexUnavailable => None,
        Ok(answer) => Some(answer),
        Err(_) => None,
    }
}
