//! Which sessions a question is about, before any text is looked at.

use super::parse::{Condition, Is, Query};
use super::view::{Session, View};
use crate::model::{Facts, Interactivity};
use crate::text::fold;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// Conditions from outside the query text: scope, flags, options.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    pub agent: Option<&'static str>,
    pub project: Option<ProjectMatch>,
    pub branch: Option<String>,
    pub since: Option<i64>,
    pub until: Option<i64>,
    pub include_non_interactive: bool,
}

/// A project by its path: any of these spellings.
#[derive(Debug, Clone, Default)]
pub struct ProjectMatch {
    pub spellings: Vec<String>,
    /// Finds the real path of a recorded directory.
    pub resolve: Option<fn(&str) -> Option<String>>,
}

/// Which sessions remain, and how many were left out only for being non-interactive.
#[derive(Debug, Default)]
pub struct Allowed {
    pub sessions: Vec<bool>,
    pub hidden: Vec<bool>,
}

impl Allowed {
    /// Leaves out the sessions of which this is not so.
    pub fn only(&mut self, so: impl Fn(usize) -> bool) {
        for session in (0..self.sessions.len()).filter(|s| !so(*s)) {
            self.sessions[session] = false;
            self.hidden[session] = false;
        }
    }
}

/// Applies all conditions on sessions.
pub fn allowed(view: &View<'_>, filter: &SessionFilter, query: &Query) -> Allowed {
    let mut projects = Projects { wanted: filter.project.as_ref(), seen: HashMap::new() };
    let wants_children = query.conditions.iter().any(|(c, not)| !not && *c == Condition::Is(Is::Subagent));
    let mut allowed =
        Allowed { sessions: vec![false; view.sessions.len()], hidden: vec![false; view.sessions.len()] };
    for (i, session) in view.sessions.iter().enumerate() {
        if !view.is_row(i as u32) || !scope(session, filter, &mut projects) || !conditions(session, query) {
            continue;
        }
        let shown = filter.include_non_interactive || wants_children || session.interactive();
        allowed.sessions[i] = shown;
        allowed.hidden[i] = !shown;
    }
    allowed
}

fn scope(session: &Session<'_>, filter: &SessionFilter, projects: &mut Projects<'_>) -> bool {
    let facts = &session.facts;
    filter.agent.is_none_or(|a| a == session.agent())
        && filter.branch.as_ref().is_none_or(|b| facts.branch.as_deref() == Some(b))
        && filter.since.is_none_or(|t| facts.last_ms >= t)
        && filter.until.is_none_or(|t| facts.started_ms <= t)
        && projects.has(&facts.project)
}

struct Projects<'f> {
    wanted: Option<&'f ProjectMatch>,
    seen: HashMap<String, bool>,
}

impl Projects<'_> {
    fn has(&mut self, project: &str) -> bool {
        let Some(wanted) = self.wanted else { return true };
        if project.is_empty() {
            return false;
        }
        if let Some(known) = self.seen.get(project) {
            return *known;
        }
        let same = |p: &str| wanted.spellings.iter().any(|s| same_path(s, p));
        let known = same(project) || wanted.resolve.and_then(|r| r(project)).is_some_and(|real| same(&real));
        self.seen.insert(project.to_owned(), known);
        known
    }
}

/// Whether two absolute paths are one after removing `.`, `..` and doubled or final slashes. Windows paths ignore case and slash;
/// letters with accents are the same in one piece or two, for file systems hand out either.
pub fn same_path(a: &str, b: &str) -> bool {
    a == b || normal(a) == normal(b)
}

fn normal(path: &str) -> String {
    let windows = path.as_bytes().get(1) == Some(&b':') || path.starts_with("\\\\");
    let path = if windows { path.replace('\\', "/").to_lowercase() } else { path.to_owned() };
    let path: String = path.nfc().collect();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let lead = if path.starts_with('/') { "/" } else { "" };
    format!("{lead}{}", parts.join("/"))
}

fn conditions(session: &Session<'_>, query: &Query) -> bool {
    let of_session = query.conditions.iter().filter(|(c, _)| *c != Condition::HasError);
    of_session.into_iter().all(|(c, not)| holds(session, c) != *not)
}

fn holds(session: &Session<'_>, condition: &Condition) -> bool {
    let facts = &session.facts;
    match condition {
        Condition::Agent(a) => {
            let info = session.provider.info();
            info.id == a || info.aliases.contains(&a.as_str())
        }
        Condition::Project(p) => project(facts, p),
        Condition::Branch(b) => {
            facts.branch.as_deref().is_some_and(|x| fold::fold(x).contains(&fold::fold(b)))
        }
        Condition::Model(m) => facts.model.as_deref().is_some_and(|x| x.to_lowercase().contains(m)),
        Condition::Since(t) => facts.last_ms >= *t,
        Condition::Until(t) => facts.started_ms <= *t,
        Condition::Is(Is::Archived) => facts.archived,
        Condition::Is(Is::Fork) => facts.forked_from.is_some() || facts.copied,
        Condition::Is(Is::Subagent) => facts.parent.is_some() || facts.source_kind == "subagent",
        // Known only from the messages: see `Allowed::only`.
        Condition::HasError => true,
        Condition::Is(Is::Interactive) => facts.interactive != Interactivity::No,
    }
}

/// `project:` takes a path, or (part of) a name.
fn project(facts: &Facts<'_>, wanted: &str) -> bool {
    if wanted.starts_with('/') || wanted.contains('\\') {
        return same_path(&facts.project, wanted);
    }
    fold::fold(super::metadata::project_name(&facts.project)).contains(&fold::fold(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_whole() {
        for same in ["/w/app", "/w/app/", "/w/./app", "/w/app/sub/..", "//w/app"] {
            assert!(same_path(same, "/w/app"), "{same}");
        }
        for other in ["/w/app2", "/w", "/", "/w/app/sub", "/W/app", "w/app"] {
            assert!(!same_path(other, "/w/app"), "{other}");
        }
        assert!(same_path("D:\\work\\app", "d:/work/app/"));
        assert!(!same_path("\\\\wsl.localhost\\Ubuntu\\home\\u\\app", "/home/u/app"));
    }
}
