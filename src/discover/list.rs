//! The names in a directory that matter.

use crate::io::stat::{self, FileKind, Fingerprint};
use crate::limits::DEPTH_MAX;
use crate::provider::{Class, Provider, Root};
use std::io;
use std::path::{Path, PathBuf};

/// A name worth looking at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// A directory to enter, or a file of this kind.
    pub kind: Option<u8>,
    pub link: bool,
    /// It bears a session's name but is a directory.
    pub odd: bool,
}

/// Lists a directory, sorted by name, classified by the provider. A link leads into another directory only directly below the root.
pub fn list(provider: &dyn Provider, root: &Root, rel: &str, path: &Path) -> io::Result<Vec<Entry>> {
    let above: Vec<&str> = rel.split('/').filter(|n| !n.is_empty()).collect();
    if above.len() >= DEPTH_MAX {
        return Ok(Vec::new());
    }
    let mut entries: Vec<Entry> = Vec::new();
    for item in std::fs::read_dir(path)? {
        let item = item?;
        let Ok(name) = item.file_name().into_string() else { continue };
        let Ok(kind) = item.file_type() else { continue };
        let link = kind.is_symlink();
        let is_dir = if link { stat::is_directory(&item.path()) } else { kind.is_dir() };
        let mut names = above.clone();
        names.push(&name);
        if let Some(entry) = classify(provider, root, &names, is_dir, link) {
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

fn classify(provider: &dyn Provider, root: &Root, names: &[&str], is_dir: bool, link: bool) -> Option<Entry> {
    let name = (*names.last()?).to_owned();
    match provider.classify(root, names, is_dir) {
        Class::Enter if is_dir && (!link || names.len() == 1) => {
            Some(Entry { name, kind: None, link, odd: false })
        }
        Class::Source(kind) if !is_dir => Some(Entry { name, kind: Some(kind), link, odd: false }),
        Class::Skip if is_dir => match provider.classify(root, names, false) {
            Class::Source(kind) => Some(Entry { name, kind: Some(kind), link, odd: true }),
            _ => None,
        },
        _ => None,
    }
}

/// A file's state. A SQLite database changes through its write-ahead log, so the two are looked at as one.
pub fn look(dir: &stat::Dir, name: &str) -> io::Result<(Fingerprint, FileKind)> {
    let (mut fp, kind) = dir.stat(name)?;
    if kind == FileKind::Regular && is_database(name) {
        for suffix in ["-wal", "-journal"] {
            if let Ok((log, FileKind::Regular)) = dir.stat(&format!("{name}{suffix}")) {
                fp.size = fp.size.wrapping_add(log.size.wrapping_mul(31)).wrapping_add(1);
                fp.mtime_ns = fp.mtime_ns.max(log.mtime_ns);
                fp.ctime_ns = fp.ctime_ns.max(log.ctime_ns);
            }
        }
    }
    Ok((fp, kind))
}

/// The same by path.
pub fn look_at(path: &Path) -> io::Result<(Fingerprint, FileKind)> {
    let parent = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    let name = path.file_name().and_then(|n| n.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    look(&stat::Dir::open(&parent)?, name)
}

/// Whether a file may be a database: agents let their users give one any name. Texts are none.
fn is_database(name: &str) -> bool {
    ![".jsonl", ".json", ".zst", ".txt", ".yaml", ".toml", ".md"].iter().any(|s| name.ends_with(s))
}
