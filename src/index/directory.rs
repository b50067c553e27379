//! Where tantivy keeps its files: memory-mapped for reading, written without waiting for the disk.
//!
//! A cache need not survive a power failure, it must only notice one: the payload of each commit names the boot it was made in,
//! and an index of another boot is trusted after its checksums were verified. Readers take tantivy's lock if they can, so that a
//! cache on a read-only disk can still be read.

use crate::io::cache_dir::{CacheDir, CacheFile};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// A directory of a [`CacheDir`].
#[derive(Debug, Clone)]
pub struct CacheDirectory {
    cache: CacheDir,
    mapped: MmapDirectory,
}

impl CacheDirectory {
    pub fn open(cache: CacheDir) -> Result<Self, OpenDirectoryError> {
        let mapped = MmapDirectory::open(cache.path())?;
        Ok(Self { cache, mapped })
    }
}

struct Unsynced(CacheFile);

impl Write for Unsynced {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

fn name(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::ErrorKind::InvalidFilename.into())
}

impl Directory for CacheDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let removed = name(path).and_then(|n| self.cache.remove_file(n));
        removed.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(path.to_owned()),
            _ => DeleteError::IoError { io_error: Arc::new(e), filepath: path.to_owned() },
        })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        if matches!(self.mapped.exists(path), Ok(true)) {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        let file = name(path).and_then(|n| self.cache.open_write(n, true));
        let file = file.map_err(|e| OpenWriteError::wrap_io_error(e, path.to_owned()))?;
        Ok(BufWriter::with_capacity(64 << 10, Box::new(Unsynced(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.cache.write_atomic(name(path)?, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // Made by us first, so that it is private like everything here.
        if let Ok(name) = name(&lock.filepath) {
            let _ = self.cache.open_write(name, false);
        }
        match self.mapped.acquire_lock(lock) {
            Err(LockError::IoError(_)) if lock.filepath == META_LOCK.filepath => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            other => other,
        }
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
