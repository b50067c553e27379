//! Knowing what changed without looking: for processes that stay.
//!
//! The system's notices are late: a write can be over before its notice is here. So each question writes a sentinel into a
//! directory of our own that the same watcher watches, and waits for *its* notice: by then all earlier ones have come. A lost
//! notice, a full queue, a watch that cannot be had or a sentinel that does not come back mean: look at everything.

use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a sentinel may take before everything is looked at instead.
const SENTINEL_WAIT: Duration = Duration::from_millis(250);

/// What the notices said since they were last asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notices {
    /// Changes happened in these directories only.
    In(HashSet<PathBuf>),
    /// Anything may have changed.
    Unknown,
}

/// Makes and removes the sentinels; the caller owns the directory.
pub trait Sentinel: Send {
    /// The directory they lie in.
    fn dir(&self) -> &Path;
    /// Makes a new file there and removes it again.
    fn touch(&mut self, name: &str) -> std::io::Result<()>;
}

#[derive(Default)]
struct Inbox {
    /// What the notices named: files, and directories themselves.
    paths: HashSet<PathBuf>,
    lost: bool,
    /// Number of the last sentinel whose notice came.
    sentinel: u64,
}

type Shared = Arc<(Mutex<Inbox>, Condvar)>;

/// Watches directories, each by itself: nothing below it is visited for that.
pub struct Watcher {
    system: RecommendedWatcher,
    inbox: Shared,
    sentinel: Box<dyn Sentinel>,
    sent: u64,
    watched: HashSet<PathBuf>,
    /// Some directory could not be watched.
    partial: bool,
}

impl Watcher {
    /// `None` where the system has no notices to give.
    pub fn new(sentinel: Box<dyn Sentinel>) -> Option<Self> {
        let inbox: Shared = Arc::default();
        let for_events = Arc::clone(&inbox);
        let own = sentinel.dir().to_owned();
        let prefix = prefix();
        let handler = move |event: notify::Result<Event>| take(&for_events, &own, &prefix, event);
        let mut system = RecommendedWatcher::new(handler, Config::default()).ok()?;
        system.watch(sentinel.dir(), RecursiveMode::NonRecursive).ok()?;
        Some(Self { system, inbox, sentinel, sent: 0, watched: HashSet::new(), partial: false })
    }

    /// Watches these directories too. Returns those that were not watched before: they must be looked at after this.
    pub fn add(&mut self, dirs: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
        let mut new = Vec::new();
        for dir in dirs {
            if self.watched.contains(&dir) {
                continue;
            }
            if self.system.watch(&dir, RecursiveMode::NonRecursive).is_err() {
                // Gone meanwhile, or beyond the system's limit: only a look at everything is safe.
                self.partial |= dir.exists();
                continue;
            }
            self.watched.insert(dir.clone());
            new.push(dir);
        }
        new
    }

    /// What changed since the last call. All that was written before this call is in it.
    pub fn take(&mut self) -> Notices {
        if self.partial || !self.round_trip() {
            self.clear();
            return Notices::Unknown;
        }
        let mut inbox = self.inbox.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut paths = std::mem::take(&mut inbox.paths);
        if std::mem::take(&mut inbox.lost) {
            // A watch may have ended with its directory; what is there now is watched anew.
            drop(inbox);
            self.forget_watches();
            return Notices::Unknown;
        }
        drop(inbox);
        self.renew(&paths);
        let parents: Vec<PathBuf> = paths.iter().filter_map(|p| p.parent().map(Path::to_owned)).collect();
        paths.extend(parents);
        Notices::In(paths)
    }

    /// A directory that was itself the subject of a notice may be another one by now: watched anew before it is looked at.
    fn renew(&mut self, paths: &HashSet<PathBuf>) {
        let named: Vec<PathBuf> = self.watched.intersection(paths).cloned().collect();
        for dir in named {
            let _ = self.system.unwatch(&dir);
            self.watched.remove(&dir);
            self.add([dir]);
        }
    }

    fn forget_watches(&mut self) {
        for dir in self.watched.drain() {
            let _ = self.system.unwatch(&dir);
        }
    }

    fn clear(&mut self) {
        let mut inbox = self.inbox.0.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.paths.clear();
        inbox.lost = false;
    }

    fn round_trip(&mut self) -> bool {
        self.sent += 1;
        if self.sentinel.touch(&format!("{}{}", prefix(), self.sent)).is_err() {
            return false;
        }
        let (inbox, came) = &*self.inbox;
        let Ok(inbox) = inbox.lock() else { return false };
        came.wait_timeout_while(inbox, SENTINEL_WAIT, |i| i.sentinel < self.sent)
            .is_ok_and(|(_, timeout)| !timeout.timed_out())
    }
}

/// Begins the names of this process's sentinels; others use the directory too.
fn prefix() -> String {
    format!("s{}-", std::process::id())
}

fn take(shared: &Shared, own: &Path, prefix: &str, event: notify::Result<Event>) {
    let Ok(mut inbox) = shared.0.lock() else { return };
    let Ok(event) = event else {
        inbox.lost = true;
        return;
    };
    if event.need_rescan() {
        inbox.lost = true;
    }
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for path in event.paths {
        if let Some(name) = path.strip_prefix(own).ok().and_then(|n| n.to_str()) {
            let number = name.strip_prefix(prefix).and_then(|n| n.parse().ok()).unwrap_or(0);
            inbox.sentinel = inbox.sentinel.max(number);
            shared.1.notify_all();
            continue;
        }
        inbox.paths.insert(path);
    }
}
