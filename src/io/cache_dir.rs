//! The only writer. Everything the program keeps lies in one directory of the user's, and nothing outside it is ever changed.

use super::env::Env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The catalog's own directory.
#[derive(Debug, Clone)]
pub struct CacheDir {
    path: PathBuf,
}

impl CacheDir {
    /// `AGF_CACHE_DIR`, or the platform's cache directory for `agf-catalog`.
    pub fn locate(env: &Env) -> Option<Self> {
        let path =
            env.dir_var("AGF_CACHE_DIR").or_else(|| platform_cache(env).map(|c| c.join("agf-catalog")))?;
        Some(Self { path })
    }

    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn sub(&self, name: &str) -> Self {
        Self { path: self.path.join(name) }
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
        builder.create(&self.path)
    }

    /// Opens a file for writing, made new and private if it is missing.
    pub fn open_write(&self, name: &str, truncate: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).read(true).create(true).truncate(truncate);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(self.file(name))
    }

    /// Replaces a file in one step: readers see the old or the new one.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temp = format!(".{name}.{}.tmp", std::process::id());
        let result = (|| {
            self.open_write(&temp, true)?.write_all(bytes)?;
            fs::rename(self.file(&temp), self.file(name))
        })();
        if result.is_err() {
            let _ = fs::remove_file(self.file(&temp));
        }
        result
    }

    /// Writes `bytes` at `offset` and cuts the file there: what an unpublished earlier attempt left behind goes.
    pub fn write_tail(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::Seek;
        let mut file = self.open_write(name, false)?;
        file.set_len(offset)?;
        file.seek(io::SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.file(name))
    }

    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.path) {
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
