#![allow(dead_code, reason = "each bench uses a part of it")]
//! Timing whole processes. CPU time is the kernel's account of ended children, in its own ticks: it needs several runs.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A command to run.
pub struct Run {
    program: std::path::PathBuf,
    args: Vec<String>,
    home: std::path::PathBuf,
}

impl Run {
    /// The program itself, with a home and nothing else.
    pub fn agf(home: &Path, args: &[&str]) -> Self {
        Self::new(Path::new(env!("CARGO_BIN_EXE_agf")), home, args)
    }

    /// This bench as a process of its own.
    pub fn this(args: &[&str]) -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        Self::new(&program, Path::new("/nonexistent"), args)
    }

    fn new(program: &Path, home: &Path, args: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            args: args.iter().map(|a| (*a).to_owned()).collect(),
            home: home.to_owned(),
        }
    }

    /// Runs it; the seconds it took, and its largest memory in MB where the system tells.
    pub fn go(&self) -> (f64, u64) {
        let start = Instant::now();
        let child = Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", "/usr/bin:/bin")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return (f64::NAN, 0) };
        let peak = watch_peak(child.id());
        let _ = child.wait();
        (start.elapsed().as_secs_f64(), peak.join().unwrap_or(0))
    }
}

/// Follows a process's high-water mark until it ends.
fn watch_peak(pid: u32) -> std::thread::JoinHandle<u64> {
    std::thread::spawn(move || {
        let mut peak = 0;
        while let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
            let line = status.lines().find(|l| l.starts_with("VmHWM:"));
            let Some(kb) = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok()) else { break };
            peak = peak.max(kb / 1024);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        peak
    })
}

/// Medians of several runs.
pub struct Runs {
    pub wall: f64,
    pub cpu: f64,
    pub peak_mb: u64,
}

impl Runs {
    pub fn of(rounds: usize, mut run: impl FnMut() -> (f64, u64)) -> Self {
        let cpu = children_cpu();
        let mut results: Vec<(f64, u64)> = (0..rounds).map(|_| run()).collect();
        let cpu = (children_cpu() - cpu) / rounds as f64;
        Self::median(&mut results, cpu)
    }

    /// Two commands in turn, so that both meet the same noise.
    pub fn paired(
        rounds: usize,
        mut a: impl FnMut() -> (f64, u64),
        mut b: impl FnMut() -> (f64, u64),
    ) -> (Self, Self) {
        let (mut of_a, mut of_b, mut cpu_a, mut cpu_b) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for _ in 0..rounds {
            let start = children_cpu();
            of_a.push(a());
            let middle = children_cpu();
            of_b.push(b());
            cpu_a += middle - start;
            cpu_b += children_cpu() - middle;
        }
        (Self::median(&mut of_a, cpu_a / rounds as f64), Self::median(&mut of_b, cpu_b / rounds as f64))
    }

    fn median(results: &mut [(f64, u64)], cpu: f64) -> Self {
        results.sort_by(|a, b| a.0.total_cmp(&b.0));
        let peak_mb = results.iter().map(|r| r.1).max().unwrap_or(0);
        Self { wall: results[results.len() / 2].0, cpu, peak_mb }
    }

    /// Prints this against a floor.
    pub fn against(&self, what: &str, floor: &Self, floor_name: &str) {
        println!(
            "{what}: {:.1} ms wall, {:.1} ms CPU, {} MB; {:.2} x wall and {:.2} x CPU of {floor_name} ({:.1} ms wall, {:.1} ms CPU)",
            self.wall * 1e3,
            self.cpu * 1e3,
            self.peak_mb,
            self.wall / floor.wall,
            self.cpu / floor.cpu,
            floor.wall * 1e3,
            floor.cpu * 1e3
        );
    }
}

/// What the program prints.
pub fn text(home: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agf"));
    let out = command.args(args).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin").output();
    out.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
}

/// CPU seconds of ended children.
fn children_cpu() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .skip(13)
        .take(2)
        .filter_map(|f| f.parse().ok())
        .collect();
    fields.iter().sum::<f64>() / TICKS
}

/// A number from the environment.
pub fn number(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Bytes below a directory.
pub fn size(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries.flatten().fold(0, |sum, e| match e.metadata() {
        Ok(m) if m.is_dir() => sum + size(&e.path()),
        Ok(m) => sum + m.len(),
        Err(_) => sum,
    })
}
