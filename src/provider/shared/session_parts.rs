//! Stores of sessions, messages and parts, as OpenCode and its forks keep them.
//!
//! `<data>/<stem>.db` (with a channel's name in it for other builds) is today's store. Releases before 1.2 kept a file for each session,
//! message and part below `<data>/storage`, the oldest ones below `<data>/project/<name>/storage`. A release that moves these files into
//! its database leaves them where they are, so that both can hold a session: under one key, the catalog makes one of them.

mod database;
mod files;
mod message;
mod talk;

use crate::io::env::Env;
use crate::model::{Locator, Message};
use crate::provider::{Class, Parsed, Root, Sink, Source, SourceError};
use std::path::{Path, PathBuf};

/// What tells the members of the family apart.
pub struct Family {
    /// Its directory below the data directory.
    pub dir: &'static str,
    /// The variable that names another database.
    pub db_var: &'static str,
    /// Databases are called so, alone or with `-<channel>`.
    pub stems: &'static [&'static str],
}

const DATABASE: u8 = 0;
const SESSION: u8 = 1;
/// A session of the oldest layout.
const INFO: u8 = 2;

const DATA: &str = "data";
const CUSTOM: &str = "database";

/// The data directory, and the directory of a database that lies elsewhere.
pub fn roots(family: &Family, env: &Env) -> Vec<Root> {
    const XDG: &str = "XDG_DATA_HOME";
    let set = env.dir_var(XDG);
    let mut vars: Vec<_> = set.iter().map(|d| (XDG.to_owned(), d.to_string_lossy().into_owned())).collect();
    let Some(data) = set.or_else(|| env.in_home(".local/share")).map(|d| d.join(family.dir)) else {
        return Vec::new();
    };
    let custom = custom(family, env).map(|name| (data.join(name), name.to_owned()));
    vars.extend(custom.iter().map(|(_, name)| (family.db_var.to_owned(), name.clone())));
    let elsewhere = custom.and_then(|(path, _)| path.parent().filter(|p| *p != data).map(PathBuf::from));
    let mut roots = vec![Root { path: data, label: DATA, env: vars.clone() }];
    roots.extend(elsewhere.map(|path| Root { path, label: CUSTOM, env: vars }));
    roots
}

/// A path, or a name below the data directory. A database in memory leaves nothing to be found.
fn custom<'e>(family: &Family, env: &'e Env) -> Option<&'e str> {
    env.var(family.db_var).filter(|v| *v != ":memory:")
}

pub fn classify(family: &Family, root: &Root, names: &[&str], is_dir: bool) -> Class {
    if is_dir {
        return if root.label == DATA && leads_to_sessions(names) { Class::Enter } else { Class::Skip };
    }
    match names {
        [file] if is_database(family, root, file) => Class::Source(DATABASE),
        ["storage", "session", _, file] if root.label == DATA && is_session(file) => Class::Source(SESSION),
        ["project", _, "storage", "session", "info", file] if root.label == DATA && is_session(file) => {
            Class::Source(INFO)
        }
        _ => Class::Skip,
    }
}

fn leads_to_sessions(names: &[&str]) -> bool {
    matches!(
        names,
        ["storage"]
            | ["storage", "session"]
            | ["storage", "session", _]
            | ["project"]
            | ["project", _]
            | ["project", _, "storage"]
            | ["project", _, "storage", "session"]
            | ["project", _, "storage", "session", "info"]
    )
}

/// The database that the environment names, else all there are.
fn is_database(family: &Family, root: &Root, file: &str) -> bool {
    match root.env.iter().find(|(name, _)| name == family.db_var) {
        Some((_, path)) => {
            let path = Path::new(path);
            let here = root.label == CUSTOM || root.path.join(path).parent() == Some(&root.path);
            here && path.file_name().is_some_and(|n| n == file)
        }
        None => {
            let name = file.strip_suffix(".db");
            let is = |stem: &&str| {
                name.and_then(|n| n.strip_prefix(stem)).is_some_and(|n| n.is_empty() || n.starts_with('-'))
            };
            root.label == DATA && family.stems.iter().any(is)
        }
    }
}

fn is_session(file: &str) -> bool {
    file.starts_with("ses_") && file.ends_with(".json")
}

pub fn parse(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    match source.kind {
        DATABASE => database::parse(source, sink),
        _ => files::parse(source, sink),
    }
}

pub fn read(source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
    match source.kind {
        DATABASE => database::read(source, at),
        _ => files::read(source, at),
    }
}
