//! Public failures of session tools as inputs, with the right answer. The reports are named above each test.

use crate::agf::{Agf, claude_line, claude_lines, claude_path, id, ids};
use serde_json::json;
use std::fs;

/// anthropics/claude-code#18829, #24067; winfunc/opcode#382: directory names cannot be decoded.
/// CommandCodeAI/command-code#849, Michaelliv/claude-quest#9: spaces, dots and CJK in them.
#[test]
fn projects_are_what_the_records_say() {
    let agf = Agf::new();
    for (n, cwd) in ["/w/my_proj/.v2/api-server", "/w/My Repo/プロジェクト.α_1", "/w/app"].iter().enumerate()
    {
        agf.claude(cwd, &id(n as u32), "x");
        let data = agf.data(&["search", "--project", cwd]);
        assert_eq!((ids(&data), &data["sessions"][0]["project_path"]), (vec![id(n as u32)], &json!(cwd)));
    }
}

/// vshulcz/deja-vu#698, #1101: one id in two projects.
#[test]
fn one_id_in_two_projects_is_two_sessions() {
    let agf = Agf::new();
    agf.claude("/w/alpha", &id(1), "zqalpha");
    agf.claude("/w/beta", &id(1), "zqbeta");
    assert_eq!(agf.listed().len(), 2);
    let error = agf.error(&["show", &id(1), "-a", "claude"]);
    assert_eq!(
        (&error["code"], error["candidates"].as_array().unwrap().len()),
        (&json!("ambiguous_session"), 2)
    );
    let shown = agf.data(&["show", &id(1), "-a", "claude", "--project", "/w/beta"]);
    assert_eq!(shown["session"]["project_path"], "/w/beta");
    assert_eq!(agf.data(&["search", "zqbeta", "-c"])["sessions"][0]["project_path"], "/w/beta");
}

/// manaflow-ai/cmux#4963, anthropics/claude-code#81603: the directory drifts inside a session.
#[test]
fn the_start_directory_is_where_to_resume() {
    let agf = Agf::new();
    let later = "/w/app/.claude/worktrees/feat-x";
    let lines = claude_lines("/w/app", &id(1), &[("user", "a"), ("assistant", "b")])
        + &claude_line(later, &id(1), 5, "user", "c");
    agf.write(&claude_path("/w/app", &id(1)), lines);
    fs::create_dir_all(agf.path(&claude_path(later, "memory"))).unwrap();
    let plan = agf.data(&["resume-plan", &id(1), "-a", "claude"]);
    assert_eq!(plan["plan"]["cwd"], "/w/app");
    assert_eq!(agf.listed().len(), 1);
}

/// anthropics/claude-code#27473, #76735; manaflow-ai/cmux#4859: projects and worktrees that are gone.
#[test]
fn a_directory_that_is_gone_is_said_to_be_gone() {
    let agf = Agf::new();
    agf.claude("/w/app/.claude/worktrees/calm-otter", &id(1), "x");
    let plan = agf.data(&["resume-plan", &id(1), "-a", "claude"]);
    assert_eq!(
        (&plan["plan"]["working_directory_exists"], &plan["plan"]["ready"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(plan["plan"]["cwd"], "/w/app/.claude/worktrees/calm-otter");
    assert_eq!(agf.listed()[0]["worktree"], "calm-otter");
}

/// anthropics/claude-code#90588, matt1398/claude-devtools#123: drive letters in two cases. NousResearch/hermes-agent#78908: UNC paths.
#[test]
fn windows_paths_on_any_reader() {
    let agf = Agf::new();
    agf.claude("D:\\work\\app", &id(1), "x");
    agf.claude("d:\\work\\app", &id(2), "x");
    agf.claude("\\\\wsl.localhost\\Ubuntu\\home\\u\\app", &id(3), "x");
    assert_eq!(agf.data(&["search", "--project", "D:\\work\\app"])["total"], 2);
    assert_eq!(agf.data(&["search", "--project", "d:/work/app/"])["total"], 2);
    assert!(agf.listed().iter().all(|s| s["project_name"] == "app"));
    assert_eq!(agf.data(&["resume-plan", &id(2), "-a", "claude"])["plan"]["cwd"], "d:\\work\\app");
}

/// anthropics/claude-code#46342, mikehasa/agentacct#84: links in the store.
#[cfg(unix)]
#[test]
fn a_linked_project_is_read_once() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "zqlink");
    agf.claude("/w/app", &id(2), "zqlink");
    let store = agf.path("shared");
    fs::rename(agf.path(".claude/projects/-w-app"), &store).unwrap();
    for name in ["-w-app", "-w-app-copy"] {
        std::os::unix::fs::symlink(&store, agf.path(".claude/projects").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("../projects", agf.path(".claude/projects/loop")).unwrap();
    assert_eq!(agf.ids("zqlink").len(), 2);
    assert_eq!(agf.listed().len(), 2);
}

/// grandamenium/cortextos#862, anthropics/claude-code#58591: the query names a link.
#[cfg(unix)]
#[test]
fn a_project_is_found_by_a_link_to_it() {
    let agf = Agf::new();
    let real = fs::canonicalize(agf.home.path()).unwrap().join("real/app");
    fs::create_dir_all(&real).unwrap();
    std::os::unix::fs::symlink(&real, agf.path("link")).unwrap();
    agf.claude(real.to_str().unwrap(), &id(1), "x");
    assert_eq!(agf.data(&["search", "--project", agf.path("link").to_str().unwrap()])["total"], 1);
}

/// graykode/abtop#172, earendil-works/pi#8048: relocated homes.
#[test]
fn an_override_is_read_instead_and_belongs_to_the_plan() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "default");
    agf.codex("/w/app", &id(2), "default");
    let alt = agf.path("alt");
    fs::create_dir_all(alt.join("projects/-w-app")).unwrap();
    fs::write(
        alt.join("projects/-w-app").join(format!("{}.jsonl", id(3))),
        claude_lines("/w/app", &id(3), &[("user", "alt")]),
    )
    .unwrap();
    let agf = agf.var("CLAUDE_CONFIG_DIR", &alt).var("CODEX_HOME", &alt);
    assert_eq!(agf.listed().iter().map(|s| s["session_id"].as_str().unwrap()).collect::<Vec<_>>(), [id(3)]);
    let plan = agf.data(&["resume-plan", &id(3), "-a", "claude"]);
    assert_eq!(plan["plan"]["env"], json!({ "CLAUDE_CONFIG_DIR": alt }));
}

/// oh-my-openagent#5933, NousResearch/hermes-agent#105553: project filters.
#[test]
fn a_project_is_matched_whole() {
    let agf = Agf::new();
    for (n, cwd) in ["/w/app", "/w/app2", "/w/app/sub"].iter().enumerate() {
        agf.claude(cwd, &id(n as u32), "x");
    }
    for spelling in ["/w/app", "/w/app/", "/w/./app", "/w/app/sub/.."] {
        assert_eq!(ids(&agf.data(&["search", "--project", spelling])), [id(0)], "{spelling}");
    }
    for other in ["/", "/w", "/w/ap%", "/w/*"] {
        assert_eq!(agf.data(&["search", "--project", other])["total"], 0, "{other}");
    }
}

/// anthropics/claude-code#25032, #28587, tawanorg/claude-sync#58: lists that say what is not there.
#[test]
fn lists_beside_the_transcripts_are_not_believed() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "a");
    agf.write(
        ".claude/projects/-w-app/sessions-index.json",
        json!({ "entries": [{ "sessionId": id(7) }] }).to_string(),
    );
    agf.write(
        ".claude/history.jsonl",
        json!({ "display": "x", "timestamp": 1, "project": "/w/app", "sessionId": id(8) }).to_string(),
    );
    assert_eq!(agf.listed().len(), 1);
    assert_eq!(agf.error(&["resume-plan", &id(8), "-a", "claude"])["code"], "not_found");
}

/// anthropics/claude-code#66175: backups inside the store.
#[test]
fn copies_are_no_sessions() {
    let agf = Agf::new();
    let path = agf.claude("/w/app", &id(1), "zqcopy");
    let dir = path.parent().unwrap();
    fs::create_dir_all(dir.join("backup")).unwrap();
    for name in [
        format!("backup/{}.jsonl", id(1)),
        format!("{}.jsonl.bak", id(1)),
        format!("{} (conflicted copy).jsonl", id(1)),
    ] {
        fs::copy(&path, dir.join(name)).unwrap();
    }
    assert_eq!(agf.ids("zqcopy"), [id(1)]);
}

/// anthropics/claude-code#79572, tawanorg/claude-sync#54: a touched file is no activity.
#[test]
fn order_is_that_of_the_records() {
    let agf = Agf::new();
    let at = |n: u32, time: &str| {
        let line = claude_line("/w/app", &id(n), 0, "user", "x").replace("2026-03-01T10:00:00.000Z", time);
        agf.write(&claude_path("/w/app", &id(n)), line)
    };
    at(2, "2026-03-01T10:00:00.000Z");
    at(1, "2026-01-05T10:00:00.000Z");
    assert_eq!(ids(&agf.data(&["search"])), [id(2), id(1)]);
}

/// ccusage/ccusage#349, #413, openclaw/openclaw#14750: days are the user's.
#[test]
fn days_are_local() {
    let agf = Agf::new();
    let line = claude_line("/w/app", &id(1), 0, "user", "x")
        .replace("2026-03-01T10:00:00.000Z", "2026-01-25T04:08:00.000Z");
    agf.write(&claude_path("/w/app", &id(1)), line);
    let agf = agf.var("TZ", "America/Los_Angeles");
    assert_eq!(agf.data(&["search", "--since", "2026-01-24", "--until", "2026-01-24"])["total"], 1);
    assert_eq!(agf.data(&["search", "--since", "2026-01-25"])["total"], 0);
}

/// openclaw/openclaw#140736, NousResearch/hermes-agent#54242: scripts without spaces.
#[test]
fn scripts_without_spaces() {
    let agf = Agf::new();
    let texts =
        ["明天下午三点开项目评审会议", "修改youer服务端的计划", "세션 검색이 안 됨", "テスト駆動で直す"];
    for (n, text) in texts.iter().enumerate() {
        agf.claude("/w/app", &id(n as u32), text);
    }
    for (query, n) in [
        ("评审会议", 0),
        ("会议", 0),
        ("youer", 1),
        ("服务端", 1),
        ("검색", 2),
        ("駆動", 3),
        ("議", 9),
        ("审", 0),
        ("会明", 9),
    ] {
        let expected = if n == 9 { vec![] } else { vec![id(n)] };
        assert_eq!(agf.ids(query), expected, "{query}");
    }
}

/// spences10/ccrecall#23, EKKOLearnAI/hermes-studio#139: characters that are syntax elsewhere.
#[test]
fn code_and_punctuation_are_text() {
    let agf = Agf::new();
    let texts = [
        "see src/main.rs now",
        "a multi-agent run",
        "don't do that",
        "key a:b here",
        "in c++ only",
        "call foo( x",
        "use --dry-run",
        "error[E0308]: foo_bar::Baz",
        "AND so on",
        "say \"quoted words\"",
    ];
    for (n, text) in texts.iter().enumerate() {
        agf.claude("/w/p", &id(n as u32), text);
    }
    for (query, n) in [
        ("src/main.rs", 0),
        ("main.rs", 0),
        ("multi-agent", 1),
        ("don't", 2),
        ("a:b", 3),
        ("c++", 4),
        ("foo(", 5),
        ("dry-run", 6),
        ("E0308", 7),
        ("foo_bar::Baz", 7),
        ("foo_bar", 7),
        ("baz", 7),
        ("\"unbalanced", 99),
        ("\"quoted words\"", 9),
    ] {
        let found = agf.ids(query);
        assert!(if n == 99 { found.is_empty() } else { found.contains(&id(n)) }, "{query}: {found:?}");
    }
    assert_eq!(ids(&agf.data(&["search", "-c", "--", "--dry-run"])), [id(6)]);
    for query in ["*", "AND", "(", "\\", "^x", "a:", ":"] {
        agf.data(&["search", "-c", "--", query]);
    }
}

/// phnx-labs/agi-cli#1155, manaflow-ai/cmux#3816: found, but the plan is for where one stands.
#[test]
fn a_scope_does_not_leak_what_is_elsewhere() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "x");
    assert_eq!(agf.data(&["resume-plan", &id(1), "-a", "claude"])["plan"]["cwd"], "/w/app");
    let error = agf.error(&["resume-plan", &id(1), "-a", "claude", "--project", "/w/other"]);
    assert_eq!((&error["code"], error.get("candidates")), (&json!("not_found"), None));
}
