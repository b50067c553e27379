//! Credentials that do not exist, made from `tests/data/secrets/shapes.txt`.

use std::fs;
use std::path::Path;

/// A credential in the text around it.
pub struct Shape {
    pub name: String,
    pub text: String,
    /// What of it is secret.
    pub bodies: Vec<String>,
}

impl Shape {
    /// A part of a body that is in a text: eight characters, or all of a shorter one.
    pub fn leak(&self, text: &str) -> Option<String> {
        const PART: usize = 8;
        let parts = self
            .bodies
            .iter()
            .flat_map(|b| (0..=b.len().saturating_sub(PART)).map(|i| &b[i..b.len().min(i + PART)]));
        parts.into_iter().find(|p| text.contains(p)).map(str::to_owned)
    }
}

pub fn data(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/secrets").join(name)).unwrap()
}

/// All shapes, drawn anew for every seed.
pub fn shapes(seed: u64) -> Vec<Shape> {
    data("shapes.txt")
        .lines()
        .enumerate()
        .map(|(n, line)| shape(line, Draw(seed * 1_000 + n as u64)))
        .collect()
}

fn shape(line: &str, mut draw: Draw) -> Shape {
    let (name, template) = line.split_once(" | ").unwrap();
    let (mut text, mut bodies) = (String::new(), Vec::new());
    let mut rest = template;
    while let Some(c) = rest.chars().next() {
        let spec = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
        match spec.and_then(|(spec, after)| Some((piece(spec, &mut draw)?, after))) {
            Some((piece, after)) => {
                text.push_str(&piece);
                if piece != "PRIVATE" && piece.len() >= 6 {
                    bodies.push(piece);
                }
                rest = after;
            }
            None if rest.starts_with("\\n") => (text, rest) = (text + "\n", &rest[2..]),
            None if rest.starts_with("\\\\") => (text, rest) = (text + "\\", &rest[2..]),
            None => {
                text.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    Shape { name: name.to_owned(), text, bodies }
}

/// `a 36`: so many characters of an alphabet.
fn piece(spec: &str, draw: &mut Draw) -> Option<String> {
    const DIGITS: &str = "0123456789";
    const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
    const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if spec == "P" {
        return Some("PRIVATE".to_owned());
    }
    let (kind, len) = spec.split_once(' ')?;
    let len: usize = len.parse().ok()?;
    let alnum = [DIGITS, SMALL, CAPITALS].concat();
    let alphabet = match kind {
        "a" => alnum.clone(),
        "w" => format!("{alnum}-_"),
        "h" => "0123456789abcdef".to_owned(),
        "l" => [DIGITS, SMALL].concat(),
        "c" => format!("{CAPITALS}234567"),
        "b" => format!("{alnum}+/"),
        "d" => DIGITS.to_owned(),
        "p" => format!("{alnum}!#%*+-_~"),
        _ => return None,
    };
    // As issuers and people do: not without a digit, nor in one case if there are two.
    let needs: Vec<fn(&u8) -> bool> = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase]
        .into_iter()
        .filter(|kind: &fn(&u8) -> bool| len >= 6 && alphabet.bytes().any(|b| kind(&b)))
        .collect();
    loop {
        let piece: String = (0..len).map(|i| draw.of(inner(&alphabet, i > 0 && i + 1 < len))).collect();
        if needs.iter().all(|kind| piece.bytes().any(|b| kind(&b))) {
            return Some(piece);
        }
    }
}

/// At its ends a piece has letters and digits only.
fn inner(alphabet: &str, inside: bool) -> &[u8] {
    let plain = alphabet.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(alphabet.len());
    if inside { alphabet.as_bytes() } else { &alphabet.as_bytes()[..plain] }
}

/// Numbers that are the same on every run.
struct Draw(u64);

impl Draw {
    fn of(&mut self, from: &[u8]) -> char {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        char::from(from[((x ^ (x >> 31)) % from.len() as u64) as usize])
    }
}
