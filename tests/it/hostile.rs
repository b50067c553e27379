//! Stores that are damaged, or made to do harm: what can be answered is answered, with a warning for the rest.

use crate::agf::{Agf, claude_line, claude_path, id};
use std::fs;
use std::io::Write;

fn codes(data: &serde_json::Value) -> Vec<String> {
    data["warnings"].as_array().unwrap().iter().map(|w| w["code"].as_str().unwrap().to_owned()).collect()
}

#[cfg(unix)]
fn fifo(path: &std::path::Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[cfg(unix)]
#[test]
fn fifos_directories_links_and_loops_do_not_hang_or_hide() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "good zqgood");
    fifo(&agf.path(&claude_path("/w/app", &id(2))));
    fifo(&agf.path(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-x.jsonl"));
    fs::create_dir_all(agf.path(&claude_path("/w/app", &id(3)))).unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, agf.path(at)).unwrap();
    link("/nonexistent", &claude_path("/w/app", &id(4)));
    link("../projects", ".claude/projects/loop");
    link(".", ".claude/projects/-w-app/subagents");
    for _ in 0..2 {
        let data = agf.data(&["search", "zqgood", "-c"]);
        assert_eq!(data["total"], 1);
        assert_eq!(codes(&data), ["not_a_regular_file", "not_a_regular_file"]);
    }
}

#[test]
fn one_bad_database_does_not_hide_the_rollouts() {
    let agf = Agf::new();
    agf.codex("/w/app", &id(1), "good zqgood");
    agf.write(".codex/state_5.sqlite", [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat());
    let data = agf.data(&["search", "zqgood", "-c"]);
    assert_eq!((&data["total"], codes(&data)), (&serde_json::json!(1), vec!["malformed".to_owned()]));
}

#[test]
fn a_store_that_cannot_be_read_is_not_an_empty_one() {
    let agf = Agf::new();
    agf.write(".claude/projects", "a file where a directory belongs");
    assert_eq!(agf.error(&["search", "--agent", "claude"])["code"], "scan_failed");
    agf.codex("/w/app", &id(1), "good zqgood");
    let data = agf.data(&["search", "zqgood", "-c"]);
    assert_eq!((&data["total"], codes(&data)), (&serde_json::json!(1), vec!["not_a_directory".to_owned()]));
}

#[test]
fn a_very_long_line_is_found_by_its_texts_heads() {
    let agf = Agf::new();
    let path = agf.path(&claude_path("/w/app", &id(1)));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = fs::File::create(&path).unwrap();
    write!(file, r#"{{"type":"user","uuid":"u1","cwd":"/w/app","sessionId":"{}","timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"zqhead "#, id(1)).unwrap();
    for _ in 0..20 {
        file.write_all(&b"some words ".repeat(100_000)).unwrap();
    }
    file.write_all(br#"zqbeyond"},{"type":"text","text":"the prompt zqprompt"}]}}"#).unwrap();
    file.write_all(b"\n").unwrap();
    file.write_all(claude_line("/w/app", &id(1), 9, "assistant", "next zqnext").as_bytes()).unwrap();
    for word in ["zqhead", "zqprompt", "zqnext"] {
        assert_eq!(agf.ids(word), [id(1)], "{word}");
    }
    let data = agf.data(&["search", "zqbeyond", "-c"]);
    assert_eq!((&data["total"], codes(&data)), (&serde_json::json!(0), vec!["records_shortened".to_owned()]));
    assert_eq!(agf.listed()[0]["title"], "the prompt zqprompt");
}

#[test]
fn escape_sequences_and_credentials_do_not_leave() {
    let agf = Agf::new();
    let key = format!("ghp_{}", "aB3dE5gH7j".repeat(4));
    let prompt = format!(
        "\u{1b}[31mRed\u{1b}[0m \u{1b}]52;c;QUJD\u{7}\u{9b}2J\u{202e} zqesc\n\tkey {key} postgres://u:pw@h/x"
    );
    agf.claude("/w/app", &id(1), &prompt);
    for args in [
        vec!["search", "zqesc", "-c", "--include-summaries"],
        vec!["find", "zqesc"],
        vec!["read", &id(1), "-a", "claude"],
        vec!["read", &id(1), "-a", "claude", "--message", "0"],
        vec!["show", "--transcript", &id(1)],
        vec!["export", &id(1), "-a", "claude", "--format", "markdown"],
        vec!["export", &id(1), "-a", "claude", "--format", "jsonl"],
    ] {
        let out = agf.run(&args).out;
        assert!(out.contains("zqesc"), "{out}");
        for bad in [key.as_str(), ":pw@", "\u{1b}", "\\u001b", "\u{9b}", "\u{202e}", "[31m", "QUJD"] {
            assert!(!out.contains(bad), "{args:?} lets {bad:?} through: {out}");
        }
    }
    assert!(agf.listed()[0]["title"].as_str().unwrap().starts_with("Red zqesc key [redacted:github-token]"));
}

#[test]
fn cuts_do_not_break_characters() {
    let agf = Agf::new();
    for (n, text) in
        ["한".repeat(400), "👩‍👩‍👧".repeat(100), "e\u{301}".repeat(700), format!("{}한", "x".repeat(255))]
            .iter()
            .enumerate()
    {
        agf.claude("/w/프로젝트", &id(n as u32), &format!("{text} zqcut"));
    }
    let data = agf.data(&["search", "zqcut", "-c", "--include-summaries"]);
    assert_eq!(data["total"], 4);
    for session in data["sessions"].as_array().unwrap() {
        assert!(session["title"].as_str().unwrap().len() <= 256);
        assert_eq!(session["project_name"], "프로젝트");
    }
}
