//! Cutting text without breaking a character, and without breaking what a person sees as one.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// The longest head of `text` of at most `max` bytes that ends between two graphemes.
///
/// A single grapheme longer than `max` is cut between characters: a made-up cluster of thousands of marks must not blank a text.
pub fn truncate(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let end = floor_boundary(text, max);
    let mut cursor = GraphemeCursor::new(end, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => &text[..end],
        _ => {
            let cut = cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0);
            if cut == 0 { &text[..end] } else { &text[..cut] }
        }
    }
}

/// The largest character boundary at or before `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// The smallest character boundary at or after `at`.
pub fn ceil_boundary(text: &str, at: usize) -> usize {
    text.ceil_char_boundary(at)
}

/// The number of graphemes.
pub fn graphemes(text: &str) -> usize {
    text.graphemes(true).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_family_is_not_torn_apart() {
        let text = "ab👩‍👩‍👧c";
        for max in 2..text.len() - 1 {
            let cut = truncate(text, max);
            assert!(cut == "ab" || cut == "ab👩‍👩‍👧", "{max}: {cut:?}");
        }
        assert_eq!(truncate("e\u{301}x", 1), "e");
    }

    proptest! {
        #[test]
        fn a_cut_is_a_prefix_within_the_limit(text in "\\PC{0,64}", max in 0usize..80) {
            let cut = truncate(&text, max);
            prop_assert!(cut.len() <= max && text.starts_with(cut));
        }
    }
}
