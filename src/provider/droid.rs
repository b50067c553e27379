//! Factory Droid. Formats as written by 0.225.2 (npm, seen 2026-11-30); names of fields and tags from that program's own schemas.
//!
//! `~/.factory/sessions/<cwd with - for />/<id>.jsonl` is a session, and so are files directly in `sessions` (early builds, and sessions
//! without a directory) and in `sessions/btw` (side questions). `<id>.settings.json` beside it holds its model, its tags and whether it is
//! archived. The directory's name cannot be turned back into a path; `session_start` has it.

mod record;

use super::shared::{document, jsonl};
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::limits::SIDE_FILE_MAX;
use crate::model::{Locator, Message, valid_session_id};
use record::Transcript;

/// The provider.
pub struct Droid;

const TRANSCRIPT: u8 = 0;
const SETTINGS: u8 = 1;

static INFO: Info = Info {
    id: "droid",
    name: "Droid",
    aliases: &["factory", "factory-droid"],
    programs: &["droid"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "spec (read-only)", args: &["--use-spec"], bypasses_approval: false },
        Mode { label: "auto low", args: &["--auto", "low"], bypasses_approval: false },
        Mode { label: "auto medium", args: &["--auto", "medium"], bypasses_approval: true },
        Mode { label: "auto high", args: &["--auto", "high"], bypasses_approval: true },
    ],
    cwd_rule: CwdRule::Required,
    home_var: Some("FACTORY_HOME_OVERRIDE"),
    parser_version: 1,
};

impl Provider for Droid {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        // The variable stands for the home directory, not for `.factory`.
        let set = env.dir_var("FACTORY_HOME_OVERRIDE");
        let vars = set.iter().map(|d| ("FACTORY_HOME_OVERRIDE".to_owned(), d.to_string_lossy().into_owned()));
        let vars = vars.collect();
        let home = set.or_else(|| env.home().map(Into::into));
        let root =
            |h: std::path::PathBuf| Root { path: h.join(".factory/sessions"), label: "sessions", env: vars };
        home.map(root).into_iter().collect()
    }

    fn classify(&self, _root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (names, is_dir) {
            ([name], true) if !name.starts_with('.') => Class::Enter,
            ([file] | [_, file], false) => classify_file(file),
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
            SETTINGS => settings(source, sink),
            _ => transcript(source, from, sink),
        }
    }

    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError> {
        let mut found = Vec::new();
        jsonl::record_at(source, at, |v, place| {
            record::texts(v, place, &mut |m| found.push(jsonl::own(m)));
            Ok(())
        })?;
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

fn classify_file(file: &str) -> Class {
    let kinds = [(".settings.json", SETTINGS), (".jsonl", TRANSCRIPT)];
    let kind = kinds.iter().find(|(ending, _)| file.strip_suffix(ending).is_some_and(is_session_name));
    kind.map_or(Class::Skip, |(_, kind)| Class::Source(*kind))
}

fn is_session_name(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

fn id(source: &Source) -> &str {
    let file = source.rel.rsplit('/').next().unwrap_or("");
    file.split_once('.').map_or(file, |(stem, _)| stem)
}

/// Sessions are told apart by directory and id.
fn key(source: &Source) -> &str {
    let ending = if source.kind == SETTINGS { ".settings.json" } else { ".jsonl" };
    source.rel.strip_suffix(ending).unwrap_or(&source.rel)
}

fn transcript(
    source: &Source,
    from: Option<&Resume<'_>>,
    sink: &mut dyn Sink,
) -> Result<Parsed, SourceError> {
    let mut reader = from.map_or_else(|| Transcript::new(id(source)), Transcript::resumed);
    sink.open("", 0);
    let offset = from.map_or(0, |r| r.offset);
    let end = jsonl::each_record(source, offset, |v, place| {
        reader.record(v, place, &mut |m| sink.message(m));
        Ok(())
    })?;
    let parsed = end.parsed(Vec::new());
    sink.close(key(source), reader.finish());
    Ok(parsed)
}

fn settings(source: &Source, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let facts = document::read(&source.path, SIDE_FILE_MAX, record::settings)?;
    sink.open("", 0);
    sink.close(key(source), facts.unwrap_or_else(record::no_settings));
    Ok(Parsed::default())
}
