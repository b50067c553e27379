//! Values under a name that says that they are secret: variables, fields, headers, flags, elements.

use super::Found;
use super::bytes::{ALNUM, WORD, is, is_cut};
use super::value::{Sort, Style, could_be_made, is_secret, looks_random};
use memchr::{memchr3_iter, memmem};

/// Names of what a person chose. A name counts by how it ends, written in one word and in small letters.
const PASSWORDS: &[&str] =
    &["password", "passwd", "pwd", "passphrase", "passwort", "dbpass", "userpass", "smtppass"];

/// Names of what a machine made.
const KEYS: &[&str] = &[
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "accountkey",
    "sharedkey",
    "sessionkey",
    "appkey",
    "applicationkey",
    "licensekey",
    "deploykey",
    "storagekey",
    "servicekey",
    "rolekey",
    "anonkey",
    "hmackey",
    "jwtkey",
    "subscriptionkey",
    "integrationkey",
    "globalkey",
    "keybase",
    "webhookkey",
    "credential",
    "credentials",
    "authorization",
    "auth",
    "pat",
    "sig",
    "amzsignature",
    "sas",
    "bearer",
];

/// Of the short ones only whole words count.
const WHOLE: &[&str] = &["pass", "auth", "pat", "sig", "sas", "pwd"];

/// Names that end like a secret's and are none.
const HARMLESS: &[&str] =
    &["pagetoken", "continuationtoken", "nexttoken", "synctoken", "publickey", "publictoken", "oauth"];

/// What environments put behind a name.
const SUFFIXES: &[&str] =
    &["prod", "production", "dev", "staging", "test", "live", "old", "new", "primary", "secondary", "backup"];

const NAME_MAX: usize = 64;
/// What is looked at of a value to tell what it is, and how far it is masked.
const LOOK: usize = 256;
const VALUE_MAX: usize = 16 << 10;

/// What a name says about its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    One(Sort),
    /// A header of cookies: many values.
    Cookies,
}

/// A value, where it lies and how it is written.
struct Value {
    start: usize,
    end: usize,
    style: Style,
}

impl Value {
    /// Whether there may be more of it than was looked at.
    fn is_long(&self) -> bool {
        self.end - self.start > LOOK - 8
    }
}

pub fn find(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut done = 0;
    for at in memchr3_iter(b':', b'=', b'>', bytes).filter(|at| *at > 0) {
        if at < done {
            continue;
        }
        let Some((start, tight)) = sign(bytes, at) else { continue };
        let Some(named) = name_before(text, at) else { continue };
        done = take(text, named, value_at(text, start, tight), found);
    }
    flags(text, found);
    phrases(text, found);
}

/// Whether a field's name says that it is secret, and its value looks so.
pub fn is_secret_field(name: &str, value: &str) -> bool {
    let named = if name.len() <= NAME_MAX { said(name.as_bytes(), "") } else { None };
    matches!(named, Some(Named::One(sort)) if is_secret(value, sort, Style::Quoted, false))
}

/// Takes a value that is secret; up to where no further name needs a look.
fn take(text: &str, named: Named, value: Option<Value>, found: &mut Vec<Found>) -> usize {
    let Some(v) = value else { return 0 };
    let Named::One(sort) = named else { return cookies(text, &v, found) };
    let v = without_scheme(text, v);
    let value = text[v.start..v.end].trim_end_matches("...").trim_end_matches('…');
    if is_secret(value, sort, v.style, is_cut(text, v.start + value.len())) {
        let kind = if sort == Sort::Password { "password" } else { "secret" };
        let end = whole(text, &v);
        found.push(Found { start: v.start, end, kind });
        return end;
    }
    if v.is_long() { v.end } else { 0 }
}

/// The end of a value that was looked at in part.
fn whole(text: &str, v: &Value) -> usize {
    let part = |b: &&u8| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`');
    let rest = &text.as_bytes()[v.end..];
    let more = if v.is_long() { rest.iter().take(VALUE_MAX).take_while(part).count() } else { 0 };
    super::ceil_boundary(text, v.end + more)
}

/// Where the value begins if this is a sign between a name and its value, and whether it stands close.
fn sign(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let before = if at == 0 { 0 } else { bytes[at - 1] };
    let after = bytes.get(at + 1).copied().unwrap_or(0);
    let tight = !before.is_ascii_whitespace() && !after.is_ascii_whitespace();
    match bytes[at] {
        b':' if matches!(before, b':') || matches!(after, b':' | b'=') => None,
        b':' => Some((at + 1, false)),
        b'=' if matches!(before, b'=' | b'!' | b'<' | b'>' | b'~') || matches!(after, b'=' | b'~') => None,
        b'=' if after == b'>' => Some((at + 2, false)),
        b'=' => Some((at + 1, tight)),
        // `<password>x</password>`
        b'>' if is(before, ALNUM) => Some((at + 1, true)),
        _ => None,
    }
}

/// What the name before a sign says.
fn name_before(text: &str, at: usize) -> Option<Named> {
    let bytes = text.as_bytes();
    let skip = |b: &u8| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b'?' | b':' | b'*');
    let end = at - bytes[..at].iter().rev().take(32).take_while(|b| skip(b)).count();
    let last = bytes[..end].last()?.to_ascii_lowercase();
    // Most names end in a letter that no secret's name ends in; digits may follow.
    if !matches!(
        last,
        b'd' | b't' | b'n' | b'y' | b's' | b'e' | b'h' | b'l' | b'g' | b'r' | b'k' | b'v' | b'w' | b'p' | b'0'
            ..=b'9'
    ) {
        return None;
    }
    let name = name_ending(bytes, end);
    if bytes[at] == b'>' && (name.is_empty() || !bytes[..end - name.len()].ends_with(b"<")) {
        return None;
    }
    let before = &text[..end - name.len()];
    // The name of a mask is none.
    if before.ends_with("[redacted:") { None } else { said(name, before) }
}

fn name_ending(bytes: &[u8], end: usize) -> &[u8] {
    let len = bytes[..end].iter().rev().take(NAME_MAX).take_while(|b| is(**b, WORD)).count();
    &bytes[end - len..end]
}

fn said(name: &[u8], before: &str) -> Option<Named> {
    let mut buffer = [0u8; NAME_MAX];
    let mut len = 0;
    for b in name.iter().filter(|b| is(**b, ALNUM)) {
        buffer[len] = b.to_ascii_lowercase();
        len += 1;
    }
    let mut plain = std::str::from_utf8(&buffer[..len]).ok()?.trim_end_matches(|c: char| c.is_ascii_digit());
    plain = plain.strip_suffix('v').unwrap_or(plain);
    if name.iter().any(|b| matches!(b, b'_' | b'-')) {
        plain = SUFFIXES.iter().find_map(|s| plain.strip_suffix(s)).unwrap_or(plain);
    }
    if plain == "cookie" || plain == "setcookie" || plain.ends_with("cookies") {
        return Some(Named::Cookies);
    }
    // `API key: x` in prose.
    let two = plain == "key"
        && ["api", "access", "secret", "private", "auth"].iter().any(|w| ends_with(before.trim_end(), w));
    let last_word = last_word(name);
    let ends = |list: &[&str]| {
        list.iter().any(|n| {
            plain.ends_with(n) && (!WHOLE.contains(n) || last_word.eq_ignore_ascii_case(n.as_bytes()))
        })
    };
    if HARMLESS.iter().any(|n| plain.ends_with(n)) && !last_word.eq_ignore_ascii_case(b"auth") {
        None
    } else if ends(PASSWORDS) || last_word.eq_ignore_ascii_case(b"pass") {
        Some(Named::One(Sort::Password))
    } else if two || ends(KEYS) {
        Some(Named::One(Sort::Key))
    } else {
        None
    }
}

fn ends_with(text: &str, word: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= word.len() && bytes[bytes.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
}

/// The last part of `DB_PASS`, `dbPass`, `db-pass`.
fn last_word(name: &[u8]) -> &[u8] {
    let from = name.iter().rposition(|b| matches!(b, b'_' | b'-')).map_or(0, |i| i + 1);
    let word = &name[from..];
    let hump = word.windows(2).rposition(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    &word[hump.map_or(0, |i| i + 1)..]
}

/// The value that begins here, after spaces and in whatever quotes.
fn value_at(text: &str, from: usize, tight: bool) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = from + bytes[from..].iter().take(16).take_while(|b| matches!(b, b' ' | b'\t')).count();
    // `b"…"`, `f'…'`
    if bytes.get(at).is_some_and(u8::is_ascii_alphabetic) && matches!(bytes.get(at + 1), Some(b'"' | b'\'')) {
        at += 1;
    }
    let escapes = bytes[at..].iter().take(4).take_while(|b| **b == b'\\').count();
    match bytes.get(at + escapes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => Some(quoted(text, at + escapes, *quote, escapes > 0)),
        _ => bare(text, at, tight),
    }
}

fn quoted(text: &str, at: usize, quote: u8, escaped: bool) -> Value {
    let bytes = text.as_bytes();
    let start = at + bytes[at..].iter().take_while(|b| **b == quote).count();
    // An empty string is no opening quote.
    if start == at + 2 {
        return Value { start, end: start, style: Style::Quoted };
    }
    let rest = &bytes[start..bytes.len().min(start + LOOK)];
    let mut end = 0;
    while end < rest.len() && rest[end] != b'\n' && rest[end] != quote {
        if rest[end] == b'\\' {
            if escaped && rest.get(end + 1).is_some_and(|b| matches!(b, b'"' | b'\'' | b'\\' | b'n')) {
                break;
            }
            end += 1;
        }
        end += 1;
    }
    let end = super::ceil_boundary(text, (start + end).min(text.len()));
    Value { start, end, style: Style::Quoted }
}

fn bare(text: &str, at: usize, tight: bool) -> Option<Value> {
    let bytes = text.as_bytes();
    let stop = |b: &u8| {
        b.is_ascii_whitespace()
            || matches!(
                b,
                b',' | b';'
                    | b'"'
                    | b'\''
                    | b'<'
                    | b'>'
                    | b'('
                    | b')'
                    | b'['
                    | b']'
                    | b'{'
                    | b'}'
                    | b'|'
                    | b'&'
                    | b'`'
                    | b'\\'
            )
    };
    let rest = &bytes[at..bytes.len().min(at + LOOK)];
    let mut end = rest.iter().position(stop).unwrap_or(rest.len());
    let next = rest.get(end).copied().unwrap_or(0);
    // A call, an index or a type; in a shell the value goes on.
    let call = matches!(next, b'(' | b'[' | b'{') || next == b'<' && rest.get(end + 1) != Some(&b'/');
    if call && !(tight && is_variable(bytes, at)) {
        return None;
    }
    if tight && is_variable(bytes, at) {
        end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    }
    let end = super::floor_boundary(text, at + end);
    let value = &text[at..end];
    let is_name = value.bytes().all(|b| is(b, ALNUM) || b == b'_') && !looks_random(value);
    // `f(password=pw12)`, `let password = row2;`
    if is_name && (next == b')' || !tight && matches!(next, b';' | b')')) {
        return None;
    }
    let end = at + value.trim_end_matches(['.', ':', '!', '?']).len();
    Some(Value { start: at, end, style: if tight { Style::Tight } else { Style::Loose } })
}

/// `NAME=` at the start of a line or after `export `: what follows is the whole value.
fn is_variable(bytes: &[u8], value: usize) -> bool {
    let name = name_ending(bytes, value.saturating_sub(1));
    let before = &bytes[..value.saturating_sub(1) - name.len()];
    let capitals = name.iter().all(|b| !b.is_ascii_lowercase());
    capitals && (before.is_empty() || before.ends_with(b"\n") || before.ends_with(b"export "))
}

/// `Authorization: Token x`: the scheme is no part of the secret.
fn without_scheme(text: &str, v: Value) -> Value {
    const SCHEMES: [&str; 7] = ["bearer", "basic", "token", "apikey", "ssws", "digest", "key"];
    let value = &text[v.start..v.end];
    let (word, gap) = match value.split_once(' ') {
        Some((word, rest)) => (word, 1 + rest.len() - rest.trim_start().len()),
        None => (value, 0),
    };
    if !SCHEMES.iter().any(|s| word.eq_ignore_ascii_case(s)) {
        return v;
    }
    if gap > 0 {
        return Value { start: v.start + word.len() + gap, ..v };
    }
    bare(text, v.end + text[v.end..].bytes().take_while(|b| *b == b' ').count(), true).unwrap_or(v)
}

/// The values of `a=b; c=d`, to the end of the line or of the quotes.
fn cookies(text: &str, v: &Value, found: &mut Vec<Found>) -> usize {
    let bytes = text.as_bytes();
    let stop = |b: &u8| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'\\' | b'`');
    let rest = &bytes[v.start..bytes.len().min(v.start + VALUE_MAX / 4)];
    let end = super::floor_boundary(text, v.start + rest.iter().position(stop).unwrap_or(rest.len()));
    let mut at = v.start;
    for pair in text[at..end].split(';') {
        if let Some((name, value)) = pair.split_once('=') {
            let attribute = ["path", "domain", "expires", "max-age", "samesite"]
                .iter()
                .any(|a| name.trim().eq_ignore_ascii_case(a));
            let start = at + name.len() + 1;
            let value = value.trim_end();
            if !attribute && value.len() >= 6 && could_be_made(value) && !value.starts_with(['$', '<', '{']) {
                found.push(Found { start, end: start + value.len(), kind: "cookie" });
            }
        }
        at += pair.len() + 1;
    }
    if end - v.start > LOOK { end } else { 0 }
}

/// `--password x`, `--api-key 'x'`, `--cookie a=b`.
fn flags(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    for i in memmem::find_iter(bytes, "--") {
        let start = i + 2;
        let len = bytes[start..].iter().take(NAME_MAX).take_while(|b| is(**b, WORD)).count();
        let end = start + len;
        let spaced = matches!(bytes.get(end), Some(b' '))
            && bytes.get(end + 1).is_some_and(|b| !matches!(b, b'-' | b' '));
        if len == 0 || !spaced {
            continue;
        }
        if let Some(named) = said(&bytes[start..end], "") {
            take(text, named, value_at(text, end + 1, true), found);
        }
    }
}

/// A secret that follows words: how they begin, what must stand before them in the line, if anything.
const PHRASES: &[(&str, &str)] = &[
    ("password is ", ""),
    ("password was ", ""),
    ("IDENTIFIED BY ", ""),
    ("identified by ", ""),
    ("PASSWORD '", ""),
    ("password ", "login "), // .netrc
    ("-p ", "sshpass"),
    ("-p", "mysql"),
    ("-p ", "docker login"),
    ("-a ", "redis-cli"),
    ("-u ", "curl"),
    ("-b ", "curl"),
];

fn phrases(text: &str, found: &mut Vec<Found>) {
    const NEAR: usize = 200;
    for (phrase, before) in PHRASES {
        for i in memmem::find_iter(text.as_bytes(), phrase) {
            let near = &text[super::ceil_boundary(text, i.saturating_sub(NEAR))..i];
            if !before.is_empty() && !near.contains(before) {
                continue;
            }
            let start = i + phrase.trim_end_matches('\'').len();
            let Some(v) = value_at(text, start, true) else { continue };
            match *phrase {
                "-b " => _ = cookies(text, &v, found),
                "-u " => {
                    let Some(colon) = text[v.start..v.end].find(':') else { continue };
                    take(
                        text,
                        Named::One(Sort::Password),
                        Some(Value { start: v.start + colon + 1, ..v }),
                        found,
                    );
                }
                _ => _ = take(text, Named::One(Sort::Password), Some(v), found),
            }
        }
    }
}
