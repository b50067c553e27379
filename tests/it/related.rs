//! Sessions that belong together, that are on the same thing, and that are copies of one another.

use crate::agf::{Agf, claude_line, claude_path, id, ids};
use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use agf_catalog::limits::{DUPLICATES_MAX, RELATED_MAX};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A Claude Code session of these texts, prompts and answers by turns. The first `shared` records are copies of another session's.
fn session(agf: &Agf, cwd: &str, n: u32, texts: &[&str], copied: Option<(u32, usize)>) {
    let line = |(i, text): (usize, &&str)| {
        let role = if i % 2 == 0 { "user" } else { "assistant" };
        let mut record: Value = serde_json::from_str(&claude_line(cwd, &id(n), i, role, text)).unwrap();
        if let Some((from, _)) = copied.filter(|(_, shared)| i < *shared) {
            record["uuid"] = json!(format!("{}-{i}", id(from)));
            record["forkedFrom"] = json!({ "sessionId": id(from), "messageUuid": record["uuid"] });
        }
        format!("{record}\n")
    };
    agf.write(&claude_path(cwd, &id(n)), texts.iter().enumerate().map(line).collect::<String>());
}

fn codex(agf: &Agf, n: u32, meta: Value, prompt: &str) {
    let path = agf.codex("/w/app", &id(n), prompt);
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(head).unwrap();
    head["payload"].as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    fs::write(path, format!("{head}\n{rest}")).unwrap();
}

fn relations(data: &Value) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let all = data["related"].as_array().cloned().unwrap_or_default();
    all.iter().map(|r| (text(&r["relation"]), text(&r["session_id"]))).collect()
}

fn pairs(expected: &[(&str, u32)]) -> Vec<(String, String)> {
    expected.iter().map(|(relation, n)| ((*relation).to_owned(), id(*n))).collect()
}

/// An original, two forks of it, a sub-agent and a session that has nothing to do with them.
fn family() -> Agf {
    let agf = Agf::new();
    let spawn = |parent: u32| json!({ "source": { "subagent": { "thread_spawn": { "parent_thread_id": id(parent) } } } });
    codex(&agf, 1, json!({}), "the original");
    codex(&agf, 2, json!({ "forked_from_id": id(1) }), "a fork");
    codex(&agf, 3, json!({ "forked_from_id": id(1) }), "another fork");
    codex(&agf, 4, spawn(1), "look at the tests");
    codex(&agf, 5, json!({}), "a stranger");
    agf
}

#[test]
fn the_family_of_a_session_is_shown_with_it() {
    let agf = family();
    let show = |n: u32| relations(&agf.data(&["show", &id(n), "-a", "codex", "--include-non-interactive"]));
    assert_eq!(show(1), pairs(&[("fork", 2), ("fork", 3), ("subagent", 4)]));
    assert_eq!(show(2), pairs(&[("forked_from", 1), ("sibling", 3)]));
    assert_eq!(show(4), pairs(&[("parent", 1)]));
    let stranger = agf.data(&["show", &id(5), "-a", "codex"]);
    assert!(stranger.get("related").is_none() && stranger.get("related_total").is_none(), "{stranger}");
}

#[test]
fn the_family_is_told_with_titles_only_if_they_are_asked_for() {
    let agf = family();
    let first =
        |more: &[&str]| agf.data(&[&["show", &id(2), "-a", "codex"], more].concat())["related"][0].clone();
    let bare = first(&[]);
    assert_eq!(bare["agent"], "codex");
    assert_eq!(bare["timestamp_ms"], 1_772_359_202_000i64);
    assert!(bare.get("title").is_none(), "{bare}");
    assert_eq!(first(&["--include-summaries"])["title"], "the original");
}

#[test]
fn a_fork_that_says_nothing_of_it_is_known_by_its_beginning() {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &["begin", "yes", "more"], None);
    let text = fs::read_to_string(agf.path(&claude_path("/w/app", &id(1)))).unwrap();
    agf.write(
        &claude_path("/w/app", &id(2)),
        text.replace(&format!("\"sessionId\":\"{}\"", id(1)), &format!("\"sessionId\":\"{}\"", id(2))),
    );
    let data = agf.data(&["show", &id(1), "-a", "claude"]);
    assert_eq!(relations(&data), pairs(&[("sibling", 2)]));
}

#[test]
fn a_family_stays_within_the_scope_and_is_bounded() {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &["begin", "yes"], None);
    session(&agf, "/w/other", 2, &["begin", "yes", "elsewhere"], Some((1, 2)));
    for n in 0..RELATED_MAX as u32 + 3 {
        session(&agf, "/w/app", 100 + n, &["begin", "yes", "on"], Some((1, 2)));
    }
    let data = agf.data(&["show", &id(1), "-a", "claude"]);
    assert_eq!(relations(&data).len(), RELATED_MAX);
    assert_eq!(data["related_total"], RELATED_MAX + 4);
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd(agf.home.path());
    let scope = Scope::new(None, Some("/w/other"), &env).unwrap();
    let request = agf_catalog::api::request::ShowRequest {
        agent: "claude".into(),
        session_id: id(2),
        ..Default::default()
    };
    assert_eq!(Catalog::new(env, scope).show(&request).unwrap().related, []);
}

const RETRY: [&str; 4] = [
    "The invoice webhook needs a retry with exponential backoff in billing/webhook.rs",
    "I added jittered backoff to send_invoice and honour the RetryAfter header",
    "Cap the backoff at thirty seconds",
    "Done: MAX_BACKOFF is thirty seconds now",
];

/// Sessions on two things, in two agents.
fn subjects() -> Agf {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &RETRY, None);
    session(
        &agf,
        "/w/app",
        2,
        &[
            "send_invoice still fails: does the webhook honour RetryAfter and backoff?",
            "The jittered backoff ignored it",
        ],
        None,
    );
    agf.codex("/w/old", &id(3), "exponential backoff for the invoice webhook, as in billing/webhook.rs");
    session(
        &agf,
        "/w/app",
        4,
        &["The sidebar flickers when the theme changes", "A stylesheet is loaded twice"],
        None,
    );
    session(&agf, "/w/app", 5, &["Rename the theme of the sidebar", "Renamed it"], None);
    session(&agf, "/w/app", 7, &["Cap the sidebar at thirty pixels", "Now it is"], None);
    session(&agf, "/w/app", 6, &[&RETRY[..], &["and now something else", "fine"]].concat(), Some((1, 4)));
    agf
}

fn like(agf: &Agf, more: &[&str]) -> Vec<String> {
    ids(&agf.data(&[&["search", "--like", &id(1)], more].concat()))
}

#[test]
fn sessions_on_the_same_thing_are_found() {
    let agf = subjects();
    assert_eq!(
        like(&agf, &[]),
        [id(3), id(2)],
        "neither itself, nor its copy, nor what is on something else"
    );
    assert_eq!(like(&agf, &[]), like(&agf, &[]));
    let other = agf.data(&["search", "--like", &id(5)]);
    assert_eq!(ids(&other), [id(4)]);
    let found = agf.data(&["search", "--like", &format!("claude:{}", id(1)), "-c", "-n", "1"]);
    assert_eq!((&found["total"], found.get("tier")), (&json!(2), None));
    let shown = found["sessions"][0]["matches"].as_array().unwrap();
    assert!(!shown.is_empty() && !shown[0]["highlights"].as_array().unwrap().is_empty(), "{found}");
    assert!(agf.data(&["search", "--like", &id(1)])["sessions"][0].get("matches").is_none());
}

#[test]
fn words_of_its_own_do_not_drown_the_shared_ones() {
    let agf = Agf::new();
    let own: Vec<String> = (0..60).map(|n| format!("zqown{n}")).collect();
    let own = own.join(" ");
    session(&agf, "/w/app", 1, &["begin", &own, &own, &format!("{own} kestrel falcon")], None);
    session(&agf, "/w/app", 2, &["the falcon and the kestrel", "birds"], None);
    assert_eq!(like(&agf, &[]), [id(2)]);
}

#[test]
fn likeness_is_narrowed_as_any_search_is() {
    let agf = subjects();
    assert_eq!(like(&agf, &["--agent", "codex"]), [id(3)]);
    assert_eq!(like(&agf, &["--project", "/w/app"]), [id(2)]);
    assert_eq!(like(&agf, &["agent:claude"]), [id(2)]);
    assert_eq!(like(&agf, &["fails", "-c"]), [id(2)]);
    assert_eq!(like(&agf, &["webhook -fails", "-c"]), [id(3)]);
    assert_eq!(like(&agf, &["--since", "2030-01-01"]), [""; 0]);
    let page = agf.data(&["search", "--like", &id(1), "-n", "1"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(like(&agf, &["-n", "1", "--cursor", cursor]), [id(2)]);
    assert_eq!(agf.error(&["search", "--cursor", cursor])["code"], "invalid_request");
}

#[test]
fn a_session_that_no_person_drove_is_counted_but_not_shown() {
    let agf = subjects();
    codex(
        &agf,
        8,
        json!({ "source": "exec" }),
        "backoff of the invoice webhook in billing/webhook.rs, exponential",
    );
    let found = agf.data(&["search", "--like", &id(1)]);
    assert_eq!((&found["total"], &found["filtered_non_interactive"]), (&json!(2), &json!(1)));
    assert!(like(&agf, &["--include-non-interactive"]).contains(&id(8)));
}

#[test]
fn who_is_to_be_resembled_must_be_known() {
    let agf = subjects();
    assert_eq!(agf.error(&["search", "--like", "nobody"])["code"], "not_found");
    assert_eq!(agf.error(&["search", "--like=-x"])["code"], "invalid_request");
    assert_eq!(agf.error(&["search", "--like", &id(3), "--agent", "nobody"])["code"], "invalid_agent");
    agf.codex("/w/app", &id(1), "the same id for another agent");
    let error = agf.error(&["search", "--like", &id(1)]);
    assert_eq!(
        (&error["code"], error["candidates"].as_array().unwrap().len()),
        (&json!("ambiguous_session"), 2)
    );
    assert_eq!(like(&agf, &["--agent", "claude"]), [id(2)]);
    let mut named = ids(&agf.data(&["search", "--like", &format!("claude:{}", id(1))]));
    named.sort();
    assert_eq!(named, [id(2), id(3)]);
    // A scope is not left, not even to look at what is meant.
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd(agf.home.path());
    let scope = Scope::new(Some("codex"), None, &env).unwrap();
    let request = SearchRequest { like: Some(id(2)), ..SearchRequest::default() };
    assert_eq!(Catalog::new(env, scope).search(&request).unwrap_err().code.as_str(), "not_found");
}

/// What a search for a word gives: (id, duplicates, their ids).
fn counted(agf: &Agf, args: &[&str]) -> Vec<(String, u64, Vec<String>)> {
    let data = agf.data(&[&["search", "-c"], args].concat());
    let row = |s: &Value| {
        let ids = s["duplicate_ids"].as_array().cloned().unwrap_or_default();
        let ids = ids.iter().map(|i| i.as_str().unwrap().to_owned()).collect();
        (s["session_id"].as_str().unwrap().to_owned(), s["duplicates"].as_u64().unwrap_or(0), ids)
    };
    let rows: Vec<_> = data["sessions"].as_array().unwrap().iter().map(row).collect();
    assert_eq!(data["total"], rows.len());
    rows
}

#[test]
fn copies_count_once_where_they_share_what_was_found() {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &["zqshared begins", "zqshared goes on", "zqfirst"], None);
    session(&agf, "/w/app", 2, &["zqshared begins", "zqshared goes on", "zqsecond"], Some((1, 2)));
    session(
        &agf,
        "/w/app",
        3,
        &["zqshared begins", "zqshared goes on", "zqthird and zqshared"],
        Some((1, 2)),
    );
    session(&agf, "/w/app", 4, &["zqshared begins", "zqshared goes on"], None);
    let mut found = counted(&agf, &["zqshared"]);
    found.sort();
    // The third has a word of its own, and the fourth is no copy: somebody said the same once more.
    assert_eq!(found, [(id(1), 1, vec![id(2)]), (id(3), 0, vec![]), (id(4), 0, vec![])]);
    assert_eq!(counted(&agf, &["zqsecond"]), [(id(2), 0, vec![])]);
    assert_eq!(counted(&agf, &["zqshared", "zqsecond"]), [(id(2), 0, vec![])]);
    assert_eq!(counted(&agf, &["zqshared", "--no-collapse"]).len(), 4);
    assert_eq!(counted(&agf, &["zqshared role:assistant", "--sort", "time"]).len(), 2);
    assert_eq!(agf.data(&["search"])["total"], 4);
}

#[test]
fn an_original_stands_where_the_best_of_its_copies_would() {
    let agf = Agf::new();
    for (n, month, copied) in [(1, "01", None), (2, "05", None), (3, "09", Some((1, 2)))] {
        session(&agf, "/w/app", n, &["zqplace one", "yes"], copied);
        let path = agf.path(&claude_path("/w/app", &id(n)));
        let text = fs::read_to_string(&path).unwrap().replace("2026-03-01", &format!("2026-{month}-01"));
        fs::write(path, text).unwrap();
    }
    let order = |args: &[&str]| counted(&agf, args).into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
    assert_eq!(order(&["zqplace", "--no-collapse"]), [id(3), id(2), id(1)]);
    assert_eq!(order(&["zqplace"]), [id(1), id(2)]);
    assert_eq!(order(&["zqplace", "--sort", "time"]), [id(2), id(1)]);
}

#[test]
fn a_name_of_its_own_is_a_hit_of_its_own() {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &["begin", "yes zqword"], None);
    session(&agf, "/w/zqword", 2, &["begin", "yes zqword", "more"], Some((1, 2)));
    assert_eq!(counted(&agf, &["zqword"]).len(), 2);
    assert_eq!(counted(&agf, &["yes"]), [(id(1), 1, vec![id(2)])]);
}

#[test]
fn many_copies_page_exactly() {
    let agf = Agf::new();
    for n in 0..10u32 {
        let text = format!("zqpage number {n}");
        session(&agf, "/w/app", 10 * n, &[&text, "yes"], None);
        for copy in 1..=n.min(DUPLICATES_MAX as u32 + 2) {
            session(&agf, "/w/app", 10 * n + copy, &[&text, "yes", "own"], Some((10 * n, 2)));
        }
    }
    let all = counted(&agf, &["zqpage"]);
    assert_eq!(all.len(), 10);
    let most = all.iter().find(|(i, ..)| *i == id(90)).unwrap();
    assert_eq!((most.1, most.2.len()), (DUPLICATES_MAX as u64 + 2, DUPLICATES_MAX));
    let (mut paged, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut args = vec!["search", "zqpage", "-c", "-n", "3"];
        args.extend(cursor.iter().flat_map(|c| ["--cursor", c.as_str()]));
        let page = agf.data(&args);
        assert_eq!(page["total"], 10);
        paged.extend(ids(&page));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, all.iter().map(|(i, ..)| i.clone()).collect::<Vec<_>>());
    let page = agf.data(&["search", "zqpage", "-c", "-n", "3"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    assert_eq!(
        agf.error(&["search", "zqpage", "-c", "-n", "3", "--no-collapse", "--cursor", cursor])["code"],
        "invalid_request"
    );
}

#[test]
fn people_see_forks_and_copies() {
    let agf = Agf::new();
    session(&agf, "/w/app", 1, &["say zqword", "yes"], None);
    session(&agf, "/w/app", 2, &["say zqword", "yes", "zqown"], Some((1, 2)));
    assert!(agf.run(&["find", "zqword"]).out.contains("and a copy"));
    assert!(agf.run(&["find", "zqown"]).out.contains(&format!("fork of {}", id(1))));
}

/// Cursor keeps a chat in a database, and as a transcript without times; here the transcript was there first.
#[test]
fn what_two_files_hold_is_shown_as_the_leading_one_has_it() {
    let agf = Agf::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/cursor/chats"));
    let (chats, aside) = (agf.path(".cursor/chats"), agf.path("aside"));
    fs::rename(&chats, &aside).unwrap();
    let shown = |word: &str| {
        let found = agf.data(&["search", word, "-c"]);
        let matches = found["sessions"][0]["matches"].as_array().unwrap();
        matches.iter().map(|m| m["message"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let words = ["\"stops at len\"", "role:user parser", "in:tool len"];
    assert_eq!(words.map(shown), [[3], [0], [2]]);
    fs::rename(aside, chats).unwrap();
    // Much enough to be published, so that both are in one index and equal in rank.
    agf.codex("/w/app", &id(50), &"large ".repeat(40_000));
    assert_eq!(words.map(shown), [[5], [0], [3]]);
    assert_eq!(agf.data(&["search", "parser"])["sessions"][0]["resume_kind"], "exact");
}

const DAY: i64 = 86_400_000;

/// The catalog of a home on some day, with another store of Claude Code's or without.
fn on(agf: &Agf, day: i64, store: Option<&str>) -> Catalog {
    let home = agf.home.path().to_str().unwrap().to_owned();
    let mut vars = vec![("HOME", home)];
    vars.extend(store.map(|s| ("CLAUDE_CONFIG_DIR", agf.path(s).to_str().unwrap().to_owned())));
    let now = jiff::Timestamp::now().as_millisecond() + day * DAY;
    let env = Env::from_vars(vars).with_cwd(agf.home.path()).with_now_ms(now);
    Catalog::new(env, Scope::default())
}

fn found(catalog: &Catalog, word: &str) -> u64 {
    let request =
        SearchRequest { query: format!("\"{word}\""), include_content: true, ..SearchRequest::default() };
    catalog.search(&request).unwrap().total
}

/// Has something published that is too much to be kept in memory.
fn publish(agf: &Agf, catalog: &Catalog, n: u32) {
    agf.codex("/w/app", &id(n), &format!("{} zqlarge{n}", "large ".repeat(40_000)));
    assert_eq!(found(catalog, &format!("zqlarge{n}")), 1);
}

/// A home, and a second store that was asked with once.
fn two_stores() -> Agf {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "at home zqhome");
    let text = fs::read(agf.path(&claude_path("/w/app", &id(1)))).unwrap();
    let other = claude_path("/w/app", &id(2)).replace(".claude/", "second/");
    agf.write(&other, String::from_utf8(text).unwrap().replace(&id(1), &id(2)).replace("zqhome", "zqsecond"));
    let (first, second) = (on(&agf, 0, None), on(&agf, 0, Some("second")));
    publish(&agf, &first, 50);
    publish(&agf, &second, 51);
    assert_eq!((found(&first, "zqhome"), found(&second, "zqsecond")), (1, 1));
    agf
}

fn files(agf: &Agf) -> usize {
    on(agf, 0, None).status().sources
}

#[test]
fn a_store_that_nobody_looks_at_is_let_go_of() {
    let agf = two_stores();
    let known = files(&agf);
    assert!(is_known(&agf, &id(2)));
    publish(&agf, &on(&agf, 29, None), 52);
    assert_eq!(files(&agf), known + 1, "not yet");
    publish(&agf, &on(&agf, 31, None), 53);
    assert_eq!(files(&agf), known + 1, "one more, and the second store's one less");
    assert!(!is_known(&agf, &id(2)));
    // Who comes back finds everything again.
    assert_eq!(found(&on(&agf, 31, Some("second")), "zqsecond"), 1);
    assert_eq!(found(&on(&agf, 31, None), "zqhome"), 1);
}

#[test]
fn a_store_that_is_asked_with_stays() {
    let agf = two_stores();
    for day in [20, 40, 60] {
        publish(&agf, &on(&agf, day, Some("second")), 60 + day as u32);
        publish(&agf, &on(&agf, day, None), 160 + day as u32);
    }
    assert!(is_known(&agf, &id(2)));
}

#[test]
fn what_could_not_be_read_again_is_kept() {
    let agf = two_stores();
    agf.write(".config/agf-catalog/config.toml", "keep_vanished = true\n");
    publish(&agf, &on(&agf, 90, None), 52);
    assert!(is_known(&agf, &id(2)));
}

#[test]
fn making_the_index_anew_lets_go_of_other_stores() {
    let agf = two_stores();
    let known = files(&agf);
    assert_eq!(agf.run(&["index", "rebuild"]).code, 0);
    assert_eq!(files(&agf), known - 1);
    assert!(!is_known(&agf, &id(2)));
}

/// Whether the present catalog names a session.
fn is_known(agf: &Agf, id: &str) -> bool {
    let dir = agf.path(&format!(".cache/agf-catalog/v{}", agf_catalog::index::schema::VERSION));
    let number = |name: &str| name.strip_prefix("catalog-")?.parse::<u64>().ok();
    let names = fs::read_dir(&dir).unwrap().flatten().map(|e| e.file_name().into_string().unwrap());
    let newest = names.filter_map(|n| number(&n)).max().unwrap();
    let bytes = fs::read(dir.join(format!("catalog-{newest}"))).unwrap();
    memchr::memmem::find(&bytes, id.as_bytes()).is_some()
}
