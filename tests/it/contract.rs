//! Answers have exactly the documented fields: read with structs of the test's own that refuse any other.
#![expect(dead_code, reason = "the fields are there to be required")]

use crate::agf::{Agf, claude_line, claude_path, id};
use agf_catalog::api::request::{PlanRequest, ReadRequest, SearchRequest, ShowRequest};
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::error::{Error, ErrorCode};
use agf_catalog::io::env::Env;
use agf_catalog::limits;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
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
    #[serde(default)]
    did_you_mean: Option<String>,
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
    #[serde(default)]
    sidechain: bool,
    #[serde(default)]
    child: Option<u64>,
    #[serde(default)]
    next_text_offset: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    first: u64,
    messages: u64,
    #[serde(default)]
    child: Option<u64>,
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
    next_cursor: Option<String>,
    revision: String,
    #[serde(default)]
    changed: bool,
    #[serde(default)]
    around: Option<u64>,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default)]
    hint: Option<String>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Candidate {
    agent: String,
    session_id: String,
    project_path: String,
    timestamp_ms: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
    #[serde(default)]
    hint: Option<String>,
    retryable: bool,
    #[serde(default)]
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    schema_version: u32,
    agf_version: String,
    ok: bool,
    error: Failure,
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

#[test]
fn every_failure_has_one_shape() {
    let agf = Agf::new();
    agf.claude("/w/alpha", &id(1), "x");
    agf.claude("/w/beta", &id(1), "x");
    for (args, code) in [
        (vec!["search", "--limit", "0"], "invalid_request"),
        (vec!["search", "--agent", "nobody"], "invalid_agent"),
        (vec!["show", &id(9), "-a", "claude"], "not_found"),
        (vec!["read", &id(9), "-a", "claude"], "not_found"),
        (vec!["show", &id(1), "-a", "claude"], "ambiguous_session"),
        (vec!["read", &id(1), "-a", "claude"], "ambiguous_session"),
        (vec!["resume-plan", &id(1), "-a", "claude"], "ambiguous_session"),
        (
            vec!["resume-plan", &id(1), "-a", "claude", "-p", "/w/beta", "--mode", "warp"],
            "invalid_resume_plan",
        ),
    ] {
        let ran = agf.run(&args);
        let failed: Failed =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ran.out));
        assert_eq!(
            (failed.schema_version, failed.ok, failed.error.code.as_str()),
            (1, false, code),
            "{args:?}"
        );
        assert_eq!(failed.agf_version, env!("CARGO_PKG_VERSION"));
        let said = failed.error.message.as_str();
        assert!(said.starts_with(|c: char| c.is_lowercase()) && !said.ends_with('.'), "{said}");
        let mut projects: Vec<_> = failed.error.candidates.iter().map(|c| c.project_path.as_str()).collect();
        projects.sort_unstable();
        let expected: &[&str] = if code == "ambiguous_session" { &["/w/alpha", "/w/beta"] } else { &[] };
        assert_eq!(projects, expected, "{args:?}");
    }
}

#[test]
fn candidates_are_bounded() {
    let agf = Agf::new();
    for n in 0..limits::CANDIDATES_MAX + 5 {
        agf.claude(&format!("/w/p{n}"), &id(1), "x");
    }
    let error = agf.error(&["show", &id(1), "-a", "claude"]);
    assert_eq!(error["candidates"].as_array().unwrap().len(), limits::CANDIDATES_MAX);
}

fn codes<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.expect_err("a refusal").code
}

/// A fixed scope can be narrowed, never left, whatever exists outside it.
#[test]
fn a_scope_is_never_left() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "inside");
    agf.claude("/w/other", &id(2), "outside");
    agf.codex("/w/app", &id(3), "outside");
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd("/w");
    let scope = Scope::new(Some("Claude Code"), Some("app/"), &env).unwrap();
    let catalog = Catalog::new(env, scope);
    let search = |agent: Option<&str>, project: Option<&str>| {
        catalog.search(&SearchRequest {
            agent: agent.map(str::to_owned),
            project: project.map(str::to_owned),
            ..SearchRequest::default()
        })
    };
    for (agent, project) in [
        (None, None),
        (Some("claude-code"), None),
        (None, Some("/w/x/../app")),
        (Some("claude"), Some("/w/app/")),
    ] {
        let found = search(agent, project).unwrap();
        assert_eq!(
            (found.total, found.sessions[0].session_id.as_str()),
            (1, id(1).as_str()),
            "{agent:?} {project:?}"
        );
    }
    for (agent, project) in [
        (Some("codex"), None),
        (None, Some("/w/other")),
        (None, Some("/w")),
        (None, Some("/w/app/sub")),
        (Some("claude"), Some("/")),
    ] {
        assert_eq!(codes(search(agent, project)), ErrorCode::OutOfScope, "{agent:?} {project:?}");
    }
    let show = |agent: &str, n: u32| ShowRequest {
        agent: agent.into(),
        session_id: id(n),
        ..ShowRequest::default()
    };
    assert_eq!(catalog.show(&show("claude", 1)).unwrap().session.session_id, id(1));
    assert_eq!(codes(catalog.show(&show("claude", 2))), ErrorCode::NotFound);
    assert_eq!(codes(catalog.show(&show("codex", 3))), ErrorCode::OutOfScope);
    let plan = PlanRequest { agent: "codex".into(), session_id: id(3), ..PlanRequest::default() };
    assert_eq!(codes(catalog.resume_plan(&plan)), ErrorCode::OutOfScope);
    let page = ReadRequest { agent: "claude".into(), session_id: id(2), ..ReadRequest::default() };
    assert_eq!(codes(catalog.read(&page)), ErrorCode::NotFound);
    let can = catalog.capabilities().unwrap();
    assert_eq!(
        (can.providers.len(), can.scope.agent.as_deref(), can.scope.project.as_deref()),
        (1, Some("claude"), Some("/w/app"))
    );
}

/// Limits, then agent, then project, then scope, then the look-up, then the mode.
#[test]
fn of_several_faults_the_first_in_order_is_told() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "x");
    let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd("/w");
    let catalog = Catalog::new(env.clone(), Scope::new(Some("claude"), Some("/w/app"), &env).unwrap());
    let request = |limit: u64, agent: &str, project: &str| SearchRequest {
        limit,
        agent: Some(agent.into()),
        project: Some(project.into()),
        ..SearchRequest::default()
    };
    assert_eq!(codes(catalog.search(&request(0, "nobody", ""))), ErrorCode::InvalidRequest);
    assert_eq!(codes(catalog.search(&request(1, "nobody", ""))), ErrorCode::InvalidAgent);
    assert_eq!(codes(catalog.search(&request(1, "codex", ""))), ErrorCode::InvalidRequest);
    assert_eq!(codes(catalog.search(&request(1, "codex", "/w/app"))), ErrorCode::OutOfScope);
    let plan = |agent: &str, session: &str, mode: &str| PlanRequest {
        agent: agent.into(),
        session_id: session.into(),
        mode: Some(mode.into()),
        ..PlanRequest::default()
    };
    assert_eq!(codes(catalog.resume_plan(&plan("nobody", "-x", "warp"))), ErrorCode::InvalidRequest);
    assert_eq!(codes(catalog.resume_plan(&plan("nobody", &id(9), "warp"))), ErrorCode::InvalidAgent);
    assert_eq!(codes(catalog.resume_plan(&plan("codex", &id(9), "warp"))), ErrorCode::OutOfScope);
    assert_eq!(codes(catalog.resume_plan(&plan("claude", &id(9), "warp"))), ErrorCode::NotFound);
    assert_eq!(codes(catalog.resume_plan(&plan("claude", &id(1), "warp"))), ErrorCode::InvalidResumePlan);
}

#[test]
fn the_edges_of_every_bound() {
    let agf = Agf::new();
    agf.claude("/w/app", &id(1), "x");
    let long = |n: usize| "x".repeat(n);
    let path = |n: usize| format!("/{}", long(n - 1));
    for (good, args) in [
        (true, vec!["search".to_owned(), "--limit".into(), limits::PAGE_MAX.to_string()]),
        (true, vec!["search".into(), "--offset".into(), limits::OFFSET_MAX.to_string()]),
        (false, vec!["search".into(), "--offset".into(), (limits::OFFSET_MAX + 1).to_string()]),
        (true, vec!["search".into(), long(limits::QUERY_MAX)]),
        (false, vec!["search".into(), "한".repeat(limits::QUERY_MAX / 3 + 1)]),
        (true, vec!["search".into(), "--project".into(), path(limits::PROJECT_MAX)]),
        (false, vec!["search".into(), "--project".into(), path(limits::PROJECT_MAX + 1)]),
        (false, vec!["show".into(), "--agent".into(), "claude".into(), long(limits::ID_MAX + 1)]),
        (false, vec!["show".into(), "--agent".into(), "claude".into(), String::new()]),
        (false, vec!["read".into(), "--agent".into(), "claude".into(), id(1), "--limit".into(), "0".into()]),
        (
            false,
            vec!["read".into(), "--agent".into(), "claude".into(), id(1), "--limit".into(), "201".into()],
        ),
        (true, vec!["read".into(), "--agent".into(), "claude".into(), id(1), "--offset".into(), "99".into()]),
    ] {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        if good {
            agf.data(&args);
        } else {
            assert_eq!(agf.error(&args)["code"], "invalid_request", "{args:?}");
        }
    }
    assert_eq!(agf.error(&["search", "--agent", &long(limits::LABEL_MAX + 1)])["code"], "invalid_agent");
    assert_eq!(agf.error(&["show", &long(limits::ID_MAX), "-a", "claude"])["code"], "not_found");
}

/// Two states that were never published must not be taken for one another.
#[test]
fn a_cursor_ends_with_the_state_it_was_made_for() {
    let agf = Agf::new();
    for n in 10..16 {
        agf.claude("/w/app", &id(n), "cursor zqcur");
    }
    agf.data(&["search"]);
    for n in [16, 17] {
        agf.write(
            &claude_path("/w/app", &id(n)),
            claude_line("/w/app", &id(n), 60 + n as usize, "user", "cursor zqcur"),
        );
        let page = agf.data(&["search", "--limit", "2"]);
        let cursor = page["next_cursor"].as_str().unwrap().to_owned();
        let next = agf.data(&["search", "--limit", "2", "--cursor", &cursor]);
        assert_eq!(next["offset"], 2);
        agf.write(
            &claude_path("/w/app", &id(n + 10)),
            claude_line("/w/app", &id(n + 10), 60 + n as usize, "user", "cursor zqcur"),
        );
        assert_eq!(agf.error(&["search", "--limit", "2", "--cursor", &cursor])["code"], "cursor_expired");
    }
}

#[test]
fn a_cursor_belongs_to_its_question() {
    let agf = Agf::new();
    for n in 0..5 {
        agf.claude("/w/app", &id(n), "cursor zqcur");
    }
    let cursor =
        agf.data(&["search", "zqcur", "-c", "--limit", "2"])["next_cursor"].as_str().unwrap().to_owned();
    assert_eq!(agf.data(&["search", "zqcur", "-c", "--limit", "3", "--cursor", &cursor])["offset"], 2);
    for other in [
        vec!["search", "zqcur", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--agent", "claude", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--project", "/w/app", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--sort", "time", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--include-summaries", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--include-non-interactive", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--since", "2020-01-01", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--offset", "2", "--cursor", &cursor],
        vec!["search", "zqcur", "-c", "--cursor", ""],
        vec!["search", "zqcur", "-c", "--cursor", "ffffffffffffffff.0.0"],
    ] {
        assert_eq!(agf.error(&other)["code"], "invalid_request", "{other:?}");
    }
}

#[test]
fn pages_by_offset_cover_everything_once() {
    let agf = Agf::new();
    for n in 0..7 {
        agf.claude("/w/app", &id(n), "page zqpage");
    }
    let mut seen = Vec::new();
    let mut offset = 0;
    loop {
        let page = agf.data(&["search", "zqpage", "-c", "--limit", "3", "--offset", &offset.to_string()]);
        assert_eq!((&page["total"], &page["offset"]), (&json!(7), &json!(offset)));
        seen.extend(crate::agf::ids(&page));
        let Some(next) = page["next_offset"].as_u64() else { break };
        offset = next;
    }
    seen.sort();
    assert_eq!(seen, (0..7).map(id).collect::<Vec<_>>());
}
