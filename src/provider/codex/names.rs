//! Names of threads, kept outside the rollouts.
//!
//! Where both have one, the name in the database holds: the index carries no time that counts, and a thread that the index
//! shows to be renamed is renamed in the database too.

use crate::io::{sqlite, stat};
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, TitleSource, UnitKind, valid_session_id};
use crate::provider::shared::json::text;
use crate::provider::shared::jsonl;
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

pub const INDEX: &str = "session_index.jsonl";

/// A thread's name as one file has it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Name {
    text: String,
    /// It changed over time: somebody renamed the thread.
    renamed: bool,
    at: i64,
}

type Names = BTreeMap<String, Name>;

/// `session_index.jsonl`: a line for each name a thread was given; the last one holds.
pub fn index(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut names = Names::new();
    let end = jsonl::each_record(source, 0, |v, _| {
        add(&mut names, v);
        Ok(())
    })?;
    names.iter().for_each(|(id, name)| put(sink, id, name));
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

fn add(names: &mut Names, v: &Value<'_>) {
    let (Some(id), Some(given)) = (text(v, "id"), text(v, "thread_name").map(str::trim)) else { return };
    if given.is_empty() {
        return;
    }
    let name = names.entry(id.to_owned()).or_default();
    name.renamed |= !name.text.is_empty() && name.text != given;
    name.text = given.to_owned();
}

/// `state_<n>.sqlite`, table `threads`: `name`, or in older layouts a `title` that is not just the first prompt.
pub fn state(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut names = sqlite::read(&source.path, threads)?;
    let indexed = beside(source);
    for (id, name) in &mut names {
        name.renamed = indexed.get(id).is_some_and(|n| n.renamed);
        put(sink, id, name);
    }
    Ok(Parsed::default())
}

/// The index beside a database, if it can be read.
fn beside(source: &Source) -> Names {
    let mut names = Names::new();
    if let Ok(bytes) = stat::read_bounded(&source.path.with_file_name(INDEX), SIDE_FILE_MAX) {
        for line in bytes.split(|b| *b == b'\n') {
            let _ = jsonl::values(line, |v| {
                add(&mut names, v);
                Ok(())
            });
        }
    }
    names
}

fn threads(db: &sqlite::Db) -> Result<Names, sqlite::Error> {
    let columns = db.columns("threads")?;
    let has = |name: &str| columns.iter().any(|c| c == name);
    let mut names = Names::new();
    if !has("id") {
        return Ok(names);
    }
    let column = |name: &'static str| if has(name) { name } else { "NULL" };
    let sql = format!(
        "SELECT id, substr({}, 1, 4096), substr({}, 1, 4096), substr({}, 1, 4096), {}, {} FROM threads",
        column("name"),
        column("title"),
        column("first_user_message"),
        column("updated_at_ms"),
        column("updated_at"),
    );
    db.rows(&sql, &[], |row| {
        let given = row.text(1).map(|n| n.trim().to_owned()).filter(|n| !n.is_empty());
        let text = given.or_else(|| own_title(row.text(2).as_deref(), row.text(3).as_deref()));
        if let (Some(id), Some(text)) = (row.text(0), text) {
            let at = row.int(4).or_else(|| row.int(5)?.checked_mul(1000)).unwrap_or(0);
            names.insert(id.into_owned(), Name { text, renamed: false, at });
        }
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(names)
}

/// A title that says more than the first prompt does.
fn own_title(title: Option<&str>, prompt: Option<&str>) -> Option<String> {
    let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    let (title, prompt) = (words(title?), words(prompt?));
    let copied = prompt.starts_with(title.trim_end_matches(['…', '.']));
    (!title.is_empty() && !prompt.is_empty() && !copied).then_some(title)
}

fn put(sink: &mut dyn Sink, id: &str, name: &Name) {
    if !valid_session_id(id) {
        return;
    }
    let stamp = xxh3_64(format!("{}\0{}\0{}", name.text, name.renamed, name.at).as_bytes());
    if sink.keep(id, stamp) {
        return;
    }
    let mut facts = Facts { kind: UnitKind::Side, last_ms: name.at, ..Facts::default() };
    let source = if name.renamed { TitleSource::Custom } else { TitleSource::Auto };
    facts.offer_title(Cow::Owned(title_line(&name.text)), source);
    sink.open(id, stamp);
    sink.close(id, facts);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_repeats_the_prompt_is_none() {
        assert_eq!(own_title(Some("Fix the…"), Some("Fix  the\nparser")), None);
        assert_eq!(own_title(Some(""), Some("Fix")), None);
        assert_eq!(own_title(Some("Parser repair"), None), None);
        assert_eq!(
            own_title(Some(" Parser repair"), Some("Fix the parser")).as_deref(),
            Some("Parser repair")
        );
    }
}
