//! The configuration file: memory for sessions that vanish, copied stores, other commands.

use crate::agf::{Agf, claude_line, claude_path, id};
use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;

const FILE: &str = ".config/agf-catalog/config.toml";

fn with(config: &str) -> Agf {
    let agf = Agf::new();
    agf.write(FILE, config);
    agf
}

fn keeping() -> Agf {
    with("keep_vanished = true\n")
}

fn only(agf: &Agf, word: &str) -> Value {
    let mut data = agf.data(&["search", word, "--include-content"]);
    assert_eq!(data["sessions"].as_array().unwrap().len(), 1, "{word}: {data}");
    data["sessions"][0].take()
}

fn is_remembered(agf: &Agf, word: &str, id: &str) {
    let session = only(agf, word);
    assert_eq!((&session["session_id"], &session["source_exists"]), (&json!(id), &json!(false)));
    assert_eq!((&session["resume_kind"], &session["matches"]), (&json!("none"), &json!([])));
    let plan = agf.error(&["resume-plan", id, "--agent", "claude"]);
    assert_eq!(plan["code"], "invalid_resume_plan");
    assert_eq!(agf.error(&["read", id, "--agent", "claude"])["code"], "not_found");
    assert_eq!(agf.data(&["show", id, "--agent", "claude"])["session"]["source_exists"], false);
}

fn is_live(agf: &Agf, word: &str, id: &str) {
    let session = only(agf, word);
    assert_eq!((&session["session_id"], session.get("source_exists")), (&json!(id), None));
    assert_eq!(session["matches"].as_array().unwrap().len(), 1);
}

#[test]
fn a_deleted_session_is_remembered_until_it_is_back() {
    let agf = keeping();
    let path = agf.claude("/w/app", &id(1), "first zqkept");
    agf.claude("/w/app", &id(2), "second zqother");
    is_live(&agf, "zqkept", &id(1));
    for _ in 0..2 {
        let text = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        is_remembered(&agf, "zqkept", &id(1));
        is_remembered(&agf, "zqkept", &id(1));
        is_live(&agf, "zqother", &id(2));
        fs::write(&path, text).unwrap();
        is_live(&agf, "zqkept", &id(1));
    }
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(claude_line("/w/app", &id(1), 9, "user", "and zqmore").as_bytes()).unwrap();
    is_live(&agf, "zqmore", &id(1));
    is_live(&agf, "zqkept", &id(1));
}

#[test]
fn a_deleted_directory_and_a_deleted_store_are_remembered() {
    let agf = keeping();
    let path = agf.claude("/w/app", &id(1), "first zqkept");
    let text = fs::read(&path).unwrap();
    is_live(&agf, "zqkept", &id(1));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    is_remembered(&agf, "zqkept", &id(1));
    agf.write(&claude_path("/w/app", &id(1)), &text);
    is_live(&agf, "zqkept", &id(1));
    fs::remove_dir_all(agf.path(".claude")).unwrap();
    is_remembered(&agf, "zqkept", &id(1));
    agf.claude("/w/new", &id(2), "a new store zqnew");
    is_live(&agf, "zqnew", &id(2));
    is_remembered(&agf, "zqkept", &id(1));
    agf.write(&claude_path("/w/app", &id(1)), &text);
    is_live(&agf, "zqkept", &id(1));
    let all: Vec<_> = agf.listed().into_iter().map(|s| s["session_id"].clone()).collect();
    assert_eq!(all, [id(1), id(2)]);
}

#[test]
fn a_session_that_only_moved_is_not_remembered_beside_itself() {
    let agf = keeping();
    let path = agf.codex("/w/app", &id(1), "first zqmoved");
    assert_eq!(only(&agf, "zqmoved")["archived"], false);
    let archived = agf.path(".codex/archived_sessions").join(path.file_name().unwrap());
    fs::create_dir_all(archived.parent().unwrap()).unwrap();
    fs::rename(&path, &archived).unwrap();
    for _ in 0..2 {
        let session = only(&agf, "zqmoved");
        assert_eq!((&session["archived"], session.get("source_exists")), (&json!(true), None));
        assert_eq!(session["matches"].as_array().unwrap().len(), 1);
        agf.claude("/w/app", &id(7), "a change, so that what is stale is let go");
    }
}

#[test]
fn what_was_remembered_is_forgotten_when_it_is_not_wanted_any_more() {
    let agf = keeping();
    let path = agf.claude("/w/app", &id(1), "first zqkept");
    let other = agf.claude("/w/b", &id(2), "second zqtoo");
    assert_eq!(agf.listed().len(), 2);
    fs::remove_file(path).unwrap();
    fs::remove_dir_all(other.parent().unwrap()).unwrap();
    assert_eq!(agf.listed().len(), 2);
    // Large enough to be published with all else.
    let large = agf.claude("/w/c", &id(3), &"large ".repeat(100_000));
    assert_eq!(agf.listed().len(), 3);
    fs::remove_file(agf.path(FILE)).unwrap();
    fs::remove_file(large).unwrap();
    assert_eq!((agf.ids("zqkept"), agf.listed().len()), (vec![], 0));
    agf.write(FILE, "keep_vanished = true\n");
    assert_eq!((agf.ids("zqtoo"), agf.listed().len()), (vec![], 0));
}

#[test]
fn a_process_that_stays_remembers_too() {
    let agf = keeping();
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd(agf.home.path());
    let catalog = Catalog::new(env, Scope::default()).resident();
    let found = |word: &str| {
        let query = format!("\"{word}\"");
        let request = SearchRequest { query, include_content: true, ..SearchRequest::default() };
        let found = catalog.search(&request).unwrap();
        found.sessions.iter().map(|s| (s.session_id.clone(), s.source_exists)).collect::<Vec<_>>()
    };
    let path = agf.claude("/w/app", &id(1), "first zqkept");
    assert_eq!(found("zqkept"), [(id(1), None)]);
    for n in 0..20 {
        let text = fs::read(&path).unwrap();
        if n % 3 == 0 {
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(found("zqkept"), [(id(1), Some(false))], "{n}");
        agf.write(&claude_path("/w/app", &id(1)), text);
        assert_eq!(found("zqkept"), [(id(1), None)], "{n}");
    }
}

#[test]
fn a_copied_store_is_searched_and_shown_but_not_resumed() {
    let agf = Agf::new();
    let old = |rel: &str, cwd: &str, n: u32, text: &str| {
        let from = agf.claude(cwd, &id(n), text);
        let to = agf.path(rel).join(claude_path(cwd, &id(n)));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, to).unwrap();
    };
    old("mnt/laptop", "/w/a", 1, "of a home zqhome");
    old("mnt/backup", "/w/b", 2, "of a directory zqdir");
    old("mnt/moved", "/w/c", 3, "of a directory of another name zqname");
    fs::rename(agf.path("mnt/moved/.claude"), agf.path("mnt/renamed")).unwrap();
    old("mnt/laptop", "/w/d", 4, "in both places zqboth");
    agf.claude("/w/d", &id(4), "in both places zqboth");
    agf.write(
        FILE,
        "[[store]]\nagent = \"claude\"\nroot = \"~/mnt/laptop\"\nlabel = \"old laptop\"\n\
         [[store]]\nagent = \"claude-code\"\nroot = \"mnt/backup/.claude\"\n\
         [[store]]\nagent = \"claude\"\nroot = \"~/mnt/renamed\"\n\
         [[store]]\nagent = \"codex\"\nroot = \"~/mnt/nothing\"\n\
         [[store]]\nagent = \"claude\"\nroot = \"~\"\n",
    );
    for (word, n, label) in
        [("zqhome", 1, "old laptop"), ("zqdir", 2, "mnt/backup/.claude"), ("zqname", 3, "~/mnt/renamed")]
    {
        let session = only(&agf, word);
        assert_eq!((&session["session_id"], &session["store"]), (&json!(id(n)), &json!(label)));
        assert_eq!(
            (&session["resume_kind"], session["matches"].as_array().unwrap().len()),
            (&json!("none"), 1)
        );
        let plan = agf.error(&["resume-plan", &id(n), "--agent", "claude"]);
        assert_eq!(plan["code"], "invalid_resume_plan");
        assert!(!agf.data(&["read", &id(n), "--agent", "claude"])["messages"].as_array().unwrap().is_empty());
    }
    let both = only(&agf, "zqboth");
    assert_eq!((both.get("store"), &both["resume_kind"]), (None, &json!("exact")));
    assert_eq!(agf.data(&["resume-plan", &id(4), "--agent", "claude"])["plan"]["session_id"], id(4));
}

#[test]
fn another_command_can_be_set_for_an_agent() {
    let agf = with("[programs]\nclaude = \"claude-nightly\"\nCodex-CLI = \"/nowhere/codex\"\n");
    agf.claude("/w/app", &id(1), "hello");
    agf.codex("/w/app", &id(2), "hello");
    let plan = |agent: &str, n: u32| agf.data(&["resume-plan", &id(n), "--agent", agent])["plan"].clone();
    assert_eq!(
        (&plan("claude", 1)["program"], &plan("claude", 1)["executable_found"]),
        (&json!("claude-nightly"), &json!(false))
    );
    assert_eq!(plan("codex", 2)["program"], "/nowhere/codex");
    let program = agf.write("bin/claude-nightly", "");
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(plan("claude", 1)["program"], json!(program));
    let capabilities = agf.data(&["capabilities"]);
    assert_eq!(capabilities["providers"][0]["program"], json!(program));
}

#[test]
fn a_file_that_is_not_understood_costs_a_warning_only() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "hello zqword");
    for bad in [
        "keep_vanished = ",
        "keep_vanishd = true",
        "keep_vanished = \"yes\"",
        "\u{0}\u{1}",
        "[[store]]\nagent = \"nobody\"\nroot = \"/x\"",
        "[programs]\nnobody = \"x\"",
    ] {
        agf.write(FILE, bad);
        let data = agf.data(&["search", "zqword", "--include-content"]);
        assert_eq!(data["sessions"].as_array().unwrap().len(), 1, "{bad:?}");
        assert_eq!(data["warnings"][0]["code"], "config_invalid", "{bad:?}");
    }
    fs::remove_file(agf.path(FILE)).unwrap();
    assert_eq!(agf.data(&["search", "zqword", "--include-content"])["warnings"], json!([]));
    let agf = agf.var("AGF_CONFIG", "~/settings.toml");
    agf.write("settings.toml", "nonsense");
    assert_eq!(agf.data(&["search"])["warnings"][0]["code"], "config_invalid");
}

#[test]
fn a_row_that_is_deleted_from_a_database_is_remembered() {
    let case = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/goose/database");
    let agf = Agf::of(&case);
    agf.write(FILE, "keep_vanished = true\n");
    let database = rusqlite::Connection::open(agf.path(".local/share/goose/sessions/sessions.db")).unwrap();
    let listed = || -> Vec<(String, bool)> {
        let all = agf.listed();
        let one =
            |s: &Value| (s["session_id"].as_str().unwrap().to_owned(), s.get("source_exists").is_none());
        all.iter().map(one).collect()
    };
    let before = listed();
    assert!(before.iter().any(|(id, live)| id == "20260725_1" && *live), "{before:?}");
    database.execute_batch("CREATE TABLE kept AS SELECT * FROM sessions WHERE id = '20260725_1'").unwrap();
    database.execute_batch("DELETE FROM sessions WHERE id = '20260725_1'").unwrap();
    for _ in 0..2 {
        let remembered = agf.data(&["search", "\"Fix the tokenizer\"", "--include-content"]);
        let session = &remembered["sessions"][0];
        assert_eq!(
            (&session["session_id"], &session["source_exists"]),
            (&json!("20260725_1"), &json!(false))
        );
        assert_eq!(listed().len(), before.len());
    }
    database.execute_batch("INSERT INTO sessions SELECT * FROM kept").unwrap();
    assert_eq!(listed(), before);
}
