//! Which sessions hold a tool output that says it failed. Agents write it differently; these are the words tools themselves use.

use super::content::collect;
use super::terms::phrase_in_tool;
use super::view::View;
use crate::model::Role;
use crate::text::tokenize;
use tantivy::query::{BooleanQuery, Query};

/// Codes that programs and shells end with; 0 is success.
const CODES: &[&str] = &[
    "1", "2", "3", "4", "5", "6", "7", "8", "64", "65", "100", "101", "126", "127", "128", "130", "134",
    "137", "139", "143", "255",
];
/// What stands before them: `Exit code: 1`, `"exit_code":1`, `exited with code 1`, `exit status 1`.
const BEFORE: &[&str] = &["exit code", "exited with code", "exit status"];
const SAYINGS: &[&str] = &[
    "Traceback (most recent call last)",
    "panicked at",
    "command not found",
    "tool_use_error",
    "Segmentation fault",
    "test result: FAILED",
];

/// For every session, whether a tool failed in it.
pub fn failed(view: &View<'_>) -> tantivy::Result<Vec<bool>> {
    let all = vec![true; view.sessions.len()];
    let Some(messages) = &view.snapshot.messages else { return Ok(vec![false; all.len()]) };
    let codes = BEFORE.iter().flat_map(|b| CODES.iter().map(move |c| format!("{b} {c}")));
    let sayings = codes.chain(SAYINGS.iter().map(|s| (*s).to_owned()));
    let queries: Vec<Box<dyn Query>> =
        sayings.map(|s| phrase_in_tool(&tokenize::phrase(&s), &messages.fields)).collect();
    let hits = collect(view, messages, &BooleanQuery::union(queries), &all, &[Role::ToolOutput])?;
    Ok((0..all.len()).map(|s| hits.score(s).is_some()).collect())
}
