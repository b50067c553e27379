//! Splitting text into words, the same way for the index and for queries.
//!
//! - A run of letters, digits and `_` is a word. It is indexed whole (`from_utf8`, `HTTPServer`, `E0308`) and, where it has
//!   parts, by them (`from`, `utf8`; `http`, `server`) at consecutive positions, the first one at the place of the whole.
//! - Scripts without spaces between words (Chinese, Japanese, Korean, Thai …) are indexed by pairs of characters, and the last
//!   character of a run alone, so that any stretch of them is found as a phrase of pairs.
//! - An emoji is a word.
//! - Everything else separates: `src/main.rs` is the phrase `src main rs`.

use super::{floor_boundary, fold};
use crate::limits::TOKEN_MAX;

/// A piece of text that is a word of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    pub position: u32,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole run.
    Whole,
    /// A part of the run before it.
    Part,
    /// Two characters of a script without spaces.
    Pair,
    /// The last character of such a run.
    Last,
}

/// Walks the words of a text.
pub struct Tokens<'t> {
    text: &'t str,
    at: usize,
    position: u32,
    ready: Vec<Span>,
    next: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Pair,
    Symbol,
    Gap,
}

const PARTS_MAX: usize = 12;

impl<'t> Tokens<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, at: 0, position: 0, ready: Vec::with_capacity(PARTS_MAX + 1), next: 0 }
    }

    /// The next word's place; its folded text replaces `out`.
    pub fn next_into(&mut self, out: &mut String) -> Option<Span> {
        let span = self.next_span()?;
        out.clear();
        fold::fold_into(&self.text[span.start..span.end], out);
        Some(span)
    }

    fn next_span(&mut self) -> Option<Span> {
        while self.next == self.ready.len() {
            self.ready.clear();
            self.next = 0;
            self.fill()?;
        }
        self.next += 1;
        Some(self.ready[self.next - 1])
    }

    /// Finds the next run and queues its words.
    fn fill(&mut self) -> Option<()> {
        let (start, class) = self.skip_gap()?;
        match class {
            Class::Word => self.word(start),
            Class::Pair => self.pair(start),
            _ => {
                let end = start + char_len(self.text, start);
                self.push(start, end, 0, Kind::Whole);
                self.position += 1;
                self.at = end;
            }
        }
        Some(())
    }

    fn skip_gap(&mut self) -> Option<(usize, Class)> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            let b = bytes[self.at];
            if b < 0x80 {
                if is_ascii_word(b) {
                    return Some((self.at, Class::Word));
                }
                self.at += 1;
                continue;
            }
            match class_at(self.text, self.at) {
                Class::Gap => self.at += char_len(self.text, self.at),
                class => return Some((self.at, class)),
            }
        }
        None
    }

    fn run_end(&self, start: usize, class: Class) -> usize {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while at < bytes.len() {
            let b = bytes[at];
            if b < 0x80 {
                if class != Class::Word || !is_ascii_word(b) {
                    break;
                }
                at += 1;
            } else if class_at(self.text, at) == class {
                at += char_len(self.text, at);
            } else {
                break;
            }
        }
        at
    }

    fn word(&mut self, start: usize) {
        let end = self.run_end(start, Class::Word);
        self.at = end;
        let run = &self.text[start..end];
        if run.bytes().all(|b| b == b'_') {
            return;
        }
        self.push(start, start + floor_boundary(run, TOKEN_MAX), 0, Kind::Whole);
        let parts = if run.len() <= TOKEN_MAX { self.parts(start, end) } else { 0 };
        self.position += parts.max(1);
    }

    /// Queues the parts of a run with more than one, or with one that differs from the whole. Returns how many.
    fn parts(&mut self, start: usize, end: usize) -> u32 {
        let first = self.ready.len();
        let mut n = 0;
        let mut from = start;
        let mut before = None;
        let run = &self.text[start..end];
        let mut chars = run.char_indices().peekable();
        while let Some((i, c)) = chars.next() {
            let at = start + i;
            let after = chars.peek().map(|(_, c)| *c);
            if c == '_' {
                n += self.part(from, at, n);
                from = at + 1;
            } else if before.is_some_and(|b| is_border(b, c, after)) {
                n += self.part(from, at, n);
                from = at;
            }
            before = Some(c);
        }
        n += self.part(from, end, n);
        let same = n == 1 && self.ready[first].end - self.ready[first].start == run.len();
        if same || n as usize > PARTS_MAX {
            self.ready.truncate(first);
            return 0;
        }
        n
    }

    fn part(&mut self, from: usize, to: usize, nth: u32) -> u32 {
        if from >= to {
            return 0;
        }
        self.push(from, to, nth, Kind::Part);
        1
    }

    /// Queues up to 64 pairs of a run; a longer run goes on as the next one, overlapping by a character.
    fn pair(&mut self, start: usize) {
        const STEP: usize = 64;
        let end = self.run_end(start, Class::Pair);
        let mut first = start;
        for n in 0..STEP {
            let second = first + char_len(self.text, first);
            if second >= end {
                self.push(first, end, n as u32, Kind::Last);
                self.position += n as u32 + 1;
                self.at = end;
                return;
            }
            self.push(first, second + char_len(self.text, second), n as u32, Kind::Pair);
            first = second;
        }
        self.position += STEP as u32;
        self.at = first;
    }

    fn push(&mut self, start: usize, end: usize, ahead: u32, kind: Kind) {
        self.ready.push(Span { start, end, position: self.position + ahead, kind });
    }
}

/// One step of a phrase: a term of the index and its place relative to the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub term: String,
    pub position: u32,
    pub kind: Kind,
}

/// The terms that text must hold, in these places, to say `text`: whole words and pairs, no parts.
pub fn phrase(text: &str) -> Vec<Step> {
    let text = fold::compose(text);
    let mut tokens = Tokens::new(&text);
    let mut steps: Vec<Step> = Vec::new();
    let mut out = String::new();
    while let Some(span) = tokens.next_into(&mut out) {
        let covered = span.kind == Kind::Last
            && steps.last().is_some_and(|s| s.kind == Kind::Pair && s.position + 1 == span.position);
        if span.kind != Kind::Part && !covered {
            steps.push(Step { term: out.clone(), position: span.position, kind: span.kind });
        }
    }
    steps
}

/// The parts of a single identifier (`from_utf8` → `from`, `utf8`), empty if it has none.
pub fn parts(word: &str) -> Vec<String> {
    let text = fold::compose(word);
    let mut tokens = Tokens::new(&text);
    let mut out = String::new();
    let mut parts = Vec::new();
    while let Some(span) = tokens.next_into(&mut out) {
        if span.kind == Kind::Part {
            parts.push(out.clone());
        }
    }
    parts
}

fn is_ascii_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Whether a new part begins at `c`: `fooBar`, `utf8Bar`, and the last capital of `HTTPServer`.
fn is_border(before: char, c: char, after: Option<char>) -> bool {
    c.is_uppercase() && before != '_' && (!before.is_uppercase() || after.is_some_and(|a| a.is_lowercase()))
}

fn char_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(1, char::len_utf8)
}

fn class_at(text: &str, at: usize) -> Class {
    text[at..].chars().next().map_or(Class::Gap, class)
}

fn class(c: char) -> Class {
    match c {
        '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Class::Symbol,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Class::Pair,
        '\u{1100}'..='\u{11ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'
        | '\u{3105}'..='\u{318e}'
            if c != '\u{30fb}' =>
        {
            Class::Pair
        }
        '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' => Class::Pair,
        '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}' => Class::Pair,
        c if c.is_alphanumeric() || is_mark(c) => Class::Word,
        _ => Class::Gap,
    }
}

/// Combining marks inside words of scripts that need them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{981}'..='\u{983}'
        | '\u{9bc}'..='\u{9cd}' | '\u{a01}'..='\u{a51}' | '\u{b3c}'..='\u{bcd}' | '\u{c00}'..='\u{ccd}' | '\u{d3b}'..='\u{d4d}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<(String, u32)> {
        let mut tokens = Tokens::new(text);
        let mut out = String::new();
        let mut all = Vec::new();
        while let Some(span) = tokens.next_into(&mut out) {
            all.push((out.clone(), span.position));
        }
        all
    }

    fn plain(text: &str) -> String {
        words(text).iter().map(|(w, p)| format!("{w}@{p}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn identifiers_whole_and_by_part() {
        assert_eq!(plain("from_utf8(x)"), "from_utf8@0 from@0 utf8@1 x@2");
        assert_eq!(plain("HTTPServer fooBar"), "httpserver@0 http@0 server@1 foobar@2 foo@2 bar@3");
        assert_eq!(plain("__init__ ___ E0308"), "__init__@0 init@0 e0308@1");
        assert_eq!(plain("src/main.rs --dry-run"), "src@0 main@1 rs@2 dry@3 run@4");
    }

    #[test]
    fn scripts_without_spaces_by_pairs() {
        assert_eq!(plain("评审会议 a"), "评审@0 审会@1 会议@2 议@3 a@4");
        assert_eq!(plain("修改youer服务"), "修改@0 改@1 youer@2 服务@3 务@4");
        assert_eq!(plain("done🚀✅"), "done@0 🚀@1 ✅@2");
    }

    #[test]
    fn a_phrase_leaves_out_parts_and_the_last_character() {
        let steps: Vec<_> = phrase("foo_bar::Baz 会议").into_iter().map(|s| (s.term, s.position)).collect();
        let expect = [("foo_bar", 0), ("baz", 2), ("会议", 3)].map(|(t, p)| (t.to_owned(), p));
        assert_eq!(steps, expect);
        assert_eq!(phrase("会")[0].kind, Kind::Last);
        assert_eq!(parts("from_utf8"), ["from", "utf8"]);
    }

    proptest! {
        #[test]
        fn any_text_splits_and_a_long_run_stays_findable(text in "\\PC{0,200}") {
            let indexed = words(&text);
            prop_assert!(indexed.windows(2).all(|w| w[0].1 <= w[1].1 + PARTS_MAX as u32));
        }

        #[test]
        fn pairs_of_a_long_run_are_those_of_the_text(n in 1usize..300) {
            let text: String = (0..n).map(|i| char::from_u32(0x4e00 + i as u32).unwrap_or('一')).collect();
            let all = words(&text);
            prop_assert_eq!(all.len(), n);
            prop_assert!(all.iter().enumerate().all(|(i, (_, p))| *p == i as u32));
        }
    }
}
