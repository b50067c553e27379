//! The only writer. Everything the program keeps lies in one directory of the user's, and nothing outside it is ever changed.

use super::env::Env;
use super::faults::{Fate, Faults, full};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The catalog's own directory.
#[derive(Debug, Clone)]
pub struct CacheDir {
    path: PathBuf,
    faults: Option<Arc<Faults>>,
}

/// A file in it that can be written.
#[derive(Debug)]
pub struct CacheFile {
    file: File,
    faults: Option<Arc<Faults>>,
}

fn fate(faults: &Option<Arc<Faults>>) -> Fate {
    faults.as_ref().map_or(Fate::Done, |f| f.step())
}

/// Does a step that is done or not, but never in part.
fn whole<T>(faults: &Option<Arc<Faults>>, step: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    if fate(faults) == Fate::Done { step() } else { Err(full()) }
}

impl CacheFile {
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }
}

impl Write for CacheFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match fate(&self.faults) {
            Fate::Done => self.file.write(bytes),
            Fate::Torn => self.file.write_all(&bytes[..bytes.len() / 2]).and(Err(full())),
            Fate::Lost => Err(full()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl CacheDir {
    /// `AGF_CACHE_DIR`, or the platform's cache directory for `agf-catalog`.
    pub fn locate(env: &Env) -> Option<Self> {
        let path =
            env.dir_var("AGF_CACHE_DIR").or_else(|| platform_cache(env).map(|c| c.join("agf-catalog")))?;
        Some(Self::at(path))
    }

    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), faults: None }
    }

    /// The same, with writes that fail as told.
    pub fn with_faults(mut self, faults: Arc<Faults>) -> Self {
        self.faults = Some(faults);
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn sub(&self, name: &str) -> Self {
        Self { path: self.path.join(name), faults: self.faults.clone() }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Makes the directory, readable by its owner only.
    pub fn create(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        if self.path.is_dir() {
            return Ok(());
        }
        whole(&self.faults, || builder.create(&self.path))
    }

    /// Opens a file for writing, made new and private if it is missing.
    pub fn open_write(&self, name: &str, truncate: bool) -> io::Result<CacheFile> {
        let mut options = OpenOptions::new();
        options.write(true).read(true).create(true).truncate(truncate);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = whole(&self.faults, || options.open(self.file(name)))?;
        Ok(CacheFile { file, faults: self.faults.clone() })
    }

    /// Replaces a file in one step: readers see the old or the new one.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = format!(".{name}.{}.tmp", std::process::id());
        let result = (|| {
            self.open_write(&temp, true)?.write_all(bytes)?;
            whole(&self.faults, || fs::rename(self.file(&temp), self.file(name)))
        })();
        if result.is_err() {
            let _ = self.remove_file(&temp);
        }
        result
    }

    /// Writes `bytes` at `offset` and cuts the file there: what an unpublished earlier attempt left behind goes.
    pub fn write_tail(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.open_write(name, false)?;
        whole(&self.faults, || file.file.set_len(offset))?;
        file.file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        whole(&self.faults, || fs::remove_file(self.file(name)))
    }

    pub fn remove(&self) -> io::Result<()> {
        match whole(&self.faults, || fs::remove_dir_all(&self.path)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Names in the directory; none if it is missing.
    pub fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.path) else { return Vec::new() };
        entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect()
    }

    /// Bytes of all files below.
    pub fn size(&self) -> u64 {
        fn walk(path: &Path) -> u64 {
            let Ok(entries) = fs::read_dir(path) else { return 0 };
            entries.flatten().fold(0, |sum, e| match e.metadata() {
                Ok(m) if m.is_dir() => sum + walk(&e.path()),
                Ok(m) => sum + m.len(),
                Err(_) => sum,
            })
        }
        walk(&self.path)
    }
}

fn platform_cache(env: &Env) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return env.in_home("Library/Caches");
    }
    if cfg!(windows) {
        return env.dir_var("LOCALAPPDATA");
    }
    env.dir_var("XDG_CACHE_HOME").or_else(|| env.in_home(".cache"))
}

/// Names the present run of the operating system; empty where it has no name.
pub fn boot_id() -> String {
    let bytes =
        super::stat::read_bounded(Path::new("/proc/sys/kernel/random/boot_id"), 4096).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}
