//! One form for all spellings of a word: case, width and accents folded.

use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Text in compatibility-composed form (NFKC), so that full-width letters and decomposed accents are split alike.
pub fn compose(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfkc().collect())
}

/// Appends the folded form of `text` to `out`.
pub fn fold_into(text: &str, out: &mut String) {
    if text.is_ascii() {
        let from = out.len();
        out.push_str(text);
        out[from..].make_ascii_lowercase();
        return;
    }
    let stripped = text.nfkd().filter(|c| !is_accent(*c));
    out.extend(stripped.flat_map(char::to_lowercase).nfc());
}

/// The folded form of `text`.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

/// Combining marks of the Latin, Greek and Cyrillic scripts. Marks that carry vowels elsewhere stay.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_and_accents_fold() {
        assert_eq!(fold("Café DÉJÀ"), "cafe deja");
        assert_eq!(fold("ｆｕｌｌ"), "full");
        assert_eq!(fold("e\u{301}"), "e");
        assert_eq!(fold("한국어 ば"), "한국어 ば");
        assert_eq!(fold("ΆΛΦΑ"), "αλφα");
    }
}
