//! Built-in sample sessions, so that a newcomer without history sees what the program does.

use crate::error::{Error, Result};
use crate::io::cache_dir::CacheDir;
use crate::io::env::Env;

/// The sample home: paths below it and their content. `{home}` in the content stands for the home's path.
const FILES: &[(&str, &str, &str)] = &[
    (
        ".claude/projects/-demo-billing-api",
        "4f0c2a6e-8d1b-4a3f-9c57-2b6e81d0a911.jsonl",
        include_str!("demo/billing-retries.jsonl"),
    ),
    (
        ".claude/projects/-demo-search-ui",
        "b7d9e1c3-52af-4e08-8f36-90c4a7d51e22.jsonl",
        include_str!("demo/japanese-input.jsonl"),
    ),
    (
        ".codex/sessions/2026/02/11",
        "rollout-2026-02-11T09-30-00-019c4b1e-7a20-7c31-b0de-5f1a2c3d4e55.jsonl",
        include_str!("demo/borrow-checker.jsonl"),
    ),
];

/// An environment whose home holds the samples and whose cache is beside them, both in the catalog's own directory.
pub fn env(real: &Env) -> Result<Env> {
    let fail = || Error::index("the sample sessions cannot be written");
    let demo = CacheDir::locate(real).ok_or_else(fail)?.sub("demo");
    let home = demo.sub("home");
    for (dir, name, content) in FILES {
        let dir = home.sub(dir);
        dir.create().map_err(|_| fail())?;
        if !dir.names().iter().any(|n| n == name) {
            dir.write_atomic(name, content.as_bytes()).map_err(|_| fail())?;
        }
    }
    let path = |d: &CacheDir| d.path().to_string_lossy().into_owned();
    let mut vars =
        vec![("HOME".to_owned(), path(&home)), ("AGF_CACHE_DIR".to_owned(), path(&demo.sub("cache")))];
    if cfg!(windows) {
        vars.push(("USERPROFILE".to_owned(), path(&home)));
    }
    let kept = ["PATH", "TZ", "TERM", "PAGER", "LESSCHARSET"];
    vars.extend(kept.into_iter().filter_map(|n| Some((n.to_owned(), real.var(n)?.to_owned()))));
    let env = Env::from_vars(vars);
    Ok(match real.cwd() {
        Some(cwd) => env.with_cwd(cwd),
        None => env,
    })
}
