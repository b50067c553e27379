//! A ladder of readings, from the words as typed to most of them, until one finds something.

use super::content::{Hits, Message, collect};
use super::filter::Allowed;
use super::metadata::{Folded, occurs};
use super::parse::{Clause, Place, Query, Term};
use super::run::{Found, Hit, Options, Tier};
use super::terms::{
    Expansion, Reach, Sequence, Within, adjoin, expand, frequency, likelier, neighbours,
    query as index_query, together, weighted, within,
};
use super::view::{Session, View};
use crate::index::snapshot::{Messages, texts_at};
use crate::limits;
use crate::text::fold;
use std::collections::HashMap;

/// What one clause found.
struct Part<'s> {
    clause: &'s Clause,
    /// Score of its metadata match, per session.
    metadata: &'s [f32],
    messages: Option<Hits>,
    /// What those were looked for by.
    query: Option<Box<dyn tantivy::query::Query>>,
    /// It names a project: what is said there need not say it again.
    name: bool,
    expansions: Vec<Expansion>,
    /// How much it says: words that occur everywhere say little.
    weight: f32,
}

impl Part<'_> {
    fn score(&self, session: usize) -> f32 {
        let message = self.messages.as_ref().and_then(|h| h.score(session)).unwrap_or(0.0);
        self.metadata[session].max(if self.name { NAMED_ELSEWHERE * message } else { message })
    }
}

/// A reading of the query.
#[derive(Clone, Copy)]
struct Rung {
    tier: Tier,
    reach: Reach,
}

const RUNGS: [Rung; 5] = [
    Rung { tier: Tier::Exact, reach: Reach::Exact },
    Rung { tier: Tier::Prefix, reach: Reach::Prefix },
    Rung { tier: Tier::Form, reach: Reach::Form },
    Rung { tier: Tier::Typo, reach: Reach::Typo },
    Rung { tier: Tier::Part, reach: Reach::Part },
];
/// Sessions need not have every word.
const MOST: Rung = Rung { tier: Tier::Most, reach: Reach::Typo };
/// A project's name in what is said, beside being said in the project.
const NAMED_ELSEWHERE: f32 = 0.3;
/// Words in one message say more than words here and there.
const TOGETHER: f32 = 1.5;
/// So few sessions that a likelier spelling is looked for too.
const FEW: usize = 2;

/// A query on its way through the readings.
pub struct Search<'s, 'v> {
    view: &'s View<'v>,
    query: &'s Query,
    options: &'s Options,
    /// Allowed or hidden: the hidden are searched to be counted.
    searched: Vec<bool>,
    allowed: &'s Allowed,
    messages: Option<&'s Messages>,
    metadata: Vec<Vec<f32>>,
    /// Whether a clause is the name of a project.
    names: Vec<bool>,
    /// Sessions whose titles hold the whole query, with how well.
    titled: HashMap<u32, f32>,
}

impl<'s, 'v> Search<'s, 'v> {
    pub fn new(view: &'s View<'v>, query: &'s Query, options: &'s Options, allowed: &'s Allowed) -> Self {
        let searched = allowed.sessions.iter().zip(&allowed.hidden).map(|(a, h)| *a || *h).collect();
        let messages =
            view.snapshot.messages.as_ref().filter(|_| options.content && query.place != Place::Title);
        let names = vec![false; query.clauses.len()];
        let mut search = Self {
            view,
            query,
            options,
            searched,
            allowed,
            messages,
            metadata: Vec::new(),
            names,
            titled: HashMap::new(),
        };
        search.match_metadata();
        search
    }

    pub fn ladder(&self) -> tantivy::Result<Found> {
        for rung in RUNGS {
            let found = self.rung(rung)?;
            if !found.hits.is_empty() || found.hidden > 0 {
                return self.widened(found);
            }
        }
        if self.wanted().count() > 1 {
            let found = self.rung(MOST)?;
            if !found.hits.is_empty() || found.hidden > 0 {
                return Ok(found);
            }
        }
        Ok(self.subsequences())
    }

    /// The clauses that say what is looked for.
    fn wanted(&self) -> impl Iterator<Item = &'s Clause> {
        self.query.clauses.iter().filter(|c| !c.negated && !c.light)
    }

    /// A question in words of which no session need have all.
    fn is_sentence(&self) -> bool {
        let wanted = self.wanted().count();
        wanted >= 5 || wanted >= 3 && self.query.clauses.iter().any(|c| c.light)
    }

    /// A sentence is also answered by sessions with most of its words, a rare word by its likelier spelling.
    fn widened(&self, found: Found) -> tantivy::Result<Found> {
        if self.is_sentence() && found.hits.len() < limits::PAGE_DEFAULT {
            let most = self.rung(MOST)?;
            return Ok(if most.hits.len() > found.hits.len() { most } else { found });
        }
        let likelier = |t: &Term| self.messages.is_some_and(|m| likelier(t, m).is_some());
        if found.tier >= Some(Tier::Typo)
            || found.hits.len() > FEW
            || !self.wanted().any(|c| c.any.iter().any(likelier))
        {
            return Ok(found);
        }
        let more = self.rung(Rung { tier: Tier::Typo, reach: Reach::Typo })?;
        Ok(add(found, more))
    }

    /// Scores of every clause in every session's metadata.
    fn match_metadata(&mut self) {
        let clauses = &self.query.clauses;
        let mut scores = vec![vec![0.0; self.view.sessions.len()]; clauses.len()];
        if !self.query.roles.is_empty() {
            self.metadata = scores;
            return;
        }
        let heavy = || clauses.iter().filter(|c| !c.light);
        let terms = || heavy().flat_map(|c| &c.any);
        let mut marked = vec![false; self.view.sessions.len()];
        self.view.haystack().mark(terms(), &mut marked);
        let whole = self.whole();
        let texts = if self.options.summaries { self.view.snapshot.all_texts() } else { Vec::new() };
        for (i, session) in self.view.sessions.iter().enumerate().filter(|(i, _)| self.searched[*i]) {
            let text = self.texts(session.unit, &texts);
            if !marked[i] && (text.is_empty() || !occurs(terms(), &text)) {
                continue;
            }
            let folded = self.folded(session, &text);
            if let Some(score) = whole.as_deref().map(|w| folded.phrase(w)).filter(|s| *s > 0.0) {
                self.titled.insert(i as u32, score);
            }
            for (n, clause) in clauses.iter().enumerate().filter(|(_, c)| !c.light) {
                scores[n][i] =
                    clause.any.iter().map(|t| folded.score(t, self.query.place)).fold(0.0, f32::max);
                self.names[n] |= clause.any.iter().any(|t| folded.is_named(t));
            }
        }
        scores.iter_mut().for_each(|s| by_rarity(s));
        self.metadata = scores;
    }

    /// A query of several plain words as one text, folded.
    fn whole(&self) -> Option<String> {
        let plain = |c: &Clause| !c.negated && matches!(c.any.as_slice(), [t] if !t.quoted && !t.prefix);
        let clauses = &self.query.clauses;
        (clauses.len() > 1 && clauses.iter().all(plain)).then(|| {
            fold::fold(&clauses.iter().map(|c| c.any[0].text.as_str()).collect::<Vec<_>>().join(" "))
        })
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

    fn expand(&self, term: &Term, rung: Rung) -> Vec<Expansion> {
        let Some(messages) = self.messages else { return Vec::new() };
        // A word that is there as typed is not stretched for the sake of another one, unless it looks mistyped.
        for r in Reach::ALL.into_iter().filter(|r| *r <= rung.reach) {
            let e = expand(term, r, messages);
            // On its own rung a phrase need not be tried beforehand.
            if !e.sequences.iter().any(|s| exists(s, messages, r < rung.reach)) {
                continue;
            }
            let mut all = vec![e];
            if rung.tier == Tier::Typo && r < Reach::Typo && likelier(term, messages).is_some() {
                all.push(expand(term, Reach::Typo, messages));
            }
            if rung.tier == Tier::Most && r == Reach::Exact {
                all.push(expand(term, Reach::Form, messages));
            }
            return all;
        }
        Vec::new()
    }

    /// Looks for one clause.
    fn part(&self, n: usize, clause: &'s Clause, rung: Rung) -> tantivy::Result<Part<'_>> {
        let rung = if clause.negated { RUNGS[0] } else { rung };
        let expansions: Vec<Expansion> = clause.any.iter().flat_map(|t| self.expand(t, rung)).collect();
        let mut part = Part {
            name: self.names[n],
            clause,
            metadata: &self.metadata[n],
            messages: None,
            query: None,
            expansions,
            weight: 1.0,
        };
        if let Some(messages) = self.messages
            && let Some(query) = index_query(&part.expansions, &within(self.query.place, &messages.fields))
        {
            part.messages =
                Some(collect(self.view, messages, query.as_ref(), &self.searched, &self.query.roles)?);
            part.query = Some(query);
        }
        if rung.tier == Tier::Most {
            let sessions = (0..self.view.sessions.len()).filter(|s| self.searched[*s]);
            let have = sessions.filter(|s| part.score(*s) > 0.0).count();
            part.weight = rarity(have, self.view.sessions.len());
        }
        Ok(part)
    }

    /// One reading of the query.
    fn rung(&self, rung: Rung) -> tantivy::Result<Found> {
        let mut found = Found { tier: Some(rung.tier), ..Found::default() };
        let mut parts = Vec::new();
        for (n, clause) in self.query.clauses.iter().enumerate().filter(|(_, c)| !c.light) {
            let part = self.part(n, clause, rung)?;
            if !clause.negated {
                found.words.extend(part.expansions.iter().flat_map(Expansion::words).map(str::to_owned));
                found.corrections.extend(corrections(clause, &part.expansions));
            }
            parts.push(part);
        }
        let wanted = parts.iter().filter(|p| !p.clause.negated).filter_map(|p| p.query.as_ref());
        found.wanted = wanted.map(|q| q.box_clone()).collect();
        let together = self.together(&parts, rung.tier != Tier::Most)?;
        self.combine(&parts, together.as_ref(), rung.tier == Tier::Most, &mut found);
        Ok(found)
    }

    /// Messages that hold the words at once: all of them, or, of a sentence, as many as possible. Neighbours count twice.
    fn together(&self, parts: &[Part<'_>], all: bool) -> tantivy::Result<Option<Hits>> {
        let Some(messages) = self.messages else { return Ok(None) };
        let wanted: Vec<&Part<'_>> = parts.iter().filter(|p| !p.clause.negated).collect();
        let found = wanted.iter().filter(|p| p.messages.is_some()).count();
        if found < 2 || all && found < wanted.len() {
            return Ok(None);
        }
        // A message is in one field: within one at a time, what all words share is found without looking at the rest.
        let fields = within(self.query.place, &messages.fields);
        let queries = fields.into_iter().map(|f| self.together_within(&wanted, all, f)).collect();
        let query = tantivy::query::BooleanQuery::union(queries);
        collect(self.view, messages, &query, &self.searched, &self.query.roles).map(Some)
    }

    fn together_within(
        &self,
        wanted: &[&Part<'_>],
        all: bool,
        field: Within,
    ) -> Box<dyn tantivy::query::Query> {
        const NEIGHBOURS: usize = 6;
        let place =
            |p: &Part<'_>| self.query.clauses.iter().position(|c| std::ptr::eq(c, p.clause)).unwrap_or(0);
        let pair = |w: &[&Part<'_>]| {
            let ([first], [second]) = (w[0].expansions.as_slice(), w[1].expansions.as_slice()) else {
                return None;
            };
            neighbours(first, second, (place(w[1]) - place(w[0])) as u32, field)
        };
        let word = |p: &&Part<'_>| {
            let query = index_query(&p.expansions, &[field])?;
            let elsewhere = if all && p.name { NAMED_ELSEWHERE } else { 1.0 };
            Some((weighted(query, elsewhere), all && !p.name))
        };
        let pairs = wanted.windows(2).filter_map(pair).take(NEIGHBOURS).collect();
        together(wanted.iter().filter_map(word).collect(), pairs)
    }

    fn combine(&self, parts: &[Part<'_>], together: Option<&Hits>, most: bool, found: &mut Found) {
        for session in (0..self.view.sessions.len()).filter(|s| self.searched[*s]) {
            let Some(mut score) = score(parts, session, most) else { continue };
            if self.allowed.hidden[session] {
                found.hidden += 1;
                continue;
            }
            if let Some(message) = together.and_then(|h| h.score(session)) {
                // What is said in a project is said together with its name.
                let names: f32 = parts.iter().filter(|p| p.name).map(|p| p.metadata[session]).sum();
                score += TOGETHER * (message + names);
            }
            score += self.titled.get(&(session as u32)).copied().unwrap_or(0.0);
            let messages = self.passages(session, parts, together);
            found.hits.push(Hit { session: session as u32, score, late: false, messages });
        }
    }

    /// The messages to show: those with all words first, then the best of each word.
    fn passages(&self, session: usize, parts: &[Part<'_>], together: Option<&Hits>) -> Vec<Message> {
        let mut shown: Vec<Message> = Vec::new();
        let each = parts.iter().filter(|p| !p.clause.negated).filter_map(|p| p.messages.as_ref());
        let mut rest: Vec<Message> = each.flat_map(|h| h.of(session)).collect();
        rest.sort_by(|a, b| b.score.total_cmp(&a.score));
        for message in together.into_iter().flat_map(|h| h.of(session)).chain(rest) {
            if shown.len() < limits::MATCHES_MAX && !shown.iter().any(|m| m.address() == message.address()) {
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
            let fits = |c: &Clause| c.any.iter().any(|t| !t.quoted && folded.subsequence(t) > 0.0);
            if self.wanted().count() > 0 && self.wanted().all(fits) {
                found.hits.push(Hit { session: i as u32, score: 0.1, late: false, messages: Vec::new() });
            }
        }
        found
    }
}

/// How much having a word says, from 0 to 1, when so many of all sessions have it.
fn rarity(have: usize, all: usize) -> f32 {
    (1.0 + all as f32 / have.max(1) as f32).ln() / (1.0 + all as f32).ln()
}

/// A name that many sessions share says less of each of them.
fn by_rarity(scores: &mut [f32]) {
    const LEAST: f32 = 0.3;
    let have = scores.iter().filter(|s| **s > 0.0).count();
    let factor = LEAST + (1.0 - LEAST) * rarity(have, scores.len());
    scores.iter_mut().for_each(|s| *s *= factor);
}

/// The score of a session by its words, if it has those that it needs and none that it must not have.
fn score(parts: &[Part<'_>], session: usize, most: bool) -> Option<f32> {
    let (mut sum, mut have, mut wanted) = (0.0, 0.0, 0.0);
    for part in parts {
        let score = part.score(session);
        if part.clause.negated {
            if score > 0.0 {
                return None;
            }
            continue;
        }
        wanted += part.weight;
        if score > 0.0 {
            (sum, have) = (sum + score, have + part.weight);
        } else if !most {
            return None;
        }
    }
    let enough = have > 0.0 && have * 2.0 >= wanted;
    enough.then(|| sum * (have / wanted).powi(2))
}

/// Whether any message holds it. Words are looked up; whether they stand side by side is found out only if asked.
fn exists(s: &Sequence, messages: &Messages, side_by_side: bool) -> bool {
    s.steps.iter().all(|(_, word)| frequency(messages, word) > 0)
        && (!side_by_side || s.steps.len() == 1 || adjoin(s, messages))
}

/// What is said of a corrected word. A spelling with digits may be a piece of a key, and a guess must not give that away.
fn corrections(clause: &Clause, expansions: &[Expansion]) -> Vec<(String, String)> {
    let plain = |word: &String| !word.contains(|c: char| c.is_ascii_digit());
    let corrected = expansions.iter().find_map(|e| e.corrected.clone()).filter(plain);
    let typed = clause.any.iter().find(|_| corrected.is_some());
    typed.zip(corrected).map(|(t, c)| (t.text.clone(), c)).into_iter().collect()
}

/// What a wider reading finds, after what was found before.
fn add(mut found: Found, more: Found) -> Found {
    let known: std::collections::HashSet<u32> = found.hits.iter().map(|h| h.session).collect();
    let before = found.hits.len();
    found.hits.extend(
        more.hits.into_iter().filter(|h| !known.contains(&h.session)).map(|h| Hit { late: true, ..h }),
    );
    if found.hits.len() > before {
        found.words.extend(more.words);
        found.wanted.extend(more.wanted);
        found.corrections = more.corrections;
        found.hidden = found.hidden.max(more.hidden);
    }
    found
}
