//! What does a question cost? Whole processes, each against a floor of the same run.
//!
//! `cargo bench --bench refresh` makes a history of `AGF_BENCH_SESSIONS` sessions (default 1000, shrunk by `AGF_BENCH_SCALE`,
//! default 0.3) in a temporary home and prints, for each question, wall and CPU time and their ratios to the floor: a process
//! that stats every file below the stores (nothing can know less and still notice an append).
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own that makes its own files and prints its figures"
)]

mod corpus;
mod process;

use process::{Run, Runs};
use std::io::Write;
use std::path::Path;

const ROUNDS: usize = 15;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let Some(i) = args.iter().position(|a| a == "--stat-walk") {
        println!("{}", stat_walk(Path::new(&args[i + 1])));
        return Ok(());
    }
    let sessions = process::number("AGF_BENCH_SESSIONS", 1000.0) as u64;
    let scale = process::number("AGF_BENCH_SCALE", 0.3);
    let home = tempfile::tempdir()?;
    let spec = corpus::Spec { sessions, seed: 1, scale, now_ms: 1_796_000_000_000 };
    let made = corpus::make(home.path(), &spec)?;
    println!("{sessions} sessions, {:.1} MB", made.bytes as f64 / 1e6);
    let agf = |args: &[&str]| Run::agf(home.path(), args);
    let floor = Run::this(&["--stat-walk", home.path().to_str().unwrap_or("")]);

    let build = Runs::of(1, || agf(&["search", &made.needle.0, "-c"]).go());
    println!(
        "first build: {:.2} s CPU, {:.1} MB per CPU second, {:.2} s wall, {} MB peak",
        build.cpu,
        made.bytes as f64 / 1e6 / build.cpu,
        build.wall,
        build.peak_mb
    );
    println!(
        "index: {:.1} % of the source",
        100.0 * process::size(&home.path().join(".cache")) as f64 / made.bytes as f64
    );

    let (same, walk) = Runs::paired(ROUNDS, || agf(&["search", &made.needle.0, "-c"]).go(), || floor.go());
    same.against("nothing changed", &walk, "stat walk");
    let (plan, walk) =
        Runs::paired(ROUNDS, || agf(&["resume-plan", &made.needle.1, "-a", "claude"]).go(), || floor.go());
    plan.against("resume plan of one session", &walk, "stat walk");
    let mut n = 0;
    let appended = Runs::of(ROUNDS, || {
        n += 1;
        append(&made.largest, n);
        agf(&["search", &format!("zqappended{n}"), "-c"]).go()
    });
    appended.against("after one line appended to the largest session", &same, "nothing changed");
    let (common, walk) = Runs::paired(ROUNDS, || agf(&["search", "error", "-c"]).go(), || floor.go());
    common.against("a common word", &walk, "stat walk");
    after_many(home.path(), &made);
    after_one_in_a_large_one(home.path(), &made)
}

/// Questions after a line was added to each of a hundred sessions, and how many segments that leaves.
fn after_many(home: &Path, made: &corpus::Made) {
    const FILES: usize = 100;
    let files = transcripts(&home.join(".claude/projects"), FILES);
    let mut n = 1000;
    let question = |n: usize| Run::agf(home, &["search", &format!("zqappended{n}"), "-c"]).go();
    let many = Runs::of(5, || {
        n += 1;
        files.iter().for_each(|f| append(f, n));
        question(n)
    });
    let same = Runs::of(5, || Run::agf(home, &["search", &made.needle.0, "-c"]).go());
    many.against("after a line was appended to each of 100 sessions", &same, "nothing changed");
    println!("{}", process::text(home, &["index", "status"]).trim_end());
}

/// Questions after a line was added to a very large session.
fn after_one_in_a_large_one(home: &Path, made: &corpus::Made) -> std::io::Result<()> {
    let mb = process::number("AGF_BENCH_LARGE_MB", 200.0) as usize;
    let path = home.join(".claude/projects/-w-large/00000000-aaaa-4bbb-8ccc-dddddddddddd.jsonl");
    std::fs::create_dir_all(path.parent().unwrap_or(home))?;
    let text = "some words of an answer that is neither short nor long. ".repeat(80);
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path)?);
    for n in 0..mb * 1_000_000 / (text.len() + 150) {
        writeln!(
            file,
            "{{\"type\":\"user\",\"uuid\":\"large-{n}\",\"cwd\":\"/w\",\"sessionId\":\"x\",\"timestamp\":\"2026-11-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}"
        )?;
    }
    file.into_inner()?;
    Run::agf(home, &["search", &made.needle.0, "-c"]).go();
    let mut n = 2000;
    let appended = || {
        n += 1;
        append(&path, n);
        Run::agf(home, &["search", &format!("zqappended{n}"), "-c"]).go()
    };
    let rounds = 8;
    let (large, same) =
        Runs::paired(rounds, appended, || Run::agf(home, &["search", "zqappended2001", "-c"]).go());
    large.against(&format!("after one line appended to a session of {mb} MB"), &same, "the next question");
    Ok(())
}

/// The first transcripts below a directory.
fn transcripts(dir: &Path, most: usize) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if found.len() < most {
                found.push(path);
            }
        }
    }
    found
}

fn append(path: &Path, n: usize) {
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"bench-{n}\",\"cwd\":\"/w\",\"sessionId\":\"x\",\"timestamp\":\"2026-12-01T00:00:{:02}.{:03}Z\",\"message\":{{\"role\":\"user\",\"content\":\"zqappended{n}\"}}}}\n",
        n % 60,
        n / 60
    );
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// Stats everything below; returns the bytes, so that nothing is left out.
fn stat_walk(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries.flatten().fold(0, |sum, e| match e.metadata() {
        Ok(m) if m.is_dir() => sum + stat_walk(&e.path()),
        Ok(m) => sum + m.len(),
        Err(_) => sum,
    })
}
