//! A client for `agf mcp` that knows nothing but lines, so that it shares no mistake with an SDK.
#![cfg(feature = "mcp")]

use crate::fixture::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const ID: &str = "11111111-2222-4333-8444-555555555501";
pub const ALL: &str = "metadata,summaries,content,transcript,prompts";
pub const MODERN: &str = "2026-07-28";
pub const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

/// All that the server says without being asked. It asks nothing.
const TOLD: [&str; 2] = ["notifications/progress", "notifications/subscriptions/acknowledged"];

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
    pub to: Option<ChildStdin>,
    pub from: Option<BufReader<ChildStdout>>,
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
        let (to, from) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
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
        self.from.as_mut().unwrap().read_line(&mut line).unwrap();
        if line.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_str(&line).expect("only JSON on stdout");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        assert!(message.get("method").is_none_or(|m| TOLD.iter().any(|t| m == t)), "{message}");
        self.heard.push(message.clone());
        Some(message)
    }

    /// The answer to a request, which may have come already; what comes before it is kept.
    pub fn answer(&mut self, id: &Value) -> Value {
        if let Some(message) = self.heard.iter().find(|m| m.get("id") == Some(id)) {
            return message.clone();
        }
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

pub fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or(0)
}

/// A call of the tool that takes its time; only debug builds have it.
pub fn sleep(id: &str, ms: u64, token: Option<&str>) -> Value {
    let mut meta = meta();
    if let Some(token) = token {
        meta["progressToken"] = json!(token);
    }
    let params = json!({ "name": "agf_test_sleep", "arguments": { "ms": ms }, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}
