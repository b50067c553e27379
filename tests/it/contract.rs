//! Answers have exactly the documented fields: read with structs of the test's own that refuse any other.
#![expect(dead_code, reason = "the fields are there to be required")]

use crate::agf::{Agf, id};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Warning {
    agent: Option<String>,
    code: String,
    message: String,
    count: u64,
    #[serde(default)]
    source: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    generation: u64,
    complete: bool,
    pending_sources: u64,
    refreshed_sources: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Match {
    message: u64,
    role: String,
    timestamp_ms: i64,
    snippet: String,
    highlights: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    key: String,
    agent: String,
    agent_name: String,
    session_id: String,
    project_name: String,
    project_path: String,
    timestamp_ms: i64,
    git_branch: Option<String>,
    worktree: Option<String>,
    interactive: bool,
    #[serde(default)]
    summaries: Vec<String>,
    #[serde(default)]
    recap: Option<String>,
    #[serde(default)]
    title: Option<String>,
    title_source: Option<String>,
    model: Option<String>,
    started_ms: i64,
    message_count: u64,
    source_kind: String,
    parent_session_id: Option<String>,
    forked_from: Option<String>,
    archived: bool,
    resume_kind: String,
    #[serde(default)]
    matches: Vec<Match>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    sessions: Vec<Session>,
    total: u64,
    offset: u64,
    next_offset: Option<u64>,
    warnings: Vec<Warning>,
    next_cursor: Option<String>,
    #[serde(default)]
    tier: Option<String>,
    filtered_non_interactive: u64,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    content_total: Option<u64>,
    index: Index,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Show {
    session: Session,
    warnings: Vec<Warning>,
    index: Index,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    check: String,
    ok: bool,
    detail: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    agent: String,
    session_id: String,
    program: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    executable_found: bool,
    working_directory_exists: bool,
    ready: bool,
    checks: Vec<Check>,
    resume_kind: String,
    cwd_rule: String,
    mode: String,
    r#unsafe: bool,
    #[serde(default)]
    hint: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanData {
    plan: Plan,
    executed: bool,
    requires_user_action: bool,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    index: u64,
    role: String,
    timestamp_ms: i64,
    text: String,
    truncated: bool,
    bytes: u64,
    #[serde(default)]
    tool: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    agent: String,
    session_id: String,
    messages: Vec<Message>,
    total: u64,
    next_offset: Option<u64>,
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Provider {
    id: String,
    name: String,
    command: String,
    program: String,
    installed: bool,
    resume_modes: Vec<String>,
    version_probe: String,
    unsafe_modes: Vec<String>,
    cwd_rule: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Capabilities {
    operations: Vec<String>,
    read_only: bool,
    launches_agents: bool,
    writes_agent_stores: bool,
    mcp: bool,
    providers: Vec<Provider>,
    scope: Map<String, Value>,
    limits: BTreeMap<String, u64>,
    pagination_consistency: String,
    content_trust: String,
    error_codes: Vec<String>,
}

fn read<T: DeserializeOwned>(data: Value) -> T {
    serde_json::from_value(data.clone()).unwrap_or_else(|e| panic!("{e}: {data:#}"))
}

#[test]
fn every_operation_answers_with_its_fields() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "contract zqcon");
    let search: Search = read(agf.data(&["search", "zqcon", "-c", "--include-summaries"]));
    assert_eq!((search.total, search.sessions[0].key.as_str()), (1, format!("claude:{}", id(1)).as_str()));
    let show: Show = read(agf.data(&["show", &id(1), "-a", "claude"]));
    assert_eq!(
        (show.session.project_name.as_str(), show.session.git_branch.as_deref()),
        ("app", Some("main"))
    );
    let plan: PlanData = read(agf.data(&["resume-plan", &id(1), "-a", "claude"]));
    assert_eq!(plan.plan.checks.len(), 5);
    let page: Read = read(agf.data(&["read", &id(1), "-a", "claude"]));
    assert_eq!(page.total, 2);
    let can: Capabilities = read(agf.data(&["capabilities"]));
    assert!(
        can.read_only && !can.launches_agents && !can.writes_agent_stores && can.limits["page_max"] == 200
    );
}
