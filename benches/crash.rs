//! Is an answer ever wrong? Processes killed at any moment, and many processes beside writers, checked against what was written.
//!
//! `cargo bench --bench crash`; `AGF_CRASH_ROUNDS` (default 200) and `AGF_CRASH_SECONDS` (default 60) set how long.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program of its own that makes its own files, runs the program, and fails by panicking"
)]

mod corpus;
mod process;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

fn main() {
    killed(process::number("AGF_CRASH_ROUNDS", 200.0) as u64);
    crowded(Duration::from_secs_f64(process::number("AGF_CRASH_SECONDS", 60.0)));
}

struct World {
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    fn agf(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agf"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// How many sessions hold a word, and whether the answer says that it is whole.
    fn count(&self, word: &str) -> (u64, bool) {
        let out = self.agf(&["search", word, "-c", "--limit", "1"]).output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| {
            panic!("{word}: {e}: {}", String::from_utf8_lossy(&out.stdout));
        });
        assert_eq!(answer["ok"], true, "{answer}");
        (answer["data"]["total"].as_u64().unwrap(), answer["data"]["index"]["complete"] == true)
    }

    fn session(&self, n: u64) -> PathBuf {
        let dir = self.home.path().join(format!(".claude/projects/-w-p{}", n % 7));
        fs::create_dir_all(&dir).unwrap();
        dir.join(format!("{n:08x}-2222-4333-8444-555555555555.jsonl"))
    }
}

fn say(path: &Path, n: u64, text: &str) {
    let id = path.file_stem().unwrap().to_str().unwrap();
    let time = format!(
        "2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        1 + n / 86_400_000 % 28,
        n / 3_600_000 % 24,
        n / 60_000 % 60,
        n / 1000 % 60,
        n % 1000
    );
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"{id}-{n}\",\"cwd\":\"/w\",\"sessionId\":\"{id}\",\"timestamp\":\"{time}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    );
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
}

/// Kills a question at a random moment while it takes in a change large enough to be published, then asks again.
fn killed(rounds: u64) {
    let world = World::new();
    let mut random = corpus::Random::new(7);
    let filler = "some filler words to make it large ".repeat(8_000);
    let mut dead = 0;
    for n in 0..40 {
        say(&world.session(n), 0, "zqbase");
    }
    for round in 0..rounds {
        let path = world.session(random.below(60));
        say(&path, 1 + round, &format!("zqround{round} zqevery {filler}"));
        if random.below(5) == 0 {
            let gone = world.session(100 + round);
            say(&gone, 0, "zqgone");
            world.count("zqgone");
            fs::remove_file(gone).unwrap();
        }
        let mut child = world.agf(&["search", "zqevery", "-c"]).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.below(60_000)));
        dead += u64::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        assert_eq!(world.count(&format!("zqround{round}")), (1, true), "round {round}");
        assert_eq!(world.count("zqgone").0, 0, "round {round}");
        if round % 10 == 9 {
            assert_eq!(world.count("zqevery").0, truth(world.home.path(), "zqevery"), "round {round}");
            assert_eq!(world.count("zqbase").0, 40, "round {round}");
        }
    }
    let left: Vec<_> = walk(&world.home.path().join(".cache"))
        .into_iter()
        .filter(|p| p.to_string_lossy().ends_with(".tmp"))
        .collect();
    println!(
        "killed: {rounds} rounds ({dead} in the middle of their work), every answer right, {} temporary files left",
        left.len()
    );
}

/// Sessions that hold a word, by reading everything.
fn truth(home: &Path, word: &str) -> u64 {
    let all = walk(&home.join(".claude"));
    all.iter().filter(|p| fs::read_to_string(p).unwrap().contains(word)).count() as u64
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries.flatten().flat_map(|e| if e.path().is_dir() { walk(&e.path()) } else { vec![e.path()] }).collect()
}

/// Eight processes ask without pause while two writers append. A word that was written before a question began must be in its answer.
fn crowded(time: Duration) {
    let world = World::new();
    let written = [AtomicU64::new(0), AtomicU64::new(0)];
    let (over, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (w, written) in written.iter().enumerate() {
            let world = &world;
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    let n = written.load(Ordering::Relaxed);
                    say(
                        &world.session(n % 25 + 100 * w as u64),
                        n,
                        &format!("zqw{w}n{n:06} {}", "padding ".repeat(200)),
                    );
                    written.store(n + 1, Ordering::Release);
                    std::thread::sleep(Duration::from_millis(15));
                }
            });
        }
        for asker in 0..8u64 {
            let (world, written, over, asked) = (&world, &written, &over, &asked);
            scope.spawn(move || {
                let mut random = corpus::Random::new(asker);
                while !over.load(Ordering::Relaxed) {
                    let w = random.below(2) as usize;
                    let upto = written[w].load(Ordering::Acquire);
                    if upto == 0 {
                        continue;
                    }
                    let n = if random.below(2) == 0 { upto - 1 } else { random.below(upto) };
                    assert_eq!(
                        world.count(&format!("\"zqw{w}n{n:06}\"")),
                        (1, true),
                        "asker {asker}: word {n} of writer {w}"
                    );
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let start = Instant::now();
        while start.elapsed() < time {
            std::thread::sleep(Duration::from_millis(100));
        }
        over.store(true, Ordering::Relaxed);
    });
    let total: u64 = written.iter().map(|w| w.load(Ordering::Relaxed)).sum();
    println!(
        "crowded: {} answers by 8 processes beside 2 writers of {total} messages, every one right",
        asked.load(Ordering::Relaxed)
    );
}
