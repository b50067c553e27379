//! Many calls at once: the queue, progress, cancellation, batches.
#![cfg(feature = "mcp")]

use crate::agf::{Agf, id};
use crate::mcp::{ALL, Server, code, home, meta, sleep};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Instant;

fn cancel(id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

/// Ids of the answers that say `busy`.
fn busy(heard: &[Value]) -> BTreeSet<&str> {
    let said = |m: &&Value| m["result"]["structuredContent"]["error"]["code"] == "busy";
    heard.iter().filter(said).filter_map(|m| m["id"].as_str()).collect()
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

#[cfg(debug_assertions)]
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

#[cfg(debug_assertions)]
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
    server.send(&cancel("a"));
    server.send(&sleep("d", 1, None));
    assert_eq!(server.answer(&json!("d"))["result"]["structuredContent"]["ok"], true);
    let heard = server.end_well();
    assert!(heard.iter().all(|m| m["id"] != "a"), "nothing more for a cancelled call");
}

#[cfg(debug_assertions)]
#[test]
fn the_queue_has_sixteen_places_and_a_cancelled_call_leaves_its_own() {
    let home = home();
    let mut server = Server::start(home.path(), &[]);
    ["a", "b"].iter().for_each(|id| server.send(&sleep(id, 60_000, None)));
    (0..17).for_each(|n| server.send(&sleep(&format!("w{n}"), 1, None)));
    // Of all that wait, the one that found no place is answered first.
    assert_eq!(server.hear().unwrap()["id"], "w16");
    server.send(&cancel("a"));
    assert_eq!(server.hear().unwrap()["id"], "w0");
    server.send(&sleep("next", 1, None));
    assert_eq!(server.answer(&json!("next"))["result"]["structuredContent"]["ok"], true);
    let heard = server.end_well();
    assert!(busy(&heard).contains("w16") && !busy(&heard).contains("w0"), "{heard:?}");

    let mut server = Server::start(home.path(), &[]);
    ["a", "b"].iter().for_each(|id| server.send(&sleep(id, 60_000, None)));
    (0..16).for_each(|n| server.send(&sleep(&format!("w{n}"), 1, None)));
    server.send(&cancel("w3"));
    server.send(&sleep("late", 1, None));
    let late = server.answer(&json!("late"));
    let heard = server.end_well();
    let place = |id: &str| heard.iter().position(|m| m["id"] == id);
    // It had a place in the queue, so it is not refused before those that came before it.
    assert!(place("w0") < place("late") && place("w3").is_none(), "{late}");
}

/// A home whose index takes more than a second to build.
fn slow() -> Agf {
    let agf = Agf::new().var("AGF_TEST_PACE_MS", "25");
    (0..50).for_each(|n| drop(agf.claude("/w/app", &id(n), &format!("zqslow {n}"))));
    agf
}

fn search(id: &str, token: Option<&str>) -> Value {
    let mut meta = meta();
    if let Some(token) = token {
        meta["progressToken"] = json!(token);
    }
    let arguments = json!({ "query": "zqslow", "include_content": true });
    let params = json!({ "name": "agf_search_sessions", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[cfg(debug_assertions)]
#[test]
fn a_first_build_is_told_to_who_asked_for_it() {
    let agf = slow();
    let mut server = Server::spawn(agf.command(&["mcp", "--allow", ALL]));
    let start = Instant::now();
    server.send(&search("told", Some("t")));
    server.send(&search("untold", None));
    let found = server.answer(&json!("told"))["result"]["structuredContent"]["data"].clone();
    let most = start.elapsed().as_millis() / 200 + 1;
    server.answer(&json!("untold"));
    assert_eq!((&found["total"], &found["index"]["complete"]), (&json!(50), &json!(true)));
    // Nothing is built any more, so there is nothing to tell.
    server.send(&search("warm", Some("w")));
    server.answer(&json!("warm"));
    let heard = server.end_well();
    let told: Vec<&Value> =
        heard.iter().filter(|m| m["method"] == "notifications/progress").map(|m| &m["params"]).collect();
    let steps: Vec<f64> = told.iter().map(|p| p["progress"].as_f64().unwrap()).collect();
    assert!(steps.len() > 1 && steps.len() as u128 <= most, "{} in {most} times 200 ms", steps.len());
    assert!(steps.windows(2).all(|w| w[0] < w[1]), "{steps:?}");
    assert!(told.iter().all(|p| p["progressToken"] == "t" && p["progress"].as_f64() <= p["total"].as_f64()));
    let answered = heard.iter().position(|m| m["id"] == "told").unwrap();
    assert!(heard[answered..].iter().all(|m| m.get("method").is_none()), "nothing is told after the answer");
}

#[cfg(debug_assertions)]
#[test]
fn a_cancelled_first_build_makes_room_and_is_not_lost() {
    let agf = slow();
    let mut server = Server::spawn(agf.command(&["mcp", "--allow", ALL, "--max-concurrent", "1"]));
    server.send(&search("a", Some("t")));
    // The first news says that it is at work.
    assert_eq!(server.hear().unwrap()["method"], "notifications/progress");
    server.send(&cancel("a"));
    // Needs a place, but not the index.
    let known = json!({ "name": "agf_capabilities", "arguments": {}, "_meta": meta() });
    server.send(&json!({ "jsonrpc": "2.0", "id": "k", "method": "tools/call", "params": known }));
    assert_eq!(server.answer(&json!("k"))["result"]["structuredContent"]["ok"], true);
    server.send(&search("b", None));
    let found = server.answer(&json!("b"))["result"]["structuredContent"]["data"].clone();
    assert_eq!((&found["total"], &found["index"]["complete"]), (&json!(50), &json!(true)));
    assert!(server.end_well().iter().all(|m| m["id"] != "a"));
}

#[test]
fn each_member_of_a_batch_is_answered_for_itself() {
    let home = home();
    let ask = |id: &str, method: &str| json!({ "jsonrpc": "2.0", "id": id, "method": method });
    let mut server = Server::start(home.path(), &[]);
    server.initialize("2025-03-26");
    let call = json!({ "name": "agf_search_sessions", "arguments": { "query": "app" } });
    let call = json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": call });
    let stray = json!({ "jsonrpc": "2.0", "id": "stray", "result": {} });
    let old = json!({ "jsonrpc": "1.0", "id": "old", "method": "ping" });
    server.send(&json!([ask("list", "tools/list"), call, stray, old, ask("none", "no/such"), 5]));
    let answers: Vec<Value> = (0..5).map(|_| server.hear().unwrap()).collect();
    let of = |id: Value| answers.iter().find(|m| m["id"] == id).unwrap();
    assert!(of(json!("list"))["result"]["tools"].is_array());
    assert_eq!(of(json!("call"))["result"]["structuredContent"]["data"]["total"], 1);
    assert_eq!([of(json!("old")), of(json!("none")), of(Value::Null)].map(code), [-32600, -32601, -32600]);
    server.send(&json!((0..65).map(|n| ask(&format!("m{n}"), "ping")).collect::<Vec<_>>()));
    assert_eq!(code(&server.hear().unwrap()), -32600, "a batch has its limit");
    server.send(&json!((0..64).map(|n| ask(&format!("m{n}"), "ping")).collect::<Vec<_>>()));
    let ids: BTreeSet<String> = (0..64).map(|_| server.hear().unwrap()["id"].to_string()).collect();
    assert_eq!(ids.len(), 64);
    server.end_well();
}
