//! Answering a query: a ladder of readings, from the words as typed to most of them, until one finds something.

use super::collapse::collapse;
use super::content::{Hits, Message, collect};
use super::filter::{Allowed, SessionFilter, allowed};
use super::metadata::{Folded, occurs};
use super::parse::{Place, Query, Term};
use super::terms::{Expansion, Reach, all_of, expand, query as index_query};
use super::view::{Session, View};
use crate::index::snapshot::{Messages, texts_at};
use std::collections::{HashMap, HashSet};

/// Which reading found the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Exact,
    Prefix,
    Typo,
    Part,
    Most,
    Subsequence,
}

impl Tier {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Prefix => "prefix",
            Self::Typo => "typo",
            Self::Part => "part",
            Self::Most => "most",
            Self::Subsequence => "subsequence",
        }
    }
}

/// How results are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    #[default]
    Relevance,
    Time,
}

/// What else is asked.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub filter: SessionFilter,
    /// Look into the messages too.
    pub content: bool,
    /// Summaries count as metadata.
    pub summaries: bool,
    /// Titles do.
    pub titles: bool,
    pub sort: Sort,
    /// Copies of one conversation count once where what was found is what they share.
    pub collapse: bool,
    pub now_ms: i64,
}

/// A session that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub session: u32,
    pub score: f32,
    pub messages: Vec<Message>,
}

/// The answer: all sessions in order.
#[derive(Debug, Default)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub tier: Option<Tier>,
    /// Words of the index that were found, for highlighting.
    pub words: HashSet<String>,
    /// Sessions that match but are hidden because no person drove them.
    pub hidden: usize,
    /// What messages were looked for.
    pub wanted: Vec<Box<dyn tantivy::query::Query>>,
    /// The copies that are counted with a session, in their order.
    pub copies: HashMap<u32, Vec<u32>>,
}

/// Runs a query.
pub fn run(view: &View<'_>, query: &Query, options: &Options) -> tantivy::Result<Found> {
    let allowed = allowed(view, &options.filter, query);
    let mut found =
        if query.has_text() { Search::new(view, query, options, &allowed).ladder()? } else { list(&allowed) };
    let ranked = query.has_text() && options.sort == Sort::Relevance;
    order(view, &mut found.hits, ranked, options.now_ms);
    if options.collapse {
        collapse(view, query, options, ranked, &mut found)?;
    }
    Ok(found)
}

fn list(allowed: &Allowed) -> Found {
    let hit = |i: usize| Hit { session: i as u32, score: 0.0, messages: Vec::new() };
    Found {
        hits: allowed.sessions.iter().enumerate().filter(|(_, a)| **a).map(|(i, _)| hit(i)).collect(),
        hidden: allowed.hidden.iter().filter(|h| **h).count(),
        ..Found::default()
    }
}

fn order(view: &View<'_>, hits: &mut [Hit], by_score: bool, now_ms: i64) {
    let facts = |h: &Hit| &view.sessions[h.session as usize].facts;
    if by_score {
        for hit in hits.iter_mut() {
            let age_days = (now_ms - facts(hit).last_ms).max(0) as f32 / 86_400_000.0;
            hit.score *= 0.5 + 0.5 * (-age_days / 30.0).exp2();
        }
    }
    hits.sort_by(|a, b| {
        let score = if by_score { b.score.total_cmp(&a.score) } else { std::cmp::Ordering::Equal };
        score
            .then_with(|| facts(b).last_ms.cmp(&facts(a).last_ms))
            .then_with(|| facts(a).id.cmp(&facts(b).id))
    });
}

/// What one clause found.
struct Clause<'s> {
    /// Score of its metadata match, per session.
    metadata: &'s [f32],
    messages: Option<Hits>,
}

impl Clause<'_> {
    fn score(&self, session: usize) -> f32 {
        let message = self.messages.as_ref().and_then(|h| h.score(session)).unwrap_or(0.0);
        self.metadata[session].max(message)
    }
}

struct Search<'s, 'v> {
    view: &'s View<'v>,
    query: &'s Query,
    options: &'s Options,
    /// Allowed or hidden: the hidden are searched to be counted.
    searched: Vec<bool>,
    allowed: &'s Allowed,
    messages: Option<&'s Messages>,
    metadata: Vec<Vec<f32>>,
}

/// Words too common to say what a sentence is about.
pub(super) const COMMON: &[&str] = &[
    "a", "about", "again", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "do", "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is",
    "it", "its", "last", "me", "my", "of", "on", "or", "our", "session", "should", "so", "some", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "to", "up", "us", "was", "we", "were",
    "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

impl<'s, 'v> Search<'s, 'v> {
    fn new(view: &'s View<'v>, query: &'s Query, options: &'s Options, allowed: &'s Allowed) -> Self {
        let searched = allowed.sessions.iter().zip(&allowed.hidden).map(|(a, h)| *a || *h).collect();
        let messages =
            view.snapshot.messages.as_ref().filter(|_| options.content && query.place != Place::Title);
        let mut search = Self { view, query, options, searched, allowed, messages, metadata: Vec::new() };
        search.metadata = search.match_metadata();
        search
    }

    fn ladder(&self) -> tantivy::Result<Found> {
        let rungs = [
            (Tier::Exact, Reach::Exact),
            (Tier::Prefix, Reach::Prefix),
            (Tier::Typo, Reach::Typo),
            (Tier::Part, Reach::Part),
        ];
        for (tier, reach) in rungs {
            let found = self.rung(tier, reach, false)?;
            if !found.hits.is_empty() || found.hidden > 0 {
                return Ok(found);
            }
        }
        let clauses = self.query.clauses.iter().filter(|c| !c.negated).count();
        if clauses > 1 {
            let found = self.rung(Tier::Most, Reach::Prefix, true)?;
            if !found.hits.is_empty() || found.hidden > 0 {
                return Ok(found);
            }
        }
        Ok(self.subsequences())
    }

    /// Scores of every clause in every session's metadata.
    fn match_metadata(&self) -> Vec<Vec<f32>> {
        let clauses = &self.query.clauses;
        let mut scores = vec![vec![0.0; self.view.sessions.len()]; clauses.len()];
        if !self.query.roles.is_empty() {
            return scores;
        }
        let terms = || clauses.iter().flat_map(|c| &c.any);
        let mut marked = vec![false; self.view.sessions.len()];
        self.view.haystack().mark(terms(), &mut marked);
        let texts = if self.options.summaries { self.view.snapshot.all_texts() } else { Vec::new() };
        for (i, session) in self.view.sessions.iter().enumerate().filter(|(i, _)| self.searched[*i]) {
            let text = self.texts(session.unit, &texts);
            if !marked[i] && (text.is_empty() || !occurs(terms(), &text)) {
                continue;
            }
            let folded = self.folded(session, &text);
            for (n, clause) in clauses.iter().enumerate() {
                scores[n][i] =
                    clause.any.iter().map(|t| folded.score(t, self.query.place)).fold(0.0, f32::max);
            }
        }
        scores
    }

    fn folded(&self, session: &Session<'_>, text: &str) -> Folded {
        let folded = Folded::new(session, text);
        if self.options.titles { folded } else { folded.without_title() }
    }

    fn texts(&self, unit: u32, all: &[u8]) -> String {
        let texts = self
            .view
            .snapshot
            .tables()
            .unit(unit)
            .filter(|_| !all.is_empty())
            .and_then(|u| texts_at(all, u.texts));
        texts.map(|t| t.summaries.join("\n") + "\n" + &t.recap).unwrap_or_default()
    }

    fn expand(&self, term: &Term, reach: Reach) -> Vec<Expansion> {
        let Some(messages) = self.messages else { return Vec::new() };
        let mut reaches = vec![Reach::Exact, Reach::Prefix, Reach::Typo, Reach::Part];
        reaches.retain(|r| *r <= reach);
        // A word that is there as typed is not stretched for the sake of another one.
        for r in &reaches {
            let e = expand(term, *r, messages);
            if *r != Reach::Exact && *r != reach && e.sequences.is_empty() {
                continue;
            }
            if self.exists(&e, messages) {
                return vec![e];
            }
        }
        Vec::new()
    }

    /// Whether any message holds it; cheap for single words, assumed for sequences.
    fn exists(&self, e: &Expansion, messages: &Messages) -> bool {
        e.sequences.iter().any(|s| {
            s.iter().all(|(_, word)| {
                let has = |field| messages.doc_freq(&tantivy::Term::from_field_text(field, word)) > 0;
                has(messages.fields.prose) || has(messages.fields.tool)
            })
        })
    }

    /// One reading of the query. `most`: sessions need not have every word.
    fn rung(&self, tier: Tier, reach: Reach, most: bool) -> tantivy::Result<Found> {
        let mut found = Found { tier: Some(tier), ..Found::default() };
        let mut clauses = Vec::new();
        let mut queries = Vec::new();
        for (n, clause) in self.query.clauses.iter().enumerate() {
            if most
                && !clause.negated
                && clause.any.iter().all(|t| COMMON.contains(&t.text.to_lowercase().as_str()))
            {
                continue;
            }
            let reach = if clause.negated { Reach::Exact } else { reach };
            let expansions: Vec<Expansion> = clause.any.iter().flat_map(|t| self.expand(t, reach)).collect();
            let mut hits = None;
            if let Some(messages) = self.messages
                && let Some(q) = index_query(&expansions, &messages.fields, self.query.place)
            {
                hits = Some(collect(self.view, messages, q.as_ref(), &self.searched, &self.query.roles)?);
                if !clause.negated {
                    queries.push(q);
                }
            }
            if !clause.negated {
                found.words.extend(expansions.iter().flat_map(Expansion::words).map(str::to_owned));
            }
            clauses.push((clause.negated, Clause { metadata: &self.metadata[n], messages: hits }));
        }
        found.wanted = queries.iter().map(|q| q.box_clone()).collect();
        let together = self.together(queries, clauses.iter().filter(|(not, _)| !not).count())?;
        self.combine(&clauses, together.as_ref(), most, &mut found);
        Ok(found)
    }

    /// Messages that hold all words at once.
    fn together(
        &self,
        queries: Vec<Box<dyn tantivy::query::Query>>,
        wanted: usize,
    ) -> tantivy::Result<Option<Hits>> {
        match self.messages {
            Some(messages) if wanted > 1 && queries.len() == wanted => {
                Ok(Some(collect(self.view, messages, &all_of(queries), &self.searched, &self.query.roles)?))
            }
            _ => Ok(None),
        }
    }

    fn combine(
        &self,
        clauses: &[(bool, Clause<'_>)],
        together: Option<&Hits>,
        most: bool,
        found: &mut Found,
    ) {
        let wanted = clauses.iter().filter(|(not, _)| !not).count();
        for session in (0..self.view.sessions.len()).filter(|s| self.searched[*s]) {
            let scores =
                |not: bool| clauses.iter().filter(move |(n, _)| *n == not).map(|(_, c)| c.score(session));
            if scores(true).any(|s| s > 0.0) {
                continue;
            }
            let have = scores(false).filter(|s| *s > 0.0).count();
            let enough = if most { have > 0 && have * 2 >= wanted } else { have == wanted && wanted > 0 };
            if !enough {
                continue;
            }
            if self.allowed.hidden[session] {
                found.hidden += 1;
                continue;
            }
            let mut score: f32 = scores(false).sum();
            score *= (have as f32 / wanted as f32).powi(2);
            score += together.and_then(|h| h.score(session)).unwrap_or(0.0);
            found.hits.push(Hit {
                session: session as u32,
                score,
                messages: self.passages(session, clauses, together),
            });
        }
    }

    /// The messages to show: those with all words first, then the best of each word.
    fn passages(
        &self,
        session: usize,
        clauses: &[(bool, Clause<'_>)],
        together: Option<&Hits>,
    ) -> Vec<Message> {
        let mut shown: Vec<Message> = Vec::new();
        let each = clauses.iter().filter(|(not, _)| !not).filter_map(|(_, c)| c.messages.as_ref());
        let mut rest: Vec<Message> = each.flat_map(|h| h.of(session)).collect();
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
        for message in together.into_iter().flat_map(|h| h.of(session)).chain(rest) {
            if shown.len() < crate::limits::MATCHES_MAX
                && !shown.iter().any(|m| m.address() == message.address())
            {
                shown.push(message);
            }
        }
        shown
    }

    fn subsequences(&self) -> Found {
        let mut found = Found { tier: Some(Tier::Subsequence), ..Found::default() };
        if !self.query.roles.is_empty() || self.query.place != Place::Any {
            return found;
        }
        for (i, session) in self.view.sessions.iter().enumerate().filter(|(i, _)| self.allowed.sessions[*i]) {
            let folded = self.folded(session, "");
            let wanted = self.query.clauses.iter().filter(|c| !c.negated);
            let fits =
                |c: &super::parse::Clause| c.any.iter().any(|t| !t.quoted && folded.subsequence(t) > 0.0);
            if wanted.clone().count() > 0 && wanted.clone().all(fits) {
                found.hits.push(Hit { session: i as u32, score: 0.1, messages: Vec::new() });
            }
        }
        found
    }
}
