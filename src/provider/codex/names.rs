//! Names of threads, kept outside the rollouts.

use crate::io::sqlite;
use crate::model::{Facts, TitleSource, UnitKind};
use crate::provider::shared::json::{text, time};
use crate::provider::shared::jsonl;
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// A thread's name as one file has it.
#[derive(Default)]
struct Name {
    text: String,
    /// It changed over time: somebody renamed the thread.
    renamed: bool,
    at: i64,
}

/// `session_index.jsonl`: a line for each name a thread was given; the last one holds.
pub fn index(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut names: BTreeMap<String, Name> = BTreeMap::new();
    let end = jsonl::each_record(source, 0, |v, _| {
        if let (Some(id), Some(text)) = (text(v, "id"), text(v, "thread_name")) {
            let name = names.entry(id.to_owned()).or_default();
            name.renamed |= !name.text.is_empty() && name.text != text;
            name.text = text.to_owned();
            name.at = time(v, "updated_at").unwrap_or(0);
        }
        Ok(())
    })?;
    names.iter().for_each(|(id, name)| put(sink, id, name));
    Ok(Parsed { checkpoint: None, skipped: end.skipped, shortened: end.shortened })
}

/// `state_<n>.sqlite`, table `threads`: `name`, or in older layouts a `title` that is not just the first prompt.
pub fn state(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let names = sqlite::read(&source.path, threads)?;
    names.iter().for_each(|(id, name)| put(sink, id, name));
    Ok(Parsed::default())
}

fn threads(db: &sqlite::Db) -> Result<BTreeMap<String, Name>, sqlite::Error> {
    let columns = db.columns("threads")?;
    let mut names = BTreeMap::new();
    if !columns.iter().any(|c| c == "id") {
        return Ok(names);
    }
    let column = |name: &'static str| if columns.iter().any(|c| c == name) { name } else { "NULL" };
    let sql = format!(
        "SELECT id, {}, {}, {}, {} FROM threads",
        column("name"),
        column("title"),
        column("first_user_message"),
        column("updated_at_ms")
    );
    db.rows(&sql, &[], |row| {
        let given = row.text(1).filter(|n| !n.trim().is_empty()).map(|n| n.into_owned());
        let name = given.or_else(|| own_title(row.text(2).as_deref(), row.text(3).as_deref()));
        if let (Some(id), Some(text)) = (row.text(0), name) {
            names.insert(id.into_owned(), Name { text, renamed: false, at: row.int(4).unwrap_or(0) });
        }
        Ok::<_, sqlite::Error>(())
    })?;
    Ok(names)
}

/// A title that says more than the first prompt does.
fn own_title(title: Option<&str>, prompt: Option<&str>) -> Option<String> {
    let (title, prompt) = (title?.trim(), prompt.unwrap_or("").trim());
    let copied = prompt.starts_with(title.trim_end_matches(['…', '.']));
    (!title.is_empty() && !copied).then(|| title.to_owned())
}

fn put(sink: &mut dyn Sink, id: &str, name: &Name) {
    let stamp = xxh3_64(format!("{}\0{}", name.text, name.renamed).as_bytes());
    if sink.keep(id, stamp) {
        return;
    }
    let mut facts = Facts { kind: UnitKind::Side, last_ms: name.at, ..Facts::default() };
    let source = if name.renamed { TitleSource::Custom } else { TitleSource::Auto };
    facts.offer_title(Cow::Owned(title_line(&name.text)), source);
    sink.open(id, stamp);
    sink.close(id, facts);
}
