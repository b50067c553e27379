//! A process that stays answers with what changed since its last answer, told by the system's notices alone.

use crate::agf::{Agf, claude_line, claude_path, id};
use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use std::fs::{self, OpenOptions};
use std::io::Write;

struct Resident {
    agf: Agf,
    catalog: Catalog,
}

impl Resident {
    fn new(agf: Agf) -> Self {
        let env = Env::from_vars([("HOME", agf.home.path().to_str().unwrap())]).with_cwd(agf.home.path());
        Self { agf, catalog: Catalog::new(env, Scope::default()).resident() }
    }

    /// Sessions that hold exactly this; no word spelled nearly like it.
    fn total(&self, query: &str) -> u64 {
        let request = SearchRequest {
            query: format!("\"{query}\""),
            include_content: true,
            ..SearchRequest::default()
        };
        self.catalog.search(&request).unwrap().total
    }
}

#[test]
fn appends_are_seen_however_fast_the_question_follows() {
    let r = Resident::new(Agf::new());
    let path = r.agf.claude("/w/app", &id(1), "start");
    assert_eq!(r.total("start"), 1);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    for n in 0..60 {
        file.write_all(claude_line("/w/app", &id(1), 10 + n, "user", &format!("zqfast{n}")).as_bytes())
            .unwrap();
        assert_eq!(r.total(&format!("zqfast{n}")), 1, "{n}");
    }
}

#[test]
fn new_directories_and_files_in_them_are_seen() {
    let r = Resident::new(Agf::new());
    assert_eq!(r.total("zqdir0"), 0);
    for n in 0..20 {
        r.agf.claude(&format!("/w/new{n}"), &id(n), &format!("zqdir{n}"));
        assert_eq!(r.total(&format!("zqdir{n}")), 1, "{n}");
        r.agf.claude(&format!("/w/new{n}"), &id(100 + n), &format!("zqsecond{n}"));
        assert_eq!(r.total(&format!("zqsecond{n}")), 1, "{n}");
    }
    r.agf.codex("/w/app", &id(500), "zqcodex");
    assert_eq!(r.total("zqcodex"), 1);
}

#[test]
fn directories_that_go_and_come_back_are_watched_again() {
    let r = Resident::new(Agf::new());
    for round in 0..10 {
        r.agf.claude("/w/app", &id(1), &format!("zqround{round}"));
        assert_eq!(r.total(&format!("zqround{round}")), 1, "{round}");
        let project = r.agf.path(&claude_path("/w/app", "x")).parent().unwrap().to_owned();
        fs::remove_dir_all(&project).unwrap();
        if round % 2 == 0 {
            assert_eq!(r.total("zqround"), 0, "{round}");
        }
    }
}

#[test]
fn a_store_that_is_moved_away_and_back() {
    let r = Resident::new(Agf::new());
    r.agf.claude("/w/app", &id(1), "zqmoved");
    assert_eq!(r.total("zqmoved"), 1);
    fs::rename(r.agf.path(".claude"), r.agf.path("aside")).unwrap();
    assert_eq!(r.total("zqmoved"), 0);
    fs::rename(r.agf.path("aside"), r.agf.path(".claude")).unwrap();
    assert_eq!(r.total("zqmoved"), 1);
}

#[test]
fn what_another_process_published_changes_nothing() {
    let r = Resident::new(Agf::new());
    for n in 0..12 {
        r.agf.claude("/w/app", &id(n), &format!("zqshared {}", "word ".repeat(8000)));
        let by_the_other = r.agf.ids("zqshared").len() as u64;
        assert_eq!((r.total("zqshared"), by_the_other), (u64::from(n) + 1, u64::from(n) + 1));
    }
}

#[test]
fn an_index_that_is_removed_under_it_is_no_matter() {
    let r = Resident::new(Agf::new());
    r.agf.claude("/w/app", &id(1), "zqone");
    assert_eq!(r.total("zqone"), 1);
    fs::remove_dir_all(r.agf.path(".cache")).unwrap();
    r.agf.claude("/w/app", &id(2), "zqtwo");
    assert_eq!((r.total("zqone"), r.total("zqtwo")), (1, 1));
}

#[test]
fn a_panic_in_the_middle_of_a_refresh_loses_nothing() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let armed = Arc::new(AtomicBool::new(false));
    let r = Resident::new(Agf::new());
    let trap = armed.clone();
    let catalog = r.catalog.on_progress(move |_| assert!(!trap.load(Ordering::Relaxed), "asked for"));
    let r = Resident { agf: r.agf, catalog };
    let path = r.agf.claude("/w/app", &id(1), "start");
    assert_eq!(r.total("start"), 1);
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    let mut panics = 0;
    for n in 0..20 {
        file.write_all(claude_line("/w/app", &id(1), 10 + n, "user", &format!("zqpanic{n}")).as_bytes())
            .unwrap();
        // Only what is published has progress to tell: every tenth change or so panics.
        armed.store(true, Ordering::Relaxed);
        let asked = catch_unwind(AssertUnwindSafe(|| r.total(&format!("zqpanic{n}"))));
        armed.store(false, Ordering::Relaxed);
        panics += usize::from(asked.is_err());
        for old in 0..=n {
            assert_eq!(r.total(&format!("zqpanic{old}")), 1, "{old} of {n}");
        }
    }
    assert!(panics > 0);
}
