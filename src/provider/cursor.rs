//! Cursor CLI. Layout and fields as publicly reported for cursor-agent 2026.07 to 2026.09; the messages inside `store.db` after the public
//! reconstruction of its protobuf schema in `can1357/oh-my-pi` (`agent.proto`); flags from cursor.com/docs/cli (2026-11).
//!
//! `chats/<md5 of the directory>/<id>/store.db` holds a chat, `meta.json` beside it its title, directory and times.
//! `projects/<slug>/agent-transcripts/<id>/<id>.jsonl` (`<id>.txt` in early builds) is the same conversation as text, without times and
//! without tool results; what stands in `subagents/` below it are its children. The slug cannot be turned back into a path, so it is not.

mod sidecar;
mod store;
mod text;
mod transcript;
mod turns;
mod wire;

use super::shared::jsonl;
use super::{Class, CwdRule, Info, Mode, Parsed, Provider, Resume, Root, Sink, Source, SourceError};
use crate::io::env::Env;
use crate::model::{Locator, Message, valid_session_id};
use std::path::PathBuf;

/// The provider.
pub struct Cursor;

const STORE: u8 = 0;
const META: u8 = 1;
const JSONL: u8 = 2;
const TEXT: u8 = 3;

static INFO: Info = Info {
    id: "cursor",
    name: "Cursor CLI",
    aliases: &["cursor-agent", "cursor-cli"],
    programs: &["cursor-agent", "agent"],
    modes: &[
        Mode::DEFAULT,
        Mode { label: "plan (read-only)", args: &["--mode", "plan"], bypasses_approval: false },
        Mode { label: "ask (read-only)", args: &["--mode", "ask"], bypasses_approval: false },
        Mode { label: "yolo (no approval)", args: &["--force"], bypasses_approval: true },
    ],
    // A chat is looked up by its id in the bucket of the directory.
    cwd_rule: CwdRule::Required,
    home_var: Some("CURSOR_CONFIG_DIR"),
    parser_version: 1,
};

impl Provider for Cursor {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn roots(&self, env: &Env) -> Vec<Root> {
        let set = |names: &[&str]| -> Vec<(String, String)> {
            let var = |n: &&str| Some(((*n).to_owned(), env.dir_var(n)?.to_string_lossy().into_owned()));
            names.iter().filter_map(var).collect()
        };
        let own = ["CURSOR_CONFIG_DIR", "CURSOR_DATA_DIR"];
        let root = |path: PathBuf, label| Root { path, label, env: set(&own) };
        let mut roots = Vec::new();
        let home = env.in_home(".cursor");
        if let Some(dir) = env.dir_var("CURSOR_CONFIG_DIR") {
            roots.push(root(dir.join("chats"), "chats"));
            roots.push(root(dir.join("acp-sessions"), "acp"));
        } else {
            // Which of the two a build uses depends on its age.
            if let Some(dir) = env.dir_var("XDG_CONFIG_HOME").map(|d| d.join("cursor")) {
                let vars = set(&["XDG_CONFIG_HOME", "CURSOR_DATA_DIR"]);
                roots.push(Root { path: dir.join("chats"), label: "xdg-chats", env: vars });
            }
            roots.extend(home.iter().map(|h| root(h.join("chats"), "chats")));
            roots.extend(home.iter().map(|h| root(h.join("acp-sessions"), "acp")));
        }
        let data = env.dir_var("CURSOR_DATA_DIR").or(home);
        roots.extend(data.map(|d| root(d.join("projects"), "projects")));
        roots
    }

    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class {
        match (root.label, names, is_dir) {
            ("projects", _, _) => classify_transcript(names, is_dir),
            ("acp", [id], true) | ("chats" | "xdg-chats", [_, id], true) if is_session_name(id) => {
                Class::Enter
            }
            ("chats" | "xdg-chats", [bucket], true) if !bucket.starts_with('.') => Class::Enter,
            ("acp", [id, file], false) | ("chats" | "xdg-chats", [_, id, file], false)
                if is_session_name(id) =>
            {
                match *file {
                    "store.db" => Class::Source(STORE),
                    "meta.json" => Class::Source(META),
                    _ => Class::Skip,
                }
            }
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
            STORE => store::parse(source, id(source), sink),
            META => sidecar::parse(source, id(source), sink),
            TEXT => text::parse(source, id(source), sink),
            _ => transcript::parse(source, id(source), from, sink),
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
            STORE => store::read(source, at, &mut keep)?,
            TEXT => text::texts(source, &mut keep).map(drop)?,
            _ => jsonl::record_at(source, at, |v, place| {
                transcript::texts(v, place, &mut keep);
                Ok(())
            })?,
        }
        Ok(found)
    }

    fn resume(&self, session_id: &str) -> Vec<String> {
        vec!["--resume".into(), session_id.into()]
    }
}

/// What a name below `projects` is.
fn classify_transcript(names: &[&str], is_dir: bool) -> Class {
    match (names, is_dir) {
        ([slug], true) if !slug.starts_with('.') => Class::Enter,
        ([_, "agent-transcripts"], true) => Class::Enter,
        ([_, "agent-transcripts", id], true) if is_session_name(id) => Class::Enter,
        ([_, "agent-transcripts", _, "subagents"], true) => Class::Enter,
        ([_, "agent-transcripts", file], false) => classify_file(file, None),
        ([_, "agent-transcripts", dir, file], false) => classify_file(file, Some(dir)),
        ([_, "agent-transcripts", _, "subagents", file], false) => classify_file(file, None),
        _ => Class::Skip,
    }
}

fn classify_file(file: &str, dir: Option<&str>) -> Class {
    let kinds = [(".jsonl", JSONL), (".txt", TEXT)];
    let named = |stem: &str| is_session_name(stem) && dir.is_none_or(|d| d == stem);
    let kind = kinds.iter().find(|(ending, _)| file.strip_suffix(ending).is_some_and(named));
    kind.map_or(Class::Skip, |(_, kind)| Class::Source(*kind))
}

fn is_session_name(name: &str) -> bool {
    valid_session_id(name) && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The chat a file belongs to: its directory's name in `chats`, its own in `projects`.
fn id(source: &Source) -> &str {
    let mut names = source.rel.rsplit('/');
    let file = names.next().unwrap_or("");
    match source.kind {
        STORE | META => names.next().unwrap_or(""),
        _ => file.rsplit_once('.').map_or(file, |(stem, _)| stem),
    }
}

/// The chat that a child's transcript lies below.
fn parent(source: &Source) -> Option<&str> {
    let names: Vec<&str> = source.rel.split('/').collect();
    match names.as_slice() {
        [_, _, parent, "subagents", _] => Some(parent),
        _ => None,
    }
}
