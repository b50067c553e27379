//! Does a question find the session that is meant, and how high? nDCG@10, MRR and recall@20 by kind of question, for the half that
//! was used for tuning and for the half that was not.
//!
//! `cargo bench --bench relevance`. Programs of other tools are compared on the same history if they are named:
//! `AGF_BENCH_FR` (fast-resume), `AGF_BENCH_AGF_0_15`, `AGF_BENCH_RG`. `AGF_BENCH_MISSES=1` lists the questions of the tuning half that
//! do not come first (`all`: of both halves), `AGF_BENCH_SEED` makes another history, `AGF_BENCH_KEEP=1` leaves it where it is.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program of its own that makes its own files and prints its figures"
)]

#[path = "../corpus/mod.rs"]
mod corpus;
mod kinds;
mod measure;
mod peers;
mod stores;
mod words;
mod world;

use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use measure::{Question, Score};
use peers::Peer;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

type Ask<'a> = Box<dyn Fn(&Question) -> Vec<String> + 'a>;

fn main() -> std::io::Result<()> {
    let mut home = tempfile::tempdir()?;
    home.disable_cleanup(std::env::var_os("AGF_BENCH_KEEP").is_some());
    let seed = std::env::var("AGF_BENCH_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let world = kinds::make(seed);
    world.write(home.path())?;
    println!(
        "{} sessions, {} questions in {}",
        world.sessions.len(),
        world.questions.len(),
        home.path().display()
    );
    let files = files(home.path());
    let mut askers: Vec<(&str, Ask<'_>)> = vec![("agf", ours(home.path()))];
    for (var, name, peer) in Peer::ALL {
        if let Ok(program) = std::env::var(format!("AGF_BENCH_{var}")) {
            let (home, files) = (home.path(), &files);
            askers
                .push((name, Box::new(move |q| peers::ask(peer, Path::new(&program), home, &q.text, files))));
        }
    }
    for (name, ask) in &askers {
        report(name, &world.questions, ask);
    }
    Ok(())
}

fn ours(home: &Path) -> Ask<'static> {
    let home = home.to_str().unwrap_or("");
    let env =
        Env::from_vars([("HOME", home), ("PATH", "/usr/bin:/bin"), ("TZ", "UTC")]).with_now_ms(world::NOW_MS);
    let catalog = Catalog::new(env, Scope::default()).resident();
    Box::new(move |q| {
        let request =
            SearchRequest { query: q.text.clone(), include_content: true, ..SearchRequest::default() };
        let found = catalog.search(&request).map(|d| d.sessions).unwrap_or_default();
        found.into_iter().map(|s| s.session_id).collect()
    })
}

/// The session of each transcript, by the file's name.
fn files(home: &Path) -> HashMap<PathBuf, String> {
    let mut dirs = vec![home.to_owned()];
    let mut all = HashMap::new();
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()) {
            if path.is_dir() {
                dirs.push(path);
            } else if let (Some(name), Some(stem)) = (path.file_name(), path.file_stem()) {
                let stem = stem.to_string_lossy();
                let id: String = stem.chars().skip(stem.chars().count().saturating_sub(36)).collect();
                all.insert(PathBuf::from(name), id);
            }
        }
    }
    all
}

fn report(name: &str, questions: &[Question], ask: &Ask<'_>) {
    let misses = std::env::var("AGF_BENCH_MISSES").unwrap_or_default();
    let listed = |q: &Question| misses == "all" || !misses.is_empty() && !q.held_out;
    let mut table: BTreeMap<&str, [Score; 2]> = BTreeMap::new();
    let mut all = [Score::default(); 2];
    for q in questions {
        let ranked = ask(q);
        let score = Score::of(q, &ranked);
        table.entry(q.kind).or_default()[usize::from(q.held_out)].add(score);
        all[usize::from(q.held_out)].add(score);
        if listed(q) && score.mrr < 1.0 {
            let first = ranked.first().map_or("nothing", String::as_str);
            println!("  {:.2} {}: {} ({first}, not {})", score.mrr, q.kind, q.text, q.answers[0].0);
        }
    }
    println!("\n{name:<20}{:>32}{:>32}", "tuning", "held out");
    println!("{:<20}{}", "kind", "     n    nDCG     MRR  recall".repeat(2));
    for (kind, halves) in table.iter().map(|(k, h)| (*k, h)).chain([("all", &all)]) {
        let cell = |s: &Score| {
            let m = s.mean();
            format!("{:>6}{:>8.3}{:>8.3}{:>8.3}", m.n, m.ndcg, m.mrr, m.recall)
        };
        println!("{kind:<20}{}{}", cell(&halves[0]), cell(&halves[1]));
    }
}
