//! Documents say what the code says.
//!
//! `UPDATE_EXPECTED=1 cargo test --test it docs` writes the generated ones anew.

use agf_catalog::api::envelope::Envelope;
use agf_catalog::api::{request, response};
use agf_catalog::error::ErrorCode;
use agf_catalog::limits;
use agf_catalog::provider::{Info, registry};
use std::fs;
use std::path::Path;

fn file(rel: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(rel)
}

fn text(rel: &str) -> String {
    fs::read_to_string(file(rel)).unwrap_or_default()
}

fn generated(rel: &str, expected: &str) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        fs::create_dir_all(file(rel).parent().unwrap()).unwrap();
        fs::write(file(rel), expected).unwrap();
    }
    assert_eq!(text(rel), expected, "{rel} is out of date");
}

#[test]
fn limits_are_those_of_the_code() {
    let mut doc = "# Limits\n\nWhat is beyond a limit is cut, left out with a warning, or refused with `invalid_request`; never an endless wait.\nThe table is made from `src/limits.rs`; `agf capabilities` prints the same values.\n\n| limit | value | unit | what it bounds |\n|---|---|---|---|\n".to_owned();
    for l in limits::ALL {
        doc += &format!("| `{}` | {} | {} | {} |\n", l.name.to_ascii_lowercase(), l.value, l.unit, l.what);
    }
    generated("docs/limits.md", &doc);
}

#[test]
fn error_codes_are_those_of_the_code() {
    let doc = text("docs/errors.md");
    for code in ErrorCode::ALL {
        let row = doc.lines().find(|l| l.starts_with(&format!("| `{}` |", code.as_str())));
        let row = row.unwrap_or_else(|| panic!("docs/errors.md lacks {}", code.as_str()));
        assert_eq!(row.contains("| yes |"), code.retryable(), "{row}");
    }
}

#[test]
fn schemas_are_those_of_the_code() {
    macro_rules! schema {
        ($($name:literal: $ty:ty),+ $(,)?) => {$(
            let schema = serde_json::to_string_pretty(&schemars::schema_for!($ty)).unwrap() + "\n";
            generated(concat!("docs/contract/v1/", $name, ".schema.json"), &schema);
        )+};
    }
    schema!(
        "search.request": request::SearchRequest,
        "show.request": request::ShowRequest,
        "resume-plan.request": request::PlanRequest,
        "read.request": request::ReadRequest,
        "capabilities.request": request::CapabilitiesRequest,
        "search.response": Envelope<response::SearchData>,
        "show.response": Envelope<response::ShowData>,
        "resume-plan.response": Envelope<response::PlanData>,
        "read.response": Envelope<response::ReadData>,
        "capabilities.response": Envelope<response::CapabilitiesData>,
    );
}

#[test]
fn every_agent_is_documented_and_has_fixtures() {
    for provider in registry::ALL {
        let id = provider.info().id;
        assert!(text(&format!("docs/providers/{id}.md")).len() > 500, "docs/providers/{id}.md");
        let cases = fs::read_dir(file(&format!("tests/fixtures/{id}")));
        assert!(cases.is_ok_and(|d| d.count() > 0), "fixtures of {id}");
    }
}

#[test]
fn the_readme_lists_the_agents_of_the_registry() {
    const HEAD: &str = "| id | agent | command |\n|---|---|---|\n";
    let readme = text("README.md");
    let (before, rest) = readme.split_once(HEAD).expect("README.md has a table of agents");
    let end = rest.find("\n\n").map_or(rest.len(), |i| i + 1);
    let rows: String = registry::ALL.iter().map(|p| row(p.info())).collect();
    generated("README.md", &format!("{before}{HEAD}{rows}{}", &rest[end..]));
}

/// An agent's line in the README.
fn row(info: &Info) -> String {
    format!("| {} | {} | `{}` |\n", info.id, info.name, info.programs.join("`, `"))
}

#[test]
fn documents_named_in_the_readme_exist() {
    for link in text("README.md").split("](").skip(1).filter_map(|l| l.split(')').next()) {
        assert!(link.contains("://") || file(link).exists(), "{link}");
    }
}

#[test]
fn the_readmes_commands_are_understood() {
    let agf = crate::agf::Agf::new();
    let readme = text("README.md");
    let commands =
        readme.lines().filter_map(|l| l.strip_prefix("agf ")).map(|l| l.split("   ").next().unwrap().trim());
    let mut seen = 0;
    for command in commands {
        let args: Vec<String> = command.replace('"', "").split_whitespace().map(str::to_owned).collect();
        let ran = agf.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert_ne!(ran.code, 2, "agf {command}: {}", ran.err);
        seen += 1;
    }
    assert!(seen >= 6);
}

/// What the README shows is what its first command prints; only the age moves on.
#[test]
fn the_readmes_example_is_what_is_printed() {
    let readme = text("README.md");
    let command = readme.lines().find_map(|l| l.strip_prefix("cargo run --release -- ")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    let ran = crate::agf::Agf::new().run(&command.split_whitespace().collect::<Vec<_>>());
    let ageless = |text: &str| {
        let from = text.find("  claude").unwrap_or_else(|| panic!("no row in {text}"));
        text[from..].to_owned()
    };
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ageless(&ran.out), ageless(shown));
}

#[test]
fn errors_are_explained_once_and_no_others() {
    let doc = text("docs/errors.md");
    let rows: Vec<&str> = doc.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(rows, ErrorCode::ALL.map(ErrorCode::as_str));
}

/// Every condition in the document is one to the parser: nothing of it is looked for as text.
#[test]
fn the_search_syntax_is_that_of_the_parser() {
    use agf_catalog::query::parse::{Clock, parse};
    let doc = text("docs/search-syntax.md");
    let zone = agf_catalog::io::env::Env::from_vars([("TZ", "UTC")]).time_zone();
    let clock = Clock { now_ms: 1_772_359_200_000, zone };
    let is_condition = |t: &&str| {
        let key = t.trim_start_matches('-').split_once(':').map_or("", |(key, _)| key);
        key.len() >= 2 && key.bytes().all(|b| b.is_ascii_lowercase())
    };
    let mut keys = std::collections::BTreeSet::new();
    for condition in doc.split('`').skip(1).step_by(2).filter(is_condition) {
        let query = parse(condition, &clock, |agent| registry::find(agent).is_some());
        assert!(query.clauses.is_empty(), "{condition} is taken for text");
        keys.insert(condition.trim_start_matches('-').split(':').next().unwrap().to_owned());
    }
    let expected = ["agent", "branch", "has", "in", "is", "model", "on", "project", "role", "since", "until"];
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), expected);
    for text in ["foo_bar::Baz", "a:b", "agent:nobody", "role:boss", "since:never", "http://x"] {
        assert!(!parse(text, &clock, |a| registry::find(a).is_some()).clauses.is_empty(), "{text} is text");
    }
}

#[cfg(feature = "mcp")]
#[test]
fn the_servers_tools_are_those_of_the_snapshot() {
    let all = "metadata,summaries,content,transcript,prompts,unsafe-modes";
    let ran = crate::agf::Agf::new().run(&["mcp", "--list-tools", "--allow", all]);
    generated("docs/contract/v1/tools.list.json", &ran.out);
}
