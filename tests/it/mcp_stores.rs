//! Nothing that a client can ask changes a store: names, sizes, times and bytes are the same after each message.
#![cfg(feature = "mcp")]

use crate::agf::Agf;
use crate::fixture;
use crate::mcp::{LEGACY, Server};
use crate::stores::state;
use serde_json::{Value, json};

const EVERYTHING: &str = "metadata,summaries,content,transcript,prompts,unsafe-modes";

/// All that can be asked about a session, and what cannot.
fn questions(agent: &str, id: &str) -> Vec<(&'static str, Value)> {
    let uri = format!("agf://session/{agent}/{id}");
    let call = |tool: &str, more: Value| {
        let mut arguments = more;
        if tool != "agf_search_sessions" && tool != "agf_capabilities" {
            arguments["agent"] = json!(agent);
            arguments["session_id"] = json!(id);
            arguments["include_non_interactive"] = json!(true);
        }
        ("tools/call", json!({ "name": tool, "arguments": arguments }))
    };
    vec![
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        call("agf_capabilities", json!({})),
        call(
            "agf_search_sessions",
            json!({ "agent": agent, "include_summaries": true, "include_non_interactive": true }),
        ),
        call("agf_search_sessions", json!({ "query": "the", "include_content": true, "sort": "time" })),
        call("agf_search_sessions", json!({ "limit": 0 })),
        call("agf_get_session", json!({ "include_summaries": true })),
        call("agf_read_session", json!({})),
        call("agf_read_session", json!({ "outline": true, "roles": ["user"] })),
        call("agf_resume_plan", json!({})),
        call("agf_resume_plan", json!({ "mode": "none such" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": uri })),
        ("resources/read", json!({ "uri": "agf://session/none/none" })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "resume_work", "arguments": { "agent": agent, "session_id": id } })),
        ("skills/list", json!({})),
        ("skills/get", json!({ "uri": "skill://agf/SKILL.md" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/resource", "uri": "agf://session/{agent}/{session_id}" }, "argument": { "name": "session_id", "value": "" } }),
        ),
        ("no/such", json!({})),
    ]
}

/// The id of some session of an agent.
fn some_id(server: &mut Server, agent: &str) -> String {
    let found =
        server.call("agf_search_sessions", json!({ "agent": agent, "include_non_interactive": true }));
    let sessions = &found["structuredContent"]["data"]["sessions"];
    sessions[0]["session_id"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn no_message_changes_a_store() {
    for (agent, case) in fixture::cases() {
        let cache = tempfile::tempdir().unwrap();
        let agf = Agf::of(&case).var("AGF_CACHE_DIR", cache.path());
        let before = state(agf.home.path());
        let unchanged = |what: &str| {
            assert_eq!(state(agf.home.path()), before, "{what} on {}", case.display());
        };
        let mut server = Server::spawn(agf.command(&["mcp", "--allow", EVERYTHING]));
        server.initialize(LEGACY[0]);
        unchanged("initialize");
        let id = some_id(&mut server, &agent);
        for (method, params) in questions(&agent, &id) {
            server.modern(method, params.clone());
            unchanged(&format!("{method} {params}"));
        }
        server.legacy("tools/call", json!({ "name": "agf_search_sessions", "arguments": {} }));
        server.raw(b"{ not json\n");
        server.hear();
        unchanged("garbage");
        server.end_well();
        unchanged("the end");
    }
}
