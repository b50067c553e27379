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

/// A Claude Code record with some of its fields replaced.
fn record(cwd: &str, id: &str, n: usize, role: &str, text: &str, more: serde_json::Value) -> String {
    let mut record: serde_json::Value = serde_json::from_str(&claude_line(cwd, id, n, role, text)).unwrap();
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{record}\n")
}

fn snippets(agf: &Agf, query: &str) -> Vec<Vec<String>> {
    let data = agf.data(&["search", query, "-c"]);
    let texts = |s: &serde_json::Value| {
        let matches = s["matches"].as_array().unwrap();
        matches.iter().map(|m| m["snippet"].as_str().unwrap().to_owned()).collect()
    };
    data["sessions"].as_array().unwrap().iter().map(texts).collect()
}

/// NousResearch/hermes-agent#71665, anthropics/claude-code#28745: a sibling directory that is gone belongs to no other project.
#[test]
fn a_parent_is_never_guessed_from_a_name() {
    let agf = Agf::new();
    fs::create_dir_all(agf.path("w/app/.git")).unwrap();
    let gone = agf.path("w/app-fix");
    agf.claude(gone.to_str().unwrap(), &id(1), "x");
    let row = &agf.listed()[0];
    assert_eq!(
        (&row["project_path"], &row["project_name"], &row["worktree"]),
        (&json!(gone), &json!("app-fix"), &json!(null))
    );
    assert_eq!(agf.data(&["search", "--project", agf.path("w/app").to_str().unwrap()])["total"], 0);
    assert_eq!(agf.data(&["resume-plan", &id(1), "-a", "claude"])["plan"]["cwd"], json!(gone));
}

/// getagentseal/codeburn#974, vshulcz/deja-vu#1533; corpus: copies of the whole conversation beside it.
#[test]
fn children_add_text_and_no_rows() {
    let agf = Agf::new();
    let turns: Vec<(&str, String)> = (0..30)
        .map(|n| (if n % 2 == 0 { "user" } else { "assistant" }, format!("zqmain{n} zqevery")))
        .collect();
    let lines: String = turns
        .iter()
        .enumerate()
        .map(|(n, (role, text))| claude_line("/w/app", &id(1), n, role, text))
        .collect();
    agf.write(&claude_path("/w/app", &id(1)), &lines);
    let below = format!(".claude/projects/-w-app/{}/subagents", id(1));
    let side = |n: usize, text: &str| {
        record(
            "/w/app",
            &id(1),
            n,
            "assistant",
            text,
            json!({ "isSidechain": true, "uuid": format!("side-{text}") }),
        )
    };
    for name in ["agent-x", "agent-y", "agent-z", "workflows/wf_1/agent-w"] {
        agf.write(
            &format!("{below}/{name}.jsonl"),
            side(0, &format!("zq{}", name.rsplit('-').next().unwrap())),
        );
    }
    agf.write(&format!("{below}/agent-x.meta.json"), "{\"zqmeta\": 1}");
    let copy: String = lines
        .lines()
        .map(|l| format!("{}\n", l.replace("\"isSidechain\":false", "\"isSidechain\":true")))
        .collect();
    agf.write(&format!("{below}/agent-acompact-aa.jsonl"), copy);
    let rows = agf.listed();
    assert_eq!((rows.len(), &rows[0]["message_count"]), (1, &json!(30)));
    for word in ["zqx", "zqy", "zqz", "zqw"] {
        assert_eq!(agf.ids(word), [id(1)], "{word}");
    }
    assert!(agf.ids("zqmeta").is_empty());
    assert_eq!(snippets(&agf, "zqmain7"), [["zqmain7 zqevery"]]);
}

/// obra/episodic-memory#59, graykode/abtop#172: what tools do by themselves must not bury what people did.
#[test]
fn tool_made_noise_stays_out_of_the_way() {
    let agf = Agf::new();
    for n in 0..40 {
        let probe = record(
            "/w/.cache/probe",
            &id(100 + n),
            0,
            "user",
            "summarize zqnoise",
            json!({ "entrypoint": "sdk-cli" }),
        );
        agf.write(&claude_path("/w/.cache/probe", &id(100 + n)), probe);
    }
    agf.claude("/w/app", &id(1), "real zqnoise");
    agf.claude("/w/app", &id(2), "also zqnoise");
    let data = agf.data(&["search", "zqnoise", "-c"]);
    assert_eq!((&data["total"], &data["filtered_non_interactive"]), (&json!(2), &json!(40)));
    assert_eq!(agf.ids("zqnoise").len(), 42);
    let error = agf.error(&["show", &id(100), "-a", "claude"]);
    assert_eq!(error["code"], "not_found");
    assert!(error["hint"].as_str().unwrap().contains("include_non_interactive"));
    let shown = agf.data(&["show", &id(100), "-a", "claude", "--include-non-interactive"]);
    assert_eq!(shown["session"]["interactive"], false);
}

/// anthropics/claude-code#78264, #89624: a continuation bears the title of what it continues.
#[test]
fn one_title_twice_is_two_sessions() {
    let agf = Agf::new();
    let title = |n: u32| {
        format!("{}\n", json!({ "type": "custom-title", "customTitle": "Same name", "sessionId": id(n) }))
    };
    agf.write(&claude_path("/w/app", &id(1)), title(1) + &claude_line("/w/app", &id(1), 0, "user", "one"));
    let summary = record(
        "/w/app",
        &id(2),
        60,
        "user",
        "This session is being continued",
        json!({ "isCompactSummary": true }),
    );
    agf.write(
        &claude_path("/w/app", &id(2)),
        title(2) + &summary + &claude_line("/w/app", &id(2), 61, "user", "two"),
    );
    let rows = agf.listed();
    let seen: Vec<_> =
        rows.iter().map(|r| (r["session_id"].as_str().unwrap(), r["title"].as_str().unwrap())).collect();
    assert_eq!(seen, [(id(2).as_str(), "Same name"), (id(1).as_str(), "Same name")]);
    for n in [1, 2] {
        assert_eq!(
            agf.data(&["resume-plan", &id(n), "-a", "claude"])["plan"]["args"],
            json!(["--resume", id(n)])
        );
    }
}

/// anthropics/claude-code#48936, #92089: old records appended again.
#[test]
fn a_message_written_twice_counts_once() {
    let agf = Agf::new();
    let line = |n: usize, text: &str| {
        claude_line("/w/app", &id(1), n, if n.is_multiple_of(2) { "user" } else { "assistant" }, text)
    };
    let first: String = (0..10).map(|n| line(n, &format!("zqtwice{n}"))).collect();
    let boundary = format!(
        "{}\n",
        json!({ "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted" })
    );
    let again: String = (0..6)
        .map(|n| {
            record(
                "/w/app",
                &id(1),
                n,
                if n % 2 == 0 { "user" } else { "assistant" },
                &format!("zqtwice{n}"),
                json!({ "slug": "other" }),
            )
        })
        .collect();
    agf.write(
        &claude_path("/w/app", &id(1)),
        first + &boundary + &again + &line(10, "ten") + &line(11, "eleven"),
    );
    let row = &agf.listed()[0];
    assert_eq!(row["message_count"], 12);
    assert_eq!(row["timestamp_ms"].as_i64().unwrap() - row["started_ms"].as_i64().unwrap(), 11_000);
    assert_eq!(snippets(&agf, "zqtwice3"), [["zqtwice3"]]);
}

/// slopus/happy#1205, anthropics/claude-code#89624: a fork is a new file with a copied beginning.
#[test]
fn a_fork_and_its_origin_are_told_apart() {
    for recorded in [true, false] {
        let agf = Agf::new();
        let line = |n: usize, to: u32, text: &str, more: serde_json::Value| {
            record("/w/app", &id(to), n, if n.is_multiple_of(2) { "user" } else { "assistant" }, text, more)
        };
        let origin: String =
            (0..8).map(|n| line(n, 1, &format!("zqfork{n}"), json!({ "uuid": format!("u{n}") }))).collect();
        agf.write(&claude_path("/w/app", &id(1)), origin);
        let copied = |n: usize| match recorded {
            true => {
                json!({ "uuid": format!("u{n}"), "forkedFrom": { "sessionId": id(1), "messageUuid": format!("u{n}") } })
            }
            false => json!({ "uuid": format!("u{n}") }),
        };
        let mut fork: String = (0..8).map(|n| line(n, 2, &format!("zqfork{n}"), copied(n))).collect();
        fork += &(8..12).map(|n| line(n, 2, &format!("zqown{n}"), json!({}))).collect::<String>();
        agf.write(&claude_path("/w/app", &id(2)), fork);
        let mut found = agf.ids("zqfork3");
        found.sort();
        assert_eq!(found, [id(1), id(2)]);
        assert!(snippets(&agf, "zqfork3").iter().all(|m| m.len() == 1));
        assert_eq!(agf.ids("zqown9"), [id(2)]);
        if recorded {
            assert_eq!(agf.data(&["show", &id(2), "-a", "claude"])["session"]["forked_from"], json!(id(1)));
        }
        for n in [1, 2] {
            assert_eq!(
                agf.data(&["resume-plan", &id(n), "-a", "claude"])["plan"]["args"],
                json!(["--resume", id(n)])
            );
        }
    }
}

/// openai/codex#28866, earendil-works/pi#9613: the first record holds an image of hundreds of kilobytes.
#[test]
fn a_title_behind_an_image() {
    let agf = Agf::new();
    let image = json!([{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo".repeat(30_000) } }, { "type": "text", "text": "What is wrong in this picture zqimg" }]);
    let message = json!({ "message": { "role": "user", "content": image } });
    agf.write(
        &claude_path("/w/app", &id(1)),
        record("/w/app", &id(1), 0, "user", "", message)
            + &claude_line("/w/app", &id(1), 1, "assistant", "The hue."),
    );
    assert_eq!(agf.listed()[0]["title"], "What is wrong in this picture zqimg");
    assert!(agf.ids("iVBORw0KGgo").is_empty());
}

/// MoonshotAI/kimi-code#1925, git-ai-project/git-ai#2268, github/copilot-cli#2217, #2490: what crashes and careless writers leave.
#[test]
fn damage_costs_only_itself() {
    let line = |n: usize, text: &str| claude_line("/w/app", &id(1), n, "user", text);
    let raw = |n: usize, text: &[u8]| -> Vec<u8> {
        let line = line(n, "REPLACED").into_bytes();
        let at = line.windows(8).position(|w| w == b"REPLACED").unwrap();
        [&line[..at], text, &line[at + 8..]].concat()
    };
    let torn = line(7, &"torn ".repeat(200));
    let nuls = vec![0; 2000];
    let cases: Vec<(&str, Vec<u8>, u64)> = vec![
        (
            "two objects on a line",
            format!("{}{}", line(1, "zqdam1").trim_end(), line(2, "zqdam2")).into_bytes(),
            0,
        ),
        (
            "the tail of a record",
            format!("{}{}", &torn[torn.len() - 400..], line(2, "zqdam2")).into_bytes(),
            1,
        ),
        ("the head of a record", format!("{}\n{}", &torn[..300], line(2, "zqdam2")).into_bytes(), 1),
        (
            "bytes that are no UTF-8",
            [raw(1, b"zqdam1 \xff\xfe end"), line(2, "zqdam2").into_bytes()].concat(),
            0,
        ),
        ("separators of other kinds", raw(2, "zqdam2 a\u{2028}b\u{2029}c\u{85}d".as_bytes()), 0),
        (
            "NUL bytes between lines",
            [line(1, "zqdam1").into_bytes(), nuls.clone(), b"\n".to_vec(), line(2, "zqdam2").into_bytes()]
                .concat(),
            0,
        ),
        ("NUL bytes at the end", [line(2, "zqdam2").into_bytes(), nuls].concat(), 0),
        ("a byte order mark", [b"\xef\xbb\xbf".to_vec(), line(2, "zqdam2").into_bytes()].concat(), 0),
        ("carriage returns", line(2, "zqdam2").replace('\n', "\r\n").into_bytes(), 0),
        (
            "values that are no objects",
            format!("[1,2]\n\"text\"\n17\nnull\n{}", line(2, "zqdam2")).into_bytes(),
            4,
        ),
        ("blank lines", format!("\n\n  \n{}", line(2, "zqdam2")).into_bytes(), 0),
        (
            "deep nesting",
            format!("{{\"a\":{}1{}}}\n{}", "[".repeat(5000), "]".repeat(5000), line(2, "zqdam2"))
                .into_bytes(),
            1,
        ),
    ];
    for (what, bytes, skipped) in cases {
        let agf = Agf::new();
        agf.write(
            &claude_path("/w/app", &id(1)),
            [line(0, "zqdam0").as_bytes(), &bytes, line(50, "\nzqdam9").as_bytes()].concat(),
        );
        for word in ["zqdam0", "zqdam2", "zqdam9"] {
            let data = agf.data(&["search", &format!("\"{word}\""), "-c"]);
            let seen = data["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .map(|w| w["count"].as_u64().unwrap())
                .sum::<u64>();
            // NUL bytes without a line feed swallow nothing: the next record is on their line.
            assert_eq!((ids(&data), seen), (vec![id(1)], skipped), "{what}: {word}: {data}");
            assert!(!data["sessions"][0]["matches"].as_array().unwrap().is_empty(), "{what}: {word}");
        }
    }
}

/// NousResearch/hermes-agent#63875, anthropics/claude-code#86707, LanternOps/breeze#6140: keys in old output; and ordinary words that are none.
#[test]
fn credentials_stay_inside_and_words_do_not() {
    let body = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5gH7j";
    let secrets = [
        format!("ghp_{}", &body[..36]),
        format!("sk-ant-api03-{body}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\n-----END RSA PRIVATE KEY-----"),
        format!("Authorization: Bearer {body}"),
        "postgres://admin:hunter22secret@db.example/x".to_owned(),
    ];
    let hidden = [&body[..20], "AKIAIOSFODNN7EXAMPLE", "hunter22secret"];
    for (n, secret) in secrets.iter().enumerate() {
        let agf = Agf::new();
        let output = json!({ "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t", "content": format!("zqout rotate token\n{secret}\nend") }] } });
        let lines = claude_line(
            "/w/app",
            &id(1),
            0,
            "user",
            &format!("rotate token session token_count {secret} zqsec"),
        ) + &record("/w/app", &id(1), 1, "user", "", output);
        agf.write(&claude_path("/w/app", &id(1)), lines);
        for args in [
            vec!["search", "zqsec", "-c", "--include-summaries"],
            vec!["search", "zqout", "-c"],
            vec!["show", &id(1), "-a", "claude", "--include-summaries"],
            vec!["read", &id(1), "-a", "claude"],
            vec!["read", &id(1), "-a", "claude", "--outline"],
            vec!["read", &id(1), "-a", "claude", "--message", "1"],
            vec!["show", "--transcript", &id(1)],
            vec!["export", &id(1), "-a", "claude", "--format", "markdown"],
            vec!["find", "zqsec"],
            vec!["find", "--json", "zqout"],
        ] {
            let out = agf.run(&args).out;
            assert!(out.contains("rotate token"), "{n} {args:?}: {out}");
            for value in hidden {
                assert!(!out.contains(value), "{n} {args:?} prints {value}: {out}");
            }
        }
    }
}

/// subinium/agf CHANGELOG 0.10.2: a first pass that is cut off must not count as complete.
#[test]
fn an_interrupted_first_pass_is_finished_by_the_next_question() {
    let agf = Agf::new();
    for n in 0..400 {
        agf.claude(
            &format!("/w/p{}", n % 9),
            &id(n),
            &format!("zqcut {n} {}", "some words here ".repeat(300)),
        );
    }
    for pause in [30, 90] {
        let mut child =
            agf.command(&["search", "zqcut", "-c"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
        let data = agf.data(&["search", "zqcut", "-c"]);
        assert_eq!(
            (&data["total"], &data["index"]["complete"], &data["index"]["pending_sources"]),
            (&json!(400), &json!(true), &json!(0))
        );
        assert_eq!(agf.run(&["index", "clear"]).code, 0);
    }
}

/// spences10/ccrecall#29: every text is a query. Only its length is bounded.
#[test]
fn no_query_is_a_fault() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "plain zqplain");
    for query in [
        "",
        " ",
        "\"",
        "\"\"",
        "-",
        "--",
        "OR",
        "a OR",
        "OR OR",
        "()",
        "[",
        "]:[",
        "zq~2",
        "^",
        "\\",
        "%_",
        "a:\"b",
        "role:",
        "role:nobody",
        "since:never",
        "is:",
        "in:title",
        "\u{0}x",
        "💥",
        "\u{301}",
        "x*y*",
        "**",
        "agent:",
        "-agent:nobody",
        "project:\"\"",
        "…",
        &"(".repeat(1024),
        &"a ".repeat(512),
    ] {
        let query = query.replace('\0', "\u{1}");
        agf.data(&["search", "-c", "--include-summaries", "--", &query]);
    }
    assert_eq!(agf.data(&["search", "-c", "--", ""])["total"], 1);
    assert_eq!(agf.error(&["search", "--", &"x".repeat(1025)])["code"], "invalid_request");
}

/// File systems and keyboards disagree on whether `é` is one character or two.
#[test]
fn composed_and_decomposed_names_are_one_project() {
    let agf = Agf::new();
    agf.claude("/w/cafe\u{301}", &id(1), "x");
    agf.claude("/w/caf\u{e9}", &id(2), "x");
    assert_eq!(agf.data(&["search", "--project", "/w/caf\u{e9}"])["total"], 2);
    assert_eq!(agf.data(&["search", "--project", "/w/cafe\u{301}"])["total"], 2);
}
