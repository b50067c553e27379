//! One writer at a time. Holding [`Exclusive`] is what allows to write; the lock dies with its process.

use crate::io::cache_dir::{CacheDir, CacheFile};
use std::fs::TryLockError;
use std::time::{Duration, Instant};

/// The right to change the cache.
#[derive(Debug)]
pub struct Exclusive {
    _file: CacheFile,
}

/// Why the lock was not had.
#[derive(Debug)]
pub enum Refused {
    /// Another process kept it for the whole time waited.
    Busy,
    /// The cache can't be written, or the file system can't lock.
    Impossible,
}

/// Waits for the lock, at most this long.
pub fn acquire(cache: &CacheDir, wait: Duration) -> Result<Exclusive, Refused> {
    cache.create().map_err(|_| Refused::Impossible)?;
    let file = cache.open_write("refresh.lock", false).map_err(|_| Refused::Impossible)?;
    let deadline = Instant::now() + wait;
    let mut pause = Duration::from_millis(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Exclusive { _file: file }),
            Err(TryLockError::Error(_)) => return Err(Refused::Impossible),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Err(Refused::Busy),
            Err(TryLockError::WouldBlock) => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
