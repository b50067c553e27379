#![allow(dead_code, reason = "each bench uses a part of it")]
//! A made-up history of Claude Code and Codex sessions: seeded, of any size, shaped like real ones.
//!
//! Shapes measured on 2.0 GB of real logs (2026-11): files log-normal around a median of 145 kB for Claude and 236 kB for Codex,
//! half of the lines below 1 kB, user text 1 %, the rest answers, tool traffic and harness records; 5 % sub-agents; directories
//! with several hundred sessions. `scale` shrinks the files, for large counts.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

/// A small generator of good enough randomness (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len() as u64) as usize]
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Log-normal with this median and spread.
    fn size(&mut self, median: f64, sigma: f64) -> f64 {
        let normal =
            (-2.0 * self.unit().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        median * (sigma * normal).exp()
    }
}

const WORDS: &[&str] = &[
    "the",
    "a",
    "to",
    "of",
    "in",
    "is",
    "it",
    "for",
    "with",
    "this",
    "that",
    "we",
    "you",
    "not",
    "be",
    "on",
    "as",
    "are",
    "parser",
    "token",
    "index",
    "cache",
    "query",
    "schema",
    "server",
    "client",
    "request",
    "response",
    "error",
    "panic",
    "timeout",
    "retry",
    "backoff",
    "session",
    "thread",
    "async",
    "stream",
    "buffer",
    "lock",
    "channel",
    "commit",
    "branch",
    "merge",
    "patch",
    "test",
    "build",
    "deploy",
    "release",
    "cluster",
    "table",
    "column",
    "migration",
    "trace",
    "metric",
    "login",
    "policy",
    "config",
    "flag",
    "path",
    "file",
    "module",
    "worker",
    "layout",
    "button",
    "theme",
    "render",
    "route",
    "model",
    "invoice",
    "order",
    "payment",
    "graph",
    "tree",
    "hash",
    "vector",
    "batch",
    "fix",
    "add",
    "remove",
    "update",
    "refactor",
    "implement",
    "explain",
    "check",
    "because",
    "when",
    "then",
    "after",
    "before",
    "until",
    "unless",
    "maybe",
    "exactly",
];
const PROJECTS: &[&str] = &[
    "billing", "gateway", "search", "mobile", "docs", "infra", "parser", "etl", "auth", "web", "sdk", "cli",
];
const BRANCHES: &[&str] = &["main", "develop", "feat/login", "fix/retry", "release/1.2"];

/// What to make.
pub struct Spec {
    pub sessions: u64,
    pub seed: u64,
    /// 1.0 is the size of real files.
    pub scale: f64,
    /// Newest activity, in milliseconds since the epoch.
    pub now_ms: i64,
}

/// What was made.
pub struct Made {
    pub bytes: u64,
    /// A word that stands in exactly one session, with that session's id.
    pub needle: (String, String),
    /// The largest Claude transcript.
    pub largest: std::path::PathBuf,
}

/// Writes the stores below `home`.
pub fn make(home: &Path, spec: &Spec) -> std::io::Result<Made> {
    let mut random = Random::new(spec.seed);
    let mut made = Made {
        bytes: 0,
        needle: (format!("zqneedle{:x}", spec.seed), String::new()),
        largest: home.to_owned(),
    };
    let mut most = 0;
    for n in 0..spec.sessions {
        let claude = n % 2 == 0;
        let id = uuid(&mut random);
        let age = (random.unit().powi(2) * 180.0 * 86_400_000.0) as i64;
        let median = if claude { 145_000.0 } else { 236_000.0 };
        let size = (random.size(median, 1.3).min(4e6) * spec.scale) as u64;
        let needle = (n == spec.sessions / 2).then(|| made.needle.0.clone());
        let mut session = Session {
            random: &mut random,
            id: &id,
            end_ms: spec.now_ms - age,
            size,
            needle: needle.as_deref(),
            written: 0,
        };
        let path = if claude { session.claude(home)? } else { session.codex(home)? };
        let written = session.written;
        made.bytes += written;
        if needle.is_some() {
            made.needle.1.clone_from(&id);
        }
        if claude && written > most {
            most = written;
            made.largest = path;
        }
    }
    Ok(made)
}

/// An id that looks like one.
pub fn uuid(random: &mut Random) -> String {
    let (a, b) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        a & 0xfff,
        b >> 52,
        b & 0xffff_ffff_ffff
    )
}

struct Session<'s> {
    random: &'s mut Random,
    id: &'s str,
    end_ms: i64,
    size: u64,
    needle: Option<&'s str>,
    written: u64,
}

impl Session<'_> {
    fn prose(&mut self, words: u64) -> String {
        let mut text = String::new();
        for i in 0..words {
            text.push_str(if i == 0 { "" } else { " " });
            text.push_str(self.random.pick::<&str>(WORDS));
            if self.random.below(40) == 0 {
                text.push_str(".\\n");
            }
        }
        text
    }

    fn code(&mut self, lines: u64) -> String {
        let mut text = String::new();
        for _ in 0..lines {
            let (a, b, c) = (*self.random.pick(WORDS), *self.random.pick(WORDS), *self.random.pick(WORDS));
            text += &format!("    let {a}_{b} = {c}::{a}({});\\n", self.random.below(10_000));
        }
        text
    }

    fn time(&self, step: u64, steps: u64) -> String {
        let ms = self.end_ms - (steps.saturating_sub(step) as i64) * 20_000;
        let seconds = ms.div_euclid(1000);
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let (y, m, d) = civil(days);
        format!(
            "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}.{:03}Z",
            rest / 3600,
            rest / 60 % 60,
            rest % 60,
            ms.rem_euclid(1000)
        )
    }

    fn write(
        &mut self,
        path: &Path,
        head: String,
        line: impl Fn(&mut Self, u64, u64) -> String,
    ) -> std::io::Result<()> {
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let file = File::create(path)?;
        let mut out = BufWriter::new(&file);
        let steps = (self.size / 1100).max(4);
        out.write_all(head.as_bytes())?;
        self.written = head.len() as u64;
        for step in 0..steps {
            let text = line(self, step, steps);
            out.write_all(text.as_bytes())?;
            self.written += text.len() as u64;
        }
        out.flush()?;
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.end_ms.max(0) as u64);
        drop(out);
        file.set_modified(time)
    }

    fn claude(&mut self, home: &Path) -> std::io::Result<std::path::PathBuf> {
        let project = format!("/work/{}-{}", self.random.pick(PROJECTS), self.random.below(40));
        let slug: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = home.join(".claude/projects").join(slug).join(format!("{}.jsonl", self.id));
        let branch = *self.random.pick(BRANCHES);
        let title = format!(
            "{{\"type\":\"ai-title\",\"aiTitle\":\"{}\",\"sessionId\":\"{}\"}}\n",
            self.prose(5).replace(".\\n", ""),
            self.id
        );
        self.write(&path, title, |s, step, steps| {
            let base = format!(
                "\"isSidechain\":false,\"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":\"{project}\",\"sessionId\":\"{}\",\"version\":\"2.1.300\",\"gitBranch\":\"{branch}\",\"uuid\":\"{}\",\"timestamp\":\"{}\"",
                s.id,
                uuid(s.random),
                s.time(step, steps)
            );
            let needle = s.needle.filter(|_| step == steps / 2).map(|n| format!(" {n}")).unwrap_or_default();
            match step % 8 {
                0 => {
                    let text = s.prose(25);
                    format!("{{\"type\":\"user\",{base},\"message\":{{\"role\":\"user\",\"content\":\"{text}{needle}\"}}}}\n")
                }
                1 | 4 => {
                    let text = s.prose(60);
                    let content = format!("{{\"type\":\"text\",\"text\":\"{text}{needle}\"}}");
                    format!("{{\"type\":\"assistant\",{base},\"message\":{{\"id\":\"msg_{step}\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{content}]}}}}\n")
                }
                2 | 5 => format!(
                    "{{\"type\":\"assistant\",{base},\"message\":{{\"id\":\"msg_{step}\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{step}\",\"name\":\"Bash\",\"input\":{{\"command\":\"rg -n {}{needle} src\"}}}}]}}}}\n",
                    s.random.pick(WORDS)
                ),
                3 | 6 => {
                    let lines = 4 + s.random.size(20.0, 1.0) as u64;
                    let text = s.code(lines.min(400));
                    let content = format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"t{}\",\"content\":\"{text}{needle}\"}}", step - 1);
                    format!("{{\"type\":\"user\",{base},\"message\":{{\"role\":\"user\",\"content\":[{content}]}}}}\n")
                }
                _ => format!("{{\"type\":\"progress\",{base},\"data\":{{\"type\":\"hook_progress\",\"command\":\"{}\"}}}}\n", s.prose(20)),
            }
        })?;
        Ok(path)
    }

    fn codex(&mut self, home: &Path) -> std::io::Result<std::path::PathBuf> {
        let project = format!("/work/{}-{}", self.random.pick(PROJECTS), self.random.below(40));
        let start = self.time(0, (self.size / 1100).max(4));
        let path = home.join(".codex/sessions").join(start[..10].replace('-', "/"));
        let path = path.join(format!("rollout-{}-{}.jsonl", start[..19].replace(':', "-"), self.id));
        let meta = format!(
            "{{\"timestamp\":\"{start}\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{}\",\"timestamp\":\"{start}\",\"cwd\":\"{project}\",\"originator\":\"codex-tui\",\"cli_version\":\"0.171.0\",\"source\":\"cli\",\"git\":{{\"branch\":\"{}\"}}}}}}\n",
            self.id,
            self.random.pick(BRANCHES)
        );
        self.write(&path, meta, |s, step, steps| {
            let needle = s.needle.filter(|_| step == steps / 2).map(|n| format!(" {n}")).unwrap_or_default();
            let payload = match step % 4 {
                0 => format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{}{needle}\"}}]}}", s.prose(25)),
                1 => format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":\"{}{needle}\"}}]}}", s.prose(80)),
                2 => format!("{{\"type\":\"function_call\",\"name\":\"shell_command\",\"arguments\":\"{{\\\"command\\\":\\\"rg {}{needle}\\\"}}\",\"call_id\":\"c{step}\"}}", s.random.pick(WORDS)),
                _ => format!("{{\"type\":\"function_call_output\",\"call_id\":\"c{}\",\"output\":\"{}{needle}\"}}", step - 1, s.code(40)),
            };
            format!("{{\"timestamp\":\"{}\",\"type\":\"response_item\",\"payload\":{payload}}}\n", s.time(step, steps))
        })?;
        Ok(path)
    }
}

/// The calendar date of a day since 1970-01-01.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let d = doy - (153 * mp + 2) / 5 + 1;
    let m = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(m <= 2), m, d)
}
