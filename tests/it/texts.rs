//! In every fixture of every agent: what was said is found, by every role, and no store is touched.

use crate::fixture::{self, Home};
use agf_catalog::api::request::{ReadRequest, SearchRequest};
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::error::ErrorCode;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[test]
fn a_text_of_each_role_of_each_session_is_found_in_it() {
    let mut checked = BTreeMap::<String, usize>::new();
    for (agent, case) in fixture::cases() {
        let home = Home::of(&case);
        let before = state(home.path());
        let catalog = Catalog::in_cache(fixture::env(&case, home.path()), Scope::default(), cache(&home));
        *checked.entry(agent).or_default() += check(&catalog, &case);
        assert!(state(home.path()) == before, "{}: a store was touched", case.display());
    }
    let few: Vec<_> = checked.iter().filter(|(_, n)| **n < 3).collect();
    assert!(few.is_empty(), "texts checked: {few:?}");
}

fn cache(home: &Home) -> agf_catalog::io::cache_dir::CacheDir {
    agf_catalog::io::cache_dir::CacheDir::at(home.path().join(".agf-test-cache"))
}

/// How many texts were looked for.
fn check(catalog: &Catalog, case: &Path) -> usize {
    let all = SearchRequest { limit: 200, include_non_interactive: true, ..SearchRequest::default() };
    let mut checked = 0;
    let listed = match catalog.search(&all) {
        Ok(found) => found.sessions,
        // A home of nothing but what cannot be read.
        Err(e) if e.code == ErrorCode::ScanFailed => return 0,
        Err(e) => panic!("{}: {e:?}", case.display()),
    };
    for session in listed {
        let request = ReadRequest {
            agent: session.agent.clone(),
            session_id: session.session_id.clone(),
            project: Some(session.project_path.as_str().to_owned()).filter(|p| p.starts_with('/')),
            include_non_interactive: true,
            limit: Some(100),
            ..ReadRequest::default()
        };
        let read = match catalog.read(&request) {
            Ok(read) => read,
            // Conversations that share an id and say nothing of a directory.
            Err(e) if e.code == ErrorCode::AmbiguousSession => continue,
            Err(e) => panic!("{}: {}: {e:?}", case.display(), session.key),
        };
        let mut texts = BTreeMap::new();
        for message in &read.messages {
            if let Some(phrase) = phrase(message.text.as_str()) {
                texts.entry(message.role.clone()).or_insert(phrase);
            }
        }
        for (role, phrase) in texts {
            let query = format!("\"{phrase}\"");
            let ask = SearchRequest { query, include_content: true, collapse: false, ..all.clone() };
            let found = catalog.search(&ask).unwrap().sessions;
            let is = |s: &&_| -> bool {
                let s: &agf_catalog::api::response::SessionRecord = s;
                s.session_id == session.session_id && s.agent == session.agent
            };
            let hit = found.iter().find(is);
            assert!(hit.is_some(), "{}: {role} of {}: {phrase}", case.display(), session.key);
            checked += 1;
        }
    }
    checked
}

/// Some words in a row with nothing but blanks between them, as they stand in a text.
fn phrase(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == ' ';
    let line = text.split(|c| !plain(c)).max_by_key(|run| run.len())?;
    let words: Vec<&str> = line.split(' ').filter(|w| !w.is_empty()).take(6).collect();
    (words.concat().len() >= 5).then(|| words.join(" "))
}

/// Names, times and contents below a directory, without the catalog's own.
fn state(dir: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
        if path.ends_with(".agf-test-cache") {
            continue;
        }
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            all.extend(state(&path));
        } else if meta.is_file() {
            all.insert(path.clone(), (meta.modified().unwrap(), fs::read(&path).unwrap()));
        }
    }
    all
}
