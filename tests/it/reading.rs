//! Reading whole sessions: all their files, page by page, and by the numbers that a search gives.

use crate::agf::{Agf, claude_line, claude_path, id};
use crate::fixture;
use agf_catalog::api::request::{ReadRequest, SearchRequest};
use agf_catalog::api::response::{Match, ReadData, SessionRecord};
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use serde_json::{Value, json};
use std::fs;

fn messages(page: &Value) -> Vec<Value> {
    page["messages"].as_array().unwrap().clone()
}

fn catalog(agf: &Agf) -> Catalog {
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd("/");
    Catalog::new(env, Scope::default()).resident()
}

fn named(session: &SessionRecord) -> ReadRequest {
    let project = session.project_path.as_str();
    ReadRequest {
        agent: session.agent.clone(),
        session_id: session.session_id.clone(),
        project: Some(project.to_owned()).filter(|p| !p.is_empty()),
        include_non_interactive: true,
        full_tools: true,
        ..ReadRequest::default()
    }
}

fn search(catalog: &Catalog, query: &str) -> Vec<SessionRecord> {
    let request = SearchRequest {
        query: query.to_owned(),
        limit: 200,
        include_content: true,
        include_non_interactive: true,
        ..SearchRequest::default()
    };
    let sessions = catalog.search(&request).map(|d| d.sessions).unwrap_or_default();
    let same = |s: &SessionRecord| sessions.iter().filter(|o| named(o) == named(s)).count();
    sessions.iter().filter(|s| same(s) == 1).cloned().collect()
}

/// All pages of this size, by cursor or by offset.
fn pages(catalog: &Catalog, name: &ReadRequest, limit: u64, by_cursor: bool) -> Vec<ReadData> {
    let mut ask = ReadRequest { limit: Some(limit), ..name.clone() };
    let mut all = Vec::new();
    loop {
        let page = catalog.read(&ask).unwrap();
        match by_cursor {
            true => ask.cursor = page.next_cursor.clone(),
            false => ask.offset = page.next_offset,
        }
        all.push(page);
        if ask.cursor.is_none() && ask.offset.is_none() {
            return all;
        }
    }
}

/// Whatever a session is made of: its pages are the whole, and what a search finds lies where it says.
#[test]
fn every_session_of_every_fixture_is_read_whole() {
    let (mut read, mut several, mut landed) = (0, 0, 0);
    for (agent, case) in fixture::cases() {
        let agf = Agf::of(&case);
        let catalog = catalog(&agf);
        for session in search(&catalog, "") {
            several += usize::from(read_whole(&catalog, &named(&session), &agent));
            read += 1;
        }
        for session in ["the", "a", "answer", "zq7"].iter().flat_map(|word| search(&catalog, word)) {
            for hit in session.matches.iter().flatten() {
                lands(&catalog, &named(&session), hit, &agent);
                landed += 1;
            }
        }
    }
    assert!(read > 100 && several >= 5 && landed > 150, "{read} {several} {landed}");
}

/// Returns whether the session has several files.
fn read_whole(catalog: &Catalog, name: &ReadRequest, agent: &str) -> bool {
    let whole = catalog.read(&ReadRequest { limit: Some(200), ..name.clone() }).unwrap();
    assert_eq!((whole.messages.len() as u64, whole.next_offset), (whole.total, None), "{agent}");
    for by_cursor in [true, false] {
        let pages = pages(catalog, name, 3, by_cursor);
        assert!(pages.iter().all(|p| p.revision == whole.revision && !p.changed));
        let joined: Vec<_> = pages.into_iter().flat_map(|p| p.messages).collect();
        assert_eq!(joined, whole.messages, "{agent} {}", name.session_id);
    }
    !whole.parts.is_empty()
}

fn lands(catalog: &Catalog, name: &ReadRequest, hit: &Match, agent: &str) {
    let page = catalog.read(&ReadRequest { around: Some(hit.message), limit: Some(1), ..name.clone() });
    let page = page.unwrap();
    let [m] = page.messages.as_slice() else { panic!("{agent}: {page:?}") };
    assert_eq!((m.index, &m.role), (hit.message, &hit.role), "{agent}");
    assert_eq!(m.timestamp_ms, hit.timestamp_ms, "{agent}");
    let flat = |t: &str| t.split_whitespace().collect::<Vec<_>>().join(" ");
    let (start, end) = hit.highlights[0];
    let word = &hit.snippet.as_str()[start..end];
    let tool = m.tool.as_ref().map_or("", |t| t.as_str());
    assert!(flat(&format!("{tool}: {}", m.text)).contains(word), "{agent}: {word} in {}", m.text);
}
