//! `agf mcp` on the wire: every row of the protocol's table, one line in, one line out, without any SDK.
#![cfg(feature = "mcp")]

use crate::fixture::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const ID: &str = "11111111-2222-4333-8444-555555555501";
pub const ALL: &str = "metadata,summaries,content,transcript,prompts";
const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// A home with one session.
pub fn home() -> Home {
    Home::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude/minimal"))
}

/// The program with nothing but a home in its environment.
pub fn agf(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agf"));
    command.args(args).env_clear().env("HOME", home).env("AGF_CACHE_DIR", home.join("agf-cache"));
    command.env("AGF_TEST_TOOLS", "1").current_dir(home);
    command
}

/// A running server.
pub struct Server {
    pub child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    /// Everything it said, in order.
    pub heard: Vec<Value>,
}

impl Server {
    pub fn start(home: &Path, args: &[&str]) -> Self {
        Self::spawn(agf(home, &[&["mcp"], args].concat()))
    }

    pub fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from, next: 100, heard: Vec::new() }
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        to.write_all(bytes).and_then(|()| to.flush()).unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        if line.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_str(&line).expect("only JSON on stdout");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        self.heard.push(message.clone());
        Some(message)
    }

    /// The answer to a request; what comes before it is kept.
    pub fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.hear().expect("an answer before the end");
            if message.get("id") == Some(id) {
                return message;
            }
        }
    }

    pub fn legacy(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.answer(&id)
    }

    pub fn modern(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"] = meta();
        self.legacy(method, params)
    }

    pub fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.legacy("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// Calls a tool; the result has the text mirror checked.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.modern("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = answer["result"].clone();
        assert!(result.is_object(), "{answer}");
        let texts = result["content"].as_array().unwrap().iter().filter_map(|c| c["text"].as_str());
        let mirrors = texts.filter_map(|t| serde_json::from_str::<Value>(t).ok());
        assert!(mirrors.into_iter().any(|m| m == result["structuredContent"]), "{result}");
        assert_eq!(result["isError"] == true, result["structuredContent"]["ok"] == false);
        result
    }

    /// The error code of a tool call.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        let error = &result["structuredContent"]["error"];
        assert!(error["retryable"].is_boolean() && error["message"].is_string(), "{result}");
        error["code"].as_str().unwrap_or("none").to_owned()
    }

    /// Closes the input: what it says until its end, standard error, exit code.
    pub fn end(mut self) -> (Vec<Value>, String, Option<i32>) {
        drop(self.to.take());
        while self.hear().is_some() {}
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (std::mem::take(&mut self.heard), errors, self.child.wait().unwrap().code())
    }

    /// Closes the input and expects a clean end.
    pub fn end_well(self) -> Vec<Value> {
        let (heard, errors, code) = self.end();
        assert_eq!((errors.as_str(), code), ("", Some(0)));
        heard
    }
}

pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or(0)
}

#[test]
fn discovery_says_what_there_is() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let found = server.modern("server/discover", json!({}))["result"].clone();
    assert_eq!(found["supportedVersions"].as_array().unwrap().len(), 4);
    assert_eq!(found["capabilities"], json!({ "tools": {} }));
    assert_eq!(found["resultType"], "complete");
    assert!(found["ttlMs"].is_u64() && found["cacheScope"] == "public");
    assert!(found["instructions"].as_str().unwrap().len() <= 2048);
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "agf");
    let tools = server.modern("tools/list", json!({}))["result"].clone();
    assert_eq!(tools["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "agf");
    assert_eq!(tools["resultType"], "complete");
    for method in ["resources/list", "resources/templates/list", "prompts/list", "skills/list", "ping", "x/y"]
    {
        assert_eq!(code(&server.modern(method, json!({}))), -32601, "{method}");
    }
    server.end_well();
}

#[test]
fn the_metadata_of_a_modern_request_is_checked() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    for missing in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        let mut meta = meta();
        meta.as_object_mut().unwrap().remove(missing);
        let answer = server.legacy("tools/list", json!({ "_meta": meta }));
        assert_eq!(code(&answer), -32602, "{answer}");
    }
    let mut meta = meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("1900-01-01");
    for method in ["tools/list", "server/discover"] {
        let answer = server.legacy(method, json!({ "_meta": meta }));
        assert_eq!(code(&answer), -32022);
        assert_eq!(answer["error"]["data"]["requested"], "1900-01-01");
    }
    assert!(server.modern("tools/list", json!({}))["result"].is_object());
    server.end_well();
}

#[test]
fn every_handshake_works_and_has_no_modern_fields() {
    let home = home();
    for version in LEGACY {
        let mut server = Server::start(home.path(), &[]);
        let opened = server.initialize(version)["result"].clone();
        assert_eq!(opened["protocolVersion"], version);
        assert_eq!(opened["serverInfo"]["name"], "agf");
        assert_eq!(server.legacy("ping", json!({}))["result"], json!({}));
        let tools = server.legacy("tools/list", json!({}))["result"].clone();
        for field in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(tools.get(field).is_none(), "{version} {field}");
        }
        let params = json!({ "name": "agf_search_sessions", "arguments": {} });
        let found = server.legacy("tools/call", params)["result"].clone();
        assert_eq!(found["structuredContent"]["data"]["total"], 1);
        assert!(found.get("resultType").is_none());
        assert!(server.modern("tools/list", json!({}))["result"]["resultType"] == "complete");
        server.end_well();
    }
    for version in ["2099-01-01", MODERN] {
        let mut server = Server::start(home.path(), &[]);
        assert_eq!(server.initialize(version)["result"]["protocolVersion"], LEGACY[0]);
        server.end_well();
    }
}

#[test]
fn both_eras_live_in_one_process() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.modern("server/discover", json!({}));
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
    );
    server.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    assert!(server.initialize(LEGACY[0])["result"].is_object());
    assert!(server.legacy("tools/list", json!({}))["result"].is_object());
    server.end_well();
    let mut server = Server::start(home.path(), &[]);
    server.modern("tools/list", json!({}));
    assert!(server.initialize(LEGACY[1])["result"].is_object());
    server.end_well();
}

#[test]
fn broken_messages_are_answered_with_their_id() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let cases: [(&[u8], i64, Value); 9] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", -32700, json!(1)),
        (b"5", -32600, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"{\"jsonrpc\":\"1.0\",\"id\":\"w\",\"method\":\"tools/list\"}", -32600, json!("w")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"n\"}", -32600, json!("n")),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}", -32600, Value::Null),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/list\"}", -32600, Value::Null),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"tools/list\",\"params\":\"x\"}",
            -32602,
            json!("p"),
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"\xff\"}", -32700, json!("u")),
    ];
    for (line, expected, id) in cases {
        server.raw(&[line, b"\n"].concat());
        let answer = server.hear().unwrap();
        assert_eq!((code(&answer), answer["id"].clone()), (expected, id), "{answer}");
    }
    server.raw(b"\n \r\n\xef\xbb\xbf");
    assert!(server.modern("tools/list", json!({}))["result"].is_object());
    server.end_well();
}

#[test]
fn unknown_things_are_invalid_parameters() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let cases = [
        ("tools/call", json!({ "name": "nope", "arguments": {} })),
        ("tools/call", json!({ "name": 5 })),
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": "agf_search_sessions", "arguments": [1] })),
        ("tools/list", json!({ "cursor": "x" })),
        ("resources/list", json!({ "cursor": "x" })),
        ("prompts/list", json!({ "cursor": "x" })),
        ("prompts/get", json!({ "name": "nope" })),
        ("prompts/get", json!({ "name": "find_session", "arguments": {} })),
        ("resources/read", json!({ "uri": "file:///etc/passwd" })),
        ("resources/read", json!({ "uri": "agf://session/claude/..%2f..%2fetc" })),
        ("skills/get", json!({ "uri": "skill://other/SKILL.md" })),
    ];
    for (method, params) in cases {
        let answer = server.modern(method, params.clone());
        assert_eq!(code(&answer), -32602, "{method} {params}: {answer}");
    }
    server.end_well();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    server.initialize(LEGACY[0]);
    let answer = server.legacy("resources/read", json!({ "uri": "agf://session/claude/none" }));
    assert_eq!(code(&answer), -32002);
    server.end_well();
}

#[test]
fn an_oversized_line_is_answered_and_the_session_goes_on() {
    let home = home();
    for front in [true, false] {
        let mut server = Server::start(home.path(), &[]);
        let pad = "x".repeat(200_000);
        let line = if front {
            format!(r#"{{"jsonrpc":"2.0","id":"big","method":"tools/list","params":{{"id":1,"p":"{pad}"}}}}"#)
        } else {
            format!(r#"{{"jsonrpc":"2.0","method":"tools/list","params":{{"id":1,"p":"{pad}"}},"id":"big"}}"#)
        };
        server.raw(format!("{line}\n").as_bytes());
        let answer = server.hear().unwrap();
        assert_eq!((code(&answer), answer["id"].clone()), (-32600, json!("big")));
        assert!(server.modern("tools/list", json!({}))["result"].is_object());
        server.end_well();
    }
    let mut server = Server::start(home.path(), &["--on-oversize", "close"]);
    server.raw(&[b'x'; 70_000]);
    server.raw(b"\n");
    let (heard, errors, code) = server.end();
    assert_eq!((heard.len(), code), (0, Some(1)));
    assert!(errors.lines().count() == 1, "{errors}");
}

#[test]
fn an_endless_line_takes_no_memory() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let part = vec![b'A'; 1 << 20];
    for _ in 0..64 {
        server.raw(&part);
    }
    server.raw(b"\n");
    assert!(server.modern("tools/list", json!({}))["result"].is_object());
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())) {
        let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
        let kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kb < 60_000, "{kb} kB");
    }
    server.end_well();
}

#[test]
fn ten_thousand_lines_of_garbage_do_not_stop_it() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.raw("}{ not json\n".repeat(10_000).as_bytes());
    assert!(server.modern("tools/list", json!({}))["result"].is_object());
    let heard = server.end_well();
    assert!(heard.len() < 1000, "{} answers", heard.len());
}

#[test]
fn a_batch_is_answered() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.initialize("2025-03-26");
    let mut batch: Vec<Value> =
        (0..3).map(|i| json!({ "jsonrpc": "2.0", "id": format!("b{i}"), "method": "ping" })).collect();
    batch
        .push(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    server.send(&json!(batch));
    let mut ids: Vec<String> = (0..3).map(|_| server.hear().unwrap()["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"b0\"", "\"b1\"", "\"b2\""]);
    server.end_well();
}

#[test]
fn a_panic_is_answered_and_hides_its_message() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    assert_eq!(server.refused("agf_test_panic", json!({})), "internal_error");
    let params = json!({ "name": "agf_test_panic_async", "arguments": {} });
    assert_eq!(code(&server.modern("tools/call", params)), -32603);
    assert!(server.modern("tools/list", json!({}))["result"].is_object());
    let (_, errors, code) = server.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("internal error") && !errors.contains("asked for"), "{errors}");
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let home = home();
    assert!(Server::start(home.path(), &[]).end_well().is_empty());
    let mut server = Server::start(home.path(), &[]);
    let last = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta() } });
    server.raw(last.to_string().as_bytes());
    let listen = server.end_well();
    assert!(listen.iter().any(|m| m["id"] == 1 && m["result"].is_object()));
    let mut server = Server::start(home.path(), &[]);
    let filter = json!({ "toolsListChanged": true });
    let params = json!({ "_meta": meta(), "notifications": filter });
    server.send(&json!({ "jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params }));
    let first = server.hear().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let heard = server.end_well();
    assert!(heard.iter().any(|m| m["id"] == "s" && m["result"].is_object()), "{heard:?}");
}

fn sleep(id: &str, ms: u64, token: Option<&str>) -> Value {
    let mut meta = meta();
    if let Some(token) = token {
        meta["progressToken"] = json!(token);
    }
    let params = json!({ "name": "agf_test_sleep", "arguments": { "ms": ms }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn a_third_call_waits_and_progress_only_grows() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.send(&sleep("a", 500, Some("t")));
    server.send(&sleep("b", 500, None));
    server.send(&sleep("c", 10, None));
    for _ in 0..3 {
        while server.hear().unwrap().get("id").is_none() {}
    }
    let heard = server.end_well();
    let told = |m: &Value| m["params"]["progress"].as_f64();
    let steps: Vec<f64> = heard.iter().filter_map(told).collect();
    assert!(!steps.is_empty() && steps.windows(2).all(|w| w[0] < w[1]), "{steps:?}");
    assert!(heard.iter().filter(|m| told(m).is_some()).all(|m| m["params"]["progressToken"] == "t"));
    let answers = heard.iter().filter(|m| m["result"]["structuredContent"]["ok"] == true);
    assert_eq!(answers.count(), 3);
}

#[test]
fn too_many_long_calls_are_busy_and_a_cancelled_one_makes_room() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.send(&sleep("a", 60_000, None));
    server.send(&sleep("b", 60_000, None));
    server.send(&sleep("c", 1, None));
    let busy = server.answer(&json!("c"));
    assert_eq!(busy["result"]["structuredContent"]["error"]["code"], "busy");
    assert_eq!(busy["result"]["structuredContent"]["error"]["retryable"], true);
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "a" } }),
    );
    server.send(&sleep("d", 1, None));
    assert_eq!(server.answer(&json!("d"))["result"]["structuredContent"]["ok"], true);
    let heard = server.end_well();
    assert!(heard.iter().all(|m| m["id"] != "a"), "nothing more for a cancelled call");
}

#[test]
fn recorded_hosts_are_served() {
    let home = home();
    let codex = [
        json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"codex/auth-change":{}},"elicitation":{"form":{},"url":{}}},"clientInfo":{"name":"codex-mcp-client","title":"Codex","version":"0.171.0"}}}),
        json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
        json!({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}),
    ];
    let claude = [
        json!({"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","title":"Claude Code","version":"2.1.332","description":"x","websiteUrl":"https://claude.com/claude-code"},"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"elicitation":{"form":{},"url":{}}}}}}),
        json!({"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"claude-code","version":"2.1.332"}},"jsonrpc":"2.0","id":0}),
        json!({"jsonrpc":"2.0","method":"notifications/initialized"}),
        json!({"method":"tools/list","jsonrpc":"2.0","id":1}),
    ];
    let gemini = [
        json!({"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"gemini-cli-mcp-client","version":"0.61.0"}},"jsonrpc":"2.0","id":0}),
        json!({"method":"notifications/initialized","jsonrpc":"2.0"}),
        json!({"method":"ping","jsonrpc":"2.0","id":9}),
        json!({"method":"tools/list","params":{},"jsonrpc":"2.0","id":1}),
        json!({"method":"tools/call","params":{"name":"agf_search_sessions","arguments":{"query":"app"},"_meta":{"progressToken":"7f3f5eb7-f0f2-4df8-b7b2-dc4bb3ddca4e"}},"jsonrpc":"2.0","id":2}),
    ];
    let opencode = [
        json!({"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"opencode","version":"1.18.33"}},"jsonrpc":"2.0","id":0}),
        json!({"method":"notifications/initialized","jsonrpc":"2.0"}),
        json!({"method":"tools/list","jsonrpc":"2.0","id":1}),
        json!({"method":"tools/call","params":{"name":"agf_search_sessions","arguments":{"query":"app"},"_meta":{"progressToken":2}},"jsonrpc":"2.0","id":2}),
        json!({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"AbortError: The operation was aborted."}}),
    ];
    for messages in [&codex[..], &claude[..], &gemini[..], &opencode[..]] {
        let mut server = Server::start(home.path(), &[]);
        for message in messages {
            server.send(message);
            if let Some(id) = message.get("id") {
                assert!(server.answer(id)["result"].is_object(), "{message}");
            }
        }
        server.end_well();
    }
}

/// Every file of a home, with its bytes and its time.
pub fn stores(home: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut dirs = vec![home.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap().flatten() {
            let path = entry.path();
            if path.ends_with("agf-cache") {
                continue;
            } else if path.is_dir() {
                dirs.push(path);
            } else if path.is_file() {
                let time = entry.metadata().unwrap().modified().unwrap();
                all.push((path.clone(), std::fs::read(&path).unwrap(), time));
            }
        }
    }
    all.sort();
    all
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_sessions_does_not_hang_it() {
    let home = home();
    let dir = home.path().join(".claude/projects/-w-app");
    let pipe = dir.join("22222222-2222-4333-8444-555555555502.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    let found = server.call("agf_search_sessions", json!({ "query": "parser", "include_content": true }));
    assert_eq!(found["structuredContent"]["data"]["total"], 1);
    server.end_well();
}
