//! Telling what a person typed from what a harness put in its place.

use crate::limits::{SUMMARIES_MAX, SUMMARY_MAX, TITLE_MAX};
use crate::model::{Facts, TitleSource};
use crate::text::Clean;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// A title made of text that may be anything: one clean line.
pub fn title_line(text: &str) -> String {
    Clean::line(text.trim_start(), TITLE_MAX).into_string()
}

/// What sessions that begin with the same message share: a hash of its own id. One too short to be nobody else's says nothing.
pub fn lineage(id: Option<&str>) -> u64 {
    const UNIQUE: usize = 16;
    id.filter(|id| id.len() >= UNIQUE).map_or(0, |id| xxh3_64(id.as_bytes()))
}

/// A real prompt: the first is the title if there is no better one, the newest ones are the summaries.
pub fn saw_prompt(facts: &mut Facts<'_>, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if facts.title_source.is_none() {
        facts.offer_title(Cow::Owned(title_line(text)), TitleSource::Prompt);
    }
    let summary = Clean::block(text, SUMMARY_MAX).into_string();
    if facts.summaries.first().is_some_and(|s| *s == summary) {
        return;
    }
    facts.summaries.insert(0, Cow::Owned(summary));
    facts.summaries.truncate(SUMMARIES_MAX);
}

/// Removes `<tag>…</tag>` elements of these names from the front of a text.
pub fn without_leading_elements<'t>(mut text: &'t str, tags: &[&str]) -> &'t str {
    'again: loop {
        text = text.trim_start();
        for tag in tags {
            let Some(rest) = text.strip_prefix('<').and_then(|t| t.strip_prefix(tag)) else { continue };
            if !rest.starts_with(['>', ' ']) {
                continue;
            }
            let close = format!("</{tag}>");
            text = rest.find(&close).map_or("", |i| &rest[i + close.len()..]);
            continue 'again;
        }
        return text;
    }
}

/// Removes `<tag>…</tag>` elements of these names, wherever they stand. One that is not closed goes up to the end.
pub fn without_elements<'t>(text: &'t str, tags: &[&str]) -> Cow<'t, str> {
    let mut text = Cow::Borrowed(text);
    for tag in tags {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let end = text[start..].find(&close).map_or(text.len(), |i| start + i + close.len());
            text.to_mut().replace_range(start..end, "");
        }
    }
    text
}

/// The content of the first `<tag>…</tag>`.
pub fn element<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let start = text.find(&format!("<{tag}>"))? + tag.len() + 2;
    let end = text[start..].find(&format!("</{tag}>"))?;
    Some(text[start..start + end].trim())
}

/// Whether a text begins with an element of one of these names.
pub fn begins_with_element(text: &str, tags: &[&str]) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('<') else { return false };
    tags.iter().any(|t| rest.strip_prefix(t).is_some_and(|r| r.starts_with(['>', ' '])))
}

/// What the harnesses of Cursor and Grok send in the user's name.
const AROUND_QUERIES: &[&str] = &[
    "user_info",
    "git_status",
    "project_layout",
    "rules",
    "agent_skills",
    "agent_transcripts",
    "mcp_instructions",
    "mcp_file_system",
    "mcp_file_system_servers",
    "system_reminder",
    "system-reminder",
    "open_and_recently_viewed_files",
    "attached_files",
    "additional_data",
    "environment_details",
    "timestamp",
];

/// What the user typed of a text in the user's name, if anything: the queries in it, or all of it if it is no harness text.
pub fn query(said: &str) -> Option<String> {
    const OPEN: &str = "<user_query>";
    let mut typed = Vec::new();
    let mut rest = said;
    while let Some(i) = rest.find(OPEN) {
        let query = &rest[i + OPEN.len()..];
        let (query, after) = query.split_once("</user_query>").unwrap_or((query, ""));
        typed.push(query.trim());
        rest = after;
    }
    if typed.is_empty() && !begins_with_element(said, AROUND_QUERIES) {
        typed.push(said.trim());
    }
    let typed = typed.join("\n");
    (!typed.is_empty()).then_some(typed)
}

/// `Workspace Path: /w/app` in a `<user_info>`.
pub fn workspace(said: &str) -> Option<String> {
    let dir =
        element(said, "user_info")?.lines().find_map(|l| l.trim().strip_prefix("Workspace Path:"))?.trim();
    (!dir.is_empty()).then(|| dir.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_queries_are_prompts() {
        assert_eq!(query("<user_info>\nOS: linux\n</user_info>"), None);
        assert_eq!(
            query("<attached_files>x</attached_files>\n<user_query>\nfix it\n</user_query>").as_deref(),
            Some("fix it")
        );
        assert_eq!(query("<user_query>a</user_query> <user_query>b").as_deref(), Some("a\nb"));
        assert_eq!(query(" plain <b>words</b> ").as_deref(), Some("plain <b>words</b>"));
        assert_eq!(query("<user_query> </user_query>"), None);
    }

    #[test]
    fn only_ids_that_are_nobody_elses_tell_copies() {
        let uuid = Some("5a000001-0000-4000-8000-000000000001");
        assert!(lineage(uuid) != 0 && lineage(uuid) == lineage(uuid));
        assert_eq!((lineage(Some("msg_1")), lineage(Some("")), lineage(None)), (0, 0, 0));
    }
}
