//! Where calls do their work: a few at a time, in threads of their own, with a short queue, cancellation and progress.

use super::pending::{Pending, Phase};
use crate::limits::{MCP_CALL_BUDGET_MS, MCP_QUEUE_MAX, MCP_QUEUE_WAIT_MS, MCP_STRAYS_MAX};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// Progress is told this often at most.
const TELL_EVERY: Duration = Duration::from_millis(200);

/// How far a refresh is: done and all, in bytes.
pub type Tick = (u64, u64);

/// How a call ended.
#[derive(Debug)]
pub enum Outcome<T> {
    Done(T),
    /// Too many others are at work.
    Busy,
    /// It takes longer than a call may; it goes on, but nobody waits.
    Overdue,
    /// The client does not want the answer any more, or is gone.
    Cancelled,
    /// It panicked.
    Broken,
}

/// The workshop.
pub struct Work {
    permits: Arc<Semaphore>,
    queue: Semaphore,
    /// Places for work that nobody waits for any more. It cannot be stopped from outside, but it must not pile up either.
    strays: Arc<Semaphore>,
    pending: Arc<Pending>,
    ticks: watch::Receiver<Tick>,
}

/// What a piece of work occupies. Handed back when it ends, or exchanged for a stray's place when nobody waits for it.
type Place = Arc<Mutex<Option<OwnedSemaphorePermit>>>;

impl Work {
    pub fn new(calls: usize, pending: Arc<Pending>, ticks: watch::Receiver<Tick>) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(calls)),
            queue: Semaphore::new(MCP_QUEUE_MAX),
            strays: Arc::new(Semaphore::new(MCP_STRAYS_MAX)),
            pending,
            ticks,
        }
    }

    /// Does a piece of work for a request.
    pub async fn run<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Outcome<T> {
        let permit = tokio::select! {
            permit = self.permit() => permit,
            () = context.ct.cancelled() => return Outcome::Cancelled,
            () = self.pending.reached(Phase::Stopping) => return Outcome::Cancelled,
        };
        let Some(permit) = permit else { return Outcome::Busy };
        let place: Place = Arc::new(Mutex::new(Some(permit)));
        let held = Held(place.clone());
        let mut work = tokio::task::spawn_blocking(move || {
            let _held = held;
            job()
        });
        let outcome = self.watch(context, &mut work).await;
        if matches!(outcome, Outcome::Cancelled | Outcome::Overdue) {
            self.abandon(&place);
        }
        outcome
    }

    /// A permit, at once or after a short wait in the queue.
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = self.permits.clone().try_acquire_owned() {
            return Some(permit);
        }
        let _place = self.queue.try_acquire().ok()?;
        let wait = Duration::from_millis(MCP_QUEUE_WAIT_MS);
        timeout(wait, self.permits.clone().acquire_owned()).await.ok()?.ok()
    }

    /// Waits for the work, and tells how far it is to a client that asked for that.
    async fn watch<T>(&self, context: &RequestContext<RoleServer>, work: &mut JoinHandle<T>) -> Outcome<T> {
        let deadline = Instant::now() + Duration::from_millis(MCP_CALL_BUDGET_MS);
        let mut teller = context.meta.get_progress_token().map(|t| Teller::new(t, self.ticks.clone()));
        loop {
            tokio::select! {
                biased;
                done = &mut *work => return done.map_or(Outcome::Broken, Outcome::Done),
                () = context.ct.cancelled() => return Outcome::Cancelled,
                () = self.pending.reached(Phase::Stopping) => return Outcome::Cancelled,
                () = tokio::time::sleep_until(deadline) => return Outcome::Overdue,
                () = tokio::time::sleep(TELL_EVERY), if teller.is_some() => {}
            }
            if let Some(news) = teller.as_mut().and_then(Teller::news) {
                // At the end of the input nothing reads the acknowledgement any more.
                tokio::select! {
                    _ = context.peer.notify_progress(news) => {}
                    () = self.pending.reached(Phase::Ending) => teller = None,
                }
            }
        }
    }

    /// Lets others work in the place of what nobody waits for, unless there is too much of that already.
    fn abandon(&self, place: &Place) {
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_some()
            && let Ok(stray) = self.strays.clone().try_acquire_owned()
        {
            *place = Some(stray);
        }
    }
}

/// Gives the place back when the work ends, however it ends.
struct Held(Place);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// What one client was told of the progress.
struct Teller {
    token: ProgressToken,
    ticks: watch::Receiver<Tick>,
    last: u64,
}

impl Teller {
    fn new(token: ProgressToken, mut ticks: watch::Receiver<Tick>) -> Self {
        ticks.mark_unchanged();
        Self { token, ticks, last: 0 }
    }

    /// What to tell next: only what is more than before.
    fn news(&mut self) -> Option<ProgressNotificationParam> {
        if !self.ticks.has_changed().unwrap_or(false) {
            return None;
        }
        let (done, all) = *self.ticks.borrow_and_update();
        if done <= self.last {
            return None;
        }
        self.last = done;
        let news = ProgressNotificationParam::new(self.token.clone(), done as f64);
        Some(news.with_total(all.max(done) as f64).with_message("bringing the index up to date"))
    }
}
