//! Fixture homes: data in `tests/fixtures/<provider>/<case>/home`, copied to a temporary directory for each test.
//!
//! Some endings are made into what cannot be kept as it is: `x.db.sql` is run into the database `x.db`, `x.jsonl.zst.plain` is
//! compressed into `x.jsonl.zst`, `x.hex` (hexadecimal digits) becomes the bytes `x`, and in `x.here` each `{home}` becomes the
//! path of the home.

use agf_catalog::io::env::Env;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of a fixture's home.
pub struct Home {
    pub dir: tempfile::TempDir,
}

impl Home {
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn of(case: &Path) -> Self {
        let home = Self::empty();
        copy(&case.join("home"), home.path());
        home
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// The environment of a case: its home, and the variables in `env.json`.
pub fn env(case: &Path, home: &Path) -> Env {
    let home_text = home.to_str().unwrap();
    let mut vars = vec![("HOME".to_owned(), home_text.to_owned())];
    if let Ok(text) = fs::read_to_string(case.join("env.json")) {
        let more: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        vars.extend(more.into_iter().map(|(k, v)| (k, v.replace("{home}", home_text))));
    }
    Env::from_vars(vars).with_cwd(home)
}

/// All cases of all providers, as (provider, case directory).
pub fn cases() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut all = Vec::new();
    for provider in dirs(&root) {
        let id = provider.file_name().unwrap().to_str().unwrap().to_owned();
        all.extend(dirs(&provider).into_iter().map(|case| (id.clone(), case)));
    }
    all.sort();
    all
}

fn dirs(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).map(|d| d.flatten().map(|e| e.path()).collect::<Vec<_>>());
    entries.unwrap_or_default().into_iter().filter(|p| p.is_dir()).collect()
}

pub fn copy(from: &Path, to: &Path) {
    copy_below(from, to, to);
}

fn copy_below(from: &Path, to: &Path, home: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            copy_below(&path, &to.join(name), home);
        } else if let Some(db) = name.strip_suffix(".sql") {
            let db = rusqlite::Connection::open(to.join(db)).unwrap();
            db.execute_batch(&fs::read_to_string(&path).unwrap()).unwrap();
        } else if let Some(text) = name.strip_suffix(".here") {
            let here = fs::read_to_string(&path).unwrap().replace("{home}", home.to_str().unwrap());
            fs::write(to.join(text), here).unwrap();
        } else if let Some(zst) = name.strip_suffix(".plain") {
            fs::write(to.join(zst), zstd::encode_all(&fs::read(&path).unwrap()[..], 3).unwrap()).unwrap();
        } else if let Some(raw) = name.strip_suffix(".hex") {
            let digits: Vec<u8> =
                fs::read(&path).unwrap().into_iter().filter(u8::is_ascii_hexdigit).collect();
            let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
            fs::write(to.join(raw), digits.chunks(2).map(byte).collect::<Vec<_>>()).unwrap();
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
