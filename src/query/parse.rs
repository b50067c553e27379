//! The query language. Every text has a meaning: what is no operator is looked for as it stands.
//!
//! `word` `"a phrase"` `-not` `pre*` `a OR b` and `key:value` for agent, project, branch, model, role, since, until, on, in, is, has.

use crate::model::{Role, normalize_agent};
use crate::text::tokenize;
use jiff::tz::TimeZone;

/// Where a word must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    #[default]
    Any,
    Title,
    Prose,
    Tool,
}

/// One thing to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As typed, without quotes and operators.
    pub text: String,
    pub quoted: bool,
    pub prefix: bool,
    /// The index's words for it, with their places.
    pub steps: Vec<tokenize::Step>,
}

/// Alternatives, one of which must be found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clause {
    pub any: Vec<Term>,
    pub negated: bool,
    /// A word of a sentence that need not occur.
    pub light: bool,
}

/// A kind of session to ask for with `is:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Is {
    Archived,
    Fork,
    Subagent,
    Interactive,
}

/// A condition on sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    Agent(String),
    Project(String),
    Branch(String),
    Model(String),
    Since(i64),
    Until(i64),
    Is(Is),
    /// A tool failed in it.
    HasError,
}

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    pub clauses: Vec<Clause>,
    /// Each with whether it must not hold.
    pub conditions: Vec<(Condition, bool)>,
    /// Only messages of these roles, if any are named.
    pub roles: Vec<Role>,
    pub place: Place,
    /// The time a sentence speaks of. Sessions of that time come first; others are not left out.
    pub about: Option<(i64, i64)>,
}

impl Query {
    /// Whether there is text to look for, not only conditions.
    pub fn has_text(&self) -> bool {
        self.clauses.iter().any(|c| !c.negated)
    }
}

/// What relative times refer to.
#[derive(Debug, Clone)]
pub struct Clock {
    pub now_ms: i64,
    pub zone: TimeZone,
}

/// Parses a query. `known_agent` tells whether a name is an agent's.
pub fn parse(text: &str, clock: &Clock, known_agent: impl Fn(&str) -> bool) -> Query {
    let mut query = Query::default();
    let mut join = false;
    for word in split(text) {
        if word.text == "OR" && !word.quoted && !word.negated {
            join = query.clauses.last().is_some_and(|c| !c.negated);
            continue;
        }
        if !word.quoted && query.condition(&word, clock, &known_agent) {
            join = false;
            continue;
        }
        query.add(word, std::mem::take(&mut join));
    }
    super::sentence::soften(&mut query, clock);
    query
}

/// A piece of the input: a word, or what stands between quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    /// `key:"quoted value"` has its key here.
    key: Option<String>,
    quoted: bool,
    negated: bool,
}

fn split(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() && words.len() < crate::limits::QUERY_TERMS_MAX {
        let (word, after) = next_word(rest);
        words.push(word);
        rest = after.trim_start();
    }
    words
}

fn next_word(text: &str) -> (Word, &str) {
    // `--flag` is text; `-word` and `-"phrase"` exclude; a lone `-` is text.
    let negated = text.starts_with('-')
        && !text.starts_with("--")
        && text[1..].starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '_'));
    let body = if negated { &text[1..] } else { text };
    if let Some((inner, after)) = quoted(body) {
        return (Word { text: inner.to_owned(), key: None, quoted: true, negated }, after);
    }
    let end = body.find(char::is_whitespace).unwrap_or(body.len());
    if let Some(colon) = body[..end].find(":\"")
        && body[..colon].bytes().all(|b| b.is_ascii_alphabetic())
        && let Some((inner, after)) = quoted(&body[colon + 1..])
    {
        return (
            Word { text: inner.to_owned(), key: Some(body[..colon].to_owned()), quoted: false, negated },
            after,
        );
    }
    (Word { text: body[..end].to_owned(), key: None, quoted: false, negated }, &body[end..])
}

/// Text between quotes at the front; an open quote quotes nothing.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let end = inner.find('"')?;
    (end > 0).then(|| (&inner[..end], &inner[end + 1..]))
}

impl Query {
    fn add(&mut self, word: Word, join: bool) {
        let text = match &word.key {
            Some(key) => format!("{key}:{}", word.text),
            None => word.text,
        };
        let prefix = !word.quoted && text.len() > 1 && text.ends_with('*');
        let text = if prefix { text.trim_end_matches('*').to_owned() } else { text };
        let steps = tokenize::phrase(&text);
        let term = Term { text, quoted: word.quoted, prefix, steps };
        if join && let Some(last) = self.clauses.last_mut() {
            return last.any.push(term);
        }
        self.clauses.push(Clause { any: vec![term], negated: word.negated, light: false });
    }

    /// Takes `key:value` if both mean something.
    fn condition(&mut self, word: &Word, clock: &Clock, known_agent: &impl Fn(&str) -> bool) -> bool {
        let (key, value) = match &word.key {
            Some(key) => (key.as_str(), word.text.as_str()),
            None => match word.text.split_once(':') {
                Some((key, value)) if !value.is_empty() => (key, value),
                _ => return false,
            },
        };
        let condition = match key {
            "agent" if known_agent(value) => Condition::Agent(normalize_agent(value)),
            "project" => Condition::Project(value.to_owned()),
            "branch" => Condition::Branch(value.to_owned()),
            "model" => Condition::Model(value.to_lowercase()),
            "is" => match is(value) {
                Some(is) => Condition::Is(is),
                None => return false,
            },
            "has" if value == "error" => Condition::HasError,
            "since" | "until" | "on" => return self.time(key, value, word.negated, clock),
            _ => return !word.negated && self.message_condition(key, value),
        };
        self.conditions.push((condition, word.negated));
        true
    }

    /// Conditions on messages rather than sessions.
    fn message_condition(&mut self, key: &str, value: &str) -> bool {
        match (key, value) {
            ("role", _) => {
                let roles = roles(value);
                self.roles.extend(&roles);
                return !roles.is_empty();
            }
            ("in", "title") => self.place = Place::Title,
            ("in", "prose") => self.place = Place::Prose,
            ("in", "tool") => self.place = Place::Tool,
            _ => return false,
        }
        true
    }

    fn time(&mut self, key: &str, value: &str, negated: bool, clock: &Clock) -> bool {
        let Some((from, to)) = span(value, clock).filter(|_| !negated) else { return false };
        if key != "until" {
            self.conditions.push((Condition::Since(from), false));
        }
        if key != "since" {
            self.conditions.push((Condition::Until(to), false));
        }
        true
    }
}

fn is(value: &str) -> Option<Is> {
    Some(match value {
        "archived" => Is::Archived,
        "fork" => Is::Fork,
        "subagent" => Is::Subagent,
        "interactive" => Is::Interactive,
        _ => return None,
    })
}

fn roles(value: &str) -> Vec<Role> {
    match value {
        "tool" => vec![Role::ToolInput, Role::ToolOutput],
        _ => Role::ALL.into_iter().filter(|r| r.as_str() == value).collect(),
    }
}

/// The time a word names, as its first and last millisecond: a date, an instant, `today`, `yesterday`, or an age like `7d`.
pub fn span(value: &str, clock: &Clock) -> Option<(i64, i64)> {
    let today =
        jiff::Timestamp::from_millisecond(clock.now_ms).ok()?.to_zoned_datetime(clock.zone.clone()).date();
    match value {
        "today" => return day(today, clock),
        "yesterday" => return day(today.yesterday().ok()?, clock),
        _ => {}
    }
    if let Ok(date) = value.parse::<jiff::civil::Date>()
        && value.len() <= 10
    {
        return day(date, clock);
    }
    if let Some(age) = age(value) {
        return Some((clock.now_ms - age, clock.now_ms - age));
    }
    if let Ok(t) = value.parse::<jiff::Timestamp>() {
        return Some((t.as_millisecond(), t.as_millisecond()));
    }
    let civil = value.parse::<jiff::civil::DateTime>().ok()?;
    let at = clock.zone.to_timestamp(civil).ok()?.as_millisecond();
    Some((at, at))
}

/// The calendar week, month or year before this one.
pub fn previous(unit: &str, clock: &Clock) -> Option<(i64, i64)> {
    let today =
        jiff::Timestamp::from_millisecond(clock.now_ms).ok()?.to_zoned_datetime(clock.zone.clone()).date();
    let (first, length) = match unit {
        "week" => {
            let monday = i64::from(today.weekday().to_monday_zero_offset());
            (today.checked_sub(jiff::Span::new().days(monday)).ok()?, jiff::Span::new().weeks(1))
        }
        "month" => (today.first_of_month(), jiff::Span::new().months(1)),
        _ => (today.first_of_year(), jiff::Span::new().years(1)),
    };
    let before = first.checked_sub(length).ok()?;
    Some((day(before, clock)?.0, day(first, clock)?.0 - 1))
}

fn day(date: jiff::civil::Date, clock: &Clock) -> Option<(i64, i64)> {
    let start = |d: jiff::civil::Date| Some(clock.zone.to_timestamp(d.at(0, 0, 0, 0)).ok()?.as_millisecond());
    Some((start(date)?, start(date.tomorrow().ok()?)? - 1))
}

fn age(value: &str) -> Option<i64> {
    let unit = value.chars().last()?;
    let n: i64 = value[..value.len() - unit.len_utf8()].parse().ok().filter(|n| (0..=100_000).contains(n))?;
    let ms = match unit {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 7 * 86_400_000,
        'y' => 365 * 86_400_000,
        _ => return None,
    };
    Some(n * ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> Clock {
        Clock { now_ms: 1_769_400_000_000, zone: TimeZone::UTC }
    }

    fn q(text: &str) -> Query {
        parse(text, &clock(), |a| a == "claude")
    }

    fn texts(query: &Query) -> Vec<String> {
        let show = |c: &Clause| {
            let any: Vec<_> = c
                .any
                .iter()
                .map(|t| {
                    format!(
                        "{}{}{}",
                        t.text,
                        if t.quoted { "\"" } else { "" },
                        if t.prefix { "*" } else { "" }
                    )
                })
                .collect();
            format!("{}{}", if c.negated { "-" } else { "" }, any.join("|"))
        };
        query.clauses.iter().map(show).collect()
    }

    #[test]
    fn operators() {
        assert_eq!(texts(&q(r#"foo "a b" -bar pre* x OR y"#)), ["foo", "a b\"", "-bar", "pre*", "x|y"]);
        let query = q("agent:claude role:tool in:title since:7d parser");
        assert_eq!(texts(&query), ["parser"]);
        assert_eq!((query.conditions.len(), query.roles.len(), query.place), (2, 2, Place::Title));
    }

    #[test]
    fn what_is_no_operator_is_text() {
        for text in [
            "a:b",
            "agent:nobody",
            "since:never",
            "src/main.rs",
            "multi-agent",
            "don't",
            "\"unbalanced",
            "c++",
            "foo(",
            "AND",
            "--flag",
            "-",
            "is:what",
            "foo::Bar",
        ] {
            assert_eq!(texts(&q(text)), [text], "{text}");
        }
        assert_eq!(texts(&q("OR")), Vec::<String>::new());
    }

    #[test]
    fn days_are_the_users() {
        let la = Clock { zone: TimeZone::get("America/Los_Angeles").unwrap(), ..clock() };
        let (from, to) = span("2026-01-24", &la).unwrap();
        assert!(
            (from..=to).contains(&1_769_314_080_000),
            "04:08 UTC on the 25th is the evening of the 24th there"
        );
        assert_eq!(span("7d", &la), Some((la.now_ms - 7 * 86_400_000, la.now_ms - 7 * 86_400_000)));
    }

    proptest! {
        #[test]
        fn every_text_has_a_meaning(text in any::<String>()) {
            q(&text);
        }
    }
}
