//! Sessions on the same thing as a given one: those that hold its most telling words.
//!
//! Telling is what the session says often and others seldom do. Prompts count most, then answers and what tools were asked to do (paths,
//! commands); what tools printed says little about the matter.

use super::content::{Hits, Message, collect};
use super::family::are_copies;
use super::filter::allowed;
use super::parse::Query;
use super::run::{Found, Hit, Options, Sort, run};
use super::sentence::COMMON;
use super::view::View;
use crate::index::snapshot::Messages;
use crate::limits::{LIKE_TERMS_MAX, LIKE_TEXT_MAX, MATCHES_MAX};
use crate::model::Role;
use crate::text::tokenize::{Kind, Tokens};
use crate::text::{floor_boundary, fold};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tantivy::Term;
use tantivy::query::{BoostQuery, DisjunctionMaxQuery, Query as IndexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;

/// Words that are looked up in the index before the most telling ones are chosen.
const CANDIDATES: usize = 1024;
/// Of the weight of all telling words, a session must hold this part.
const LEAST: f32 = 0.2;

/// The words of a session, counted.
#[derive(Debug, Default)]
pub struct Words {
    counted: BTreeMap<String, Count>,
    taken: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    weight: f32,
    messages: u64,
}

/// Telling words and their shares of the whole weight, the heaviest first.
pub type Telling = Vec<(String, f32)>;

impl Words {
    /// Takes a message in, until there is enough.
    pub fn add(&mut self, role: Role, text: &str) {
        match role {
            Role::User => self.count(text, 3.0, 1),
            Role::Assistant | Role::ToolInput => self.count(text, 1.0, 1),
            Role::Thinking | Role::ToolOutput | Role::System => {}
        }
    }

    /// Takes a title in, which is no message of the index.
    pub fn add_title(&mut self, text: &str) {
        self.count(text, 6.0, 0);
    }

    fn count(&mut self, text: &str, weight: f32, messages: u64) {
        let text = &text[..floor_boundary(text, LIKE_TEXT_MAX / 256)];
        if self.taken + text.len() > LIKE_TEXT_MAX {
            return;
        }
        self.taken += text.len();
        for word in words(text) {
            let count = self.counted.entry(word).or_default();
            count.weight += weight;
            count.messages += messages;
        }
    }

    /// The most telling words, that others use as well.
    pub fn telling(&self, messages: &Messages) -> Telling {
        let total: u64 = messages.searchers.iter().map(tantivy::Searcher::num_docs).sum();
        let mut often: Vec<(&String, &Count)> = self.counted.iter().collect();
        often.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then_with(|| a.0.cmp(b.0)));
        let score = |(word, count): (&String, &Count)| {
            let fields = [messages.fields.prose, messages.fields.tool];
            let found: u64 = fields.iter().map(|f| messages.doc_freq(&Term::from_field_text(*f, word))).sum();
            let rare = (1.0 + (total.saturating_sub(found) as f32 + 0.5) / (found as f32 + 0.5)).ln();
            (found > count.messages).then(|| (word.clone(), (1.0 + count.weight.ln()) * rare))
        };
        let mut telling: Telling = often.into_iter().take(CANDIDATES).filter_map(score).collect();
        telling.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        telling.truncate(LIKE_TERMS_MAX);
        let sum: f32 = telling.iter().map(|(_, w)| w).sum();
        telling.iter_mut().for_each(|(_, w)| *w /= sum.max(f32::MIN_POSITIVE));
        telling
    }
}

/// The different words of a text that can tell anything.
fn words(text: &str) -> BTreeSet<String> {
    let text = fold::compose(text);
    let mut tokens = Tokens::new(&text);
    let mut word = String::new();
    let mut all = BTreeSet::new();
    while let Some(span) = tokens.next_into(&mut word) {
        let long = match span.kind {
            Kind::Whole => word.chars().count() > 2 && word.chars().any(char::is_alphabetic),
            Kind::Pair => true,
            Kind::Part | Kind::Last => false,
        };
        if long && !COMMON.contains(&word.as_str()) {
            all.insert(word.clone());
        }
    }
    all
}

/// The sessions that are like one, among those that a query finds. Neither it nor copies of it are.
pub fn find(
    view: &View<'_>,
    model: u32,
    telling: &Telling,
    query: &Query,
    options: &Options,
) -> tantivy::Result<Found> {
    let mut everybody = Options { collapse: false, ..options.clone() };
    everybody.filter.include_non_interactive = true;
    let mut found = run(view, query, &everybody)?;
    found.hidden = 0;
    let hits = std::mem::take(&mut found.hits);
    let Some(messages) = view.snapshot.messages.as_ref().filter(|_| !telling.is_empty()) else {
        return Ok(found);
    };
    let mut wanted = vec![false; view.sessions.len()];
    for hit in hits {
        let session = &view.sessions[hit.session as usize];
        wanted[hit.session as usize] = !are_copies(session, &view.sessions[model as usize]);
    }
    let shown = allowed(view, &options.filter, query).sessions;
    found.wanted = telling.iter().map(|(word, _)| either(messages, word)).collect();
    found.words.extend(telling.iter().map(|(word, _)| word.clone()));
    for hit in alike(view, messages, telling, &found.wanted, &wanted)? {
        if shown[hit.session as usize] {
            found.hits.push(hit);
        } else {
            found.hidden += 1;
        }
    }
    let facts = |h: &Hit| &view.sessions[h.session as usize].facts;
    let ranked = options.sort == Sort::Relevance;
    found.hits.sort_by(|a, b| {
        let score = if ranked { b.score.total_cmp(&a.score) } else { std::cmp::Ordering::Equal };
        score
            .then_with(|| facts(b).last_ms.cmp(&facts(a).last_ms))
            .then_with(|| facts(a).id.cmp(&facts(b).id))
    });
    if options.collapse {
        super::collapse::collapse(view, &Query::default(), options, ranked, &mut found)?;
    }
    Ok(found)
}

fn either(messages: &Messages, word: &str) -> Box<dyn IndexQuery> {
    let one = |field| TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs);
    let tool = BoostQuery::new(Box::new(one(messages.fields.tool)), 0.5);
    Box::new(DisjunctionMaxQuery::new(vec![Box::new(one(messages.fields.prose)), Box::new(tool)]))
}

/// Sessions with enough of the telling words, by how much of their weight they hold. Long sessions hold more of anything.
fn alike(
    view: &View<'_>,
    messages: &Messages,
    telling: &Telling,
    queries: &[Box<dyn IndexQuery>],
    wanted: &[bool],
) -> tantivy::Result<Vec<Hit>> {
    let mut found: Vec<(f32, Hits)> = Vec::with_capacity(queries.len());
    for (query, (_, weight)) in queries.iter().zip(telling) {
        found.push((*weight, collect(view, messages, query.as_ref(), wanted, &[])?));
    }
    let least = telling.len().min(2);
    let hit = |session: u32| {
        let at = session as usize;
        let held = || found.iter().filter(|(_, hits)| hits.score(at).is_some());
        let part: f32 = held().map(|(weight, _)| weight).sum();
        let enough = held().count() >= least && part >= LEAST;
        let long = 1.0 + (1.0 + view.sessions[at].facts.messages as f32).ln() / 10.0;
        enough.then(|| Hit { session, score: part / long, late: false, messages: best(&found, at) })
    };
    Ok((0..view.sessions.len() as u32).filter(|s| wanted[*s as usize]).filter_map(hit).collect())
}

/// The messages that hold the most of the telling words.
fn best(found: &[(f32, Hits)], session: usize) -> Vec<Message> {
    let mut weights: HashMap<(u32, u32), f32> = HashMap::new();
    for (weight, hits) in found {
        for message in hits.of(session) {
            *weights.entry(message.address()).or_default() += weight;
        }
    }
    let message = |((segment, doc), score): ((u32, u32), f32)| Message { score, segment, doc };
    let mut best: Vec<Message> = weights.into_iter().map(message).collect();
    best.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.address().cmp(&b.address())));
    best.truncate(MATCHES_MAX);
    best
}
