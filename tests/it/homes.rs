//! Homes of all kinds: shared caches, links, odd names, nothing set at all.

use crate::agf::{Agf, claude_line, claude_lines, claude_path, id, ids};
use serde_json::{Value, json};
use std::fs;

fn answer(out: &std::process::Output) -> Value {
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

/// One cache serves whatever stores a process is pointed at, and no answer holds what belongs to others.
#[test]
fn two_homes_with_one_cache_do_not_mix() {
    let cache = tempfile::tempdir().unwrap();
    let homes: Vec<Agf> = (1..3)
        .map(|n| {
            let agf = Agf::new().var("AGF_CACHE_DIR", cache.path());
            agf.claude("/w/app", &id(n), &format!("shared zqshared zqhome{n}"));
            agf
        })
        .collect();
    for round in 0..3u32 {
        for (n, agf) in (1u32..).zip(&homes) {
            let own =
                agf.claude("/w/app", &id(10 * (round + 1) + n), &format!("shared zqshared round{round}"));
            let data = agf.data(&["search", "zqshared", "-c", "--limit", "100"]);
            assert_eq!(data["total"], 2, "home {n} in round {round}");
            let matches = data["sessions"]
                .as_array()
                .unwrap()
                .iter()
                .all(|s| !s["matches"].as_array().unwrap().is_empty());
            assert!(matches, "passages are read from the home in use");
            assert_eq!(agf.ids(&format!("zqhome{}", 3 - n)), Vec::<String>::new());
            assert_eq!(agf.error(&["show", &id(3 - n), "-a", "claude"])["code"], "not_found");
            fs::remove_file(own).unwrap();
        }
        if round == 1 {
            assert_eq!(homes[0].run(&["index", "rebuild"]).code, 0);
        }
    }
}

/// Homes kept elsewhere by a link, as dotfile managers do it.
#[cfg(unix)]
#[test]
fn stores_behind_links() {
    let link = |to: &std::path::Path, at: &std::path::Path| std::os::unix::fs::symlink(to, at).unwrap();
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "zqstow");
    agf.codex("/w/app", &id(2), "zqstow");
    fs::create_dir(agf.path("dotfiles")).unwrap();
    for name in [".claude", ".codex"] {
        fs::rename(agf.path(name), agf.path("dotfiles").join(name)).unwrap();
        link(&agf.path("dotfiles").join(name), &agf.path(name));
    }
    assert_eq!(agf.ids("zqstow").len(), 2);
    fs::rename(agf.path("dotfiles/.claude/projects"), agf.path("elsewhere")).unwrap();
    link(&agf.path("elsewhere"), &agf.path("dotfiles/.claude/projects"));
    assert_eq!(agf.ids("zqstow").len(), 2);
    agf.claude("/w/app", &id(3), "zqstow");
    assert_eq!(agf.ids("zqstow").len(), 3);
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_or_would_act_on_a_terminal() {
    use std::os::unix::ffi::OsStrExt;
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "zqname");
    let projects = agf.path(".claude/projects");
    for (n, name) in [
        b"bad-\xff\xfe".as_slice(),
        b"esc-\x1b[31mred",
        b"line\nfeed",
        b"tab\there",
        "bidi-\u{202e}x".as_bytes(),
    ]
    .iter()
    .enumerate()
    {
        let dir = projects.join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&dir).unwrap();
        let own = id(10 + n as u32);
        fs::write(dir.join(format!("{own}.jsonl")), claude_lines("/w/odd", &own, &[("user", "zqname")]))
            .unwrap();
        fs::create_dir(dir.join(format!("{}.jsonl", id(20 + n as u32)))).unwrap();
        fs::write(dir.join(std::ffi::OsStr::from_bytes(b"\xff.jsonl")), "{}").unwrap();
    }
    let data = agf.data(&["search", "zqname", "-c"]);
    assert_eq!(data["total"], 5, "{data}");
    for args in [vec!["search", "zqname", "-c"], vec!["find", "zqname"]] {
        let ran = agf.run(&args);
        let all = ran.out + &ran.err;
        for bad in ["\u{1b}", "\\u001b", "\u{202e}", "[31m"] {
            assert!(!all.contains(bad), "{bad:?} in {all}");
        }
    }
}

/// Metadata of any size is cut in answers, and the directory to start in is either whole or not given.
#[test]
fn metadata_without_measure() {
    let agf = Agf::new();
    let huge = "x".repeat(1 << 20);
    for (n, key) in ["gitBranch", "cwd", "version", "entrypoint", "teamName"].iter().enumerate() {
        let line = claude_line("/w/app", &id(n as u32), 0, "user", "zqhuge");
        let mut record: Value = serde_json::from_str(&line).unwrap();
        record[key] = json!(format!("/{huge}"));
        agf.write(&claude_path("/w/app", &id(n as u32)), format!("{record}\n"));
    }
    let mut model: Value =
        serde_json::from_str(&claude_line("/w/app", &id(9), 0, "assistant", "zqhuge")).unwrap();
    model["message"]["model"] = json!(huge);
    let title = json!({ "type": "custom-title", "customTitle": huge });
    let summary = json!({ "type": "system", "subtype": "away_summary", "content": huge });
    agf.write(&claude_path("/w/app", &id(9)), format!("{model}\n{title}\n{summary}\n"));
    let ran = agf.run(&["search", "zqhuge", "-c", "--include-summaries", "--include-non-interactive"]);
    let data: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(data["data"]["total"], 6);
    assert!(ran.out.len() < 64 << 10, "{} bytes for six sessions", ran.out.len());
    for n in [0, 1, 9] {
        let ran = agf.run(&["resume-plan", &id(n), "-a", "claude"]);
        assert!(ran.code == 0 && ran.out.len() < 64 << 10, "{n}: {} bytes", ran.out.len());
    }
}

#[test]
fn caches_are_where_the_environment_says() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "zqwhere");
    for (name, value, place) in [
        ("AGF_CACHE_DIR", "relative", "relative"),
        ("AGF_CACHE_DIR", "~/tilde", "tilde"),
        ("XDG_CACHE_HOME", agf.path("xdg").to_str().unwrap(), "xdg/agf-catalog"),
        ("AGF_CACHE_DIR", "", ".cache/agf-catalog"),
    ] {
        if name.starts_with("XDG") && cfg!(target_os = "macos") {
            continue;
        }
        let place = format!("{place}/v{}", agf_catalog::index::schema::VERSION);
        let place = place.as_str();
        assert!(!agf.path(place).exists(), "{place}");
        let out = agf.command(&["search", "zqwhere", "-c"]).env(name, value).output().unwrap();
        assert_eq!(answer(&out)["data"]["total"], 1, "{name}={value}");
        assert!(cfg!(target_os = "macos") || agf.path(place).exists(), "{name}={value}");
    }
}

#[test]
fn every_command_has_an_answer_in_an_empty_environment() {
    let agf = Agf::new();
    for args in [
        vec!["search", "x", "-c"],
        vec!["show", &id(1), "-a", "claude"],
        vec!["read", &id(1), "-a", "codex"],
        vec!["resume-plan", &id(1), "-a", "claude"],
        vec!["capabilities"],
        vec!["find", "x"],
        vec!["find", "--json", "x"],
        vec!["index", "status"],
        vec!["index", "verify"],
        vec!["index", "clear"],
        vec!["--demo", "find", "retry"],
        vec!["search", "--project", "."],
    ] {
        for home in [None, Some(""), Some("relative"), Some("/nonexistent/home")] {
            let mut command = agf.command(&args);
            command.env_clear();
            command.envs(home.map(|h| ("HOME", h)));
            let out = command.output().unwrap();
            let said =
                String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
            assert!(matches!(out.status.code(), Some(0 | 1)), "{args:?} {home:?}: {:?} {said}", out.status);
            assert!(!said.contains("panicked"), "{args:?} {home:?}: {said}");
        }
    }
}

/// AGF's contract: a project that is no text is an invalid request, not a usage error.
#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let agf = Agf::new();
    let odd = std::ffi::OsStr::from_bytes(b"/w/\xff");
    let out = agf.command(&["search", "--project"]).arg(odd).output().unwrap();
    assert_eq!((out.status.code(), &answer(&out)["error"]["code"]), (Some(1), &json!("invalid_request")));
    // A directory whose name is no text is no fault as long as nobody asks for it.
    let dir = agf.home.path().join(std::ffi::OsStr::from_bytes(b"cwd-\xff"));
    fs::create_dir(&dir).unwrap();
    agf.claude("/w/app", &id(1), "x");
    let out = agf.command(&["search"]).current_dir(&dir).output().unwrap();
    assert_eq!(answer(&out)["data"]["total"], 1);
    let out = agf.command(&["search", "--project", "."]).current_dir(&dir).output().unwrap();
    assert_eq!(answer(&out)["error"]["code"], "invalid_request");
}

/// Whatever is done to the index at the same time, an answer is right.
#[test]
fn questions_beside_rebuilding_and_clearing() {
    let agf = Agf::new();
    for n in 0..30 {
        agf.claude("/w/app", &id(n), &format!("zqbeside {}", "filler words ".repeat(500)));
    }
    std::thread::scope(|scope| {
        let troublemakers: Vec<_> = [["index", "rebuild"], ["index", "clear"], ["index", "verify"]]
            .into_iter()
            .map(|args| {
                let agf = &agf;
                scope.spawn(move || (0..8).for_each(|_| drop(agf.command(&args).output().unwrap())))
            })
            .collect();
        let mut asked = 0;
        while asked < 10 || troublemakers.iter().any(|t| !t.is_finished()) {
            let data = agf.data(&["search", "zqbeside", "-c", "--limit", "100"]);
            assert_eq!(ids(&data).len(), 30, "{}", data["warnings"]);
            asked += 1;
        }
    });
    assert_eq!(agf.ids("zqbeside").len(), 30);
    assert!(agf.run(&["index", "verify"]).out.contains("sound"));
}
