//! Sessions of early releases: a file each, with what is known of the session in its first line.

use super::content::{Counter, Stored, note};
use crate::model::{Facts, TitleSource};
use crate::provider::shared::json::{get, text, time};
use crate::provider::shared::jsonl::{self, Place};
use crate::provider::shared::out::{Emit, Out};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Resume, Sink, Source, SourceError};
use serde_json_borrow::Value;
use std::borrow::Cow;

pub fn parse(
    source: &Source,
    id: &str,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let fresh = || Facts { id: Cow::Owned(id.to_owned()), source_kind: "unknown".into(), ..Facts::default() };
    let mut facts = from.map_or_else(fresh, |r| r.facts.clone().into_owned());
    sink.open("", 0);
    let end = jsonl::each_record(source, from.map_or(0, |r| r.offset), |v, place| {
        if text(v, "role").is_none() {
            header(v, &mut facts);
        }
        let mut counts = Counter::default().message(None);
        texts(v, place, &mut |m| {
            facts.saw_time(m.timestamp_ms);
            note(&m, &mut counts, &mut facts);
            sink.message(m);
        });
        Ok(())
    })?;
    let parsed = end.parsed(Vec::new());
    sink.close(id, facts);
    Ok(parsed)
}

fn header(v: &Value<'_>, facts: &mut Facts<'_>) {
    if let Some(dir) = text(v, "working_dir").filter(|_| facts.project.is_empty()) {
        facts.project = Cow::Owned(dir.to_owned());
    }
    if let Some(title) = text(v, "description") {
        facts.offer_title(Cow::Owned(title_line(title)), TitleSource::Auto);
    }
}

/// The texts of one line.
pub fn texts(v: &Value<'_>, place: Place, emit: Emit<'_>) {
    let message = Stored { role: text(v, "role"), content: get(v, "content"), metadata: get(v, "metadata") };
    if message.role.is_some() {
        message.put(&mut Out::new(emit, place, time(v, "created").unwrap_or(0)));
    }
}
