//! Amazon Q Developer CLI. Paths, tables and options from aws/amazon-q-developer-cli (`util/paths.rs`, `sqlite_migrations/`, `cli/chat/mod.rs`),
//! seen 2026-11-30.
//!
//! `<data>/amazon-q/data.sqlite3` keeps the latest conversation of each directory. The program resumes that one; it knows no ids.

use super::shared::conversations;
use super::shared::data_dirs::data_dirs;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, ResumeKind};

/// The provider.
pub struct AmazonQ;

static INFO: Info = Info {
    id: "amazon-q",
    name: "Amazon Q Developer CLI",
    aliases: &["q", "amazonq", "q-cli", "amazon-q-cli", "amazon-q-developer", "amazon-q-developer-cli"],
    programs: &["q"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "trust all tools", args: &["--trust-all-tools"], bypasses_approval: true },
    ],
    cwd_rule: CwdRule::Required,
    home_var: None,
    parser_version: 1,
};

impl Provider for AmazonQ {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = env.dir_var("XDG_DATA_HOME");
        let vars: Vec<_> =
            set.iter().map(|d| ("XDG_DATA_HOME".to_owned(), d.to_string_lossy().into_owned())).collect();
        let root = |path, label| Root { path, label, env: vars.clone() };
        data_dirs(env)
            .into_iter()
            .zip(["data", "roaming"])
            .map(|(d, label)| root(d.join("amazon-q"), label))
            .collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([conversations::FILE], false) => Class::Source(0),
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        _from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        conversations::parse(source, [ResumeKind::LastInDirectory; 2], sink)
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        conversations::read(source, at)
    }

    fn resume(&self, _session_id: &str) -> Vec<String> {
        vec!["chat".into(), "--resume".into()]
    }
}
