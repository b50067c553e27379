//! The command line keeps AGF's contract, and adds to it.

use crate::agf::{Agf, claude_line, id, ids};
use serde_json::json;
use std::fs;
use std::io::Read;

fn three() -> Agf {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "alpha zqall");
    agf.claude("/w/beta", &id(2), "beta zqall");
    agf.codex("/w/app", &id(3), "gamma zqall");
    agf
}

#[test]
fn requests_are_checked_before_anything_is_looked_up() {
    let agf = three();
    let long = "x".repeat(1025);
    for (args, code) in [
        (vec!["search", "--limit", "0"], "invalid_request"),
        (vec!["search", "--limit", "201"], "invalid_request"),
        (vec!["search", "--offset", "1000001"], "invalid_request"),
        (vec!["search", &long], "invalid_request"),
        (vec!["search", "--project", ""], "invalid_request"),
        (vec!["search", "--since", "never"], "invalid_request"),
        (vec!["search", "--cursor", "x"], "invalid_request"),
        (vec!["search", "--agent", "nobody"], "invalid_agent"),
        (vec!["show", &id(9), "--agent", "claude"], "not_found"),
        (vec!["show", &id(1), "--agent", "codex"], "not_found"),
        (vec!["show", "a\tb", "--agent", "claude"], "invalid_request"),
        (vec!["show", &long, "--agent", "nobody"], "invalid_request"),
        (vec!["resume-plan", &id(1), "--agent", "claude", "--mode", "warp"], "invalid_resume_plan"),
        (vec!["resume-plan", &id(1), "--agent", "claude", "--mode", &long[..65]], "invalid_request"),
        (vec!["resume-plan", &id(9), "--agent", "claude", "--mode", "warp"], "not_found"),
        (vec!["read", &id(1), "--agent", "claude", "--role", "boss"], "invalid_request"),
    ] {
        assert_eq!(agf.error(&args)["code"], code, "{args:?}");
    }
}

#[test]
fn usage_errors_exit_with_two_and_print_no_answer() {
    let agf = Agf::new();
    for args in [vec!["search", "--no-such-flag"], vec!["show"], vec!["fly"]] {
        let ran = agf.run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(!ran.err.is_empty());
    }
}

#[test]
fn agents_are_named_in_any_usual_spelling() {
    let agf = three();
    for name in ["claude", "Claude", " claude ", "claude-code", "Claude Code", "claude_code"] {
        assert_eq!(agf.data(&["search", "--agent", name])["total"], 2, "{name}");
    }
}

#[test]
fn empty_answers_are_good_answers() {
    let agf = Agf::new();
    let data = agf.data(&["search"]);
    assert_eq!(
        (&data["sessions"], &data["total"], &data["next_offset"]),
        (&json!([]), &json!(0), &json!(null))
    );
    let agf = three();
    let data = agf.data(&["search", "--offset", "50"]);
    assert_eq!((&data["sessions"], &data["total"]), (&json!([]), &json!(3)));
}

#[test]
fn text_appears_only_when_it_is_asked_for() {
    let agf = three();
    let of = |args: &[&str]| agf.data(args)["sessions"][0].clone();
    let bare = of(&["search"]);
    for field in ["title", "summaries", "recap", "matches"] {
        assert_eq!(bare.get(field), None, "{field}");
    }
    let summed = of(&["search", "--include-summaries", "alpha"]);
    assert_eq!(
        (&summed["title"], &summed["summaries"], &summed["recap"]),
        (&json!("alpha zqall"), &json!(["alpha zqall"]), &json!(null))
    );
    let found = of(&["search", "--include-content", "alpha"]);
    assert_eq!(found["matches"][0]["snippet"], "alpha zqall");
    assert_eq!(found["matches"][0]["highlights"], json!([[0, 5]]));
}

#[test]
fn an_empty_search_of_metadata_says_that_conversations_match() {
    let agf = three();
    let data = agf.data(&["search", "see"]);
    assert_eq!((&data["total"], &data["content_total"]), (&json!(0), &json!(3)));
    assert!(data["hint"].as_str().unwrap().contains("include_content"));
}

#[test]
fn pages_and_cursors_go_on_exactly() {
    let agf = Agf::new();
    for n in 0..7 {
        agf.claude("/w/app", &id(n), &format!("page zqpage {n}"));
    }
    let all = ids(&agf.data(&["search", "zqpage", "-c"]));
    let mut got = Vec::new();
    let mut data = agf.data(&["search", "zqpage", "-c", "--limit", "3"]);
    loop {
        got.extend(ids(&data));
        let Some(cursor) = data["next_cursor"].as_str().map(str::to_owned) else { break };
        data = agf.data(&["search", "zqpage", "-c", "--limit", "3", "--cursor", &cursor]);
    }
    assert_eq!(got, all);
    let first = agf.data(&["search", "zqpage", "-c", "--limit", "3"]);
    let cursor = first["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(agf.error(&["search", "other", "-c", "--cursor", &cursor])["code"], "invalid_request");
    agf.claude("/w/app", &id(99), "page zqpage 99");
    let error = agf.error(&["search", "zqpage", "-c", "--limit", "3", "--cursor", &cursor]);
    assert_eq!((&error["code"], &error["retryable"]), (&json!("cursor_expired"), &json!(true)));
}

#[test]
fn plans_are_data_checked_on_the_live_disk() {
    let agf = Agf::new();
    let cwd = agf.path("w/app");
    fs::create_dir_all(&cwd).unwrap();
    agf.claude(cwd.to_str().unwrap(), &id(1), "plan");
    let plan = agf.data(&["resume-plan", &id(1), "--agent", "claude"]);
    assert_eq!((&plan["executed"], &plan["requires_user_action"]), (&json!(false), &json!(true)));
    let p = &plan["plan"];
    assert_eq!(
        (&p["program"], &p["args"], &p["env"], &p["cwd"]),
        (&json!("claude"), &json!(["--resume", id(1)]), &json!({}), &json!(cwd))
    );
    assert_eq!(
        (&p["executable_found"], &p["working_directory_exists"], &p["ready"]),
        (&json!(false), &json!(true), &json!(false))
    );
    let program = agf.write("bin/claude", "#!/bin/sh\n");
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let p = &agf.data(&["resume-plan", &id(1), "--agent", "claude", "--mode", "bypass permissions"])["plan"];
    assert_eq!((&p["program"], &p["ready"], &p["unsafe"]), (&json!(program), &json!(true), &json!(true)));
    assert_eq!(p["args"], json!(["--resume", id(1), "--dangerously-skip-permissions"]));
    fs::remove_dir_all(&cwd).unwrap();
    let p = &agf.data(&["resume-plan", &id(1), "--agent", "claude"])["plan"];
    assert_eq!(
        (&p["working_directory_exists"], &p["ready"], &p["cwd"]),
        (&json!(false), &json!(false), &json!(cwd))
    );
}

#[test]
fn archived_codex_sessions_are_found_and_not_ready() {
    let agf = Agf::new();
    let path = agf.codex("/w/app", &id(1), "archived zqarch");
    fs::create_dir_all(agf.path(".codex/archived_sessions")).unwrap();
    fs::rename(&path, agf.path(".codex/archived_sessions").join(path.file_name().unwrap())).unwrap();
    assert_eq!(agf.data(&["search", "zqarch", "-c"])["sessions"][0]["archived"], true);
    let p = &agf.data(&["resume-plan", &id(1), "--agent", "codex"])["plan"];
    assert_eq!(p["ready"], false);
    assert!(p["hint"].as_str().unwrap().contains("codex unarchive"));
}

#[test]
fn reading_goes_page_by_page() {
    let agf = Agf::new();
    let path = agf.claude("/w/app", &id(1), "message 0");
    let more: String =
        (2..30).map(|n| claude_line("/w/app", &id(1), n, "user", &format!("message {n}"))).collect();
    fs::write(&path, fs::read_to_string(&path).unwrap() + &more).unwrap();
    let page = agf.data(&["read", &id(1), "-a", "claude", "--limit", "10"]);
    assert_eq!((&page["total"], &page["next_offset"]), (&json!(30), &json!(10)));
    let page = agf.data(&["read", &id(1), "-a", "claude", "--around", "20", "--limit", "5"]);
    let seen: Vec<_> =
        page["messages"].as_array().unwrap().iter().map(|m| m["index"].as_u64().unwrap()).collect();
    assert_eq!(seen, [18, 19, 20, 21, 22]);
    let page = agf.data(&["read", &id(1), "-a", "claude", "--role", "assistant"]);
    assert_eq!(page["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn find_prints_plain_text_into_a_pipe() {
    let agf = three();
    let ran = agf.run(&["find", "alpha"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(
        ran.out.contains("alpha zqall") && ran.out.contains(&id(1)) && !ran.out.contains('\u{1b}'),
        "{}",
        ran.out
    );
    let ran = agf.run(&["find", "zqall", "-alpha", "--beta"]);
    assert_eq!((ran.code, ran.out.lines().next().unwrap().contains("beta zqall")), (0, true), "{}", ran.out);
    let ran = agf.run(&["find", "zqnothing"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.trim()), (0, "", "no session matches"));
    let ran = agf.run(&["find", "x", "--agent", "nobody"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("agf: unknown agent\nhint: "), "{}", ran.err);
}

#[test]
fn the_demo_needs_no_history_and_touches_no_other_index() {
    let agf = Agf::new();
    assert!(agf.run(&["--demo", "find", "retry backoff"]).out.contains("billing-api"));
    assert_eq!(agf.data(&["--demo", "search", "日本語入力", "-c"])["total"], 1);
    assert_eq!(agf.data(&["search"])["total"], 0);
}

#[test]
fn no_refresh_answers_from_what_is_there() {
    let agf = three();
    agf.data(&["search"]);
    agf.claude("/w/app", &id(7), "late zqlate");
    assert_eq!(agf.data(&["search", "zqlate", "-c", "--no-refresh"])["total"], 0);
    assert_eq!(agf.data(&["search", "zqlate", "-c"])["total"], 1);
}

#[test]
fn the_index_can_be_looked_after() {
    let agf = three();
    assert!(agf.run(&["index", "verify"]).out.contains("no index"));
    agf.data(&["search"]);
    assert!(agf.run(&["index", "status"]).out.contains("complete"));
    assert!(agf.run(&["index", "verify"]).out.contains("sound"));
    assert!(agf.run(&["index", "rebuild"]).out.contains("3 files"));
    assert_eq!(agf.run(&["index", "clear"]).code, 0);
    assert!(agf.run(&["index", "status"]).out.contains("missing"));
    assert_eq!(agf.ids("zqall").len(), 3);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let agf = three();
    let mut child = agf
        .command(&["search", "zqall", "-c"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn without_a_home_there_is_an_empty_answer() {
    let agf = Agf::new();
    let out = agf.command(&["search"]).env_remove("HOME").output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&answer["ok"], &answer["data"]["total"]), (&json!(true), &json!(0)));
}
