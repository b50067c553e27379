//! The house keeps its shape: who may use whom, where each crate lives, how large things may grow.

use agf_catalog::index::schema;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Modules in the order data flows. A module may use those of its own line and of the lines above.
const LAYERS: &[&[&str]] = &[
    &["limits", "error", "model", "text"],
    &["io"],
    &["provider"],
    &["discover", "config"],
    &["index"],
    &["query", "resume"],
    &["api"],
    &["front"],
];

/// The only modules that may name a crate.
const HOMES: &[(&str, &[&str])] = &[
    ("tantivy", &["index", "query"]),
    ("tantivy_fst", &["query"]),
    ("levenshtein_automata", &["query"]),
    ("rusqlite", &["io"]),
    ("clap", &["front/cli"]),
    ("indicatif", &["front/cli"]),
    ("anstream", &["front/cli"]),
    ("anstyle", &["front/cli"]),
    ("terminal_size", &["front/cli"]),
    ("rmcp", &["front/mcp"]),
    ("tokio", &["front/mcp"]),
    ("ratatui", &["front/tui"]),
    ("notify", &["discover"]),
    ("zstd", &["provider/shared"]),
    ("toml", &["config", "provider"]),
    ("sha2", &["provider/shared"]),
    ("md5", &["provider/shared"]),
    ("rustix", &["io"]),
    ("tempfile", &["io"]),
    ("shlex", &["front/cli"]),
    ("serde_json_borrow", &["provider"]),
    ("jiff", &["model/timestamp", "query/parse", "io/env"]),
    // What is kept in the index names the width of its numbers.
    ("postcard", &["index", "provider", "io/stat", "model/facts"]),
    ("self_cell", &["index"]),
    ("schemars", &["api"]),
    ("unicode_width", &["front/cli"]),
];

const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 80;

fn sources() -> BTreeMap<String, String> {
    fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, all);
            } else if path.extension().is_some_and(|e| e == "rs") {
                all.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    walk(&root, &mut all);
    all.into_iter()
        .map(|p| {
            (p.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&p).unwrap())
        })
        .collect()
}

/// A file without its tests.
fn program(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|l| l.contains(&module))
}

fn name(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Names that follow `crate::` (also in a group) in the code.
fn used_modules(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    for part in text.split("crate::").skip(1) {
        match part.strip_prefix('{') {
            Some(group) => used.extend(members(group)),
            None => used.push(name(part)),
        }
    }
    used
}

/// The first names of what stands in a group of imports, up to its closing brace.
fn members(group: &str) -> Vec<String> {
    let (mut depth, mut from, mut all) = (0, 0, Vec::new());
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                all.push(name(&group[from..i]));
                from = i + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    all
}

#[test]
fn imports_are_understood() {
    let text = "use crate::{api::{Catalog, Scope}, io};\nuse crate::error::Result; fn f() { crate::text::fold::fold(x) }";
    assert_eq!(used_modules(text), ["api", "io", "error", "text"]);
}

/// How deep a file's module lies below the crate's root.
fn depth(file: &str) -> usize {
    let names = file.trim_end_matches(".rs").split('/').count();
    if file.ends_with("mod.rs") || file == "lib.rs" { names - 1 } else { names }
}

#[test]
fn no_path_climbs_over_its_layer() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let chain = "super::".repeat(depth(&file).max(1));
        if program(&text).contains(&chain) {
            wrong.push(format!("{file} reaches the root with {chain}: say crate::"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The command line's dispatch is all the logic that may stand in a `mod.rs`.
const MODULES_WITH_FUNCTIONS: &[&str] = &["front/cli/mod.rs"];

#[test]
fn modules_hold_no_logic() {
    const SMALL: usize = 10;
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        if !file.ends_with("mod.rs") && file != "lib.rs" || MODULES_WITH_FUNCTIONS.contains(&file.as_str()) {
            continue;
        }
        let text = program(&text);
        for line in
            text.lines().filter(|l| l.starts_with("fn ") || l.starts_with("pub") && l.contains(" fn "))
        {
            wrong.push(format!("{file}: {line}"));
        }
        for (name, lines) in functions(text).into_iter().filter(|(_, lines)| *lines > SMALL) {
            wrong.push(format!("{file}: {name} has {lines} lines"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn data_flows_one_way() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some(own) = layer(file.split(['/', '.']).next().unwrap()) else { continue };
        for module in used_modules(program(&text)) {
            if layer(&module).is_some_and(|l| l > own) {
                wrong.push(format!("{file} uses {module}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_crate_has_its_home() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        for (name, homes) in HOMES {
            let named = program(&text).lines().filter(|l| !l.trim_start().starts_with("//")).any(|l| {
                l.match_indices(&format!("{name}::"))
                    .any(|(i, _)| !l[..i].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'))
            });
            if named && !homes.iter().any(|h| file.starts_with(h)) {
                wrong.push(format!("{file} names {name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn providers_do_not_know_each_other() {
    let module = |file: &str| name(file.strip_prefix("provider/").unwrap_or(""));
    let of_agents: BTreeMap<String, String> = sources()
        .into_iter()
        .filter(|(f, _)| !matches!(module(f).as_str(), "" | "mod" | "registry" | "shared"))
        .collect();
    let mut wrong = Vec::new();
    for (file, text) in &of_agents {
        for other in of_agents.keys().map(|f| module(f)).filter(|m| *m != module(file)) {
            if text.contains(&format!("::{other}::")) || text.contains(&format!("{{{other}::")) {
                wrong.push(format!("{file} uses {other}"));
            }
        }
    }
    for (file, text) in sources().iter().filter(|(f, _)| f.starts_with("provider/shared/")) {
        for other in of_agents.keys().map(|f| module(f)) {
            if text.contains(&format!("::{other}::")) {
                wrong.push(format!("{file} uses {other}"));
            }
        }
    }
    assert!(of_agents.len() >= 2 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_and_functions_stay_small() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let text = program(&text);
        if text.lines().count() > FILE_LINES {
            wrong.push(format!("{file} has {} lines", text.lines().count()));
        }
        for (name, lines) in functions(text) {
            if lines > FUNCTION_LINES {
                wrong.push(format!("{file}: {name} has {lines} lines"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(sources()["main.rs"].lines().count() <= 40);
}

/// Functions of a formatted file with their lines: the closing brace stands in the column of the signature.
fn functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let head = code
            .trim_start_matches("pub(super) ")
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ")
            .trim_start_matches("const ");
        if let Some(rest) = head.strip_prefix("fn ") {
            let indent = " ".repeat(line.len() - code.len());
            // A declaration has no body, and an empty one has no lines.
            if lines[i..].iter().find(|l| l.ends_with([';', '{', '}'])).is_none_or(|l| !l.ends_with('{')) {
                continue;
            }
            let end = lines[i..].iter().position(|l| *l == format!("{indent}}}")).unwrap_or(0);
            all.push((rest.split(['(', '<']).next().unwrap().to_owned(), end + 1));
        }
    }
    all
}

#[test]
fn codes_are_spelled_once() {
    for (file, text) in sources().iter().filter(|(f, _)| *f != "error.rs") {
        for code in agf_catalog::error::ErrorCode::ALL {
            let literal = format!("\"{}\"", code.as_str());
            assert!(!program(text).contains(&literal), "{file} spells {literal}");
        }
    }
}

#[test]
fn a_released_format_does_not_change() {
    const V2: &str = "a39536a8";
    let hash =
        schema::SCHEMA_JSON.bytes().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    assert_eq!(
        (schema::VERSION, format!("{hash:08x}").as_str()),
        (2, V2),
        "a change of the format is a new version beside this one"
    );
}
