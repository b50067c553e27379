//! A full disk and a crash at every step of every write: the answer at hand is right, and so are the next ones.

use crate::agf::{Agf, claude_line, id};
use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::cache_dir::CacheDir;
use agf_catalog::io::env::Env;
use agf_catalog::io::faults::Faults;
use agf_catalog::limits;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A home, with a cache as it was left by earlier questions.
struct World {
    agf: Agf,
    cache: PathBuf,
    kept: PathBuf,
}

impl World {
    fn new() -> Self {
        let agf = Agf::new();
        let (cache, kept) = (agf.path("cache"), agf.path("kept"));
        Self { agf, cache, kept }
    }

    fn catalog(&self, faults: Option<Arc<Faults>>) -> Catalog {
        let env = Env::from_vars([("HOME", self.agf.home.path().to_str().unwrap())]);
        let cache = CacheDir::at(&self.cache);
        let cache = match faults {
            Some(faults) => cache.with_faults(faults),
            None => cache,
        };
        Catalog::in_cache(env, Scope::default(), cache)
    }

    /// The sessions that hold one of these words.
    fn ids(&self, catalog: &Catalog, words: &str) -> Vec<String> {
        let request = SearchRequest {
            query: words.split(' ').map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" OR "),
            include_content: true,
            limit: 100,
            ..SearchRequest::default()
        };
        let found = catalog.search(&request).unwrap();
        assert!(found.index.complete);
        let mut ids: Vec<_> = found.sessions.into_iter().map(|s| s.session_id).collect();
        ids.sort();
        ids
    }

    /// Remembers the cache as it is.
    fn keep(&self) {
        let _ = fs::remove_dir_all(&self.kept);
        copy(&self.cache, &self.kept);
    }

    fn restore(&self) {
        let _ = fs::remove_dir_all(&self.cache);
        copy(&self.kept, &self.cache);
    }

    /// Asks with a failure at every step (or every so many), as often as there are steps, and after each without. Returns how many steps there were.
    fn try_steps(&self, stride: usize, make: fn(u64) -> Faults, words: &str, right: &[u32]) -> u64 {
        let right: Vec<String> = right.iter().map(|n| id(*n)).collect();
        for n in (0..).step_by(stride) {
            self.restore();
            let faults = Arc::new(make(n));
            assert_eq!(self.ids(&self.catalog(Some(faults.clone())), words), right, "while step {n} fails");
            if faults.taken() <= n {
                return n;
            }
            for _ in 0..2 {
                assert_eq!(self.ids(&self.catalog(None), words), right, "after step {n} failed");
            }
            assert_eq!(self.catalog(None).verify(), Some(true), "step {n}");
            // What a dead writer left goes with the next change; it does not pile up.
            assert!(left_over(&self.cache) <= 1, "temporary files are left of step {n}");
        }
        unreachable!()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let Ok(entries) = fs::read_dir(from) else { return };
    for entry in entries.map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn left_over(dir: &Path) -> usize {
    let of = |path: PathBuf| match path.is_dir() {
        true => left_over(&path),
        false => usize::from(path.extension().is_some_and(|e| e == "tmp")),
    };
    fs::read_dir(dir).unwrap().map(|e| of(e.unwrap().path())).sum()
}

/// More files than are taken into memory for one answer.
fn many(agf: &Agf, from: u32, word: &str) -> Vec<u32> {
    let all: Vec<u32> = (from..from + 17).collect();
    all.iter().for_each(|n| drop(agf.claude("/w/app", &id(*n), word)));
    all
}

const MODES: [fn(u64) -> Faults; 2] = [Faults::after, Faults::once_after];

#[test]
fn during_the_first_build() {
    for mode in MODES {
        let world = World::new();
        world.agf.claude("/w/app", &id(1), "first zqone");
        world.agf.codex("/w/app", &id(2), "second zqtwo");
        world.keep();
        let steps = world.try_steps(1, mode, "zqone zqtwo", &[1, 2]);
        assert!(steps > 20, "{steps}");
    }
}

#[test]
fn during_a_change() {
    for mode in MODES {
        let world = World::new();
        world.agf.claude("/w/app", &id(1), "first zqone");
        let changed = world.agf.claude("/w/app", &id(2), "second");
        let gone = world.agf.codex("/w/app", &id(3), "third zqgone");
        assert_eq!(world.ids(&world.catalog(None), "zqone zqgone"), [id(1), id(3)]);
        world.keep();
        fs::remove_file(gone).unwrap();
        let mut file = OpenOptions::new().append(true).open(changed).unwrap();
        file.write_all(claude_line("/w/app", &id(2), 9, "user", "zqadded").as_bytes()).unwrap();
        let right = [vec![1, 2], many(&world.agf, 10, "zqmany")].concat();
        let steps = world.try_steps(1, mode, "zqone zqadded zqgone zqmany", &right);
        assert!(steps > 20, "{steps}");
    }
}

#[test]
fn while_segments_are_merged() {
    let world = World::new();
    let segments = || world.catalog(None).status().segments;
    let mut rounds = 0;
    // One more, and there are so many segments that they are merged.
    while segments() < limits::SEGMENTS_MAX {
        rounds += 1;
        many(&world.agf, rounds * 20, &format!("zqround{rounds:02}"));
        world.ids(&world.catalog(None), "zqround01");
    }
    world.keep();
    let right = [vec![20], many(&world.agf, 1000, "zqlast")].concat();
    world.agf.claude("/w/app", &id(20), "zqfirst");
    let steps = world.try_steps(9, Faults::after, "zqfirst zqlast", &right);
    assert!(steps > 40 && segments() < limits::SEGMENTS_MAX, "{steps} steps, {} segments", segments());
}

#[test]
fn while_a_damaged_index_is_made_anew() {
    let world = World::new();
    world.agf.claude("/w/app", &id(1), "first zqone");
    assert_eq!(world.ids(&world.catalog(None), "zqone"), [id(1)]);
    let meta = world.cache.join(version()).join("ix/meta.json");
    fs::write(&meta, &fs::read(&meta).unwrap()[..40]).unwrap();
    world.keep();
    world.try_steps(1, Faults::after, "zqone", &[1]);
}

/// What another version of the program, or of the library, could have left.
#[test]
fn an_index_of_another_version_is_made_anew() {
    let world = World::new();
    world.agf.claude("/w/app", &id(1), "first zqone");
    let right = || assert_eq!(world.ids(&world.catalog(None), "zqone"), [id(1)]);
    right();
    world.keep();
    let dir = world.cache.join(version());
    let replace = |file: &str, from: &str, to: &str| {
        let text = fs::read(dir.join(file)).unwrap();
        let at = memchr::memmem::find(&text, from.as_bytes()).unwrap_or_else(|| panic!("{from} in {file}"));
        fs::write(dir.join(file), [&text[..at], to.as_bytes(), &text[at + from.len()..]].concat()).unwrap();
    };
    for (file, from, to) in [
        ("catalog-1", "agf-catalog-3", "agf-catalog-2"),
        ("catalog-1", "agf-catalog-3", "agf-catalog-9"),
        ("ix/meta.json", "\"name\": \"prose\"", "\"name\": \"proza\""),
        ("ix/meta.json", "\"opstamp\"", "\"opstump\""),
        ("ix/meta.json", "catalog_len", "catalog_size"),
    ] {
        world.restore();
        right();
        replace(file, from, to);
        right();
        right();
        assert_eq!(world.catalog(None).verify(), Some(true), "{file}: {to}");
    }
    world.agf.write("cache/v2/seal", "of the future");
    world.agf.write("cache/v0/ix/meta.json", "{}");
    right();
}

/// The directory of the present format below the cache.
fn version() -> String {
    format!("v{}", agf_catalog::index::schema::VERSION)
}
