//! Hermes (NousResearch/hermes-agent). Layout as written by 0.19.0 (PyPI, seen 2026-11-30); later columns from its source.
//!
//! `<home>/state.db` holds the sessions and messages of a profile: the default one's home is `~/.hermes`, another one's
//! `~/.hermes/profiles/<name>`. Older layouts lack columns, so the layout is asked for first.

mod message;
mod session;

use super::shared::jsonl::own;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::io::sqlite::Store;
use crate::model::{Facts, Locator, Message, valid_session_id};
use message::Reader;
use std::path::PathBuf;

/// The provider.
pub struct Hermes;

const DATABASE: &str = "state.db";

static INFO: Info = Info {
    id: "hermes",
    name: "Hermes",
    aliases: &["hermes-agent", "hermes-cli"],
    programs: &["hermes"],
    modes: &[Mode::DEFAULT, Mode { label: "yolo (no approval)", args: &["--yolo"], bypasses_approval: true }],
    // It says "restored workspace dir" and goes there.
    cwd_rule: CwdRule::RestoredByAgent,
    home_var: Some("HERMES_HOME"),
    parser_version: 1,
};

impl Provider for Hermes {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("HERMES_HOME");
        let vars = set.iter().map(|d| ("HERMES_HOME".to_owned(), d.to_string_lossy().into_owned())).collect();
        let usual = if cfg!(windows) {
            env.var("LOCALAPPDATA").map(|d| PathBuf::from(d).join("hermes"))
        } else {
            env.in_home(".hermes")
        };
        set.or(usual).map(|path| Root { path, label: "home", env: vars }).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            (["profiles"], true) => Class::Enter,
            (["profiles", name], true) if is_profile(name) => Class::Enter,
            ([DATABASE] | ["profiles", _, DATABASE], false) => Class::Source(0),
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        _from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        let mut store = Store::at(&source.path);
        let (sessions, damage) = store.read(session::list)?;
        let reader = Reader::new(&mut store)?;
        let mut parsed = Parsed { skipped: u32::from(damage), ..Parsed::default() };
        for s in sessions {
            let stamp = s.stamp();
            if !sink.keep(&s.id, stamp) {
                let mut facts = s.facts();
                sink.open(&s.id, stamp);
                let whole = reader.all(&mut store, &s.id, &mut facts, &mut |m| sink.message(m));
                parsed.skipped += u32::from(!whole);
                sink.close(&key(&source.rel, &s.id), facts);
            }
        }
        Ok(parsed)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut store = Store::at(&source.path);
        let mut found = Vec::new();
        Reader::new(&mut store)?.one(&mut store, at.offset, &mut |m| {
            if m.at == at {
                found.push(own(m));
            }
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }

    fn resume_from(&self, facts: &Facts<'_>, _root: &Root, rel: &str) -> Vec<String> {
        let of_profile = profile(rel).map(|p| vec!["--profile".to_owned(), p.to_owned()]);
        of_profile.unwrap_or_default().into_iter().chain(self.resume(&facts.id)).collect()
    }
}

fn is_profile(name: &str) -> bool {
    valid_session_id(name) && !name.starts_with('.')
}

/// The profile a database is of, unless it is the one of the home itself.
fn profile(rel: &str) -> Option<&str> {
    rel.strip_prefix("profiles/")?.split('/').next()
}

/// Profiles are cloned with their sessions; those are resumed each in its own.
fn key(rel: &str, id: &str) -> String {
    profile(rel).map_or_else(|| id.to_owned(), |p| format!("{p}/{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_a_profile_is_resumed_in_it() {
        let facts = Facts { id: "20260725_172000_aaaaaa".into(), ..Facts::default() };
        let root = Root { path: "/x".into(), label: "home", env: Vec::new() };
        let args = |rel| Hermes.resume_from(&facts, &root, rel).join(" ");
        assert_eq!(args("state.db"), "--resume 20260725_172000_aaaaaa");
        assert_eq!(args("profiles/work/state.db"), "--profile work --resume 20260725_172000_aaaaaa");
    }
}
