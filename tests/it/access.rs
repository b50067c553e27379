//! What may not be read is said, and what was known of it is kept; what may not be written is done without.
//!
//! Permissions mean nothing to root: there the program runs as another user.
#![cfg(unix)]

use crate::agf::{Agf, claude_path, id, ids};
use crate::stores::state;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Takes a path's permissions away while something is done.
fn without<T>(path: &Path, mode: u32, work: impl FnOnce() -> T) -> T {
    let before = fs::metadata(path).unwrap().permissions();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let result = work();
    fs::set_permissions(path, before).unwrap();
    result
}

fn codes(data: &Value) -> Vec<(String, u64)> {
    let warnings = data["warnings"].as_array().unwrap();
    warnings.iter().map(|w| (w["code"].as_str().unwrap().to_owned(), w["count"].as_u64().unwrap())).collect()
}

fn two() -> Agf {
    let agf = Agf::new();
    agf.claude("/w/open", &id(1), "open zqacc");
    agf.claude("/w/locked", &id(2), "locked zqacc");
    agf.plain_user()
}

/// vshulcz/deja-vu#993, #816; can1357/oh-my-pi#11476: no permission looks like no sessions, or blanks everything.
#[test]
fn a_locked_directory_hides_nothing_else() {
    let agf = two();
    let project = agf.path(".claude/projects/-w-locked");
    without(&project, 0o000, || {
        for _ in 0..2 {
            let data = agf.data(&["search", "zqacc", "-c"]);
            assert_eq!((ids(&data), codes(&data)), (vec![id(1)], vec![("permission_denied".into(), 1)]));
            assert_eq!(
                (&data["warnings"][0]["agent"], &data["warnings"][0]["source"]),
                (&json!("claude"), &json!("-w-locked"))
            );
        }
    });
    assert_eq!(agf.ids("zqacc").len(), 2);
}

#[test]
fn a_file_that_may_not_be_read_yet_is_a_warning() {
    let agf = two();
    without(&agf.path(&claude_path("/w/locked", &id(2))), 0o000, || {
        let data = agf.data(&["search", "zqacc", "-c"]);
        assert_eq!((ids(&data), codes(&data)), (vec![id(1)], vec![("unreadable".into(), 1)]));
    });
    assert_eq!(agf.ids("zqacc").len(), 2);
}

#[test]
fn what_was_known_of_a_locked_place_stays() {
    for locked in [".claude/projects/-w-locked".to_owned(), claude_path("/w/locked", &id(2))] {
        let agf = two();
        assert_eq!(agf.ids("zqacc").len(), 2);
        without(&agf.path(&locked), 0o000, || {
            for _ in 0..2 {
                let listed = agf.data(&["search"]);
                assert_eq!(listed["total"], 2, "{locked}");
            }
            let plan = agf.data(&["resume-plan", &id(2), "-a", "claude"]);
            assert_eq!(plan["plan"]["ready"], false, "{locked}: {plan}");
        });
        assert_eq!(codes(&agf.data(&["search"])), []);
    }
}

#[test]
fn nothing_readable_is_a_failure() {
    let agf = two();
    without(&agf.path(".claude/projects"), 0o000, || {
        for args in [
            vec!["search"],
            vec!["search", "--agent", "claude"],
            vec!["show", &id(1), "-a", "claude"],
            vec!["resume-plan", &id(1), "-a", "claude"],
            vec!["read", &id(1), "-a", "claude"],
        ] {
            assert_eq!(agf.error(&args)["code"], "scan_failed", "{args:?}");
        }
        assert_eq!(agf.data(&["search", "--agent", "codex"])["total"], 0);
    });
    assert_eq!(agf.data(&["search"])["total"], 2);
}

#[test]
fn a_cache_that_may_only_be_read_answers_with_what_changed() {
    let cache = tempfile::tempdir().unwrap();
    let dir = cache.path().join("cache");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(cache.path(), fs::Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let agf = two().var("AGF_CACHE_DIR", &dir);
    assert_eq!(agf.ids("zqacc").len(), 2);
    let made = std::process::Command::new("chmod").args(["-R", "a-w"]).arg(cache.path()).status().unwrap();
    assert!(made.success());
    let before = state(cache.path());
    assert_eq!(agf.ids("zqacc").len(), 2);
    for n in 3..30 {
        agf.claude("/w/open", &id(n), &format!("later zqlate {}", "word ".repeat(2000)));
    }
    let data = agf.data(&["search", "zqlate", "-c", "--limit", "100"]);
    assert_eq!((&data["total"], codes(&data)), (&json!(27), vec![("index_not_writable".into(), 1)]));
    assert_eq!(agf.data(&["search", "zqacc", "-c"])["total"], 2);
    assert!(state(cache.path()) == before, "a cache without permission to write was changed");
    std::process::Command::new("chmod").args(["-R", "u+w"]).arg(cache.path()).status().unwrap();
}

#[test]
fn a_cache_that_may_not_be_entered_is_done_without() {
    let agf = two();
    agf.ids("zqacc");
    without(&agf.path(".cache/agf-catalog"), 0o000, || {
        let data = agf.data(&["search", "zqacc", "-c"]);
        assert_eq!((&data["total"], codes(&data)), (&json!(2), vec![("index_not_writable".into(), 1)]));
        assert_eq!(agf.run(&["index", "rebuild"]).code, 1);
    });
    assert_eq!(codes(&agf.data(&["search"])), []);
}

/// Dicklesworthstone/coding_agent_session_search#422: a disk that is full. Here no file may grow beyond a few kilobytes.
#[test]
fn a_full_disk_costs_the_cache_and_not_the_answer() {
    let agf = Agf::new();
    for n in 0..30 {
        agf.claude("/w/app", &id(n), &format!("full zqfull {}", "some words here ".repeat(400)));
    }
    let shell = |limit: &str| {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" search zqfull -c --limit 100");
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_agf")]).env_clear().env("HOME", agf.home.path());
        let out = command.output().unwrap();
        let answer: Value = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {:?} {}", out.status, String::from_utf8_lossy(&out.stderr)));
        (answer["data"]["total"].clone(), codes(&answer["data"]))
    };
    for limit in ["0", "1", "8", "32"] {
        assert_eq!(shell(limit), (json!(30), vec![("index_not_writable".into(), 1)]), "{limit}");
    }
    assert_eq!(shell("unlimited"), (json!(30), vec![]));
}
