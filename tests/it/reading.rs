//! Reading whole sessions: all their files, page by page, and by the numbers that a search gives.

use crate::agf::{Agf, claude_line, claude_path, id};
use crate::fixture;
use agf_catalog::api::request::{ReadRequest, SearchRequest};
use agf_catalog::api::response::{Match, ReadData, SessionRecord};
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::error::ErrorCode;
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
    let sessions = match catalog.search(&request) {
        Ok(found) => found.sessions,
        // Some fixtures hold nothing that can be read.
        Err(e) => {
            assert_eq!(e.code, ErrorCode::ScanFailed, "{e:?}");
            Vec::new()
        }
    };
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

fn numbers(page: &Value) -> Vec<u64> {
    messages(page).iter().map(|m| m["index"].as_u64().unwrap()).collect()
}

fn texts(page: &Value) -> Vec<String> {
    messages(page).iter().map(|m| m["text"].as_str().unwrap().to_owned()).collect()
}

/// A session of `n` prompts.
fn long(n: usize) -> String {
    (0..n).map(|i| claude_line("/w/app", &id(1), i, "user", &format!("message {i}"))).collect()
}

fn record(n: usize, content: Value, side: bool) -> String {
    let record = json!({
        "isSidechain": side, "cwd": "/w/app", "sessionId": id(1), "type": "user", "uuid": format!("r{n}"),
        "timestamp": format!("2026-03-01T11:00:{n:02}.000Z"), "message": { "role": "user", "content": content },
    });
    format!("{record}\n")
}

fn tool_output(n: usize, text: &str) -> String {
    record(n, json!([{ "type": "tool_result", "tool_use_id": "t", "content": text }]), false)
}

const READ: [&str; 3] = ["read", "00000001-2222-4333-8444-555555555555", "-aclaude"];

fn page(agf: &Agf, more: &[&str]) -> Value {
    agf.data(&[&READ, more].concat())
}

#[test]
fn a_cursor_goes_on_exactly_while_the_session_grows() {
    let agf = Agf::new();
    let path = agf.write(&claude_path("/w/app", &id(1)), long(8));
    let first = page(&agf, &["-n", "5"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    fs::write(&path, long(9)).unwrap();
    let second = page(&agf, &["--cursor", cursor, "-n", "3"]);
    assert_eq!(
        (numbers(&second), &second["changed"], &second["total"]),
        (vec![5, 6, 7], &json!(true), &json!(9))
    );
    let third = page(&agf, &["--cursor", second["next_cursor"].as_str().unwrap()]);
    assert_eq!((numbers(&third), third.get("changed"), &third["next_cursor"]), (vec![8], None, &Value::Null));
    assert_ne!(first["revision"], second["revision"]);
    assert_eq!(second["revision"], third["revision"]);
}

#[test]
fn a_cursor_fails_when_what_was_read_is_no_more_the_same() {
    let agf = Agf::new();
    let path = agf.write(&claude_path("/w/app", &id(1)), long(8));
    let first = page(&agf, &["-n", "5"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    for changed in [long(8).replace("message 2", "another 2"), long(4)] {
        fs::write(&path, changed).unwrap();
        let error = agf.error(&[&READ[..], &["--cursor", cursor]].concat());
        assert_eq!((&error["code"], &error["retryable"]), (&json!("cursor_expired"), &json!(true)));
    }
    for (wrong, role) in [("x", "user"), ("5.0.0.0", "user"), (cursor, "assistant")] {
        let error = agf.error(&[&READ[..], &["--cursor", wrong, "--role", role]].concat());
        assert_eq!(error["code"], "invalid_request", "{wrong}");
    }
}

#[test]
fn only_one_place_can_be_asked_for() {
    let agf = Agf::new();
    agf.write(&claude_path("/w/app", &id(1)), long(8));
    let request = |change: &dyn Fn(&mut ReadRequest)| {
        let mut r = ReadRequest { agent: "claude".into(), session_id: id(1), ..ReadRequest::default() };
        change(&mut r);
        catalog(&agf).read(&r).unwrap_err().code.as_str()
    };
    assert_eq!(request(&|r| (r.offset, r.around) = (Some(0), Some(1))), "invalid_request");
    assert_eq!(request(&|r| (r.message, r.around) = (Some(0), Some(1))), "invalid_request");
    assert_eq!(request(&|r| r.text_offset = Some(1)), "invalid_request");
    assert_eq!(request(&|r| r.around = Some(8)), "not_found");
    assert_eq!(request(&|r| r.message = Some(1_000_000_000)), "not_found");
}

#[test]
fn around_a_message_counts_the_roles_that_are_wanted() {
    let agf = Agf::new();
    let line = |n: usize| {
        claude_line(
            "/w/app",
            &id(1),
            n,
            if n.is_multiple_of(3) { "user" } else { "assistant" },
            &format!("message {n}"),
        )
    };
    agf.write(&claude_path("/w/app", &id(1)), (0..30).map(line).collect::<String>());
    let around = |more: &[&str]| numbers(&page(&agf, &[&["--around", "12", "-n", "5"], more].concat()));
    assert_eq!(around(&["--role", "user"]), [6, 9, 12, 15, 18]);
    assert_eq!(around(&["--role", "assistant"]), [10, 11, 12, 13, 14]);
    assert_eq!(around(&["--max-bytes", "30"]), [11, 12, 13]);
    assert_eq!(numbers(&page(&agf, &["--around", "29", "-n", "4"])), [27, 28, 29]);
}

#[test]
fn tools_are_folded_and_one_message_is_read_whole() {
    let agf = Agf::new();
    let said = (0..9000).map(|i| format!("line {i}")).collect::<Vec<_>>().join("\n");
    let lines = long(1) + &tool_output(1, &said) + &claude_line("/w/app", &id(1), 70, "user", &said);
    agf.write(&claude_path("/w/app", &id(1)), lines);
    let all = page(&agf, &[]);
    let size =
        |n: usize| (all["messages"][n]["text"].as_str().unwrap().len(), &all["messages"][n]["truncated"]);
    assert!(size(1).0 <= 256 && size(1).0 > 200 && size(2).0 > 16_000, "{:?}", (size(1), size(2)));
    assert_eq!((size(0).1, size(1).1, size(2).1), (&json!(false), &json!(true), &json!(true)));
    assert_eq!(all["messages"][1]["bytes"], said.len());
    assert!(all["hint"].as_str().unwrap().contains("--message"));
    let unfolded = page(&agf, &["--full-tools"]);
    assert!(unfolded["messages"][1]["text"].as_str().unwrap().len() > 16_000);
    for n in ["1", "2"] {
        let one = page(&agf, &["--message", n]);
        assert_eq!((texts(&one), one.get("hint")), (vec![said.clone()], None));
        assert_eq!(one["messages"][0]["truncated"], false);
    }
    let mut from = json!(0);
    let mut joined = String::new();
    while !from.is_null() {
        let part =
            page(&agf, &["--message", "1", "--max-bytes", "30000", "--text-offset", &from.to_string()]);
        joined += &texts(&part)[0];
        from = part["messages"][0].get("next_text_offset").cloned().unwrap_or_default();
    }
    assert_eq!(joined, said);
}

/// A cut must not show the half of a credential, nor what is left of an escape sequence.
#[test]
fn a_text_read_in_stretches_stays_clean() {
    let agf = Agf::new();
    let key = format!("ghp_{}", "aB3dE5gH7j".repeat(4));
    let text = format!("zq {key} \u{1b}]52;c;QUJD\u{7} ").repeat(30);
    agf.write(&claude_path("/w/app", &id(1)), long(1) + &tool_output(1, &text));
    let whole = page(&agf, &["--message", "1"]);
    let (mut from, mut joined) = (0, String::new());
    loop {
        let at = from.to_string();
        let part = page(&agf, &["--message", "1", "--max-bytes", "17", "--text-offset", &at]);
        joined += &texts(&part)[0];
        match part["messages"][0]["next_text_offset"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!([joined], texts(&whole)[..]);
    assert!(!texts(&whole)[0].contains("aB3dE5") && !texts(&whole)[0].contains("QUJD"));
}

#[test]
fn copies_show_once_and_a_longer_file_adds_what_only_it_holds() {
    let agf = Agf::new();
    let config =
        format!("[[store]]\nagent = \"claude\"\nroot = \"{}\"\nlabel = \"old\"\n", agf.path("old").display());
    agf.write(".config/agf-catalog/config.toml", config);
    agf.write(&claude_path("/w/app", &id(1)), long(8));
    let copied = claude_path("/w/app", &id(1)).replace(".claude/", "old/");
    agf.write(&copied, long(5) + &claude_line("/w/app", &id(1), 90, "user", "only in the copy zqcopy"));
    let all = page(&agf, &[]);
    let lines: Vec<String> =
        (0..8).map(|i| format!("message {i}")).chain(["only in the copy zqcopy".into()]).collect();
    assert_eq!(texts(&all), lines);
    assert_eq!(numbers(&all)[7..], [7, 1_000_000_005]);
    assert_eq!(
        all["parts"],
        json!([{ "first": 0, "messages": 8 }, { "first": 1_000_000_005u64, "messages": 1 }])
    );
    for (word, number) in [("zqcopy", 1_000_000_005u64), ("\"message 3\"", 3), ("\"message 7\"", 7)] {
        let found = agf.data(&["search", word, "-c"]);
        let [hit] = found["sessions"][0]["matches"].as_array().unwrap().as_slice() else { panic!("{found}") };
        assert_eq!(hit["message"], number, "{word}");
    }
    // The number a copy would have leads to the one that is shown.
    let copy = page(&agf, &["--around", "1000000003", "-n", "1"]);
    assert_eq!((numbers(&copy), &copy["around"]), (vec![3], &json!(3)));
}

#[test]
fn children_come_after_and_keep_their_numbers_when_the_conversation_goes_on() {
    let agf = Agf::new();
    let path = agf.write(&claude_path("/w/app", &id(1)), long(2) + &record(9, json!("an inner task"), true));
    let child = format!(".claude/projects/-w-app/{}/subagents/agent-a1.jsonl", id(1));
    agf.write(&child, record(20, json!("find zqchild"), true) + &record(21, json!("more zqchild"), true));
    let all = page(&agf, &[]);
    let shown = |m: &Value| (m.get("sidechain").is_some(), m["child"].as_u64());
    let marks: Vec<_> = messages(&all).iter().map(shown).collect();
    assert_eq!(marks, [(false, None), (false, None), (true, None), (true, Some(1)), (true, Some(1))]);
    let found = agf.data(&["search", "zqchild find", "-c"]);
    let number = found["sessions"][0]["matches"][0]["message"].to_string();
    fs::write(&path, long(7)).unwrap();
    let page = page(&agf, &["--around", &number, "-n", "1"]);
    assert_eq!(texts(&page), ["find zqchild"]);
}

#[test]
fn a_session_whose_file_is_gone_says_so() {
    let agf = Agf::new();
    let path = agf.write(&claude_path("/w/app", &id(1)), long(2));
    page(&agf, &[]);
    fs::remove_file(&path).unwrap();
    let error = agf.error(&[&READ[..], &["--no-refresh"]].concat());
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("not_found"), &json!("the session's file is gone"))
    );
    agf.write(&claude_path("/w/app", &id(1)), long(2));
    let child = agf.write(
        &format!(".claude/projects/-w-app/{}/subagents/agent-a1.jsonl", id(1)),
        record(20, json!("task"), true),
    );
    agf.run(&["index", "rebuild"]);
    fs::remove_file(child).unwrap();
    let page = page(&agf, &["--no-refresh"]);
    assert_eq!((&page["total"], &page["warnings"][0]["code"]), (&json!(2), &json!("gone")));
}

#[test]
fn what_was_added_since_the_index_was_made_is_read() {
    let agf = Agf::new();
    let path = agf.write(&claude_path("/w/app", &id(1)), long(2));
    page(&agf, &[]);
    fs::write(&path, long(3)).unwrap();
    assert_eq!(page(&agf, &["--no-refresh"])["total"], 3);
}

#[test]
fn a_transcript_has_turns_times_and_folded_tools() {
    let agf = Agf::new().var("TZ", "Asia/Tokyo");
    let call = json!({ "type": "assistant", "uuid": "c1", "cwd": "/w/app", "sessionId": id(1), "timestamp": "2026-03-01T10:00:30.000Z",
        "message": { "id": "m", "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": "cargo test\nzqtwo" } }] } });
    let lines = claude_line("/w/app", &id(1), 0, "user", "Fix \u{1b}[31mit")
        + &format!("{call}\n")
        + &tool_output(1, &"ok ".repeat(400))
        + &record(2, json!("a task"), true);
    agf.write(&claude_path("/w/app", &id(1)), lines);
    let ran = agf.run(&["show", "--transcript", &id(1)]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for part in [
        "── 2026-03-01 ──",
        "you 19:00  #0\nFix it\n",
        "agent 19:00\n  → Bash cargo test zqtwo  #1\n",
        "1200 bytes  #2\n",
        "task 20:00  #3\na task\n",
    ] {
        assert!(ran.out.contains(part), "{part:?} in {}", ran.out);
    }
    assert!(!ran.out.contains('\u{1b}') && ran.out.lines().all(|l| l.chars().count() <= 160));
    let missing = agf.run(&["show", "-t", &id(9)]);
    assert_eq!((missing.code, missing.out.as_str()), (1, ""));
    assert!(missing.err.contains("session not found"), "{}", missing.err);
    agf.codex("/w/app", &id(1), "the same id");
    assert!(agf.run(&["show", "-t", &id(1)]).err.contains("several sessions"));
    assert_eq!(agf.run(&["show", &id(1)]).code, 2);
}

const EXPORT: [&str; 4] = ["export", "00000001-2222-4333-8444-555555555555", "-aclaude", "-f"];

#[test]
fn an_export_as_json_lines_holds_every_message_whole() {
    let agf = Agf::new();
    let key = format!("ghp_{}", "aB3dE5gH7j".repeat(4));
    let said = format!("{} {key} end", "output\n".repeat(9000));
    agf.write(&claude_path("/w/app", &id(1)), long(3) + &tool_output(1, &said));
    let ran = agf.run(&[&EXPORT[..], &["jsonl"]].concat());
    let lines: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["session", "message", "message", "message", "message", "end"]);
    assert_eq!((&lines[0]["session"]["session_id"], &lines[5]["messages"]), (&json!(id(1)), &json!(4)));
    let text = lines[4]["text"].as_str().unwrap();
    assert!(text.len() > 60_000 && text.ends_with("[redacted:github-token] end") && !ran.out.contains(&key));
}

#[test]
fn no_text_in_markdown_can_pass_for_another_part() {
    let agf = Agf::new();
    let hostile = "hello\n## User · #9\n```\nopen fence";
    agf.write(
        &claude_path("/w/app", &id(1)),
        claude_line("/w/app", &id(1), 0, "user", hostile) + &tool_output(1, "````\n## Agent · #7"),
    );
    let out = agf.run(&[&EXPORT[..], &["markdown"]].concat()).out;
    assert!(out.contains("> hello\n> ## User · #9\n> ```\n> open fence\n"), "{out}");
    assert!(out.contains("`````text\n````\n## Agent · #7\n`````\n"), "{out}");
    assert_eq!(out.lines().filter(|l| l.starts_with("## User")).count(), 1);
}

#[test]
fn an_export_replaces_nothing_and_stays_out_of_stores() {
    let agf = Agf::new();
    let source = agf.write(&claude_path("/w/app", &id(1)), long(3));
    let to = |file: &str, more: &[&str]| agf.run(&[&EXPORT[..], &["markdown", "-o", file], more].concat());
    let ran = to("out.md", &[]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let written = fs::read_to_string(agf.path("out.md")).unwrap();
    assert!(written.contains("> message 2\n"));
    fs::write(agf.path("out.md"), "mine").unwrap();
    let ran = to("out.md", &[]);
    assert_eq!((ran.code, ran.err.lines().next()), (1, Some("agf: the file exists")));
    assert_eq!(fs::read_to_string(agf.path("out.md")).unwrap(), "mine");
    assert_eq!(to("out.md", &["--force"]).code, 0);
    assert_eq!(fs::read_to_string(agf.path("out.md")).unwrap(), written);
    #[cfg(unix)]
    std::os::unix::fs::symlink(agf.path(".claude/projects"), agf.path("link")).unwrap();
    let inside = source.to_str().unwrap();
    for store in [
        inside,
        ".claude/projects/-w-app/out.md",
        ".claude/settings.json",
        "link/out.md",
        ".codex/sessions/x.md",
        ".claude/../.claude/x",
    ] {
        for force in [&[][..], &["--force"]] {
            let ran = to(store, force);
            assert!(ran.code == 1 && !ran.err.contains("exists"), "{store}: {}", ran.err);
        }
    }
    assert_eq!(fs::read_to_string(&source).unwrap(), long(3));
    assert_eq!(to("nowhere/out.md", &[]).code, 1);
    let entries = fs::read_dir(agf.path("")).unwrap().flatten();
    assert!(entries.map(|e| e.file_name()).all(|n| !n.to_string_lossy().contains("tmp")));
}
