//! `workspace.yaml`: what a Copilot CLI session is called and where it runs. Flat, and written by a serializer, so that a small reader will do.

use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::model::timestamp;
use crate::model::{Facts, TitleSource, UnitKind};
use crate::provider::shared::prompt::title_line;
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub fn parse(source: &Source, id: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let bytes = stat::read_bounded(&source.path, SIDE_FILE_MAX)?;
    let fields = fields(&String::from_utf8_lossy(&bytes));
    sink.open("", 0);
    sink.close(id, facts(&fields));
    Ok(Parsed::default())
}

fn facts(fields: &BTreeMap<String, String>) -> Facts<'static> {
    let field =
        |key: &str| fields.get(key).map(String::as_str).filter(|v| !v.trim().is_empty() && *v != "null");
    let owned = |key: &str| field(key).map(|v| Cow::Owned(v.to_owned()));
    let when = |key: &str| field(key).and_then(timestamp::parse_text).unwrap_or(0);
    let mut facts = Facts {
        kind: UnitKind::Side,
        project: owned("cwd").unwrap_or_default(),
        branch: owned("branch").filter(|b| b != "HEAD"),
        started_ms: when("created_at"),
        last_ms: when("updated_at"),
        ..Facts::default()
    };
    if field("client_name") == Some("github/cli") {
        facts.source_kind = "cli".into();
    }
    let name_source =
        if field("user_named") == Some("true") { TitleSource::Custom } else { TitleSource::Auto };
    for (key, from) in [("summary", TitleSource::Summary), ("name", name_source)] {
        if let Some(title) = field(key) {
            facts.offer_title(Cow::Owned(title_line(title)), from);
        }
    }
    facts
}

/// The top-level `key: value` pairs: plain, quoted, and block scalars.
fn fields(yaml: &str) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let mut lines = yaml.trim_start_matches('\u{feff}').lines().peekable();
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#', '-'])) else {
            continue;
        };
        let value = value.trim();
        let mut block = Vec::new();
        while let Some(next) = lines.next_if(|l| l.starts_with([' ', '\t']) || l.trim().is_empty()) {
            block.push(next.trim());
        }
        let value = match value {
            "|" | "|-" | "|+" => block.join("\n"),
            ">" | ">-" | ">+" => block.join(" "),
            // A long plain or quoted scalar goes on in the next lines.
            _ => scalar(&std::iter::once(value).chain(block).collect::<Vec<_>>().join(" ")),
        };
        fields.insert(key.trim().to_owned(), value.trim().to_owned());
    }
    fields
}

/// A scalar without its quotes.
fn scalar(value: &str) -> String {
    let value = value.trim();
    let inside = |quote: char| value.strip_prefix(quote).and_then(|v| v.strip_suffix(quote));
    if let Some(single) = inside('\'') {
        return single.replace("''", "'");
    }
    match inside('"') {
        // The escapes of a double-quoted scalar are nearly those of JSON.
        Some(double) => serde_json::from_str(value).unwrap_or_else(|_| double.to_owned()),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_in_all_spellings() {
        let yaml = "id: a1\nname: \"Fix: \\\"it\\\"\\n\"\ncwd: '/w/it''s'\nsummary: |-\n  first line\n\n  second: line\nnote: >-\n  a\n  b\nlong: one\n  two\n# no: comment\n";
        let f = fields(yaml);
        assert_eq!(f["name"], "Fix: \"it\"");
        assert_eq!(f["cwd"], "/w/it's");
        assert_eq!(f["summary"], "first line\n\nsecond: line");
        assert_eq!(f["note"], "a b");
        assert_eq!(f["long"], "one two");
        assert_eq!(f.len(), 6);
    }
}
