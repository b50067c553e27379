//! What stands between an answer and completeness, counted by agent and kind.

use super::catalog::Ready;
use super::response::Warning;
use super::scope::Selection;
use crate::discover::Health;
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{PATH_MAX, WARNINGS_MAX};
use crate::text::Clean;
use std::collections::BTreeMap;

/// Everything worth a warning within a selection.
pub fn collect(ready: &Ready<'_>, selection: &Selection) -> Vec<Warning> {
    let wanted = |agent: &str| selection.agent.is_none_or(|p| p.info().id == agent);
    let mut counted: BTreeMap<(Option<&'static str>, &'static str), (u64, String)> = BTreeMap::new();
    let mut add = |agent: Option<&'static str>, code: &'static str, n: u64, place: String| {
        if agent.is_none_or(wanted) {
            counted.entry((agent, code)).or_insert((0, place)).0 += n;
        }
    };
    for trouble in ready.troubles {
        add(trouble.agent, trouble.code, 1, trouble.place.clone());
    }
    let tables = ready.view.snapshot.tables();
    for rec in tables.sources.iter().flatten() {
        let bad = bad(rec.file.health);
        if bad.is_none() && rec.skipped == 0 && rec.shortened == 0 {
            continue;
        }
        let Some((provider, _, rel)) = crate::index::locate(tables, &rec.file, ready.active) else {
            continue;
        };
        let agent = Some(provider.info().id);
        if let Some(code) = bad {
            add(agent, code, 1, rel.clone());
        }
        if rec.skipped > 0 {
            add(agent, "records_skipped", u64::from(rec.skipped), rel.clone());
        }
        if rec.shortened > 0 {
            add(agent, "records_shortened", u64::from(rec.shortened), rel);
        }
    }
    let index = ready.trouble.map(|code| Warning {
        agent: None,
        code: code.to_owned(),
        message: message(code).to_owned(),
        count: 1,
        source: None,
    });
    let stores = counted.into_iter().map(|((agent, code), (count, place))| Warning {
        agent: agent.map(str::to_owned),
        code: code.to_owned(),
        message: message(code).to_owned(),
        count,
        source: Some(Clean::name(&place, PATH_MAX)).filter(|p| !p.is_empty()),
    });
    index.into_iter().chain(stores).take(WARNINGS_MAX).collect()
}

fn bad(health: Health) -> Option<&'static str> {
    match health {
        Health::Good | Health::Vanished => None,
        Health::NotRegular => Some("not_a_regular_file"),
        Health::Unreadable => Some("unreadable"),
        Health::Malformed => Some("malformed"),
    }
}

fn message(code: &str) -> &'static str {
    match code {
        "permission_denied" => "a directory of the store cannot be read",
        "not_a_directory" => "the store is not a directory",
        "unreadable" => "part of the store cannot be read",
        "malformed" => "a file's format is not understood",
        "not_a_regular_file" => "a session's name belongs to something that is not a regular file",
        "records_skipped" => "records that are damaged were left out",
        "records_shortened" => "very long records are searchable only by the beginnings of their texts",
        "config_invalid" => "the configuration file is not understood, or names an unknown agent",
        "index_busy" => "another process keeps the index; this answer was made in memory",
        "index_not_writable" => "the index cannot be written; this answer was made in memory",
        _ => "the answer may be incomplete",
    }
}

/// A failure must not look like an empty store: nothing was found, and what was asked for could not be read.
pub fn fail_if_blind(ready: &Ready<'_>, selection: &Selection, warnings: &[Warning]) -> Result<()> {
    const BLIND: [&str; 5] =
        ["permission_denied", "not_a_directory", "unreadable", "malformed", "not_a_regular_file"];
    let any = ready.view.sessions.iter().enumerate().any(|(i, s)| {
        ready.view.is_row(i as u32) && selection.agent.is_none_or(|p| p.info().id == s.agent())
    });
    if any || !warnings.iter().any(|w| BLIND.contains(&w.code.as_str())) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::ScanFailed, "the selected stores could not be read")
        .hint("check the permissions of the agent's directory"))
}
