//! The server over its pipes, a line at a time.
#![cfg(feature = "mcp")]

use crate::agf::{Agf, id};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(agf: &Agf, args: &[&str]) -> Self {
        let mut child = agf
            .command(&[&["mcp"], args].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// A request of the modern revision: no handshake, everything in `_meta`.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string());
        self.answer()
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer["result"].take()
    }

    /// Ends the input; the exit code and what was said on standard error.
    fn end(mut self) -> (i32, String) {
        drop(self.input.take());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn history() -> Agf {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "alpha zqall");
    agf.claude("/w/beta", &id(2), "beta zqall");
    agf.codex("/w/app", &id(3), "gamma zqall");
    agf
}

const ALL: &[&str] = &["--allow", "metadata,summaries,content,transcript,prompts"];

#[test]
fn answers_are_those_of_the_command_line() {
    let agf = history();
    agf.data(&["search"]);
    let mut server = Server::start(&agf, ALL);
    let (first, second, third) = (id(1), id(2), id(3));
    let pairs = [
        (
            "agf_search_sessions",
            json!({ "query": "zqall", "include_content": true }),
            vec!["search", "zqall", "-c"],
        ),
        (
            "agf_search_sessions",
            json!({ "include_summaries": true, "limit": 2 }),
            vec!["search", "--include-summaries", "--limit", "2"],
        ),
        (
            "agf_get_session",
            json!({ "agent": "claude", "session_id": id(1) }),
            vec!["show", &first, "-a", "claude"],
        ),
        (
            "agf_resume_plan",
            json!({ "agent": "codex", "session_id": id(3) }),
            vec!["resume-plan", &third, "-a", "codex"],
        ),
        (
            "agf_read_session",
            json!({ "agent": "claude", "session_id": id(2) }),
            vec!["read", &second, "-a", "claude"],
        ),
    ];
    for (tool, arguments, args) in pairs {
        let result = server.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let envelope = &result["structuredContent"];
        let expected = agf.data(&args);
        assert_eq!((&envelope["ok"], &envelope["data"]), (&json!(true), &expected), "{tool}");
    }
    assert_eq!(server.end(), (0, String::new()));
}

#[test]
fn what_a_session_is_like_is_content() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "exponential backoff of the invoice webhook");
    agf.codex("/w/app", &id(2), "the invoice webhook without backoff");
    for (allow, found) in [("metadata,summaries", None), ("metadata,content", Some(id(2)))] {
        let mut server = Server::start(&agf, &["--allow", allow]);
        let answer = server.call("agf_search_sessions", json!({ "like": id(1) }))["structuredContent"].take();
        match found {
            Some(id) => assert_eq!(answer["data"]["sessions"][0]["session_id"], json!(id), "{answer}"),
            None => assert_eq!(answer["error"]["code"], "not_allowed"),
        }
        assert_eq!(server.end(), (0, String::new()));
    }
}

#[test]
fn without_groups_the_surface_is_the_four_tools() {
    let agf = history();
    let mut server = Server::start(&agf, &[]);
    let names = |answer: &Value| -> Vec<String> {
        answer["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|t| t["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let listed = server.ask("tools/list", json!({}));
    assert_eq!(
        names(&listed),
        ["agf_capabilities", "agf_get_session", "agf_resume_plan", "agf_search_sessions"]
    );
    let refused = server.call("agf_search_sessions", json!({ "query": "zqall", "include_content": true }));
    assert_eq!(
        (&refused["isError"], &refused["structuredContent"]["error"]["code"]),
        (&json!(true), &json!("not_allowed"))
    );
    let plan = json!({ "agent": "claude", "session_id": id(1), "mode": "bypass permissions" });
    assert_eq!(server.call("agf_resume_plan", plan)["structuredContent"]["error"]["code"], "not_allowed");
    let odd = server.call("agf_search_sessions", json!({ "no_such_argument": 1 }));
    assert_eq!(
        (&odd["isError"], &odd["structuredContent"]["error"]["code"]),
        (&json!(true), &json!("invalid_request"))
    );
    let read = server.call("agf_read_session", json!({ "agent": "claude", "session_id": id(1) }));
    assert_eq!(read["structuredContent"]["error"]["code"], "not_allowed");
    assert_eq!(
        server.ask("tools/call", json!({ "name": "no_such_tool", "arguments": {} }))["error"]["code"],
        -32602
    );
}

#[test]
fn a_fixed_scope_cannot_be_widened() {
    let agf = history();
    let mut server = Server::start(&agf, &["--agent", "claude", "--project", "/w/app"]);
    let total = |r: Value| r["structuredContent"]["data"]["total"].clone();
    assert_eq!(total(server.call("agf_search_sessions", json!({}))), 1);
    assert_eq!(total(server.call("agf_search_sessions", json!({ "agent": null, "project": null }))), 1);
    for (arguments, code) in [
        (json!({ "agent": "codex" }), "out_of_scope"),
        (json!({ "project": "/w/beta" }), "out_of_scope"),
        (json!({ "project": "/w" }), "out_of_scope"),
    ] {
        assert_eq!(server.call("agf_search_sessions", arguments)["structuredContent"]["error"]["code"], code);
    }
    let other = json!({ "agent": "claude", "session_id": id(2) });
    assert_eq!(server.call("agf_get_session", other)["structuredContent"]["error"]["code"], "not_found");
}

#[test]
fn bad_lines_are_answered_and_survived() {
    let agf = history();
    let mut server = Server::start(&agf, &["--max-message-bytes", "4096"]);
    server.send("{not json");
    assert_eq!(server.answer()["error"]["code"], -32700);
    let big = json!({ "jsonrpc": "2.0", "id": "big", "method": "tools/list", "params": { "x": "y".repeat(10_000) } });
    server.send(&big.to_string());
    let answer = server.answer();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!("big")));
    assert_eq!(server.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len(), 4);
    assert_eq!(server.end().0, 0);
}

#[test]
fn older_clients_shake_hands() {
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let agf = history();
        let mut server = Server::start(&agf, &[]);
        let hello = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        server
            .send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }).to_string());
        let answer = server.answer();
        assert_eq!(
            (&answer["result"]["protocolVersion"], &answer["result"]["serverInfo"]["name"]),
            (&json!(version), &json!("agf"))
        );
        server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let list = server.answer();
        assert_eq!((list["result"].get("ttlMs"), list["result"].get("cacheScope")), (None, None));
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 4);
        assert_eq!(server.end(), (0, String::new()));
    }
}

#[test]
fn what_changes_while_it_runs_is_in_the_next_answer() {
    let agf = history();
    let mut server = Server::start(&agf, ALL);
    let count = |server: &mut Server, word: &str| {
        let r = server.call("agf_search_sessions", json!({ "query": word, "include_content": true }));
        r["structuredContent"]["data"]["total"].clone()
    };
    assert_eq!(count(&mut server, "zqall"), 3);
    for n in 10..20 {
        agf.claude("/w/app", &id(n), &format!("zqlive{n}"));
        assert_eq!(count(&mut server, &format!("zqlive{n}")), 1, "{n}");
    }
}

#[test]
fn the_running_session_is_marked() {
    let agf = history();
    agf.data(&["search"]);
    let agf = agf.var("CLAUDE_CODE_SESSION_ID", id(2));
    let mut server = Server::start(&agf, &[]);
    let r = server.call("agf_search_sessions", json!({ "agent": "claude" }));
    for s in r["structuredContent"]["data"]["sessions"].as_array().unwrap() {
        assert_eq!(s.get("current") == Some(&json!(true)), s["session_id"] == json!(id(2)), "{s}");
    }
}
