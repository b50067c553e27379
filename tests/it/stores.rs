//! No command changes anything in a store: names, sizes, times and bytes are the same afterwards.

use crate::agf::Agf;
use crate::fixture;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

pub type State = BTreeMap<String, (u64, Option<SystemTime>, Vec<u8>)>;

pub fn state(dir: &Path) -> State {
    fn walk(dir: &Path, base: &Path, all: &mut State) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(base).unwrap().to_str().unwrap().to_owned();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                all.insert(name, (0, meta.modified().ok(), Vec::new()));
                walk(&path, base, all);
            } else {
                let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                all.insert(name, (meta.len(), meta.modified().ok(), bytes));
            }
        }
    }
    let mut all = State::new();
    walk(dir, dir, &mut all);
    all
}

#[test]
fn every_command_leaves_every_store_as_it_was() {
    for (agent, case) in fixture::cases() {
        let cache = tempfile::tempdir().unwrap();
        let agf = Agf::of(&case).var("AGF_CACHE_DIR", cache.path());
        let before = state(agf.home.path());
        let data =
            agf.run(&["search", "--agent", &agent, "--include-non-interactive", "--include-summaries"]).out;
        let id = data
            .split("\"session_id\":\"")
            .nth(1)
            .and_then(|d| d.split('"').next())
            .unwrap_or("none")
            .to_owned();
        for args in [
            vec!["search", "zq7", "--include-content"],
            vec!["find", "the"],
            vec!["show", &id, "--agent", &agent, "--include-non-interactive"],
            vec!["read", &id, "--agent", &agent, "--include-non-interactive"],
            vec!["resume-plan", &id, "--agent", &agent, "--include-non-interactive"],
            vec!["capabilities"],
            vec!["search", "--no-refresh"],
            vec!["find", "--json", "the"],
            vec!["read", &id, "--agent", &agent, "--outline"],
            vec!["show", "--transcript", &id, "--agent", &agent],
            vec!["export", &id, "--agent", &agent, "--format", "jsonl"],
            vec!["resume-plan", &id, "--agent", &agent, "--mode", "none such"],
            vec!["index", "status"],
            vec!["index", "verify"],
            vec!["index", "rebuild"],
            vec!["--demo", "find", "retry"],
            vec!["index", "clear"],
            vec!["search", "the", "--include-content"],
        ] {
            agf.run(&args);
        }
        assert_eq!(state(agf.home.path()), before, "{}", case.display());
    }
}
