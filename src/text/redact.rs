//! Masking what looks like a credential: a mask is `[redacted:<kind>]`.
//!
//! Known shapes are lines of a table (`rules.rs`); the rest is told by what stands around it: a name that says secret, a URL,
//! the marks of a key block. A text may have been cut anywhere by whoever stored it, so its end counts as a cut: there, less
//! of a shape is enough.

mod assigned;
mod blocks;
mod bytes;
mod links;
mod rules;
mod tokens;
mod value;

pub use assigned::is_secret_field;

use super::{ceil_boundary, floor_boundary};
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// What was found, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// Text with its credentials masked, and how many there were.
pub fn redact(text: &str) -> (Cow<'_, str>, usize) {
    let found = credentials(text);
    if found.is_empty() {
        return (Cow::Borrowed(text), 0);
    }
    let (masked, count) = mask(text, 0..text.len(), &found);
    (Cow::Owned(masked), count)
}

/// A stretch of a text with its credentials masked, also those that begin before it or end behind it.
pub fn passage(text: &str, range: Range<usize>) -> String {
    mask(text, range, &credentials(text)).0
}

/// What must be seen of a text to know all credentials that reach into a stretch of it.
pub fn surroundings(text: &str, range: &Range<usize>) -> Range<usize> {
    const BEFORE: usize = 4 << 10;
    const AFTER: usize = 2 << 10;
    const LONGEST: usize = 64 << 10;
    let from = floor_boundary(text, range.start.saturating_sub(BEFORE));
    let to = ceil_boundary(text, (range.end + AFTER).min(text.len()));
    let (head, tail) = (&text.as_bytes()[..from], &text.as_bytes()[to..]);
    let part = |b: &&u8| bytes::is(**b, bytes::PART);
    let from = from - head.iter().rev().take(LONGEST).take_while(part).count();
    let to = to + tail.iter().take(LONGEST).take_while(part).count();
    // A key block has nothing in its middle that shows what it is.
    let earliest = floor_boundary(text, from.saturating_sub(LONGEST));
    let block = memmem::rfind(&text.as_bytes()[earliest..from], blocks::MARK.as_bytes());
    block.map_or(from, |i| floor_boundary(text, (earliest + i).saturating_sub(blocks::LABEL)))..to
}

/// All that looks like a credential, in order.
fn credentials(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    blocks::find(text, &mut found);
    links::find(text, &mut found);
    assigned::find(text, &mut found);
    tokens::find(text, &mut found);
    found.sort_by_key(|f| (f.start, std::cmp::Reverse(f.end)));
    found
}

fn mask(text: &str, range: Range<usize>, found: &[Found]) -> (String, usize) {
    let mut out = String::with_capacity(range.len());
    let (mut at, mut count) = (range.start, 0);
    for f in found.iter().filter(|f| f.start < range.end) {
        let end = ceil_boundary(text, f.end);
        if end <= at {
            continue;
        }
        // What overlaps the one before is part of its mask.
        if f.start >= at || count == 0 {
            out.push_str(&text[at..f.start.max(at)]);
            out.push_str("[redacted:");
            out.push_str(f.kind);
            out.push(']');
            count += 1;
        }
        at = end;
    }
    out.push_str(text.get(at..range.end).unwrap_or(""));
    (out, count)
}

#[cfg(test)]
mod tests;
