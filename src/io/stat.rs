//! What a file was when we looked, in one system call, and opening without surprises.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::Path;

/// Identity and state of a file. Two equal fingerprints that are not racy mean the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    pub dev: u64,
    pub ino: u64,
    pub size: u64,
    #[serde(with = "postcard::fixint::le")]
    pub mtime_ns: i64,
    #[serde(with = "postcard::fixint::le")]
    pub ctime_ns: i64,
}

impl Fingerprint {
    pub fn mtime_ms(&self) -> i64 {
        self.mtime_ns / 1_000_000
    }

    pub fn same_file(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileKind {
    Regular,
    Directory,
    Other,
}

#[cfg(unix)]
mod os {
    use super::{FileKind, Fingerprint};
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
    use std::io;
    use std::os::fd::{AsFd, OwnedFd};
    use std::path::Path;

    fn split(st: &Stat) -> (Fingerprint, FileKind) {
        let ns = |s: i64, n: i64| s.saturating_mul(1_000_000_000).saturating_add(n);
        #[allow(
            clippy::unnecessary_cast,
            clippy::useless_conversion,
            reason = "the field types differ between systems"
        )]
        let fp = Fingerprint {
            dev: st.st_dev as u64,
            ino: st.st_ino as u64,
            size: st.st_size as u64,
            mtime_ns: ns(st.st_mtime as i64, st.st_mtime_nsec as i64),
            ctime_ns: ns(st.st_ctime as i64, st.st_ctime_nsec as i64),
        };
        let kind = match rustix::fs::FileType::from_raw_mode(st.st_mode) {
            rustix::fs::FileType::RegularFile => FileKind::Regular,
            rustix::fs::FileType::Directory => FileKind::Directory,
            _ => FileKind::Other,
        };
        (fp, kind)
    }

    pub fn stat(path: &Path) -> io::Result<(Fingerprint, FileKind)> {
        Ok(split(&rustix::fs::stat(path)?))
    }

    pub fn fstat(file: impl AsFd) -> io::Result<(Fingerprint, FileKind)> {
        Ok(split(&rustix::fs::fstat(file)?))
    }

    /// A directory held open, to stat the names in it without walking the path each time.
    pub struct Dir(OwnedFd);

    impl Dir {
        pub fn open(path: &Path) -> io::Result<Self> {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | path_only();
            Ok(Self(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
        }

        pub fn fingerprint(&self) -> io::Result<Fingerprint> {
            Ok(fstat(&self.0)?.0)
        }

        pub fn stat(&self, name: &str) -> io::Result<(Fingerprint, FileKind)> {
            Ok(split(&rustix::fs::statat(&self.0, name, AtFlags::empty())?))
        }
    }

    #[cfg(target_os = "linux")]
    fn path_only() -> OFlags {
        OFlags::PATH
    }

    #[cfg(not(target_os = "linux"))]
    fn path_only() -> OFlags {
        OFlags::RDONLY
    }

    /// Opens for reading without waiting for a writer (a FIFO) and without becoming a terminal's owner.
    pub fn open(path: &Path) -> io::Result<std::fs::File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }

    pub fn is_executable(path: &Path) -> bool {
        rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    }
}

#[cfg(not(unix))]
mod os {
    use super::{FileKind, Fingerprint};
    use std::io;
    use std::path::{Path, PathBuf};
    use std::time::UNIX_EPOCH;

    fn split(meta: &std::fs::Metadata) -> (Fingerprint, FileKind) {
        let ns = |t: io::Result<std::time::SystemTime>| {
            t.ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos() as i64)
        };
        let fp = Fingerprint {
            size: meta.len(),
            mtime_ns: ns(meta.modified()),
            ctime_ns: ns(meta.created()),
            ..Default::default()
        };
        let kind = match meta.file_type() {
            t if t.is_file() => FileKind::Regular,
            t if t.is_dir() => FileKind::Directory,
            _ => FileKind::Other,
        };
        (fp, kind)
    }

    pub fn stat(path: &Path) -> io::Result<(Fingerprint, FileKind)> {
        Ok(split(&std::fs::metadata(path)?))
    }

    pub fn fstat(file: &std::fs::File) -> io::Result<(Fingerprint, FileKind)> {
        Ok(split(&file.metadata()?))
    }

    pub struct Dir(PathBuf);

    impl Dir {
        pub fn open(path: &Path) -> io::Result<Self> {
            Ok(Self(path.to_owned()))
        }

        pub fn fingerprint(&self) -> io::Result<Fingerprint> {
            Ok(stat(&self.0)?.0)
        }

        pub fn stat(&self, name: &str) -> io::Result<(Fingerprint, FileKind)> {
            stat(&self.0.join(name))
        }
    }

    pub fn open(path: &Path) -> io::Result<std::fs::File> {
        std::fs::File::open(path)
    }

    pub fn is_executable(path: &Path) -> bool {
        path.is_file()
    }
}

pub use os::Dir;

/// Follows links, like everything here: a link in a store stands for what it points to.
pub fn stat(path: &Path) -> io::Result<(Fingerprint, FileKind)> {
    os::stat(path)
}

pub fn fstat(file: &File) -> io::Result<(Fingerprint, FileKind)> {
    os::fstat(file)
}

pub fn is_directory(path: &Path) -> bool {
    matches!(stat(path), Ok((_, FileKind::Directory)))
}

pub fn is_executable(path: &Path) -> bool {
    matches!(stat(path), Ok((_, FileKind::Regular))) && os::is_executable(path)
}

/// Opens a regular file; anything else is an error, and none is waited for. The fingerprint is of what was opened.
pub fn open_regular(path: &Path) -> io::Result<(File, Fingerprint)> {
    if !matches!(stat(path)?, (_, FileKind::Regular)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let file = os::open(path)?;
    match fstat(&file)? {
        (fp, FileKind::Regular) => Ok((file, fp)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// A whole small file, or an error if it is larger than `max` bytes.
pub fn read_bounded(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let (file, fp) = open_regular(path)?;
    if fp.size > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "file too large"));
    }
    let mut bytes = Vec::with_capacity(fp.size as usize);
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}
