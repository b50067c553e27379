//! Every fixture, read by its provider alone: what sessions it holds and what was said in them.
//!
//! `UPDATE_EXPECTED=1 cargo test --test it providers` rewrites the expectations; read the difference before keeping it.

use crate::fixture::{self, Home};
use agf_catalog::io::stat;
use agf_catalog::model::{Facts, Interactivity, Message, UnitKind};
use agf_catalog::provider::{Class, Provider, Root, Sink, Source, registry};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn every_fixture_gives_its_sessions() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let mut wrong = Vec::new();
    for (id, case) in fixture::cases() {
        let provider = registry::find(&id).unwrap_or_else(|| panic!("{id} is no provider"));
        let home = Home::of(&case);
        let text = serde_json::to_string_pretty(&read_home(provider, home.path(), &case)).unwrap();
        let found = text.replace(home.path().to_str().unwrap(), "{home}") + "\n";
        let expected = case.join("expected.json");
        if update {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", case.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn read_home(provider: &dyn Provider, home: &Path, case: &Path) -> Value {
    let env = fixture::env(case, home);
    let mut all = Collected::default();
    for root in provider.roots(&env) {
        walk(provider, &root, &mut Vec::new(), &mut all);
    }
    json!({ "sessions": all.sessions, "skipped": all.skipped, "shortened": all.shortened, "failed": all.failed })
}

fn walk(provider: &dyn Provider, root: &Root, names: &mut Vec<String>, all: &mut Collected) {
    let path = names.iter().fold(root.path.clone(), |p, n| p.join(n));
    let mut entries: Vec<String> = match fs::read_dir(&path) {
        Ok(dir) => dir.flatten().filter_map(|e| e.file_name().into_string().ok()).collect(),
        Err(_) => return,
    };
    entries.sort();
    for name in entries {
        names.push(name.clone());
        let parts: Vec<&str> = names.iter().map(String::as_str).collect();
        match provider.classify(root, &parts, path.join(&name).is_dir()) {
            Class::Enter => walk(provider, root, names, all),
            Class::Source(kind) => read(provider, root, &parts.join("/"), kind, all),
            Class::Skip => {}
        }
        names.pop();
    }
}

fn read(provider: &dyn Provider, root: &Root, rel: &str, kind: u8, all: &mut Collected) {
    let path = root.path.join(rel);
    let Ok((fingerprint, stat::FileKind::Regular)) = stat::stat(&path) else { return };
    let source = Source { root: root.clone(), rel: rel.to_owned(), kind, path, fingerprint };
    match provider.parse(&source, None, all) {
        Ok(parsed) => {
            all.skipped += parsed.skipped;
            all.shortened += parsed.shortened;
        }
        Err(e) => all.failed.push(format!("{rel}: {e}")),
    }
    for (at, text) in all.places.drain(..) {
        let again = provider.read(&source, at).unwrap();
        let same = again.iter().find(|m| m.at == at).map(|m| m.text.clone());
        assert_eq!(
            same.as_deref(),
            Some(text.as_str()),
            "{rel} at {at:?}: what is read back is not what was indexed"
        );
    }
}

#[derive(Default)]
struct Collected {
    sessions: BTreeMap<String, Vec<Value>>,
    messages: Vec<String>,
    places: Vec<(agf_catalog::model::Locator, String)>,
    skipped: u32,
    shortened: u32,
    failed: Vec<String>,
}

impl Sink for Collected {
    fn open(&mut self, _row: &str, _stamp: u64) {
        self.messages.clear();
    }

    fn message(&mut self, m: Message<'_>) {
        let tool = m.tool.as_deref().map(|t| format!(" [{t}]")).unwrap_or_default();
        let text: String = m.text.chars().take(120).collect();
        self.messages.push(format!("{}{tool}: {text}", m.role.as_str()));
        self.places.push((m.at, m.text.into_owned()));
    }

    fn close(&mut self, session: &str, f: Facts<'_>) {
        let unit = match f.kind {
            UnitKind::Side => json!({ "side": side(&f) }),
            UnitKind::Child => json!({ "child": { "messages": self.messages } }),
            UnitKind::Main => json!({
                "id": f.id, "project": f.project, "resume_cwd": f.resume_cwd, "branch": f.branch, "worktree": f.worktree,
                "title": f.title, "title_source": f.title_source.map(|s| s.as_str()), "model": f.model, "summaries": f.summaries,
                "recap": f.recap, "started_ms": f.started_ms, "last_ms": f.last_ms, "message_count": f.messages,
                "interactive": format!("{:?}", f.interactive), "source_kind": f.source_kind, "parent": f.parent,
                "forked_from": f.forked_from, "archived": f.archived, "resume": f.resume.as_str(), "copied": f.copied,
                "messages": self.messages,
            }),
        };
        self.sessions.entry(session.to_owned()).or_default().push(unit);
    }

    fn keep(&mut self, _row: &str, _stamp: u64) -> bool {
        false
    }
}

/// What a unit without a conversation says; what is rarely said only where it is.
fn side(f: &Facts<'_>) -> Value {
    let mut side = json!({
        "title": f.title, "title_source": f.title_source.map(|s| s.as_str()), "archived": f.archived, "parent": f.parent,
    });
    let more = json!({
        "project": Some(f.project.as_ref()).filter(|p| !p.is_empty()), "resume_cwd": f.resume_cwd, "branch": f.branch,
        "worktree": f.worktree, "model": f.model, "started_ms": Some(f.started_ms).filter(|t| *t > 0),
        "last_ms": Some(f.last_ms).filter(|t| *t > 0 && f.started_ms > 0), "forked_from": f.forked_from,
        "interactive": Some(f.interactive).filter(|i| *i != Interactivity::Unknown).map(|i| format!("{i:?}")),
        "source_kind": Some(f.source_kind.as_ref()).filter(|k| !k.is_empty()),
    });
    let said = more.as_object().into_iter().flatten().filter(|(_, v)| !v.is_null());
    said.for_each(|(k, v)| side[k] = v.clone());
    side
}
