//! Blocks of key material: PEM (RFC 7468), OpenSSH, OpenPGP (RFC 9580), SSH2 (RFC 4716), OpenVPN, PuTTY; whole, in one line,
//! quoted, numbered, or cut at either end.

use super::Found;
use super::bytes::{ALNUM, is, is_cut};
use super::value::{could_be_made, could_be_random, looks_random};
use memchr::memmem;
use std::ops::Range;

/// What the first and the last line of a block say.
pub const MARK: &str = "PRIVATE KEY";
const MARKS: [&str; 3] = [MARK, "SECRET KEY BLOCK", "OpenVPN Static key V1"];

/// What PuTTY writes before the lines of the key.
const PUTTY: &str = "Private-Lines:";

/// What may stand before that in the line, dashes and all.
pub const LABEL: usize = 48;

const LONGEST: usize = 64 << 10;
/// Headers may stand before the first line of a key, and whatever numbers or quotes the lines between them.
const FIRST_GAP: usize = 240;
const GAP: usize = 48;

/// The first or the last line of a block.
struct Line {
    begins: bool,
    start: usize,
    end: usize,
}

pub fn find(text: &str, found: &mut Vec<Found>) {
    let lines = lines(text);
    let mut i = 0;
    while let Some(line) = lines.get(i) {
        i += 1;
        let close = lines
            .get(i)
            .filter(|c| line.begins && !c.begins && (line.end..line.end + LONGEST).contains(&c.start));
        let block = match close {
            Some(close) => {
                i += 1;
                holds_key(text, line.end..close.start).then_some(line.start..close.end)
            }
            None if line.begins => forward(text, line.end).map(|end| line.start..end),
            None => backward(text, line.start).map(|start| start..line.end),
        };
        found.extend(block.map(|b| Found { start: b.start, end: b.end, kind: "private-key" }));
    }
    for at in memmem::find_iter(text.as_bytes(), PUTTY) {
        let end = forward(text, at + PUTTY.len());
        found.extend(end.map(|end| Found { start: at, end, kind: "private-key" }));
    }
}

fn lines(text: &str) -> Vec<Line> {
    let mut all: Vec<Line> = MARKS
        .iter()
        .flat_map(|mark| memmem::find_iter(text.as_bytes(), mark).map(|at| (at, at + mark.len())))
        .filter_map(|(at, end)| line(text, at, end))
        .collect();
    all.sort_by_key(|l| l.start);
    all
}

/// `-----BEGIN … PRIVATE KEY … -----` around what was found.
fn line(text: &str, at: usize, end: usize) -> Option<Line> {
    let from = super::ceil_boundary(text, at.saturating_sub(LABEL));
    let before = &text[from..at];
    let (word, begins) = match (before.rfind("BEGIN "), before.rfind("END ")) {
        (Some(b), Some(e)) if b > e => (b, true),
        (_, Some(e)) => (e, false),
        (Some(b), None) => (b, true),
        (None, None) => return None,
    };
    let dashes = before[..word].trim_end_matches(' ').bytes().rev().take_while(|b| *b == b'-').count();
    let start = from + before[..word].trim_end_matches(' ').len() - dashes;
    let tail = text[end..].strip_prefix(" BLOCK").unwrap_or(&text[end..]).trim_start_matches(' ');
    let end = text.len() - tail.trim_start_matches('-').len();
    (dashes >= 4).then_some(Line { begins, start, end })
}

fn part(b: u8) -> bool {
    is(b, ALNUM) || matches!(b, b'+' | b'/' | b'=')
}

/// The next run of base64 in a stretch.
fn chunk(bytes: &[u8], from: usize, to: usize) -> Option<Range<usize>> {
    let start = from + bytes[from..to].iter().position(|b| part(*b))?;
    Some(start..start + bytes[start..].iter().take_while(|b| part(**b)).count())
}

/// The run before this place, if it is near.
fn chunk_before(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let gap = bytes[..at].iter().rev().take(GAP).position(|b| part(*b))?;
    let end = at - gap;
    Some(end - bytes[..end].iter().rev().take(LONGEST).take_while(|b| part(**b)).count()..end)
}

/// A line of a key. A long path is none.
fn is_key(text: &str, chunk: &Range<usize>) -> bool {
    chunk.len() >= 16 && looks_random(&text[chunk.clone()])
}

fn holds_key(text: &str, stretch: Range<usize>) -> bool {
    let mut at = stretch.start;
    while let Some(c) = chunk(text.as_bytes(), at, stretch.end) {
        if is_key(text, &c) {
            return true;
        }
        at = c.end;
    }
    false
}

/// The end of the lines that follow a block's first line.
fn forward(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut end) = (start, None);
    loop {
        let last = end.unwrap_or(start);
        let limit = last + if end.is_none() { FIRST_GAP } else { GAP };
        let Some(c) = chunk(bytes, at, bytes.len().min(limit)) else { return end };
        if is_key(text, &c) || is_rest(text, &c, end) {
            end = Some(c.end);
        } else if c.end >= limit {
            return end;
        }
        at = c.end;
    }
}

/// The last line of a key, or what was left of the one that was cut.
fn is_rest(text: &str, c: &Range<usize>, key: Option<usize>) -> bool {
    let value = &text[c.clone()];
    let near = super::ceil_boundary(text, c.start.saturating_sub(FIRST_GAP));
    let line = || text[near..c.start].rfind(['\n', '\\']).map_or(near, |i| near + i + 1);
    let from = key.unwrap_or_else(line);
    // Numbers and quotes may stand before it, words do not.
    let alone = !text.as_bytes()[from..c.start].iter().any(u8::is_ascii_alphabetic);
    let cut = is_cut(text, c.end);
    alone
        && (key.is_some() && (cut || value.ends_with('=') || could_be_random(value))
            || cut && could_be_made(value))
}

/// The start of the lines that lead to a block's last line.
fn backward(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut start, mut short) = (end, None, 0);
    while let Some(c) = chunk_before(bytes, at) {
        if is_key(text, &c) {
            (start, short) = (Some(c.start), 0);
        } else {
            // Line numbers stand between; the first and the last line may be short.
            short += 1;
            let value = &text[c.clone()];
            if could_be_random(value) || start.is_none() && value.ends_with('=') {
                start = Some(c.start);
            }
            if short > 2 {
                break;
            }
        }
        at = c.start;
    }
    start
}
