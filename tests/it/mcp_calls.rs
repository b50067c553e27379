//! What the tools answer: the same as the command line, within what the owner allowed.
#![cfg(feature = "mcp")]

use crate::agf::{Agf, id};
use crate::mcp::{ALL, ID, Server, agf, home};
use serde_json::{Value, json};
use std::path::Path;

fn cli(home: &Path, args: &[&str]) -> Value {
    let output = agf(home, args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Without what may differ between two calls.
fn plain(mut envelope: Value) -> Value {
    if let Some(data) = envelope.get_mut("data").and_then(Value::as_object_mut) {
        data.remove("index");
        data.remove("groups");
        data.remove("limits");
    }
    envelope
}

#[test]
fn the_command_line_and_the_server_answer_the_same() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let one = json!({ "agent": "claude", "session_id": ID });
    let cases: Vec<(&str, Value, Vec<&str>)> = vec![
        ("agf_search_sessions", json!({}), vec!["search"]),
        ("agf_search_sessions", json!({ "query": "app", "limit": 1 }), vec!["search", "app", "--limit", "1"]),
        (
            "agf_search_sessions",
            json!({ "query": "parser", "include_content": true, "include_summaries": true }),
            vec!["search", "parser", "--include-content", "--include-summaries"],
        ),
        ("agf_search_sessions", json!({ "query": "clock" }), vec!["search", "clock"]),
        ("agf_search_sessions", json!({ "limit": 0 }), vec!["search", "--limit", "0"]),
        ("agf_search_sessions", json!({ "agent": "nobody" }), vec!["search", "--agent", "nobody"]),
        ("agf_get_session", one.clone(), vec!["show", ID, "--agent", "claude"]),
        (
            "agf_get_session",
            json!({ "agent": "claude", "session_id": "x" }),
            vec!["show", "x", "--agent", "claude"],
        ),
        ("agf_read_session", one.clone(), vec!["read", ID, "--agent", "claude"]),
        ("agf_resume_plan", one, vec!["resume-plan", ID, "--agent", "claude"]),
        (
            "agf_resume_plan",
            json!({ "agent": "claude", "session_id": ID, "mode": "nope" }),
            vec!["resume-plan", ID, "--agent", "claude", "--mode", "nope"],
        ),
        ("agf_capabilities", json!({}), vec!["capabilities"]),
    ];
    for (tool, arguments, args) in cases {
        let served = server.call(tool, arguments)["structuredContent"].clone();
        assert_eq!(plain(served), plain(cli(home.path(), &args)), "{args:?}");
    }
    server.end_well();
}

#[test]
fn argument_errors_come_in_the_envelope() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let cases = [
        ("agf_search_sessions", json!({ "no_such_field": 1 })),
        ("agf_search_sessions", json!({ "limit": "x" })),
        ("agf_search_sessions", json!({ "limit": -1 })),
        ("agf_search_sessions", json!({ "limit": 201 })),
        ("agf_search_sessions", json!({ "offset": 1_000_001 })),
        ("agf_search_sessions", json!({ "query": "x".repeat(1025) })),
        ("agf_search_sessions", json!({ "project": "" })),
        ("agf_search_sessions", json!({ "cursor": "x" })),
        ("agf_get_session", json!({})),
        ("agf_get_session", json!({ "agent": "claude" })),
        ("agf_get_session", json!({ "agent": "claude", "session_id": "-x" })),
        ("agf_get_session", json!({ "agent": "claude", "session_id": "" })),
        ("agf_resume_plan", json!({ "agent": "claude", "session_id": ID, "mode": "m".repeat(65) })),
        ("agf_read_session", json!({ "agent": "claude", "session_id": ID, "roles": ["boss"] })),
        ("agf_capabilities", json!({ "x": 1 })),
    ];
    for (tool, arguments) in cases {
        assert_eq!(server.refused(tool, arguments.clone()), "invalid_request", "{tool} {arguments}");
    }
    let absent = json!({ "query": "", "agent": null, "project": null, "limit": 20, "offset": 0 });
    assert_eq!(server.call("agf_search_sessions", absent)["isError"], false);
    let told = server.call("agf_search_sessions", json!({ "no_such_field": 1 }));
    assert!(told.to_string().contains("failed to deserialize parameters: unknown field `no_such_field`"));
    server.end_well();
}

#[test]
fn without_groups_the_surface_is_four_tools() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let tools = server.modern("tools/list", json!({}))["result"]["tools"].clone();
    let names: Vec<&str> = tools.as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert_eq!(names, ["agf_capabilities", "agf_get_session", "agf_resume_plan", "agf_search_sessions"]);
    let one = json!({ "agent": "claude", "session_id": ID });
    assert_eq!(server.refused("agf_read_session", one), "not_allowed");
    assert_eq!(server.refused("agf_search_sessions", json!({ "include_content": true })), "not_allowed");
    let risky = json!({ "agent": "claude", "session_id": ID, "mode": unsafe_mode(home.path()) });
    assert_eq!(server.refused("agf_resume_plan", risky), "not_allowed");
    server.end_well();
}

#[test]
fn what_changes_while_it_runs_is_in_the_next_answer() {
    let agf = Agf::new();
    let mut server = Server::spawn(agf.command(&["mcp", "--allow", ALL]));
    for n in 0..10 {
        agf.claude("/w/app", &id(n), &format!("zqlive{n}"));
        let query = json!({ "query": format!("zqlive{n}"), "include_content": true });
        let found = server.call("agf_search_sessions", query);
        assert_eq!(found["structuredContent"]["data"]["total"], 1, "{n}");
    }
    server.end_well();
}

#[test]
fn no_argument_widens_the_groups() {
    let home = home();
    let one = |more: Value| {
        let mut all = json!({ "agent": "claude", "session_id": ID });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let mut server = Server::start(home.path(), &["--allow", "metadata"]);
    let cases = [
        ("agf_search_sessions", json!({ "include_summaries": true }), "summaries"),
        ("agf_search_sessions", json!({ "include_content": true }), "content"),
        ("agf_get_session", one(json!({ "include_summaries": true })), "summaries"),
        ("agf_read_session", one(json!({})), "transcript"),
        ("agf_resume_plan", one(json!({ "mode": unsafe_mode(home.path()) })), "unsafe-modes"),
    ];
    for (tool, arguments, group) in cases {
        let error = server.call(tool, arguments)["structuredContent"]["error"].clone();
        assert_eq!(error["code"], "not_allowed", "{tool}");
        assert!(error["hint"].as_str().unwrap().contains(group), "{error}");
    }
    // What was said shows neither as text nor as a count.
    for query in ["clock", "in:prose clock", "zq7min", "flaky", "in:title flaky", "flak"] {
        let data = server.call("agf_search_sessions", json!({ "query": query }))["structuredContent"].clone();
        assert_eq!(data["data"]["total"], 0, "{query}: {data}");
        assert!(
            !data.to_string().contains("content_total") && !data.to_string().contains("parser"),
            "{data}"
        );
    }
    server.end_well();
    let mut server = Server::start(home.path(), &["--allow", "metadata,unsafe-modes"]);
    let plan = server.call("agf_resume_plan", one(json!({ "mode": unsafe_mode(home.path()) })));
    assert_eq!(plan["structuredContent"]["data"]["plan"]["unsafe"], true);
    server.end_well();
}

fn unsafe_mode(home: &Path) -> String {
    let known = cli(home, &["capabilities", "--agent", "claude"]);
    known["data"]["providers"][0]["unsafe_modes"][0].as_str().unwrap().to_owned()
}

#[test]
fn no_argument_widens_the_scope() {
    let home = home();
    let mut server = Server::start(home.path(), &["--project", "/w/other", "--allow", ALL]);
    let one = json!({ "agent": "claude", "session_id": ID });
    for project in [Value::Null, json!("/w/other"), json!("/w/other/../other")] {
        let found = server.call("agf_search_sessions", json!({ "project": project }));
        assert_eq!(found["structuredContent"]["data"]["total"], 0);
    }
    for project in ["/w/app", "/", "/w/other/..", "~"] {
        assert_eq!(server.refused("agf_search_sessions", json!({ "project": project })), "out_of_scope");
    }
    let found = server.call("agf_search_sessions", json!({ "query": "project:app" }));
    assert_eq!(found["structuredContent"]["data"]["total"], 0);
    for tool in ["agf_get_session", "agf_read_session", "agf_resume_plan"] {
        assert_eq!(server.refused(tool, one.clone()), "not_found", "{tool}");
    }
    let listed = server.modern("resources/list", json!({}))["result"]["resources"].clone();
    assert!(!listed.to_string().contains("agf://session"), "{listed}");
    let uri = format!("agf://session/claude/{ID}");
    assert_eq!(server.modern("resources/read", json!({ "uri": uri }))["error"]["code"], -32602);
    server.end_well();
    let known = cli(home.path(), &["capabilities"])["data"]["providers"].clone();
    let agents = known.as_array().unwrap().iter().filter_map(|p| p["id"].as_str());
    for other in agents.filter(|a| *a != "claude") {
        let mut server = Server::start(home.path(), &["--agent", other]);
        assert_eq!(server.refused("agf_search_sessions", json!({ "agent": "claude" })), "out_of_scope");
        assert_eq!(server.refused("agf_get_session", one.clone()), "out_of_scope");
        server.end_well();
    }
}

#[test]
fn quotes_are_fenced_with_an_id_of_their_own() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let one = json!({ "agent": "claude", "session_id": ID });
    let mut fences = std::collections::HashSet::new();
    for _ in 0..2 {
        let content = server.call("agf_read_session", one.clone())["content"].clone();
        let (open, close) = (content[0]["text"].as_str().unwrap(), content[2]["text"].as_str().unwrap());
        let id = close.trim_end_matches('>').rsplit(' ').next().unwrap();
        assert!(open.contains(id) && fences.insert(id.to_owned()));
    }
    assert_eq!(server.call("agf_get_session", one)["content"].as_array().unwrap().len(), 1);
    server.end_well();
}

#[test]
fn the_session_that_asks_is_marked() {
    let home = home();
    let mut command = agf(home.path(), &["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", ID);
    let mut server = Server::spawn(command);
    let found = server.call("agf_search_sessions", json!({}));
    assert_eq!(found["structuredContent"]["data"]["sessions"][0]["current"], true);
    server.end_well();
    let mut server = Server::start(home.path(), &[]);
    let found = server.call("agf_search_sessions", json!({}));
    assert!(found["structuredContent"]["data"]["sessions"][0].get("current").is_none());
    server.end_well();
}

#[test]
fn codex_names_its_thread_with_each_call() {
    let agf = Agf::new();
    let id = id(7);
    agf.codex("/w/app", &id, "zqthread");
    let mut server = Server::spawn(agf.command(&["mcp"]));
    server.initialize("2025-06-18");
    let call = json!({ "name": "agf_search_sessions", "arguments": {}, "_meta": { "threadId": id, "progressToken": 1 } });
    let found =
        server.legacy("tools/call", call)["result"]["structuredContent"]["data"]["sessions"][0].clone();
    assert_eq!((&found["session_id"], &found["current"]), (&json!(id), &json!(true)));
    server.end_well();
}

#[test]
fn answers_stay_within_their_budget() {
    let home = home();
    let dir = home.path().join(".claude/projects/-w-app");
    let text = std::fs::read_to_string(dir.join(format!("{ID}.jsonl"))).unwrap();
    for i in 0..60 {
        let id = format!("33333333-2222-4333-8444-5555555555{i:02}");
        std::fs::write(dir.join(format!("{id}.jsonl")), text.replace(ID, &id)).unwrap();
    }
    let mut server = Server::start(home.path(), &["--max-output-bytes", "16384"]);
    let (mut seen, mut cursor) = (std::collections::BTreeSet::new(), Value::Null);
    loop {
        let mut arguments = json!({ "limit": 60, "sort": "time" });
        arguments["cursor"] = cursor;
        let result = server.call("agf_search_sessions", arguments);
        let data = &result["structuredContent"]["data"];
        assert!(result["content"][0]["text"].as_str().unwrap().len() <= 16_384);
        for row in data["sessions"].as_array().unwrap() {
            assert!(seen.insert(row["session_id"].to_string()), "a row came twice");
        }
        cursor = data["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert_eq!(data["truncated"], true);
    }
    assert_eq!(seen.len(), 61);
    server.end_well();
}

#[test]
fn a_long_conversation_is_read_in_pages() {
    let home = home();
    let file = home.path().join(format!(".claude/projects/-w-app/{ID}.jsonl"));
    let mut text = std::fs::read_to_string(&file).unwrap();
    for i in 0..40 {
        let said = format!("{i} {}", "line of text\\n".repeat(200));
        text += &format!(
            r#"{{"type":"user","uuid":"m{i}","parentUuid":null,"isSidechain":false,"cwd":"/w/app","sessionId":"{ID}","timestamp":"2026-03-01T10:01:{i:02}.000Z","message":{{"role":"user","content":"{said}"}}}}"#
        );
        text.push('\n');
    }
    std::fs::write(&file, text).unwrap();
    let mut server = Server::start(home.path(), &["--max-output-bytes", "16384", "--allow", ALL]);
    let (mut next, mut seen) = (json!(0), Vec::new());
    while next.is_u64() {
        let one = json!({ "agent": "claude", "session_id": ID, "offset": next, "limit": 50 });
        let result = server.call("agf_read_session", one);
        assert!(result["content"][1]["text"].as_str().unwrap().len() <= 16_384);
        let data = &result["structuredContent"]["data"];
        seen.extend(data["messages"].as_array().unwrap().iter().map(|m| m["index"].as_u64().unwrap()));
        next = data["next_offset"].clone();
    }
    assert_eq!(seen, (0..42).collect::<Vec<u64>>());
    server.end_well();
}

#[test]
fn resources_completion_prompts_and_the_skill_come_with_their_groups() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let resources = server.modern("resources/list", json!({}))["result"]["resources"].clone();
    let uri = format!("agf://session/claude/{ID}");
    assert!(resources.as_array().unwrap().iter().any(|r| r["uri"] == uri));
    let read = server.modern("resources/read", json!({ "uri": uri }))["result"]["contents"][0].clone();
    assert!(read["text"].as_str().unwrap().contains("[0 user] Fix the flaky parser test"));
    let template = "agf://session/{agent}/{session_id}";
    let complete = |argument: &str, value: &str| json!({ "ref": { "type": "ref/resource", "uri": template }, "argument": { "name": argument, "value": value } });
    let values =
        server.modern("completion/complete", complete("agent", "cla"))["result"]["completion"].clone();
    assert_eq!(values["values"], json!(["claude"]));
    let values = server.modern("completion/complete", complete("session_id", "1111"))["result"].clone();
    assert_eq!(values["completion"]["values"], json!([ID]));
    let skill = server.modern("skills/list", json!({}))["result"]["skills"][0].clone();
    let text =
        server.modern("resources/read", json!({ "uri": skill["uri"] }))["result"]["contents"][0].clone();
    assert_eq!(text["text"].as_str().unwrap().len() as u64, skill["resources"][0]["size"].as_u64().unwrap());
    let prompt = json!({ "name": "find_session", "arguments": { "topic": "parsers" } });
    let prompt = server.modern("prompts/get", prompt)["result"].clone();
    assert!(prompt.to_string().contains("parsers"));
    server.end_well();
}

#[test]
fn the_tools_served_are_those_listed_without_a_client() {
    let home = home();
    let output = agf(home.path(), &["mcp", "--list-tools", "--allow", ALL]).output().unwrap();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let served = server.modern("tools/list", json!({}));
    assert_eq!(served["result"]["tools"], serde_json::from_slice::<Value>(&output.stdout).unwrap());
    assert!(served.to_string().len() <= 6000, "{} bytes", served.to_string().len());
    server.end_well();
}

#[test]
fn the_configuration_of_each_host_is_printed() {
    let home = home();
    for host in ["claude", "gemini", "cursor", "opencode"] {
        let output = agf(home.path(), &["mcp", "--project", "/w/app", "config", host]).output().unwrap();
        let entry: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = entry.to_string();
        assert!(text.contains("\"--project\",\"/w/app\"") && text.contains("\"--allow\""), "{text}");
    }
    let output = agf(home.path(), &["mcp", "config", "codex"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[mcp_servers.agf]") && text.contains("\"AGF_CACHE_DIR\""), "{text}");
    let wrong = agf(home.path(), &["mcp", "--allow", "everything"]).output().unwrap();
    assert!(!wrong.status.success() && wrong.stdout.is_empty());
    let check = agf(home.path(), &["mcp", "--check"]).output().unwrap();
    assert!(String::from_utf8(check.stdout).unwrap().contains("sessions  1"));
}

#[test]
fn what_a_session_is_like_is_content() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "exponential backoff of the invoice webhook");
    agf.codex("/w/app", &id(2), "the invoice webhook without backoff");
    for (allow, found) in [("metadata,summaries", None), ("metadata,content", Some(id(2)))] {
        let mut server = Server::start(agf.home.path(), &["--allow", allow]);
        let like = json!({ "like": id(1) });
        match found {
            Some(id) => {
                let data = server.call("agf_search_sessions", like);
                let first = &data["structuredContent"]["data"]["sessions"][0];
                assert_eq!(first["session_id"], json!(id), "{data}");
            }
            None => assert_eq!(server.refused("agf_search_sessions", like), "not_allowed"),
        }
        server.end_well();
    }
}
