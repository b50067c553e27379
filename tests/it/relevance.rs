//! The judged history of `benches/relevance`: what is meant is found, and stands first.

use agf_catalog::api::request::SearchRequest;
use agf_catalog::api::{Catalog, Scope};
use agf_catalog::io::env::Env;
use measure::Score;
use std::collections::{BTreeMap, BTreeSet};

#[path = "../../benches/corpus/mod.rs"]
mod corpus;
#[path = "../../benches/relevance/kinds.rs"]
mod kinds;
#[path = "../../benches/relevance/measure.rs"]
mod measure;
#[path = "../../benches/relevance/stores.rs"]
mod stores;
#[path = "../../benches/relevance/words.rs"]
mod words;
#[path = "../../benches/relevance/world.rs"]
mod world;

#[test]
fn what_is_meant_comes_first() {
    let home = tempfile::tempdir().unwrap();
    let world = kinds::make(1);
    world.write(home.path()).unwrap();
    let env =
        Env::from_vars([("HOME", home.path().to_str().unwrap()), ("TZ", "UTC")]).with_now_ms(world::NOW_MS);
    let catalog = Catalog::new(env, Scope::default()).resident();
    let mut kinds: BTreeMap<&str, Score> = BTreeMap::new();
    let (mut plain, mut halves) = (Score::default(), BTreeSet::new());
    for q in &world.questions {
        let request =
            SearchRequest { query: q.text.clone(), include_content: true, ..SearchRequest::default() };
        let found = catalog.search(&request).unwrap();
        let ranked: Vec<String> = found.sessions.into_iter().map(|s| s.session_id).collect();
        let score = Score::of(q, &ranked);
        kinds.entry(q.kind).or_default().add(score);
        if !q.kind.contains("typo") {
            plain.add(score);
        }
        halves.insert((q.kind, q.held_out));
    }
    let low = |(kind, score): (&&str, &Score)| {
        let (least, mean) = (if kind.contains("typo") { 0.8 } else { 0.9 }, score.mean());
        (mean.mrr < least || mean.ndcg < least).then(|| format!("{kind}: {mean:?}"))
    };
    let low: Vec<String> = kinds.iter().filter_map(low).collect();
    assert!(low.is_empty(), "{low:#?}");
    assert!(plain.mean().recall >= 0.98 && world.questions.len() >= 150, "{:?}", plain.mean());
    assert_eq!(halves.len(), kinds.len() * 2, "every kind has a half that is kept out of tuning");
}
