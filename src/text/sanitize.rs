//! Text that may be shown: no control character, no escape sequence, nothing invisible that changes what is seen.

use super::{floor_boundary, redact, truncate};
use std::fmt;
use std::ops::Range;

/// Text that passed the sanitiser. Answers hold store text only as this type.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct Clean(String);

impl Clean {
    /// One line: runs of white space become one space; cut to `max` bytes on a grapheme; credentials masked.
    pub fn line(text: &str, max: usize) -> Self {
        Self::one_line(&head(text, max), max)
    }

    /// Like [`Clean::line`] without masking, for names and paths.
    pub fn name(text: &str, max: usize) -> Self {
        Self::one_line(&strip(text, max.saturating_mul(4), true), max)
    }

    /// Text with its line feeds and tabs; credentials masked.
    pub fn block(text: &str, max: usize) -> Self {
        Self(truncate(&head(text, max), max).to_owned())
    }

    /// A line made of a stretch of a text. Credentials are told by what stands around it; `…` says that there is more.
    pub fn excerpt(text: &str, range: Range<usize>, max: usize) -> Self {
        let lead = if range.start > 0 { "…" } else { "" };
        let tail = if range.end < text.len() { "…" } else { "" };
        Self::one_line(&format!("{lead}{}{tail}", stretch(text, range).trim()), max)
    }

    fn one_line(text: &str, max: usize) -> Self {
        Self(truncate(&unwrapped(text), max).trim_end().to_owned())
    }

    /// A stretch of it: from a byte on, `max` bytes at most, without breaking a character or a grapheme at its end.
    pub fn part(&self, from: usize, max: usize) -> Self {
        let from = floor_boundary(&self.0, from);
        Self(truncate(&self.0[from..], max).to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The beginning of a text that fills `max` bytes, cleaned and masked. What is cut off comes last: a mask is shorter than what
/// it hides, and what moves up behind it must have been looked at.
fn head(text: &str, max: usize) -> String {
    /// Seen behind the end, so that what reaches over it is known.
    const AFTER: usize = 2 << 10;
    let budget = max.saturating_mul(4);
    let cleaned = strip(text, budget.saturating_add(AFTER), true);
    let end = floor_boundary(&cleaned, budget);
    redact::passage(&cleaned, 0..end)
}

/// A stretch of a text, cleaned and masked.
fn stretch(text: &str, range: Range<usize>) -> String {
    let near = redact::surroundings(text, &range);
    let cleaned = strip(&text[near.clone()], usize::MAX, true);
    // What is left of the text up to a place says where that place went.
    let place = |at: usize| floor_boundary(&cleaned, strip(&text[near.start..at], usize::MAX, true).len());
    let (from, to) = (place(range.start), place(range.end));
    redact::passage(&cleaned, from..to.max(from))
}

/// One line of text that was cleaned.
fn unwrapped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Removes escape sequences whole, control characters and invisible ones. Stops after about `budget` bytes of result.
pub fn strip(text: &str, budget: usize, keep_lines: bool) -> String {
    let mut out = String::with_capacity(text.len().min(budget));
    let mut rest = text.chars();
    while out.len() <= budget {
        let plain = plain(rest.as_str(), budget - out.len());
        if !plain.is_empty() {
            out.push_str(plain);
            rest = rest.as_str()[plain.len()..].chars();
            continue;
        }
        let Some(c) = rest.next() else { break };
        match c {
            '\u{1b}' => skip_escape(&mut rest),
            '\u{9b}' => skip_csi(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            '\n' | '\t' if keep_lines => out.push(c),
            '\r' if keep_lines => {
                if !rest.as_str().starts_with('\n') {
                    out.push('\n');
                }
            }
            '\u{2028}' | '\u{2029}' | '\u{85}' | '\u{b}' | '\u{c}' => {
                out.push(if keep_lines { '\n' } else { ' ' })
            }
            c if c.is_control() => {}
            c if is_invisible(c) => {
                if fits(c, out.chars().next_back(), rest.as_str().chars().next()) {
                    out.push(c);
                }
            }
            c => out.push(c),
        }
    }
    out
}

/// What needs no look, a byte more than the budget at most.
fn plain(text: &str, budget: usize) -> &str {
    let len = text.bytes().take(budget.saturating_add(1)).take_while(|b| matches!(b, b' '..=b'~')).count();
    &text[..len]
}

/// After ESC: a whole CSI, OSC, DCS, APC, PM or SOS sequence, or a short one.
fn skip_escape(rest: &mut std::str::Chars<'_>) {
    match rest.as_str().chars().next() {
        Some('[') => {
            rest.next();
            skip_csi(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(' '..='/') => {
            while rest.as_str().starts_with(|c| matches!(c, ' '..='/')) {
                rest.next();
            }
            skip_if(rest, |c| matches!(c, '0'..='~'));
        }
        Some('0'..='~') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_csi(rest: &mut std::str::Chars<'_>) {
    while rest.as_str().starts_with(|c| matches!(c, ' '..='?')) {
        rest.next();
    }
    skip_if(rest, |c| matches!(c, '@'..='~'));
}

/// Up to BEL, ST or the end of the line: an unterminated sequence must not eat the rest of the text.
fn skip_string(rest: &mut std::str::Chars<'_>) {
    while let Some(c) = rest.as_str().chars().next() {
        if c == '\n' {
            return;
        }
        rest.next();
        match c {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => return skip_if(rest, |c| c == '\\'),
            _ => {}
        }
    }
}

fn skip_if(rest: &mut std::str::Chars<'_>, wanted: fn(char) -> bool) {
    if rest.as_str().starts_with(wanted) {
        rest.next();
    }
}

/// Characters that show nothing, or reorder what is shown.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Joiners inside emoji and joining scripts, and selectors after what they select, are part of the text.
fn fits(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{200d}' | '\u{200c}' => joins(before) && after.is_some_and(joins),
        '\u{fe00}'..='\u{fe0f}' => before > '\u{7f}' || matches!(before, '0'..='9' | '#' | '*'),
        '\u{e0100}'..='\u{e01ef}' => matches!(before, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}'),
        '\u{e0020}'..='\u{e007f}' => matches!(before, '\u{1f3f4}' | '\u{e0020}'..='\u{e007f}'),
        _ => false,
    }
}

fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{6ff}' | '\u{900}'..='\u{dff}' | '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colour_clipboard_and_c1_sequences_go_whole() {
        let hostile = "\u{1b}[31mRed\u{1b}[0m a\u{1b}]52;c;QUJD\u{7}b\u{9b}2Jc\u{202e}d\ne\tf";
        assert_eq!(Clean::line(hostile, 100).as_str(), "Red abcd e f");
    }

    #[test]
    fn an_open_sequence_ends_with_its_line() {
        assert_eq!(Clean::block("a\u{1b}]0;title\nb", 100).as_str(), "a\nb");
        assert_eq!(Clean::block("a\u{1b}", 100).as_str(), "a");
    }

    #[test]
    fn emoji_and_persian_keep_their_joiners() {
        for text in ["👩‍👩‍👧", "می‌خواهم", "❤️", "1️⃣", "葛󠄀"] {
            assert_eq!(Clean::line(text, 100).as_str(), text);
        }
        assert_eq!(Clean::line("pay\u{200d}pal\u{200b}.com", 100).as_str(), "paypal.com");
        assert_eq!(Clean::line("a\u{e0041}\u{e0042}", 100).as_str(), "a");
    }

    proptest! {
        #[test]
        fn nothing_that_moves_a_cursor_comes_through(text in any::<String>()) {
            let clean = Clean::block(&text, 200);
            prop_assert!(clean.as_str().len() <= 200);
            let control = clean.as_str().chars().any(|c| c.is_control() && c != '\n' && c != '\t');
            prop_assert!(!control);
            let hostile = Clean::line(&text, 50).as_str().contains(['\n', '\t', '\u{202e}']);
            prop_assert!(!hostile);
        }
    }
}
