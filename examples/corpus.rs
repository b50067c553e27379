//! Writes a made-up history: `cargo run --release --example corpus -- HOME SESSIONS [SCALE] [SEED]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

#[path = "../benches/corpus/mod.rs"]
mod corpus;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (Some(home), Some(sessions)) = (args.first(), args.get(1).and_then(|n| n.parse().ok())) else {
        eprintln!("usage: corpus HOME SESSIONS [SCALE] [SEED]");
        std::process::exit(2);
    };
    let number = |i: usize, default: f64| args.get(i).and_then(|n| n.parse().ok()).unwrap_or(default);
    let spec = corpus::Spec {
        sessions,
        seed: number(3, 1.0) as u64,
        scale: number(2, 1.0),
        now_ms: 1_796_000_000_000,
    };
    let made = corpus::make(std::path::Path::new(home), &spec)?;
    println!(
        "{} sessions, {:.1} MB; {} stands only in {}",
        sessions,
        made.bytes as f64 / 1e6,
        made.needle.0,
        made.needle.1
    );
    println!("largest: {}", made.largest.display());
    Ok(())
}
