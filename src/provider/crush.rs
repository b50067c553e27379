//! Crush (Charm). Layout of the database and of the register from the agent's own source (`internal/db/migrations`, `internal/projects`,
//! `internal/message`, read 2026-11); the agent itself was not run.
//!
//! Each project has a database of its own, `<project>/.crush/crush.db` or one in the directory that `options.data_directory` or
//! `--data-dir` names. `projects.json` lists them. A session's row says nothing of its directory: it is the project's.

mod sessions;
mod texts;

use super::shared::json::{get, items, text};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Facts, Locator, Message};
use serde_json_borrow::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The provider.
pub struct Crush;

/// The usual name of a project's data directory.
const DATA_DIR: &str = ".crush";
/// Projects beyond this number, the ones not used for longest, are not looked into.
const PROJECTS_MAX: usize = 2000;

static INFO: Info = Info {
    id: "crush",
    name: "Crush",
    aliases: &["charm-crush", "charmbracelet-crush"],
    programs: &["crush"],
    modes: &[Mode::DEFAULT, Mode { label: "yolo (no approval)", args: &["--yolo"], bypasses_approval: true }],
    // The database is found from the directory, and a session takes place there.
    cwd_rule: CwdRule::Required,
    home_var: Some("CRUSH_GLOBAL_DATA"),
    parser_version: 1,
};

impl Provider for Crush {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let Some((dir, vars)) = global_data(env) else { return Vec::new() };
        let Ok(bytes) = stat::read_bounded(&dir.join("projects.json"), SIDE_FILE_MAX) else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&bytes);
        let stores = serde_json::from_str::<Value<'_>>(text.trim_start_matches('\u{feff}'))
            .map(|v| stores(&v))
            .unwrap_or_default();
        let root =
            |(path, project): (PathBuf, String)| Root { path, label: kept(project), env: vars.clone() };
        stores.into_iter().map(root).collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            (["crush.db"], false) => Class::Source(0),
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        _from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        sessions::parse(source, sink)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        sessions::read(source, at)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--session".into(), session_id.into()]
    }

    fn resume_from(&self, facts: &Facts<'_>, root: &Root, _rel: &str) -> Vec<String> {
        let mut args = self.resume(&facts.id);
        // A data directory that is not found from the project was named on the command line or in a configuration.
        if !is_usual(&root.path) {
            args.extend(["--data-dir".to_owned(), root.path.to_string_lossy().into_owned()]);
        }
        args
    }
}

/// The directory of `projects.json`, and the variable that says so.
fn global_data(env: &Env) -> Option<(PathBuf, Vec<(String, String)>)> {
    let set = |name: &str| {
        let dir = env.dir_var(name)?;
        let var = (name.to_owned(), dir.to_string_lossy().into_owned());
        Some((dir, vec![var]))
    };
    if let Some(found) = set("CRUSH_GLOBAL_DATA") {
        return Some(found);
    }
    if let Some((dir, vars)) = set("XDG_DATA_HOME") {
        return Some((dir.join("crush"), vars));
    }
    if cfg!(windows)
        && let Some(dir) = env.dir_var("LOCALAPPDATA")
    {
        return Some((dir.join("crush"), Vec::new()));
    }
    Some((env.in_home(".local/share/crush")?, Vec::new()))
}

/// The data directories of a register, each with its project; empty where it is not known.
///
/// Directories below a project that were worked in use the project's database: the project is the one the database lies in.
/// A database elsewhere that several projects share does not say which of them a session is of.
fn stores(register: &Value<'_>) -> BTreeMap<PathBuf, String> {
    let mut all: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for entry in items(get(register, "projects")).iter().take(PROJECTS_MAX) {
        let (Some(project), Some(data)) = (text(entry, "path"), text(entry, "data_dir")) else { continue };
        let path = Path::new(project).join(data);
        if path.is_absolute() {
            all.entry(path).or_default().insert(project.to_owned());
        }
    }
    all.into_iter().map(|(path, projects)| (project(&path, &projects), path)).map(|(p, d)| (d, p)).collect()
}

fn project(data: &Path, projects: &BTreeSet<String>) -> String {
    let mut registered = projects.iter();
    match (registered.next(), registered.next()) {
        (Some(only), None) => only.clone(),
        _ if is_usual(data) => data.parent().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default(),
        _ => String::new(),
    }
}

fn is_usual(data: &Path) -> bool {
    data.file_name().is_some_and(|n| n == DATA_DIR)
}

/// A project's path as the label of its root: a root belongs to one project, and is another one when the register changes.
/// Each path is kept once for the life of the process, for there are few.
fn kept(project: String) -> &'static str {
    static PROJECTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut projects = PROJECTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = projects.get(project.as_str()) {
        return known;
    }
    let project: &'static str = project.leak();
    projects.insert(project);
    project
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_one_project_or_an_unknown_one() {
        let register = r#"{"projects":[
            {"path":"/w/a","data_dir":"/w/a/.crush"}, {"path":"/w/a/sub","data_dir":"/w/a/.crush"},
            {"path":"/w/b","data_dir":".ai/crush"}, {"path":"/w/c","data_dir":"/data"}, {"path":"/w/d","data_dir":"/data"},
            {"path":7,"data_dir":"/x"}, {"path":"rel","data_dir":"x"}, "nonsense"]}"#;
        let found = stores(&serde_json::from_str(register).unwrap());
        let found: Vec<_> = found.iter().map(|(d, p)| (d.to_str().unwrap(), p.as_str())).collect();
        assert_eq!(found, [("/data", ""), ("/w/a/.crush", "/w/a"), ("/w/b/.ai/crush", "/w/b")]);
        assert!(std::ptr::eq(kept("/w/a".into()), kept("/w/a".into())));
    }

    #[test]
    fn a_data_directory_of_its_own_is_named_to_the_agent() {
        let root = |path: &str| Root { path: path.into(), label: "/w/a", env: Vec::new() };
        let facts = Facts { id: "x".into(), ..Facts::default() };
        let args = |path| Crush.resume_from(&facts, &root(path), "crush.db");
        assert_eq!(args("/w/a/.crush"), ["--session", "x"]);
        assert_eq!(args("/data"), ["--session", "x", "--data-dir", "/data"]);
    }
}
