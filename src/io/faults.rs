//! Making writes fail, so that what happens on a full disk and after a crash can be tried at every step of a write.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Lets a number of steps succeed. From then on nothing reaches the disk, as if it were full or the process dead.
#[derive(Debug)]
pub struct Faults {
    taken: AtomicU64,
    good: u64,
    /// Only that one step fails; the next ones succeed.
    once: bool,
}

/// How a step fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// Half of it reaches the disk.
    Torn,
    Lost,
}

impl Faults {
    /// Everything after `good` steps is lost, the first of it torn.
    pub fn after(good: u64) -> Self {
        Self { taken: AtomicU64::new(0), good, once: false }
    }

    /// One step after `good` others is torn.
    pub fn once_after(good: u64) -> Self {
        Self { once: true, ..Self::after(good) }
    }

    /// Steps taken so far.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::SeqCst)
    }

    /// Takes a step.
    pub fn step(&self) -> Fate {
        match self.taken.fetch_add(1, Ordering::SeqCst) {
            n if n < self.good => Fate::Done,
            n if n == self.good => Fate::Torn,
            _ if self.once => Fate::Done,
            _ => Fate::Lost,
        }
    }
}

/// The error of a disk that is full.
pub fn full() -> io::Error {
    io::ErrorKind::StorageFull.into()
}
