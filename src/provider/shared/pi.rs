//! Sessions as pi writes them, and the agents made from it (Oh My Pi, Prime Agent).
//!
//! A file of one JSON object a line: a header `session`, then entries that form a tree by `id` and `parentId`. Branches are made in place;
//! the last entry is where the conversation stands. Facts: the format's own description in the package (`docs/session-format.md`, versions
//! 1 to 3) and pi 1.6.0 (npm, seen 2026-11-30).

mod entry;
mod texts;
mod tree;

use super::{json, jsonl};
use crate::io::env::Env;
use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Locator, Message, UnitKind};
use crate::provider::{Class, Parsed, Resume, Sink, Source, SourceError};
use entry::Session;
use serde_json_borrow::Value;
use std::path::{Path, PathBuf};

/// Directories below a store's root: the project's, and those of children and their runs.
const LEVELS: usize = 6;

/// What a name below the root is: sessions lie in it or in a directory each project has; deeper ones are children.
pub fn classify(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        ([.., dir], true) if names.len() <= LEVELS && !dir.starts_with('.') => Class::Enter,
        ([.., file], false) if file.strip_suffix(".jsonl").is_some_and(is_session_name) => Class::Source(0),
        _ => Class::Skip,
    }
}

/// Names the agents give, and ids users choose; no copies (`x (conflicted copy)`) and nothing hidden.
fn is_session_name(stem: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !stem.is_empty() && !stem.starts_with(['.', '-']) && stem.bytes().all(plain)
}

/// What a file's path says of it.
struct Seat<'p> {
    /// The session it belongs to.
    key: String,
    /// The id in its name, or in its parent's.
    id: &'p str,
    kind: UnitKind,
}

impl<'p> Seat<'p> {
    fn of(rel: &'p str) -> Self {
        let names: Vec<&str> = rel.split('/').collect();
        let file = names.len() - 1;
        // Children lie in a directory with the name of their parent's file.
        let owner = names[..file].iter().position(|d| is_stamped(d)).unwrap_or(file.min(1));
        let name = names.get(owner).copied().unwrap_or(rel);
        let id = name_id(name.strip_suffix(".jsonl").unwrap_or(name));
        let kind = if owner == file { UnitKind::Main } else { UnitKind::Child };
        Self { key: [&names[..owner], &[id]].concat().join("/"), id, kind }
    }
}

/// Whether a name begins with a time, as in `2026-07-25T17-20-00-000Z_<id>`.
fn is_stamped(name: &str) -> bool {
    let b = name.as_bytes();
    b.len() > 11
        && b[..4].iter().all(u8::is_ascii_digit)
        && b[4] == b'-'
        && b[10] == b'T'
        && b.contains(&b'_')
}

fn name_id(stem: &str) -> &str {
    match stem.split_once('_') {
        Some((_, id)) if is_stamped(stem) => id,
        _ => stem,
    }
}

/// Reads a session, from where an earlier pass ended if that is given.
pub fn parse(source: &Source, from: Option<&Resume<'_>>, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let seat = Seat::of(&source.rel);
    let mut session = match from {
        Some(r) => Session::resumed(r)?,
        None => Session::new(seat.id, seat.kind),
    };
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end =
        jsonl::each_record(source, offset, |v, place| session.entry(v, place, &mut |m| sink.message(m)))?;
    settle(source, &mut session)?;
    let parsed = end.parsed(session.state());
    sink.close(&seat.key, session.finish());
    Ok(parsed)
}

/// Where there are branches, the prompts of the current one are looked up again: they are the title and the summaries.
fn settle(source: &Source, session: &mut Session) -> Result<(), SourceError> {
    let Some(places) = session.current_prompts() else { return Ok(()) };
    session.forget_prompts();
    for place in places {
        jsonl::record_at(source, place.part(0), |v, at| {
            if at.nth == place.nth {
                session.prompt(v);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The messages of the entry at `at`.
pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    let mut found = Vec::new();
    jsonl::record_at(source, at, |v, place| {
        texts::texts(v, place, &mut |m| found.push(jsonl::own(m)));
        Ok(())
    })?;
    Ok(found)
}

/// `sessionDir` of a `settings.json`, if it names one. Relative ones start at the working directory.
pub fn session_dir(settings: &Path, env: &Env) -> Option<PathBuf> {
    let bytes = stat::read_bounded(settings, SIDE_FILE_MAX).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let value: Value<'_> = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    let dir = json::text(&value, "sessionDir")?.trim();
    match dir.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => env.in_home(rest.trim_start_matches('/')),
        _ if dir.is_empty() => None,
        _ if Path::new(dir).is_absolute() => Some(dir.into()),
        _ => env.cwd().map(|c| c.join(dir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(rel: &str) -> (String, UnitKind) {
        let seat = Seat::of(rel);
        (seat.key, seat.kind)
    }

    #[test]
    fn children_belong_to_the_file_their_directory_is_named_after() {
        let main = ("--w-app--/a_b".to_owned(), UnitKind::Main);
        assert_eq!(seat("--w-app--/2026-07-25T17-20-00-000Z_a_b.jsonl"), main);
        for child in ["run/x.jsonl", "Scout.jsonl", "Scout/Inner.jsonl"] {
            let child = seat(&format!("--w-app--/2026-07-25T17-20-00-000Z_a_b/{child}"));
            assert_eq!(child, ("--w-app--/a_b".to_owned(), UnitKind::Child));
        }
        assert_eq!(seat("2026-07-25T17-20-00-000Z_c/Scout.jsonl"), ("c".to_owned(), UnitKind::Child));
        assert_eq!(seat("d.jsonl"), ("d".to_owned(), UnitKind::Main));
        assert_eq!(seat("-w-app/d/Scout.jsonl"), ("-w-app/d".to_owned(), UnitKind::Child));
    }

    #[test]
    fn names_of_copies_and_hidden_files_are_none() {
        for name in ["a (1).jsonl", ".tmp.jsonl", "-x.jsonl", ".jsonl", "a.json"] {
            assert_eq!(classify(&["--w--", name], false), Class::Skip, "{name}");
        }
        assert_eq!(classify(&["--w--", "2026-07-25T17-20-00-000Z_a.b.jsonl"], false), Class::Source(0));
        assert_eq!(classify(&[".locks"], true), Class::Skip);
    }
}
