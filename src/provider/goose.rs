//! Goose. Tables after its published source (`block/goose`, `session_manager.rs`, migrations 1 to 7) with columns of later releases where they are
//! there; flags from `goose-cli/src/cli.rs`; the files of early releases from public readers of them.
//!
//! `<data>/sessions/sessions.db` holds all sessions. Before that each was a file, `<data>/sessions/<id>.jsonl` or `~/.goose/sessions/<id>.jsonl`;
//! newer releases take them over under the same id, and leave the files.

mod content;
mod database;
mod legacy;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, valid_session_id};

/// The provider.
pub struct Goose;

const DATABASE: u8 = 0;
const LEGACY: u8 = 1;

static INFO: Info = Info {
    id: "goose",
    name: "Goose",
    aliases: &["goose-cli", "block-goose"],
    programs: &["goose"],
    // How much is asked is a setting (`GOOSE_MODE`), not a flag.
    modes: &[Mode::DEFAULT],
    cwd_rule: CwdRule::Required,
    home_var: Some("GOOSE_PATH_ROOT"),
    parser_version: 1,
};

impl Provider for Goose {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let under = |var: &str, rel: &str, label| {
            let dir = env.dir_var(var)?;
            let vars = vec![(var.to_owned(), dir.to_string_lossy().into_owned())];
            Some(Root { path: dir.join(rel), label, env: vars })
        };
        if let Some(root) = under("GOOSE_PATH_ROOT", "data/sessions", "sessions") {
            return vec![root];
        }
        let home = |rel: &str, label| Some(Root { path: env.in_home(rel)?, label, env: Vec::new() });
        let windows = || under("APPDATA", "Block/goose/data/sessions", "windows").filter(|_| cfg!(windows));
        let roots = [
            under("XDG_DATA_HOME", "goose/sessions", "xdg"),
            windows().map(|r| Root { env: Vec::new(), ..r }),
            home(".local/share/goose/sessions", "sessions"),
            home(".goose/sessions", "old"),
        ];
        roots.into_iter().flatten().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            (["sessions.db"], false) => Class::Source(DATABASE),
            ([file], false) if legacy_id(file).is_some() => Class::Source(LEGACY),
            _ => Class::Skip,
        }
    }

    fn parse(
        &self,
        source: &Source,
        from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError> {
        match source.kind {
            DATABASE => database::parse(source, sink),
            _ => legacy::parse(source, legacy_id(&source.rel).unwrap_or(""), from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        let mut keep = |m: Message<'_>| {
            if m.at == at {
                found.push(jsonl::own(m));
            }
        };
        match source.kind {
            DATABASE => database::read(source, at, &mut keep)?,
            _ => jsonl::record_at(source, at, |v, place| {
                legacy::texts(v, place, &mut keep);
                Ok(())
            })?,
        }
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        ["session", "--resume", "--session-id", session_id].map(str::to_owned).into()
    }
}

/// The id in a file's name; names can have been chosen by the user.
fn legacy_id(file: &str) -> Option<&str> {
    file.strip_suffix(".jsonl").filter(|id| valid_session_id(id) && !id.starts_with('.'))
}
