//! Text that may be shown: no control character, no escape sequence, nothing invisible that changes what is seen.

use super::{floor_boundary, redact, truncate};
use std::fmt;

/// Text that passed the sanitiser. Answers hold store text only as this type.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
#[serde(transparent)]
pub struct Clean(String);

impl Clean {
    /// One line: runs of white space become one space; cut to `max` bytes on a grapheme; credentials masked.
    pub fn line(text: &str, max: usize) -> Self {
        Self(truncate(redact::redact(&line(text, max.saturating_mul(4))).0.trim_end(), max).to_owned())
    }

    /// Like [`Clean::line`] without masking, for names and paths.
    pub fn name(text: &str, max: usize) -> Self {
        Self(truncate(&line(text, max.saturating_mul(4)), max).to_owned())
    }

    /// Text with its line feeds and tabs; credentials masked.
    pub fn block(text: &str, max: usize) -> Self {
        let cleaned = strip(text, max.saturating_mul(4), true);
        Self(truncate(&redact::redact(&cleaned).0, max).to_owned())
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

fn line(text: &str, budget: usize) -> String {
    let mut out = String::new();
    let mut gap = false;
    for c in strip(text, budget, true).chars() {
        if c.is_whitespace() {
            gap = !out.is_empty();
        } else {
            if std::mem::take(&mut gap) {
                out.push(' ');
            }
            out.push(c);
        }
    }
    out
}

/// Removes escape sequences whole, control characters and invisible ones. Stops after about `budget` bytes of result.
pub fn strip(text: &str, budget: usize, keep_lines: bool) -> String {
    let mut out = String::with_capacity(text.len().min(budget));
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if out.len() > budget {
            break;
        }
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
