//! The directory a Gemini session belongs to. Its store is keyed on a name or a hash of it; neither is ever decoded.

use crate::io::stat;
use crate::limits::{PATH_MAX, SIDE_FILE_MAX};
use crate::provider::Source;
use crate::provider::shared::json::get;
use crate::provider::shared::{document, hash};

/// The project of a chat: as written beside it, as registered, or a candidate that the hash proves.
pub fn find(source: &Source, hash: &str, candidates: &[String]) -> Option<String> {
    let dir = dir(source);
    let hash = if hash.is_empty() && is_hash(dir) { dir } else { hash };
    let proven = || candidates.iter().find(|c| hash::sha256(c) == hash).cloned();
    beside(source, dir).or_else(|| registered(source, dir, hash)).or_else(proven)
}

/// The project's directory in the store.
pub fn dir(source: &Source) -> &str {
    source.rel.split('/').next().unwrap_or("")
}

pub fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `.project_root` holds the path and nothing else.
fn beside(source: &Source, dir: &str) -> Option<String> {
    let path = source.root.path.join(dir).join(".project_root");
    let bytes = stat::read_bounded(&path, PATH_MAX as u64).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim_end_matches(['\n', '\r']);
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// `projects.json` maps paths to names.
fn registered(source: &Source, dir: &str, hash: &str) -> Option<String> {
    let path = source.root.path.parent()?.join("projects.json");
    let found = document::read(&path, SIDE_FILE_MAX, |v| {
        let projects = get(v, "projects").as_object()?;
        let named = projects.iter().find(|(_, name)| name.as_str() == Some(dir));
        let hashed = || projects.iter().find(|(path, _)| is_hash(hash) && hash::sha256(path) == hash);
        named.or_else(hashed).map(|(path, _)| path.to_owned())
    });
    found.ok()??
}

/// Paths named in the context that a session begins with; the hash decides whether one is the project's.
pub fn in_context(context: &str) -> impl Iterator<Item = String> {
    const LINES: usize = 64;
    context.lines().take(LINES).filter_map(|line| {
        let path = line.find(['/', '\\']).map(|i| &line[i..])?;
        (path.len() > 1 && path.len() <= PATH_MAX).then(|| path.trim_end_matches(['/', ' ', '.']).to_owned())
    })
}
