//! Answering a query: which sessions are asked about, what is found in them, in which order.

use super::collapse::collapse;
use super::content::Message;
use super::failed::failed;
use super::filter::{Allowed, SessionFilter, allowed};
use super::ladder::Search;
use super::parse::{Condition, Query};
use super::view::View;
use std::collections::{HashMap, HashSet};

/// Which reading found the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Exact,
    Prefix,
    Form,
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
            Self::Form => "form",
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
    /// It was found by a wider reading than those before it.
    pub late: bool,
    pub messages: Vec<Message>,
}

/// The answer: all sessions in order.
#[derive(Debug, Default)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub tier: Option<Tier>,
    /// Words of the index that were found, for highlighting.
    pub words: HashSet<String>,
    /// Words that were corrected, each with what it was read as.
    pub corrections: Vec<(String, String)>,
    /// Sessions that match but are hidden because no person drove them.
    pub hidden: usize,
    /// What messages were looked for.
    pub wanted: Vec<Box<dyn tantivy::query::Query>>,
    /// The copies that are counted with a session, in their order.
    pub copies: HashMap<u32, Vec<u32>>,
}

/// How much of a score age can take away.
const RECENCY: f32 = 0.25;
/// What being of the time that a sentence speaks of is worth.
const NAMED_TIME: f32 = 1.6;

/// Runs a query.
pub fn run(view: &View<'_>, query: &Query, options: &Options) -> tantivy::Result<Found> {
    let mut allowed = allowed(view, &options.filter, query);
    for (_, not) in query.conditions.iter().filter(|(c, _)| *c == Condition::HasError) {
        let failed = failed(view)?;
        allowed.only(|s| failed[s] != *not);
    }
    let mut found =
        if query.has_text() { Search::new(view, query, options, &allowed).ladder()? } else { list(&allowed) };
    let ranked = query.has_text() && options.sort == Sort::Relevance;
    if ranked {
        favour(view, &mut found.hits, query.about, options.now_ms);
    } else {
        found.hits.iter_mut().for_each(|h| h.score = 0.0);
    }
    order(view, &mut found.hits);
    if options.collapse {
        collapse(view, query, options, ranked, &mut found)?;
    }
    Ok(found)
}

fn list(allowed: &Allowed) -> Found {
    let hit = |i: usize| Hit { session: i as u32, score: 0.0, late: false, messages: Vec::new() };
    Found {
        hits: allowed.sessions.iter().enumerate().filter(|(_, a)| **a).map(|(i, _)| hit(i)).collect(),
        hidden: allowed.hidden.iter().filter(|h| **h).count(),
        ..Found::default()
    }
}

/// Newer sessions come before older ones that match as well, those of the time that was named before others.
fn favour(view: &View<'_>, hits: &mut [Hit], about: Option<(i64, i64)>, now_ms: i64) {
    for hit in hits {
        let facts = &view.sessions[hit.session as usize].facts;
        let age_days = (now_ms - facts.last_ms).max(0) as f32 / 86_400_000.0;
        hit.score *= 1.0 - RECENCY + RECENCY * (-age_days / 30.0).exp2();
        if about.is_some_and(|(from, to)| facts.started_ms <= to && facts.last_ms >= from) {
            hit.score *= NAMED_TIME;
        }
    }
}

fn order(view: &View<'_>, hits: &mut [Hit]) {
    let facts = |h: &Hit| &view.sessions[h.session as usize].facts;
    hits.sort_by(|a, b| {
        (a.late.cmp(&b.late))
            .then_with(|| b.score.total_cmp(&a.score))
            .then_with(|| facts(b).last_ms.cmp(&facts(a).last_ms))
            .then_with(|| facts(a).id.cmp(&facts(b).id))
    });
}
