//! `agf mcp` on the wire: every row of the protocol's table, one line in, one line out, without any SDK.
#![cfg(feature = "mcp")]

use crate::mcp::{ALL, ID, LEGACY, MODERN, Server, code, home, meta};
use serde_json::{Value, json};

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

/// Requests that succeed with all groups, and whether their result may be cached.
fn good() -> Vec<(&'static str, Value, bool)> {
    let template = json!({ "type": "ref/resource", "uri": "agf://session/{agent}/{session_id}" });
    vec![
        ("tools/list", json!({}), true),
        ("tools/call", json!({ "name": "agf_capabilities", "arguments": {} }), false),
        ("tools/call", json!({ "name": "agf_search_sessions" }), false),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("resources/read", json!({ "uri": format!("agf://session/claude/{ID}") }), true),
        ("prompts/list", json!({}), true),
        ("prompts/get", json!({ "name": "find_session", "arguments": { "topic": "x" } }), false),
        (
            "completion/complete",
            json!({ "ref": template, "argument": { "name": "agent", "value": "c" } }),
            false,
        ),
    ]
}

#[test]
fn every_modern_result_says_that_it_is_complete_and_whose_it_is() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    for (method, params, cached) in good() {
        let result = server.modern(method, params)["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "agf", "{method}");
        let hints =
            (result["ttlMs"].is_u64(), matches!(result["cacheScope"].as_str(), Some("public" | "private")));
        assert_eq!(hints, (cached, cached), "{method}: {result}");
    }
    server.end_well();
}

#[test]
fn no_legacy_result_has_a_modern_field() {
    let home = home();
    for version in LEGACY {
        let mut server = Server::start(home.path(), &["--allow", ALL]);
        server.initialize(version);
        for (method, params, _) in good() {
            let result = server.legacy(method, params)["result"].clone();
            assert!(result.is_object(), "{version} {method}");
            for field in ["resultType", "ttlMs", "cacheScope", "_meta"] {
                assert!(result.get(field).is_none(), "{version} {method} {field}");
            }
        }
        server.end_well();
    }
}

#[test]
fn what_is_missing_in_the_metadata_is_named() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    for (given, missing) in [
        (json!({}), &["protocolVersion", "clientCapabilities"][..]),
        (json!({ "io.modelcontextprotocol/protocolVersion": MODERN }), &["clientCapabilities"]),
        (json!({ "io.modelcontextprotocol/clientCapabilities": {} }), &["protocolVersion"]),
    ] {
        for method in ["server/discover", "tools/list"] {
            let answer = server.legacy(method, json!({ "_meta": given }));
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(
                code(&answer) == -32602 && missing.iter().all(|m| message.contains(m)),
                "{method}: {answer}"
            );
        }
    }
    assert_eq!(code(&server.legacy("server/discover", json!({}))), -32602);
    let old = json!({ "io.modelcontextprotocol/protocolVersion": "1900-01-01", "io.modelcontextprotocol/clientCapabilities": {} });
    let answer = server.legacy("tools/list", json!({ "_meta": old }));
    let mut supported: Vec<String> = answer["error"]["data"]["supported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap().to_owned())
        .collect();
    supported.sort();
    assert_eq!(supported, ["2025-03-26", "2025-06-18", "2025-11-25", MODERN]);
    // None of this opened or closed anything.
    assert_eq!(server.legacy("ping", json!({}))["result"], json!({}));
    assert!(server.initialize(LEGACY[0])["result"].is_object());
    server.end_well();
}

#[test]
fn what_a_revision_does_not_have_is_no_method() {
    let home = home();
    let mut server = Server::start(home.path(), &["--allow", ALL]);
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({ "level": "info" })),
        ("resources/subscribe", json!({ "uri": "agf://session/claude/x" })),
        ("resources/unsubscribe", json!({ "uri": "agf://session/claude/x" })),
        ("no/such_method", json!({})),
    ] {
        assert_eq!(code(&server.modern(method, params)), -32601, "{method}");
    }
    server.end_well();
    let mut server = Server::start(home.path(), &[]);
    assert_eq!(server.initialize("2024-11-05")["result"]["protocolVersion"], LEGACY[0]);
    for method in ["logging/setLevel", "resources/list", "prompts/list", "no/such_method"] {
        assert_eq!(code(&server.legacy(method, json!({ "level": "info" }))), -32601, "{method}");
    }
    server.end_well();
}

#[test]
fn what_is_no_question_gets_no_answer() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    server.modern("tools/list", json!({}));
    let long = format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"p":"{}"}}}}"#, "x".repeat(70_000));
    for line in [
        r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":404}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}"#,
        &long,
        "",
        " \t",
        "\r",
    ] {
        server.raw(format!("{line}\n").as_bytes());
    }
    let ping =
        json!({ "jsonrpc": "2.0", "id": "crlf", "method": "tools/list", "params": { "_meta": meta() } });
    server.raw(format!("\u{feff}{ping}\r\n").as_bytes());
    assert_eq!(server.hear().unwrap()["id"], "crlf");
    assert_eq!(server.end_well().len(), 2);
}

#[test]
fn odd_messages_are_survived() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":"d","method":"x","params":{}{}}}"#,
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    for (line, id) in [
        (nested.as_str(), json!("d")),
        (r#"{"jsonrpc":"2.0","id":"h","method":"tools/list","params":{"x":1e99999}}"#, json!("h")),
        (r#"{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"\ud800"}}"#, json!("s")),
        ("\0\0\0", Value::Null),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, Value::Null),
    ] {
        server.raw(format!("{line}\n").as_bytes());
        let answer = server.hear().unwrap();
        assert!(code(&answer) < 0 && answer["id"] == id, "{answer}");
        assert!(server.modern("tools/list", json!({}))["result"].is_object());
    }
    server.end_well();
}

#[test]
fn the_limit_is_exact() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    let line = |bytes: usize| {
        let bare = json!({ "jsonrpc": "2.0", "id": bytes, "method": "tools/list", "params": { "_meta": meta(), "p": "" } });
        let pad = "y".repeat(bytes - bare.to_string().len());
        bare.to_string().replace(r#""p":"""#, &format!(r#""p":"{pad}""#))
    };
    server.raw(format!("{}\n", line(65_536)).as_bytes());
    assert!(server.hear().unwrap()["result"].is_object());
    for over in [format!("{}\n", line(65_537)), format!("{}\r\n", line(65_536))] {
        server.raw(over.as_bytes());
        let answer = server.hear().unwrap();
        assert_eq!(code(&answer), -32600);
        assert!(answer["id"].is_u64(), "{answer}");
    }
    server.end_well();
}

#[test]
fn two_processes_list_the_same() {
    let home = home();
    let listed = || {
        let mut server = Server::start(home.path(), &["--allow", ALL]);
        let methods =
            ["server/discover", "tools/list", "prompts/list", "resources/templates/list", "skills/list"];
        let lists = methods.map(|m| server.modern(m, json!({}))["result"].clone());
        assert_eq!(methods.map(|m| server.modern(m, json!({}))["result"].clone()), lists);
        server.end_well();
        lists
    };
    assert_eq!(listed(), listed());
}
