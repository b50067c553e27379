//! Questions typed as sentences: which words say what they are about, and which say when.

use super::parse::{Clause, Clock, Query, span};

/// Words too common to say what a sentence is about.
pub(super) const COMMON: &[&str] = &[
    "a",
    "about",
    "again",
    "all",
    "also",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "but",
    "by",
    "can",
    "could",
    "did",
    "do",
    "does",
    "for",
    "from",
    "get",
    "got",
    "had",
    "has",
    "have",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "last",
    "me",
    "my",
    "not",
    "of",
    "on",
    "or",
    "our",
    "project",
    "repo",
    "repository",
    "session",
    "should",
    "so",
    "some",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "up",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
];

/// Marks what need not occur if other words are there: common words, those that only say when, and mere signs.
pub fn soften(query: &mut Query, clock: &Clock) {
    let plain: Vec<String> = query.clauses.iter().map(|c| plain(c).unwrap_or_default()).collect();
    if plain.len() >= 3 {
        query.about = when(&plain, clock).map(|(words, span)| {
            query.clauses[words].iter_mut().for_each(|c| c.light = true);
            span
        });
    }
    for (clause, word) in query.clauses.iter_mut().zip(&plain) {
        // Signs alone are no words of the index: `(a && b)` is found by its words.
        let signs = !clause.negated && clause.any.iter().all(|t| t.steps.is_empty());
        clause.light |= signs || COMMON.contains(&word.as_str());
    }
    if !query.clauses.iter().any(|c| !c.negated && !c.light) {
        query.clauses.iter_mut().for_each(|c| c.light = false);
        query.about = None;
    }
}

/// A word of a sentence, in small letters and without its mark at the end; `None` for anything that was put in with intent.
fn plain(clause: &Clause) -> Option<String> {
    match clause.any.as_slice() {
        [term] if !term.quoted && !term.prefix && !clause.negated => {
            Some(term.text.trim_end_matches(['?', '!', '.', ',']).to_lowercase())
        }
        _ => None,
    }
}

type When = (std::ops::Range<usize>, (i64, i64));

/// The words that say when, and the time they name: `yesterday`, `last week`, `3 days ago`.
fn when(words: &[String], clock: &Clock) -> Option<When> {
    const DAY: i64 = 86_400_000;
    let days = |unit: &str| match unit.trim_end_matches('s') {
        "day" => Some(1),
        "week" => Some(7),
        "month" => Some(30),
        "year" => Some(365),
        _ => None,
    };
    for (i, word) in words.iter().enumerate() {
        let next = |n: usize| words.get(i + n).map_or("", String::as_str);
        let found = match (word.as_str(), next(1)) {
            ("yesterday" | "today", _) => (1, span(word, clock)),
            ("last", "week" | "month" | "year") => (2, super::parse::previous(next(1), clock)),
            ("this", "week" | "month" | "year") => {
                (2, days(next(1)).map(|d| (clock.now_ms - d * DAY, clock.now_ms)))
            }
            (n, unit) if next(2) == "ago" => {
                let (n, unit) = (n.parse::<i64>().ok().filter(|n| (1..1000).contains(n)), days(unit));
                let around = |(n, d): (i64, i64)| {
                    let (at, half) = (clock.now_ms - n * d * DAY, (d * DAY / 2).max(DAY));
                    (at - half, at + half)
                };
                (3, n.zip(unit).map(around))
            }
            _ => (0, None),
        };
        if let (n, Some(span)) = found {
            return Some((i..i + n, span));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Clock, Query, parse};

    const DAY: i64 = 86_400_000;

    fn clock() -> Clock {
        // Tuesday, 2026-12-01 12:00 UTC.
        Clock { now_ms: 1_796_126_400_000, zone: jiff::tz::TimeZone::UTC }
    }

    fn heavy(query: &Query) -> Vec<&str> {
        query.clauses.iter().filter(|c| !c.light).map(|c| c.any[0].text.as_str()).collect()
    }

    #[test]
    fn a_sentence_is_about_its_rare_words() {
        let q = parse("how did we fix the flaky retry in billing last week", &clock(), |_| false);
        assert_eq!(heavy(&q), ["fix", "flaky", "retry", "billing"]);
        let q = parse("what was it?", &clock(), |_| false);
        assert_eq!(heavy(&q).len(), 3, "nothing but common words: all count");
        let q = parse("(a1 && b1) ||", &clock(), |_| false);
        assert_eq!(heavy(&q), ["(a1", "b1)"]);
        let q = parse("\"how did we\" fix -the", &clock(), |_| false);
        assert_eq!(heavy(&q).len(), 3);
    }

    #[test]
    fn words_for_times() {
        let ago = |text: &str| {
            let (from, to) = parse(text, &clock(), |_| false).about?;
            Some(((clock().now_ms - to).div_euclid(DAY), (clock().now_ms - from).div_euclid(DAY)))
        };
        assert_eq!(ago("the retry talk yesterday"), Some((0, 1)));
        assert_eq!(ago("the retry talk last week"), Some((1, 8)));
        assert_eq!(ago("last month the retry talk"), Some((0, 30)));
        assert_eq!(ago("the retry talk 3 weeks ago"), Some((17, 24)));
        for text in ["last week", "yesterday", "the last retry", "retry weeks ago now", "0 weeks ago retry"] {
            assert_eq!(ago(text), None, "{text}");
        }
    }
}
