//! The passage that shows a match, read from the live store.

use crate::limits::SNIPPET_MAX;
use crate::text::tokenize::Tokens;
use crate::text::{Clean, ceil_boundary, floor_boundary, fold};
use std::collections::HashSet;
use std::ops::Range;

/// A passage and the byte ranges in it that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: Clean,
    pub highlights: Vec<Range<usize>>,
}

/// The best passage of a text for these words; `None` if it holds none of them.
pub fn snippet(text: &str, words: &HashSet<String>) -> Option<Snippet> {
    let found = places(text, words);
    let window = best(&found)?;
    let (from, to) = widen(text, window);
    let text = Clean::excerpt(text, from..to, SNIPPET_MAX);
    let highlights = merge(places(text.as_str(), words).into_iter().map(|(r, _)| r).collect());
    (!highlights.is_empty()).then_some(Snippet { text, highlights })
}

/// Where the words stand, with the word.
fn places(text: &str, words: &HashSet<String>) -> Vec<(Range<usize>, u64)> {
    let composed = fold::compose(text);
    // Offsets fit only if composing changed nothing; a text that it changes is shown from its start.
    let exact = matches!(composed, std::borrow::Cow::Borrowed(_));
    let mut tokens = Tokens::new(&composed);
    let mut word = String::new();
    let mut found = Vec::new();
    while let Some(span) = tokens.next_into(&mut word) {
        if words.contains(word.as_str()) {
            let range = if exact {
                span.start..span.end
            } else {
                floor_boundary(text, span.start)..floor_boundary(text, span.end)
            };
            found.push((range, xxhash_rust::xxh3::xxh3_64(word.as_bytes())));
        }
    }
    found
}

/// The window of a snippet's size with the most different words, the earliest of equals.
fn best(found: &[(Range<usize>, u64)]) -> Option<Range<usize>> {
    const SPAN: usize = SNIPPET_MAX * 2 / 3;
    const LOOK: usize = 2_000;
    let mut best: Option<(usize, Range<usize>)> = None;
    for (i, (first, _)) in found.iter().enumerate().take(LOOK) {
        let inside = found[i..].iter().take(64).take_while(|(r, _)| r.end <= first.start + SPAN);
        let different = inside.clone().map(|(_, w)| *w).collect::<HashSet<_>>().len();
        let end = inside.map(|(r, _)| r.end).last().unwrap_or(first.end);
        if best.as_ref().is_none_or(|(n, _)| different > *n) {
            best = Some((different, first.start..end));
        }
    }
    best.map(|(_, r)| r)
}

/// Takes in what is around, from a border of a sentence or line if one is near.
fn widen(text: &str, core: Range<usize>) -> (usize, usize) {
    let room = SNIPPET_MAX.saturating_sub(core.len() + 8);
    let earliest = ceil_boundary(text, core.start.saturating_sub(room / 3));
    let before = &text[earliest..floor_boundary(text, core.start.max(earliest))];
    let start = match before.rfind(['\n', '。']).or_else(|| before.rfind(". ")) {
        Some(i) => ceil_boundary(text, earliest + i + 1),
        None if earliest == 0 => 0,
        None => before.find(char::is_whitespace).map_or(earliest, |i| earliest + i),
    };
    // A border just before a match at the end of a text would show the match alone.
    let start = if text.len() - start < SNIPPET_MAX / 3 { earliest } else { start };
    let latest = floor_boundary(text, (start + SNIPPET_MAX - 8).max(core.end).min(text.len()));
    let after = &text[core.end.min(latest)..latest];
    let end = if latest == text.len() {
        latest
    } else {
        after.rfind(char::is_whitespace).map_or(latest, |i| core.end + i)
    };
    (start, end.max(floor_boundary(text, core.end)))
}

fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|r| (r.start, r.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for r in ranges {
        match merged.last_mut() {
            Some(last) if r.start <= last.end => last.end = last.end.max(r.end),
            _ => merged.push(r),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(list: &[&str]) -> HashSet<String> {
        list.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn the_densest_passage_is_shown() {
        let text = format!(
            "parser alone. {} the parser panics on retry here. {}",
            "x ".repeat(400),
            "y ".repeat(400)
        );
        let s = snippet(&text, &words(&["parser", "panics", "retry"])).unwrap();
        let marked: Vec<_> = s.highlights.iter().map(|r| &s.text.as_str()[r.clone()]).collect();
        assert_eq!(marked, ["parser", "panics", "retry"]);
        assert!(s.text.as_str().len() <= SNIPPET_MAX && s.text.as_str().starts_with('…'));
    }

    #[test]
    fn pairs_run_together() {
        let s = snippet("明天下午三点开项目评审会议", &words(&["评审", "审会", "会议"])).unwrap();
        assert_eq!(s.highlights.len(), 1);
        assert_eq!(&s.text.as_str()[s.highlights[0].clone()], "评审会议");
        assert_eq!(snippet("nothing", &words(&["parser"])), None);
    }

    proptest! {
        #[test]
        fn highlights_lie_on_characters(text in any::<String>(), word in "[a-z]{1,3}") {
            if let Some(s) = snippet(&text, &words(&[&word])) {
                prop_assert!(s.text.as_str().len() <= SNIPPET_MAX);
                for r in s.highlights {
                    prop_assert!(s.text.as_str().get(r).is_some());
                }
            }
        }
    }
}
