//! What does a question cost in a process that stays, freshness included? In-process times, in milliseconds.
//!
//! `cargo bench --bench warm`; size as for `refresh`. The floor is the same search on the kept state without looking at the stores.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own that makes its own files and prints its figures"
)]

mod corpus;
mod process;

use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Freshness, Scope};
use agf_catalog::io::env::Env;
use std::io::Write;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let sessions = process::number("AGF_BENCH_SESSIONS", 1000.0) as u64;
    let home = tempfile::tempdir()?;
    let spec = corpus::Spec {
        sessions,
        seed: 1,
        scale: process::number("AGF_BENCH_SCALE", 0.3),
        now_ms: 1_796_000_000_000,
    };
    let made = corpus::make(home.path(), &spec)?;
    println!("{sessions} sessions, {:.1} MB", made.bytes as f64 / 1e6);
    let env = || Env::from_vars([("HOME", home.path().to_str().unwrap_or("")), ("PATH", "/usr/bin:/bin")]);
    let resident = Catalog::new(env(), Scope::default()).resident();
    let fixed = Catalog::new(env(), Scope::default()).freshness(Freshness::AsIs);
    let ask = |catalog: &Catalog, query: &str| {
        let request =
            SearchRequest { query: query.to_owned(), include_content: true, ..SearchRequest::default() };
        let start = Instant::now();
        let total = catalog.search(&request).map_or(0, |d| d.total);
        (start.elapsed().as_secs_f64() * 1e3, total)
    };
    ask(&resident, "parser");
    ask(&resident, "parser");
    for (what, query) in [
        ("a rare word", made.needle.0.as_str()),
        ("a middling word", "invoice"),
        ("a common word", "error"),
        ("two words", "parser timeout"),
    ] {
        show(what, (0..200).map(|_| ask(&resident, query).0).collect());
    }
    show(
        "a rare word, process start and state loading included, no look at the stores",
        (0..50).map(|_| ask(&fixed, &made.needle.0).0).collect(),
    );
    let mut found = 0;
    let appended = (0..100).map(|n| {
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"w{n}\",\"cwd\":\"/w\",\"sessionId\":\"x\",\"timestamp\":\"2026-12-01T00:{:02}:{:02}.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"zqwarm{n}\"}}}}\n",
            n / 60,
            n % 60
        );
        if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(&made.largest) {
            let _ = file.write_all(line.as_bytes());
        }
        let (ms, total) = ask(&resident, &format!("zqwarm{n}"));
        found += u64::from(total == 1);
        ms
    });
    show("after one appended line", appended.collect());
    println!("found at once: {found} of 100");
    Ok(())
}

fn show(what: &str, mut ms: Vec<f64>) {
    ms.sort_by(f64::total_cmp);
    let at = |q: f64| ms[((ms.len() - 1) as f64 * q) as usize];
    println!("{what}: p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms", at(0.5), at(0.99), at(1.0));
}
