//! From a word to the index's words: as it stands, as a beginning, with a typo, by its parts, as a middle.

use super::parse::{Place, Term};
use crate::index::schema::Fields;
use crate::index::snapshot::Messages;
use crate::limits::EXPANSION_MAX;
use crate::text::tokenize::{self, Kind};
use std::collections::BTreeMap;
use tantivy::query::{
    BooleanQuery, BoostQuery, DisjunctionMaxQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, Term as IndexTerm};

/// How far a word may be from what is found for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Exact,
    Prefix,
    Form,
    Typo,
    Part,
}

impl Reach {
    pub const ALL: [Reach; 5] = [Self::Exact, Self::Prefix, Self::Form, Self::Typo, Self::Part];
}

/// Words of the index with their places, and how much finding them counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub steps: Vec<(u32, String)>,
    pub weight: f32,
}

/// What a term stands for in the index: alternatives.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    pub sequences: Vec<Sequence>,
    /// The word it was corrected to.
    pub corrected: Option<String>,
}

impl Expansion {
    /// All words in it, for highlighting.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.sequences.iter().flat_map(|s| &s.steps).map(|(_, w)| w.as_str())
    }
}

/// Text of tools counts for less than what people and agents say.
const TOOL_WEIGHT: f32 = 0.5;
/// Another form of a word, beside the word itself.
const FORM_WEIGHT: f32 = 0.8;
/// Words that stand side by side as asked, beside their being there.
const NEIGHBOURS_WEIGHT: f32 = 2.0;
/// Words spelled like the one asked for, beside the likeliest of them; and those a further edit away.
const SIMILAR_WEIGHT: f32 = 0.6;
const FARTHER_WEIGHT: f32 = 0.3;

/// Expands a term as far as `reach` allows. Empty if the index has no such words.
pub fn expand(term: &Term, reach: Reach, messages: &Messages) -> Expansion {
    let Some(last) = term.steps.last() else { return Expansion::default() };
    let head: Vec<(u32, String)> =
        term.steps[..term.steps.len() - 1].iter().map(|s| (s.position, s.term.clone())).collect();
    let single = last.kind == Kind::Last;
    let mut corrected = None;
    let ends: Vec<(String, f32)> = match reach {
        Reach::Exact if term.prefix || single => even(prefixed(messages, &last.term)),
        Reach::Exact => vec![(last.term.clone(), 1.0)],
        Reach::Prefix if !term.quoted => even(prefixed(messages, &last.term)),
        Reach::Form if !term.quoted && head.is_empty() => {
            let parts = by_parts(term);
            if parts.is_some() {
                return Expansion { sequences: parts.into_iter().collect(), corrected: None };
            }
            other_forms(messages, &last.term)
        }
        Reach::Typo if !term.quoted && head.is_empty() => {
            let words = similar(messages, &last.term);
            corrected = words.first().map(|(w, _)| w.clone());
            words
        }
        Reach::Part if !term.quoted => return parts(term, head.is_empty(), &last.term, messages),
        _ => Vec::new(),
    };
    let sequence = |(end, weight): (String, f32)| Sequence {
        steps: head.iter().cloned().chain([(last.position, end)]).collect(),
        weight,
    };
    let mut sequences: Vec<Sequence> = ends.into_iter().map(sequence).collect();
    if reach == Reach::Exact && !term.quoted {
        sequences.extend(other_version(term));
    }
    Expansion { sequences, corrected }
}

fn even(words: Vec<String>) -> Vec<(String, f32)> {
    words.into_iter().map(|w| (w, 1.0)).collect()
}

/// `v1.2.3` for `1.2.3`, and the other way round.
fn other_version(term: &Term) -> Option<Sequence> {
    let (first, rest) = term.steps.split_first()?;
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if rest.is_empty() || !rest.iter().all(|s| s.term.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let other = match first.term.strip_prefix('v') {
        Some(number) if digits(number) => number.to_owned(),
        None if digits(&first.term) => format!("v{}", first.term),
        _ => return None,
    };
    let rest = rest.iter().map(|s| (s.position, s.term.clone()));
    Some(Sequence { steps: [(first.position, other)].into_iter().chain(rest).collect(), weight: 1.0 })
}

/// In how many messages a word stands, of both fields.
pub fn frequency(messages: &Messages, word: &str) -> u64 {
    let of = |field| messages.doc_freq(&IndexTerm::from_field_text(field, word));
    of(messages.fields.prose) + of(messages.fields.tool)
}

/// Whether any message holds the words of a sequence side by side.
pub fn adjoin(s: &Sequence, messages: &Messages) -> bool {
    let fields = [messages.fields.prose, messages.fields.tool];
    let mut places = messages.segments().flat_map(|part| fields.map(|field| (part, field)));
    places.any(|((searcher, segment), field)| {
        let weight = one(&s.steps, field).weight(EnableScoring::disabled_from_searcher(searcher));
        let scorer = weight.and_then(|w| w.scorer(segment, 1.0));
        scorer.is_ok_and(|s| s.doc() != tantivy::TERMINATED)
    })
}

fn other_forms(messages: &Messages, word: &str) -> Vec<(String, f32)> {
    let known = |f: &String| frequency(messages, f) > 0;
    super::forms::forms(word).into_iter().filter(known).map(|f| (f, FORM_WEIGHT)).collect()
}

/// An identifier by its parts: half a name is found in the whole one.
fn by_parts(term: &Term) -> Option<Sequence> {
    let parts = tokenize::parts(&term.text);
    let steps = || parts.iter().enumerate().map(|(i, p)| (i as u32, p.clone())).collect();
    (parts.len() > 1).then(|| Sequence { steps: steps(), weight: 1.0 })
}

/// An identifier by its parts, a single word as the middle of others.
fn parts(term: &Term, alone: bool, word: &str, messages: &Messages) -> Expansion {
    let mut sequences: Vec<Sequence> = by_parts(term).into_iter().collect();
    if alone && word.is_ascii() && word.len() >= 3 {
        let holding = holding(messages, word).into_iter();
        sequences.extend(holding.map(|(w, _)| Sequence { steps: vec![(0, w)], weight: 1.0 }));
    }
    Expansion { sequences, corrected: None }
}

/// Words of the index chosen by a walk over part of each dictionary, the most frequent first.
fn gather(
    messages: &Messages,
    mut each: impl FnMut(&tantivy::InvertedIndexReader, &mut BTreeMap<Vec<u8>, u32>),
) -> Vec<(String, u32)> {
    let mut found = BTreeMap::new();
    for (_, segment) in messages.segments() {
        for field in [messages.fields.prose, messages.fields.tool] {
            if let Ok(inverted) = segment.inverted_index(field) {
                each(&inverted, &mut found);
            }
        }
    }
    let mut words: Vec<(Vec<u8>, u32)> = found.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.len().cmp(&b.0.len())));
    words.truncate(EXPANSION_MAX);
    words.into_iter().filter_map(|(w, n)| Some((String::from_utf8(w).ok()?, n))).collect()
}

fn prefixed(messages: &Messages, prefix: &str) -> Vec<String> {
    // More than is used, so that the frequent ones among them are; but a one-letter prefix must not walk the dictionary.
    const WALK: usize = 20_000;
    let words = gather(messages, |inverted, found| {
        let Ok(mut stream) = inverted.terms().range().ge(prefix.as_bytes()).into_stream() else { return };
        for _ in 0..WALK {
            if !stream.advance() || !stream.key().starts_with(prefix.as_bytes()) {
                break;
            }
            *found.entry(stream.key().to_vec()).or_default() += stream.value().doc_freq;
        }
    });
    words.into_iter().map(|(w, _)| w).collect()
}

/// Words one edit away, two for long ones, the likeliest first: of the nearest the most frequent.
/// Scripts without spaces are left out: there every pair is near another.
fn similar(messages: &Messages, word: &str) -> Vec<(String, f32)> {
    let letters = word.chars().count();
    if letters < 4
        || !word.chars().all(|c| c.is_alphabetic() || c == '_' || c.is_ascii_digit())
        || is_paired(word)
    {
        return Vec::new();
    }
    let distance = if letters >= 9 { 2 } else { 1 };
    let builder = levenshtein_automata::LevenshteinAutomatonBuilder::new(distance, true);
    let automaton = Dfa(builder.build_dfa(word));
    let words = gather(messages, |inverted, found| {
        let Ok(mut stream) = inverted.terms().search(&automaton).into_stream() else { return };
        while stream.advance() {
            *found.entry(stream.key().to_vec()).or_default() += stream.value().doc_freq;
        }
    });
    let mut words: Vec<(u8, std::cmp::Reverse<u32>, String)> = words
        .into_iter()
        .filter(|(w, _)| w != word)
        .map(|(w, n)| (automaton.0.eval(&w).to_u8(), std::cmp::Reverse(n), w))
        .collect();
    words.sort();
    let nearest = words.first().map_or(0, |w| w.0);
    let weight = |(i, (d, _, w)): (usize, (u8, _, String))| match (i, d > nearest) {
        (0, _) => (w, 1.0),
        (_, false) => (w, SIMILAR_WEIGHT),
        (_, true) => (w, FARTHER_WEIGHT),
    };
    words.into_iter().enumerate().map(weight).collect()
}

/// A far more frequent word for one that hardly occurs: what somebody mistyped stands in the history too.
pub fn likelier(term: &Term, messages: &Messages) -> Option<String> {
    const HARDLY: u64 = 2;
    const TIMES: u64 = 4;
    let [step] = term.steps.as_slice() else { return None };
    let word = &step.term;
    if term.quoted || term.prefix || word.len() < 5 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if !(1..=HARDLY).contains(&frequency(messages, word)) {
        return None;
    }
    let (best, _) = similar(messages, word).into_iter().next()?;
    (frequency(messages, &best) >= TIMES * frequency(messages, word)).then_some(best)
}

fn is_paired(word: &str) -> bool {
    tokenize::phrase(word).first().is_some_and(|s| matches!(s.kind, Kind::Pair | Kind::Last))
}

/// Words that hold `word` anywhere: reads whole dictionaries, so it is asked last.
fn holding(messages: &Messages, word: &str) -> Vec<(String, u32)> {
    let needle = memchr::memmem::Finder::new(word.as_bytes());
    gather(messages, |inverted, found| {
        let Ok(mut stream) = inverted.terms().stream() else { return };
        while stream.advance() {
            if needle.find(stream.key()).is_some() {
                *found.entry(stream.key().to_vec()).or_default() += stream.value().doc_freq;
            }
        }
    })
}

struct Dfa(levenshtein_automata::DFA);

impl tantivy_fst::Automaton for Dfa {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), levenshtein_automata::Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != levenshtein_automata::SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

/// A field to look in, and what a match in it is worth.
pub type Within = (Field, f32);

/// The fields of a place.
pub fn within(place: Place, fields: &Fields) -> Vec<Within> {
    match place {
        Place::Prose => vec![(fields.prose, 1.0)],
        Place::Tool => vec![(fields.tool, TOOL_WEIGHT)],
        _ => vec![(fields.prose, 1.0), (fields.tool, TOOL_WEIGHT)],
    }
}

/// The query for some expansions: any of their sequences, in any of these fields.
pub fn query(expansions: &[Expansion], within: &[Within]) -> Option<Box<dyn Query>> {
    let mut sequences: BTreeMap<&[(u32, String)], f32> = BTreeMap::new();
    for s in expansions.iter().flat_map(|e| &e.sequences) {
        let weight = sequences.entry(&s.steps).or_insert(s.weight);
        *weight = weight.max(s.weight);
    }
    let each = |(steps, weight): (_, f32)| {
        within.iter().map(move |(field, w)| weighted(one(steps, *field), weight * w))
    };
    one_of(sequences.into_iter().flat_map(each).collect())
}

/// The words of two neighbours in their order, `gap` places apart: names by their parts, phrases typed without quotes.
pub fn neighbours(
    first: &Expansion,
    second: &Expansion,
    gap: u32,
    (field, weight): Within,
) -> Option<Box<dyn Query>> {
    let ([a], [b]) = (first.sequences.as_slice(), second.sequences.as_slice()) else { return None };
    let from = a.steps.last()?.0 + gap;
    let steps: Vec<_> =
        a.steps.iter().cloned().chain(b.steps.iter().map(|(p, w)| (p + from, w.clone()))).collect();
    Some(weighted(one(&steps, field), NEIGHBOURS_WEIGHT * weight))
}

fn one_of(mut any: Vec<Box<dyn Query>>) -> Option<Box<dyn Query>> {
    match any.len() {
        0 | 1 => any.pop(),
        _ => Some(Box::new(DisjunctionMaxQuery::new(any))),
    }
}

/// A query whose scores count so much.
pub fn weighted(query: Box<dyn Query>, weight: f32) -> Box<dyn Query> {
    if weight == 1.0 { query } else { Box::new(BoostQuery::new(query, weight)) }
}

/// Words side by side in what tools say.
pub fn phrase_in_tool(steps: &[tokenize::Step], fields: &Fields) -> Box<dyn Query> {
    let steps: Vec<_> = steps.iter().map(|s| (s.position, s.term.clone())).collect();
    one(&steps, fields.tool)
}

fn one(sequence: &[(u32, String)], field: Field) -> Box<dyn Query> {
    let term = |word: &str| IndexTerm::from_field_text(field, word);
    match sequence {
        [(_, word)] => Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)),
        _ => Box::new(PhraseQuery::new_with_offset(
            sequence.iter().map(|(p, w)| (*p as usize, term(w))).collect(),
        )),
    }
}

/// Messages with all of the words that are needed, or with any if none is; what else they say only adds to their score.
pub fn together(words: Vec<(Box<dyn Query>, bool)>, more: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    let words = words.into_iter().map(|(q, needed)| (if needed { Occur::Must } else { Occur::Should }, q));
    Box::new(BooleanQuery::new(words.chain(more.into_iter().map(|q| (Occur::Should, q))).collect()))
}
