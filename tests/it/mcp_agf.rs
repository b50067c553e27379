//! What clients of AGF 0.15 send and expect, replayed: the same field names and codes. `tests/exchanges/agf.jsonl` holds one exchange a
//! line, written after AGF's documentation:
//!
//! - `about`: what it shows; `differs`: how and why the answer is not AGF's (only what docs/agent-integration.md admits)
//! - `server`: arguments of `agf mcp`; `era`: a revision to shake hands in, or none for the modern one
//! - `method`, `params`: the request
//! - `is`: values in the answer by JSON pointer; `has`: fields that stand there, at least; `lacks`: pointers to nothing
//!
//! `{home}` is the path of the home, `{claude}`, `{codex}`, `{exec}` and `{twice}` are ids of sessions in it.
#![cfg(feature = "mcp")]

use crate::agf::{Agf, id};
use crate::mcp::Server;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exchange {
    about: String,
    #[serde(default)]
    differs: Option<String>,
    #[serde(default)]
    server: Vec<String>,
    #[serde(default)]
    era: Option<String>,
    method: String,
    params: Value,
    #[serde(default)]
    is: Map<String, Value>,
    #[serde(default)]
    has: Map<String, Value>,
    #[serde(default)]
    lacks: Vec<String>,
}

/// Two agents, a headless run, an id that two sessions share, and an agent whose store cannot be read.
fn history() -> Agf {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "fix the zqparser");
    let place = agf.path("work/tool");
    fs::create_dir_all(&place).unwrap();
    let file = agf.codex(place.to_str().unwrap(), &id(2), "write the zqlexer");
    let file = fs::read_to_string(file).unwrap();
    let exec = file.replace(&id(2), &id(3)).replace("\"source\":\"cli\"", "\"source\":\"exec\"");
    agf.write(&format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{}.jsonl", id(3)), exec);
    agf.claude("/w/alpha", &id(4), "one of two");
    agf.claude("/w/beta", &id(4), "two of two");
    agf.write(".hermes/state.db", "no database ".repeat(1000));
    agf
}

fn exchanges(agf: &Agf) -> Vec<Exchange> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchanges/agf.jsonl");
    let mut text = fs::read_to_string(path).unwrap();
    let home = agf.home.path().to_str().unwrap().to_owned();
    let names = [("home", home), ("claude", id(1)), ("codex", id(2)), ("exec", id(3)), ("twice", id(4))];
    for (name, value) in names {
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    text.lines().filter(|l| !l.is_empty()).map(read).collect()
}

impl Exchange {
    fn ask(&self, agf: &Agf) -> Value {
        let args: Vec<&str> = self.server.iter().map(String::as_str).collect();
        let mut server = Server::spawn(agf.command(&[&["mcp"], &args[..]].concat()));
        let answer = match &self.era {
            Some(_) if self.method == "initialize" => server.legacy(&self.method, self.params.clone()),
            Some(version) => {
                server.initialize(version);
                server.legacy(&self.method, self.params.clone())
            }
            None => server.modern(&self.method, self.params.clone()),
        };
        server.end_well();
        answer
    }

    /// What is wrong with an answer.
    fn faults(&self, answer: &Value) -> Vec<String> {
        let mut all = Vec::new();
        for (at, expected) in &self.is {
            let found = answer.pointer(at).unwrap_or(&Value::Null);
            if found != expected {
                all.push(format!("{at} is {found}, not {expected}"));
            }
        }
        for (at, fields) in &self.has {
            let missing = |f: &&Value| answer.pointer(at).and_then(|v| v.get(f.as_str()?)).is_none();
            all.extend(fields.as_array().unwrap().iter().filter(missing).map(|f| format!("{at} has no {f}")));
        }
        all.extend(
            self.lacks.iter().filter(|at| answer.pointer(at).is_some()).map(|at| format!("{at} is there")),
        );
        all.extend(self.mirror(answer));
        all
    }

    /// AGF: one text item with the same JSON as `structuredContent`, which is the envelope.
    fn mirror(&self, answer: &Value) -> Option<String> {
        let result = answer.get("result").filter(|_| self.method == "tools/call")?;
        let (content, envelope) = (result["content"].as_array()?, &result["structuredContent"]);
        let text = serde_json::from_str::<Value>(content[0]["text"].as_str()?);
        let same = content.len() == 1 && content[0]["type"] == "text" && text.is_ok_and(|t| t == *envelope);
        let failed = result["isError"] == true;
        let whole = envelope["schema_version"] == 1
            && envelope["agf_version"] == env!("CARGO_PKG_VERSION")
            && envelope["ok"] == !failed
            && envelope.get(if failed { "error" } else { "data" }).is_some()
            && envelope.get(if failed { "data" } else { "error" }).is_none();
        (!same || !whole).then(|| format!("not the envelope, once as data and once as text: {result}"))
    }
}

#[test]
fn clients_of_agf_get_the_answers_they_know() {
    let agf = history();
    let mut wrong = Vec::new();
    for exchange in exchanges(&agf) {
        let answer = exchange.ask(&agf);
        let faults = exchange.faults(&answer);
        if !faults.is_empty() {
            let differs = exchange.differs.unwrap_or_default();
            wrong.push(format!("{} {differs}: {faults:#?}\n{answer}", exchange.about));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
