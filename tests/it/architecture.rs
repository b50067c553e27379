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
    &["discover"],
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
    ("rustix", &["io"]),
    ("serde_json_borrow", &["provider"]),
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

/// Names that follow `crate::` (also in a group) in the code.
fn used_modules(text: &str) -> Vec<String> {
    let mut used = Vec::new();
    for part in text.split("crate::").skip(1) {
        let group = part.strip_prefix('{').map_or(part, |g| g.split('}').next().unwrap());
        let names = if part.starts_with('{') {
            group.split(',').map(str::trim).collect::<Vec<_>>()
        } else {
            vec![part]
        };
        used.extend(
            names
                .iter()
                .map(|n| n.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()),
        );
    }
    used
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
            let named = text.lines().filter(|l| !l.trim_start().starts_with("//")).any(|l| {
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
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let Some(own) =
            file.strip_prefix("provider/").map(|f| f.split(['/', '.']).next().unwrap().to_owned())
        else {
            continue;
        };
        if matches!(own.as_str(), "mod" | "registry" | "shared") {
            continue;
        }
        for part in text.split("provider::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let known = name.is_empty()
                || name == own
                || name == "shared"
                || name == "registry"
                || name.starts_with(|c: char| c.is_uppercase());
            if !known {
                wrong.push(format!("{file} uses provider::{name}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
    const V1: &str = "750be13e";
    let hash =
        schema::SCHEMA_JSON.bytes().fold(0x811c_9dc5u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    assert_eq!(
        (schema::VERSION, format!("{hash:08x}").as_str()),
        (1, V1),
        "a change of the format is a new version beside this one"
    );
}
