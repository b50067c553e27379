//! Which requests wait for their answer, and whether the session is ending.

use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// How far the end of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Serving,
    /// The client sends nothing more: subscriptions end, running calls may finish.
    Ending,
    /// Whatever still runs gives up.
    Stopping,
}

/// What the transport and the handlers both know.
#[derive(Debug)]
pub struct Pending {
    open: Mutex<HashMap<RequestId, Kind>>,
    fewer: Notify,
    phase: watch::Sender<Phase>,
}

/// What kind of answer a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Call,
    /// Answered only when the session ends.
    Subscription,
}

impl Default for Pending {
    fn default() -> Self {
        Self { open: Mutex::default(), fewer: Notify::new(), phase: watch::Sender::new(Phase::Serving) }
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Kind>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn begin(&self, id: RequestId, kind: Kind) {
        self.lock().insert(id, kind);
    }

    /// A request was answered, or its answer is not wanted any more.
    pub fn end(&self, id: &RequestId) {
        self.lock().remove(id);
        self.fewer.notify_one();
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.lock().values().filter(|k| **k == kind).count()
    }

    /// Waits until fewer than `most` calls are open.
    pub async fn room(&self, most: usize) {
        while self.count(Kind::Call) >= most {
            self.fewer.notified().await;
        }
    }

    /// Waits until everything is answered, at most until then.
    pub async fn settled(&self, end: Instant) {
        let all = async {
            while !self.lock().is_empty() {
                self.fewer.notified().await;
            }
        };
        let _ = timeout_at(end, all).await;
    }

    pub fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|p| std::mem::replace(p, (*p).max(phase)) < phase);
    }

    /// Waits for the session to be that far.
    pub async fn reached(&self, phase: Phase) {
        let _ = self.phase.subscribe().wait_for(|p| *p >= phase).await;
    }
}
