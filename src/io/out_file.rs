//! The one kind of file outside the cache directory that is ever written: the one a user names for an export.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that appears under its name when it is whole, readable by its owner only; until then nothing is there.
#[derive(Debug)]
pub struct OutFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    replace: bool,
}

impl OutFile {
    /// Begins a file. One that is there already is an error, unless it is to be replaced.
    pub fn create(path: &Path, replace: bool) -> io::Result<Self> {
        if !replace && path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let dir = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = BufWriter::new(NamedTempFile::new_in(dir)?);
        Ok(Self { file, path: path.to_owned(), replace })
    }

    /// Gives the file its name.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let kept = match self.replace {
            true => file.persist(&self.path),
            false => file.persist_noclobber(&self.path),
        };
        kept.map(drop).map_err(|e| e.error)
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.md");
        let names = || dir.path().read_dir().unwrap().count();
        let mut out = OutFile::create(&path, false).unwrap();
        out.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(out);
        assert_eq!(names(), 0);
        let mut out = OutFile::create(&path, false).unwrap();
        out.write_all(b"whole").unwrap();
        out.finish().unwrap();
        assert!(OutFile::create(&path, false).is_err());
        OutFile::create(&path, true).unwrap().finish().unwrap();
        assert_eq!((path.metadata().unwrap().len(), names()), (0, 1));
    }

    #[test]
    fn what_appeared_meanwhile_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.md");
        let out = OutFile::create(&path, false).unwrap();
        OutFile::create(&path, false).unwrap().finish().unwrap();
        assert_eq!(out.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
