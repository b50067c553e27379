//! From a word to the index's words: as it stands, as a beginning, with a typo, by its parts, as a middle.

use super::parse::Term;
use crate::index::schema::Fields;
use crate::index::snapshot::Messages;
use crate::limits::EXPANSION_MAX;
use crate::text::tokenize::{self, Kind};
use std::collections::{BTreeMap, BTreeSet};
use tantivy::Term as IndexTerm;
use tantivy::query::{BooleanQuery, BoostQuery, DisjunctionMaxQuery, Occur, PhraseQuery, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

/// How far a word may be from what is found for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    Exact,
    Prefix,
    Typo,
    Part,
}

/// What a term stands for in the index: alternatives, each a sequence of words with their places.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    pub sequences: Vec<Vec<(u32, String)>>,
}

impl Expansion {
    /// All words in it, for highlighting.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.sequences.iter().flatten().map(|(_, w)| w.as_str())
    }
}

/// Text of tools counts for less than what people and agents say.
const TOOL_WEIGHT: f32 = 0.5;

/// Expands a term as far as `reach` allows. Empty if the index has no such words.
pub fn expand(term: &Term, reach: Reach, messages: &Messages) -> Expansion {
    let Some(last) = term.steps.last() else { return Expansion::default() };
    let head: Vec<(u32, String)> =
        term.steps[..term.steps.len() - 1].iter().map(|s| (s.position, s.term.clone())).collect();
    let single = last.kind == Kind::Last;
    let ends: Vec<String> = match reach {
        Reach::Exact if term.prefix || single => prefixed(messages, &last.term),
        Reach::Exact => vec![last.term.clone()],
        Reach::Prefix if !term.quoted => prefixed(messages, &last.term),
        Reach::Typo if !term.quoted && head.is_empty() => similar(messages, &last.term),
        Reach::Part if !term.quoted => return parts(term, head.is_empty(), &last.term, messages),
        _ => Vec::new(),
    };
    let sequence = |end: String| head.iter().cloned().chain([(last.position, end)]).collect();
    Expansion { sequences: ends.into_iter().map(sequence).collect() }
}

/// An identifier by its parts, a single word as the middle of others.
fn parts(term: &Term, alone: bool, word: &str, messages: &Messages) -> Expansion {
    let parts = tokenize::parts(&term.text);
    let mut sequences = Vec::new();
    if parts.len() > 1 {
        sequences.push(parts.into_iter().enumerate().map(|(i, p)| (i as u32, p)).collect());
    }
    if alone && word.is_ascii() && word.len() >= 3 {
        sequences.extend(holding(messages, word).into_iter().map(|w| vec![(0, w)]));
    }
    Expansion { sequences }
}

/// Words of the index chosen by a walk over part of each dictionary, the most frequent first.
fn gather(
    messages: &Messages,
    mut each: impl FnMut(&tantivy::InvertedIndexReader, &mut BTreeMap<Vec<u8>, u32>),
) -> Vec<String> {
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
    words.into_iter().filter_map(|(w, _)| String::from_utf8(w).ok()).collect()
}

fn prefixed(messages: &Messages, prefix: &str) -> Vec<String> {
    // More than is used, so that the frequent ones among them are; but a one-letter prefix must not walk the dictionary.
    const WALK: usize = 20_000;
    gather(messages, |inverted, found| {
        let Ok(mut stream) = inverted.terms().range().ge(prefix.as_bytes()).into_stream() else { return };
        for _ in 0..WALK {
            if !stream.advance() || !stream.key().starts_with(prefix.as_bytes()) {
                break;
            }
            *found.entry(stream.key().to_vec()).or_default() += stream.value().doc_freq;
        }
    })
}

/// Words one edit away; two for long ones. Scripts without spaces are left out: there every pair is near another.
fn similar(messages: &Messages, word: &str) -> Vec<String> {
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
    gather(messages, |inverted, found| {
        let Ok(mut stream) = inverted.terms().search(&automaton).into_stream() else { return };
        while stream.advance() {
            *found.entry(stream.key().to_vec()).or_default() += stream.value().doc_freq;
        }
    })
}

fn is_paired(word: &str) -> bool {
    tokenize::phrase(word).first().is_some_and(|s| matches!(s.kind, Kind::Pair | Kind::Last))
}

/// Words that hold `word` anywhere: reads whole dictionaries, so it is asked last.
fn holding(messages: &Messages, word: &str) -> Vec<String> {
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

/// The query for some expansions: any of their sequences, in either field.
pub fn query(
    expansions: &[Expansion],
    fields: &Fields,
    place: super::parse::Place,
) -> Option<Box<dyn Query>> {
    use super::parse::Place;
    let sequences: BTreeSet<&Vec<(u32, String)>> = expansions.iter().flat_map(|e| &e.sequences).collect();
    let mut any: Vec<Box<dyn Query>> = Vec::new();
    for sequence in sequences {
        if place != Place::Tool {
            any.push(one(sequence, fields.prose));
        }
        if place != Place::Prose {
            any.push(Box::new(BoostQuery::new(one(sequence, fields.tool), TOOL_WEIGHT)));
        }
    }
    match any.len() {
        0 => None,
        1 => any.pop(),
        _ => Some(Box::new(DisjunctionMaxQuery::new(any))),
    }
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

/// All of some queries.
pub fn all_of(queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    Box::new(BooleanQuery::new(queries.into_iter().map(|q| (Occur::Must, q)).collect()))
}
