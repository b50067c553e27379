//! What a byte can be part of.

pub const DIGIT: u8 = 1;
pub const UPPER: u8 = 2;
pub const LOWER: u8 = 4;
const HEX_LETTER: u8 = 8;
const DASH: u8 = 16;
const BASE64: u8 = 32;
pub const DOT: u8 = 64;
pub const TILDE: u8 = 128;

pub const LETTER: u8 = UPPER | LOWER;
pub const ALNUM: u8 = DIGIT | LETTER;
pub const HEX: u8 = DIGIT | HEX_LETTER;
pub const CAPS: u8 = DIGIT | UPPER;
/// Letters, digits, `-` and `_`.
pub const WORD: u8 = ALNUM | DASH;
/// Capitals, digits and `-`.
pub const DASHED_CAPS: u8 = CAPS | DASH;
/// Both alphabets of base64 with their padding.
pub const B64: u8 = WORD | BASE64;
/// Words with dots between.
pub const DOTTED: u8 = WORD | DOT;
/// All that tokens are made of.
pub const PART: u8 = B64 | DOT | TILDE;

const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0;
    while b < 256 {
        class[b] = match b as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER | HEX_LETTER,
            b'A'..=b'F' => UPPER | HEX_LETTER,
            b'g'..=b'z' => LOWER,
            b'G'..=b'Z' => UPPER,
            b'-' | b'_' => DASH,
            b'+' | b'/' | b'=' => BASE64,
            b'.' => DOT,
            b'~' => TILDE,
            _ => 0,
        };
        b += 1;
    }
    class
};

/// The classes of a byte.
pub fn class(b: u8) -> u8 {
    CLASS[b as usize]
}

pub fn is(b: u8, set: u8) -> bool {
    class(b) & set != 0
}

/// How many bytes from the start are of a set.
pub fn run(bytes: &[u8], set: u8) -> usize {
    bytes.iter().take_while(|b| is(**b, set)).count()
}

/// Whether a text ends here, or says that it was cut here.
pub fn is_cut(text: &str, at: usize) -> bool {
    const MARKS: &[&str] = &["…", "...", "[…", "[...", "[trunc", "(trunc", "<trunc", "[omit", "[snip"];
    let rest = text[at..].trim_start_matches(['"', '\'', '\\', '`']).trim_start();
    rest.trim_start_matches('.').is_empty() || MARKS.iter().any(|m| rest.starts_with(m))
}
