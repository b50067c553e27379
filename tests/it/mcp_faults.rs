//! What a client, the system or a store can do to `agf mcp`: it answers the next call, its memory stays flat, and it ends when it
//! should.
#![cfg(feature = "mcp")]

use crate::mcp::{ALL, Server, code, home, meta};
use serde_json::{Value, json};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// More than the allocator's noise, less than what is thrown at the server.
const SLACK_KB: u64 = 24 << 10;
/// Longer than anything may take on the slowest machine; only a hang lasts that long.
const HANG: Duration = Duration::from_secs(60);

/// Most memory a process ever had, where the system tells.
fn peak_kb(server: &Server) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).ok()?;
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}

/// A call like any other; it must find the one session there is.
fn normal(server: &mut Server) {
    let found = server.call("agf_search_sessions", json!({ "query": "app" }));
    assert_eq!(found["structuredContent"]["data"]["total"], 1, "{found}");
}

/// Does something to a server that has served before; it serves after that, in the memory it had.
fn survives(args: &[&str], fault: impl FnOnce(&mut Server)) -> Vec<Value> {
    let home = home();
    let mut server = Server::start(home.path(), args);
    normal(&mut server);
    let before = peak_kb(&server);
    fault(&mut server);
    normal(&mut server);
    if let (Some(before), Some(after)) = (before, peak_kb(&server)) {
        assert!(after < before + SLACK_KB, "{before} kB, then {after} kB");
    }
    server.end_well()
}

/// Waits for the process to end by itself.
fn ended(server: &mut Server) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > HANG {
            server.child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Writes 64 MiB without a line feed, as far as the other side reads.
fn endless(server: &mut Server) {
    use std::io::Write;
    let part = vec![b'A'; 1 << 20];
    let to = server.to.as_mut().unwrap();
    let _ = (0..64).try_for_each(|_| to.write_all(&part));
}

#[test]
fn an_endless_line_takes_no_memory() {
    for args in [&[][..], &["--on-oversize", "discard"]] {
        let heard = survives(args, |server| {
            endless(server);
            server.raw(b"\n");
            let answer = server.hear().unwrap();
            assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null));
            assert!(answer["error"]["message"].as_str().unwrap().contains("67108864 bytes"), "{answer}");
        });
        assert_eq!(heard.iter().filter(|m| m.get("error").is_some()).count(), 1);
    }
}

#[test]
fn an_endless_line_ends_a_session_that_is_to_be_closed() {
    let home = home();
    let mut server = Server::start(home.path(), &["--on-oversize", "close"]);
    normal(&mut server);
    let before = peak_kb(&server);
    // One byte over the limit is enough; no line feed comes, and the input stays open.
    server.raw(&[b'A'; 65_537]);
    assert_eq!(ended(&mut server).code(), Some(1));
    let (heard, errors, _) = server.end();
    assert_eq!((heard.len(), errors.lines().count()), (1, 1), "{errors}");
    let mut server = Server::start(home.path(), &["--on-oversize", "close"]);
    normal(&mut server);
    let again = peak_kb(&server);
    assert!(before.zip(again).is_none_or(|(a, b)| b < a + SLACK_KB));
    endless(&mut server);
    assert_eq!(ended(&mut server).code(), Some(1));
}

/// Lines that no client in its right mind sends. None of them names a request.
fn garbage() -> Vec<Vec<u8>> {
    let pad = "x".repeat(2000);
    let mut all: Vec<Vec<u8>> = [
        format!("}}{{ not json {pad}"),
        format!("\"{pad}\""),
        format!("[{}{}]", "[".repeat(1000), "]".repeat(1000)),
        format!("{{\"{pad}\":{{"),
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{pad}\"}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{{\"p\":\"{pad}\"}}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{{}},\"method\":\"{pad}\"}}"),
        format!("Content-Length: 12{pad}\r"),
        "null".to_owned(),
        "[]".to_owned(),
    ]
    .map(String::into_bytes)
    .into();
    all.extend([vec![0; 2000], vec![0xff; 2000]]);
    all
}

#[test]
fn ten_thousand_lines_of_garbage_do_not_stop_it() {
    let kinds = garbage();
    let lines: Vec<&[u8]> = kinds.iter().map(Vec::as_slice).cycle().take(10_000).collect();
    let heard = survives(&["--allow", ALL], |server| {
        server.raw(&[&lines.join(&b'\n')[..], b"\n"].concat());
    });
    // Lines that cannot be told from an echo are answered, but not for ever.
    let errors: Vec<i64> = heard.iter().map(code).filter(|c| *c != 0).collect();
    assert!(!errors.is_empty() && errors.len() < 1000, "{} answers", errors.len());
    assert!(errors.iter().all(|c| [-32700, -32600].contains(c)), "{errors:?}");
}

#[cfg(unix)]
#[test]
fn pipes_among_the_sessions_do_not_hang_it() {
    let pipe = |path: std::path::PathBuf| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    let home = home();
    let project = home.path().join(".claude/projects/-w-app");
    pipe(project.join("22222222-2222-4333-8444-555555555502.jsonl"));
    pipe(home.path().join(".claude/history.jsonl"));
    pipe(home.path().join(
        ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-00000000-2222-4333-8444-555555555503.jsonl",
    ));
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    normal(&mut server);
    let before = peak_kb(&server);
    pipe(project.join("33333333-2222-4333-8444-555555555504.jsonl"));
    pipe(home.path().join(".gemini/tmp/x/chats/session-2026-03-01T10-00-00000000.jsonl"));
    for _ in 0..3 {
        let found = server.call("agf_search_sessions", json!({ "query": "parser", "include_content": true }));
        assert_eq!(found["structuredContent"]["data"]["total"], 1);
        normal(&mut server);
    }
    assert!(before.zip(peak_kb(&server)).is_none_or(|(a, b)| b < a + SLACK_KB));
    server.end_well();
}

/// A request of the modern revision.
fn request(id: u64, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "_meta": meta() } }).to_string()
}

#[test]
fn the_end_in_the_middle_of_a_line_is_answered() {
    let home = home();
    let whole = request(7, "tools/list");
    let long = format!("{{\"id\":\"big\",\"method\":\"{}", "x".repeat(70_000));
    for (line, expected, id) in [
        (whole.as_bytes(), 0, json!(7)),
        (&whole.as_bytes()[..5], -32700, Value::Null),
        (br#"{"jsonrpc":"2.0","id":7,"method":"tools/li"#, -32700, json!(7)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xe2\x82", -32700, json!(7)),
        (long.as_bytes(), -32600, json!("big")),
    ] {
        let mut server = Server::start(home.path(), &[]);
        normal(&mut server);
        server.raw(line);
        let heard = server.end_well();
        let last = heard.last().unwrap();
        assert_eq!((code(last), &last["id"]), (expected, &id), "{last}");
        let mut next = Server::start(home.path(), &[]);
        normal(&mut next);
        next.end_well();
    }
}

#[test]
fn the_end_of_the_input_is_the_end() {
    let home = home();
    assert!(Server::start(home.path(), &[]).end_well().is_empty());
    let mut server = Server::start(home.path(), &[]);
    let params = json!({ "_meta": meta(), "notifications": { "toolsListChanged": true } });
    server.send(&json!({ "jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params }));
    let first = server.hear().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let heard = server.end_well();
    assert!(heard.iter().any(|m| m["id"] == "s" && m["result"].is_object()), "{heard:?}");
}

#[test]
fn a_client_that_does_not_listen_any_more_ends_it() {
    let home = home();
    // It notices when it has something to say, though its input stays open.
    let mut server = Server::start(home.path(), &[]);
    normal(&mut server);
    drop(server.from.take());
    server.raw(format!("{}\n", request(1, "tools/list")).as_bytes());
    assert!(ended(&mut server).success());
    // Its input ends as well.
    let mut server = Server::start(home.path(), &[]);
    drop(server.from.take());
    drop(server.to.take());
    assert!(ended(&mut server).success());
    // It could listen, but does not: hundreds of answers wait when the input ends, more than fit into a pipe.
    let mut server = Server::start(home.path(), &[]);
    let many: String = (0..500).map(|n| request(n, "tools/list") + "\n").collect();
    server.raw(many.as_bytes());
    drop(server.to.take());
    ended(&mut server);
    let mut server = Server::start(home.path(), &[]);
    normal(&mut server);
    server.end_well();
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_and_harms_nothing() {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    let agf = crate::agf::Agf::new();
    for n in 0..300 {
        agf.claude("/w/app", &crate::agf::id(n), &"zqterm and some words more ".repeat(200));
    }
    for wait in [None, Some(0), Some(20), Some(80), Some(300)] {
        let mut server = Server::spawn(agf.command(&["mcp", "--allow", ALL]));
        match wait {
            None => assert!(server.modern("tools/list", json!({}))["result"].is_object()),
            Some(ms) => {
                let arguments = json!({ "query": "zqterm", "include_content": true });
                let params =
                    json!({ "name": "agf_search_sessions", "arguments": arguments, "_meta": meta() });
                server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
                std::thread::sleep(Duration::from_millis(ms));
            }
        }
        kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
        assert_eq!(ended(&mut server).signal(), Some(15));
    }
    let mut server = Server::spawn(agf.command(&["mcp", "--allow", ALL]));
    let found = server.call("agf_search_sessions", json!({ "query": "zqterm", "include_content": true }));
    assert_eq!(found["structuredContent"]["data"]["total"], 300);
    server.end_well();
    assert_eq!(agf.run(&["index", "verify"]).code, 0);
}

/// The tools that panic are in debug builds alone, and only if the environment asks for them.
#[test]
fn a_call_that_panics_is_answered_and_so_is_the_next() {
    if !cfg!(debug_assertions) {
        return;
    }
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    normal(&mut server);
    let before = peak_kb(&server);
    // More often than calls may work at the same time or wait: a panic keeps no place.
    for _ in 0..25 {
        assert_eq!(server.refused("agf_test_panic", json!({})), "internal_error");
        let params = json!({ "name": "agf_test_panic_async", "arguments": {} });
        assert_eq!(code(&server.modern("tools/call", params)), -32603);
        normal(&mut server);
    }
    assert!(before.zip(peak_kb(&server)).is_none_or(|(a, b)| b < a + SLACK_KB));
    let (_, errors, code) = server.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("internal error") && !errors.contains("asked for"), "{errors}");
}

#[test]
fn nobody_reaches_the_tools_of_the_tests() {
    let home = home();
    let mut command = crate::mcp::agf(home.path(), &["mcp", "--allow", ALL]);
    command.env_remove("AGF_TEST_TOOLS");
    let mut server = Server::spawn(command);
    for tool in ["agf_test_panic", "agf_test_panic_async", "agf_test_sleep"] {
        let params = json!({ "name": tool, "arguments": {} });
        assert_eq!(code(&server.modern("tools/call", params)), -32602, "{tool}");
    }
    server.end_well();
    if !cfg!(debug_assertions) {
        let program = std::fs::read(env!("CARGO_BIN_EXE_agf")).unwrap();
        assert!(memchr::memmem::find(&program, b"agf_test_").is_none());
    }
}
