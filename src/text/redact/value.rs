//! Telling a secret from a name, a word, a number, a path, a piece of code or a placeholder.

use super::bytes::{ALNUM, DIGIT, LETTER, LOWER, PART, UPPER, WORD, is, run};

/// How a value is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Quoted,
    /// `NAME=value` as a shell, a URL or a connection string has it.
    Tight,
    /// After a colon or a spaced sign, bare: may be prose or code.
    Loose,
}

/// What the name says that the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Chosen by a person, perhaps short.
    Password,
    /// Made by a machine.
    Key,
}

/// How the characters of a text alternate.
#[derive(Debug, Default)]
struct Mix {
    len: usize,
    digits: usize,
    upper: usize,
    lower: usize,
    /// Changes between letters and digits.
    turns: usize,
    /// Changes between digits, capitals and small letters.
    changes: usize,
}

impl Mix {
    fn of(text: &str) -> Self {
        let mut mix = Self::default();
        let mut last = 0;
        for b in text.bytes() {
            let class = super::bytes::class(b) & ALNUM;
            if class == 0 {
                continue;
            }
            mix.len += 1;
            mix.digits += usize::from(class & DIGIT != 0);
            mix.upper += usize::from(class & UPPER != 0);
            mix.lower += usize::from(class & LOWER != 0);
            mix.turns += usize::from(last != 0 && (class & DIGIT != 0) != (last & DIGIT != 0));
            mix.changes += usize::from(last != 0 && class != last);
            last = class;
        }
        mix
    }

    fn letters(&self) -> usize {
        self.upper + self.lower
    }

    fn is_mixed(&self) -> bool {
        self.upper > 0 && self.lower > 0
    }

    /// Names change case at words, a handful of letters apart; what is random does all the time.
    fn is_restless(&self) -> bool {
        let percent = if self.digits > 0 { 33 } else { 42 };
        self.is_mixed() && self.changes * 100 >= self.len * percent
    }
}

/// Whether no person would have written it.
pub fn looks_random(text: &str) -> bool {
    let text = head(text);
    let whole = Mix::of(text);
    if whole.len >= 16 && whole.digits >= 2 && whole.is_restless() {
        return is_varied(text);
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random_piece) && is_varied(text) || is_uuid(text)
}

fn is_random_piece(piece: &str) -> bool {
    let mix = Mix::of(piece);
    let scattered = mix.digits >= 2 && mix.letters() >= 2 && mix.turns >= 2;
    mix.len >= 8 && (scattered || mix.is_restless() && (mix.digits > 0 || mix.len >= 16))
}

/// More than a filler of a few characters.
pub fn is_varied(text: &str) -> bool {
    let mut seen = [false; 256];
    head(text).bytes().for_each(|b| seen[b as usize] = true);
    seen.iter().filter(|s| **s).count() >= 5 && !is_filler(text)
}

/// Whether it may be what follows the unmistakable beginning of a key.
pub fn looks_made(text: &str) -> bool {
    let text = head(text);
    let mix = Mix::of(text);
    let words = text.contains(['-', '_', '.']);
    looks_random(text) || mix.is_mixed() && (mix.digits > 0 || !words) && is_varied(text)
}

/// The beginning of what may be random, where nothing else tells.
pub fn could_be_random(text: &str) -> bool {
    let random = |mix: Mix| mix.len >= 6 && (mix.turns >= 2 || mix.is_restless());
    let text = head(text);
    !is_filler(text) && text.split(|c: char| !c.is_ascii_alphanumeric()).any(|piece| random(Mix::of(piece)))
}

/// The beginning of what may be random, where a key is expected.
pub fn could_be_made(text: &str) -> bool {
    let mix = Mix::of(head(text));
    mix.len >= 6 && (mix.digits > 0 || mix.is_mixed()) && !is_filler(text)
}

fn is_filler(text: &str) -> bool {
    let text = head(text);
    text.contains("xxxx") || text.contains("XXXX")
}

fn head(text: &str) -> &str {
    &text[..super::floor_boundary(text, 256)]
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Whether a value under a name that says secret is one. `cut`: the text ends with it.
pub fn is_secret(value: &str, sort: Sort, style: Style, cut: bool) -> bool {
    let base64 = cut && style != Style::Loose && !value.starts_with(['.', '~', '/']) && could_be_made(value);
    if is_placeholder(value) || is_reference(value, style) || !base64 && is_path(value) {
        return false;
    }
    let long = value.len() >= if style == Style::Loose { 12 } else { 10 };
    match sort {
        Sort::Password => is_password(value, style) || cut && style != Style::Loose && could_be_made(value),
        Sort::Key if long && looks_random(value) => true,
        Sort::Key if style == Style::Loose => cut && value.len() >= 8 && could_be_random(value),
        Sort::Key => cut && could_be_made(value),
    }
}

fn is_placeholder(value: &str) -> bool {
    const PARTS: [&str; 13] = [
        "...",
        "…",
        "***",
        "xxxx",
        "your",
        "changeme",
        "change-me",
        "change_me",
        "placeholder",
        "redacted",
        "_here",
        "-here",
        "replace_",
    ];
    let lower = head(value).to_ascii_lowercase();
    value.starts_with(['<', '{', '[', '$', '%', '*', '^', '#', '@', '('])
        || PARTS.iter().any(|p| lower.contains(p))
        || ["${", "{{", "$(", "#{", "{}"].iter().any(|p| value.contains(p))
        || value.contains('{') && value.contains('}')
}

/// Code, paths and addresses that say where a secret is.
fn is_reference(value: &str, style: Style) -> bool {
    const LABELS: [&str; 9] =
        ["sha256:", "sha256-", "sha512-", "sha512:", "sha1-", "sha1:", "md5:", "arn:", "ssh-"];
    if LABELS.iter().any(|l| value.starts_with(l)) || value.contains("://") || value.contains("::") {
        return true;
    }
    style != Style::Quoted && is_member(value) || style == Style::Loose && is_named_so(value)
}

/// Base64 has slashes too, but then it is long and mixed.
fn is_path(value: &str) -> bool {
    let rooted = value.starts_with(['.', '~', '/']);
    if !value.contains(['/', '\\']) || value.contains('+') && !rooted {
        return false;
    }
    let mix = Mix::of(value);
    let is_base64 = value.bytes().all(|b| is(b, ALNUM) || matches!(b, b'/' | b'+' | b'=' | b'%'))
        && mix.len >= 16
        && mix.digits > 0
        && mix.is_restless();
    let is_key = value.bytes().all(|b| is(b, PART)) || rooted || value.contains(":\\");
    is_key && !is_base64
}

/// `config.database.password2`.
fn is_member(value: &str) -> bool {
    let mut parts = value.split('.').peekable();
    let name = |p: &str| {
        p.len() <= 24
            && p.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && p.bytes().all(|b| is(b, ALNUM) || b == b'_')
            && !Mix::of(p).is_restless()
    };
    value.contains('.') && parts.all(name)
}

/// `password1`, `apiKeyV2`: variables are called what they hold.
fn is_named_so(value: &str) -> bool {
    const PARTS: [&str; 10] =
        ["pass", "secret", "key", "token", "pwd", "cred", "auth", "config", "env", "param"];
    let lower = head(value).to_ascii_lowercase();
    value.len() <= 24 && run(value.as_bytes(), WORD) == value.len() && PARTS.iter().any(|p| lower.contains(p))
}

fn is_password(value: &str, style: Style) -> bool {
    const WORDS: [&str; 16] = [
        "base64",
        "sha256",
        "sha512",
        "utf-8",
        "oauth2",
        "argon2",
        "argon2id",
        "pbkdf2",
        "ed25519",
        "aes256",
        "aes-256",
        "secp256k1",
        "int32",
        "int64",
        "uint64",
        "string2",
    ];
    let mix = Mix::of(value);
    let odd = value
        .bytes()
        .filter(|b| b.is_ascii_punctuation() && !matches!(b, b'-' | b'_' | b'.' | b',' | b':'))
        .count();
    if value.contains(char::is_whitespace) || WORDS.contains(&value.to_ascii_lowercase().as_str()) {
        return false;
    }
    match style {
        Style::Loose => value.len() >= 6 && mix.digits > 0 && mix.letters() > 1,
        _ => {
            let numeric = mix.letters() == 0 && mix.digits >= 6 && value.bytes().all(|b| is(b, DIGIT));
            let mixed =
                mix.letters() > 0 && (mix.digits > 0 || odd >= 2 || odd == 1 && !ends_sentence(value));
            let cased = mix.is_mixed() && mix.len >= 8 && mix.changes >= 4 && !is_named_so(value);
            let shell = style == Style::Tight && odd > 0 && mix.is_mixed();
            value.len() >= 5 && (mixed || numeric || cased || shell)
        }
    }
}

fn ends_sentence(value: &str) -> bool {
    value.ends_with(|c: char| c.is_ascii_punctuation()) || value.starts_with(|c: char| !is(c as u8, LETTER))
}
