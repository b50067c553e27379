//! Tokens: what begins like a known credential, or is built like one.

use super::Found;
use super::bytes::{ALNUM, CAPS, DIGIT, DOT, HEX, LETTER, PART, TILDE, WORD, is, is_cut, run};
use super::rules::{RULES, Rule};
use super::value::{could_be_made, could_be_random, is_varied, looks_made, looks_random};
use memchr::memmem;
use std::sync::LazyLock;

/// The rules by their first byte, longest beginning first.
static BY_HEAD: LazyLock<Vec<Vec<&'static Rule>>> = LazyLock::new(|| {
    let mut heads: Vec<Vec<&Rule>> = vec![Vec::new(); 256];
    for rule in RULES {
        heads[rule.prefix.as_bytes()[0] as usize].push(rule);
    }
    heads.iter_mut().for_each(|h| h.sort_by_key(|r| std::cmp::Reverse(r.prefix.len())));
    heads
});

/// Finds tokens.
pub fn find(text: &str, found: &mut Vec<Found>) {
    marked(text, found);
    words(text, found);
}

/// A word is where a token can begin.
fn words(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let (mut at, mut inside, mut done) = (0, false, 0);
    while at < bytes.len() {
        let part = is(bytes[at], ALNUM);
        let begins = part && !inside && at >= done;
        if begins && let Some(f) = starts(bytes, at).into_iter().flatten().find_map(|i| token(text, i)) {
            done = f.end;
            found.push(f);
            found.extend((f.kind == "aws-key-id").then(|| near_aws_key(text, f.end)).flatten());
        }
        inside = part;
        at += 1;
    }
}

/// Where a token can begin if a word begins here: also after an escape (`\n`, `\u003d`, `%3D`) or the rest of a colour code.
fn starts(bytes: &[u8], at: usize) -> [Option<usize>; 2] {
    let word = |i: usize| bytes.get(i).is_some_and(|b| is(*b, ALNUM)).then_some(i);
    let before = if at == 0 { 0 } else { bytes[at - 1] };
    let second = match before {
        b'\\' if bytes[at] == b'u' => word(at + 5),
        b'\\' if matches!(bytes[at], b'n' | b'r' | b't' | b'b' | b'f') => word(at + 1),
        b'%' => word(at + 2),
        b'[' | b';' => {
            let end = at + run(&bytes[at..], DIGIT);
            (end > at && bytes.get(end) == Some(&b'm')).then(|| word(end + 1)).flatten()
        }
        _ => None,
    };
    [Some(at), second]
}

fn token(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let first = bytes[at];
    let known = BY_HEAD[first as usize].iter().find_map(|r| shaped(text, at, r));
    known.or_else(|| built(text, at, first))
}

fn shaped(text: &str, at: usize, rule: &Rule) -> Option<Found> {
    /// What is looked at of a long rest.
    const LOOK: usize = 1024;
    let bytes = text.as_bytes();
    if !bytes[at..].starts_with(rule.prefix.as_bytes()) {
        return None;
    }
    let start = at + rule.prefix.len();
    let len = run(&bytes[start..bytes.len().min(start + LOOK)], rule.set);
    let body = text[start..start + len].trim_end_matches('.');
    let whole =
        body.len() >= rule.min && body.len() <= rule.max && !(rule.max == len && goes_on(bytes, start + len));
    let good = whole && (rule.judge)(body) || is_beginning(rule, body) && is_cut(text, start + body.len());
    good.then(|| Found { start: at, end: end_of(text, start, rule.set), kind: rule.kind })
}

/// Whether this may be what was left of a credential.
fn is_beginning(rule: &Rule, body: &str) -> bool {
    match rule.set {
        _ if rule.prefix.len() < 3 || rule.kind == "jwt" => false,
        CAPS => body.len() >= 6 && is_varied(body),
        _ if rule.sure => could_be_made(body),
        _ if rule.prefix.ends_with(['-', '_']) && body.len() >= 8 && !body.contains(['-', '_', '.']) => {
            could_be_made(body)
        }
        _ => could_be_random(body),
    }
}

fn goes_on(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(|b| is(*b, WORD))
}

/// The end of a token: all that it can be made of, and what is stuck to it.
fn end_of(text: &str, start: usize, set: u8) -> usize {
    let bytes = text.as_bytes();
    let end = start + run(&bytes[start..], set | WORD);
    let end = start + text[start..end].trim_end_matches('.').len();
    end + bytes[end..].iter().take_while(|b| **b == b'=').count()
}

/// Credentials without a beginning of their own.
fn built(text: &str, at: usize, first: u8) -> Option<Found> {
    match first {
        b'0'..=b'9' => telegram(text, at).or_else(|| asana(text, at)).or_else(|| mail(text, at)),
        b'b' if text[at..].starts_with("bot") => telegram(text, at + 3),
        b'B' | b'b' => scheme(text, at).or_else(|| mail(text, at)),
        b'M' | b'N' | b'O' => discord(text, at),
        b'a'..=b'f' => mail(text, at),
        _ => None,
    }
}

/// `123456789:AA…` (core.telegram.org/bots/features).
fn telegram(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let digits = run(&bytes[at..bytes.len().min(at + 12)], DIGIT);
    let start = at + digits + 1;
    if !(8..=11).contains(&digits) || bytes.get(start - 1) != Some(&b':') {
        return None;
    }
    let len = run(&bytes[start..], WORD);
    let body = &text[start..start + len];
    // All that are issued now begin so.
    let likely = if body.starts_with("AA") { could_be_made } else { could_be_random };
    let cut = (6..35).contains(&len) && likely(body) && is_cut(text, start + len);
    (len == 35 && looks_random(body) || cut).then(|| Found {
        start: at,
        end: start + len,
        kind: "telegram-token",
    })
}

/// `1/1234567890123456:<32 hex>`, since then `2/…/…:<32 hex>` (developers.asana.com/docs/personal-access-token).
fn asana(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if !matches!(bytes[at], b'0'..=b'2') || bytes.get(at + 1) != Some(&b'/') {
        return None;
    }
    let mut start = at + 2;
    let mut numbers = 0;
    loop {
        let digits = run(&bytes[start..bytes.len().min(start + 24)], DIGIT);
        numbers += 1;
        match bytes.get(start + digits) {
            Some(b'/') if digits >= 12 && numbers < 3 => start += digits + 1,
            Some(b':') if digits >= 12 => break start += digits + 1,
            _ => return None,
        }
    }
    let len = run(&bytes[start..], HEX);
    (len >= 32 || len >= 6 && is_cut(text, start + len)).then(|| Found {
        start: at,
        end: start + len,
        kind: "asana-token",
    })
}

/// Three parts of base64, the first of which is a number (discord.com/developers/docs/reference#authentication).
fn discord(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let id = run(&bytes[at..bytes.len().min(at + 40)], ALNUM);
    let time = at + id + 1;
    if !(22..=32).contains(&id) || bytes.get(time - 1) != Some(&b'.') {
        return None;
    }
    let start = time + run(&bytes[time..bytes.len().min(time + 8)], WORD) + 1;
    if bytes.get(start - 1) != Some(&b'.') || !(6..=8).contains(&(start - 1 - time)) {
        return None;
    }
    let len = run(&bytes[start..], WORD);
    (len >= 24 || len >= 4 && is_cut(text, start + len)).then(|| Found {
        start: at,
        end: start + len,
        kind: "discord-token",
    })
}

/// `Bearer x` and `Basic x` of an `Authorization` header (RFC 6750, RFC 7617).
fn scheme(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let len = run(&bytes[at..bytes.len().min(at + 7)], LETTER);
    let word = &text[at..at + len];
    if !word.eq_ignore_ascii_case("bearer") && !word.eq_ignore_ascii_case("basic") {
        return None;
    }
    let gap = bytes[at + len..].iter().take_while(|b| **b == b' ').count();
    let start = at + len + gap;
    let len = run(&bytes[start..], PART);
    let value = text[start..start + len].trim_end_matches('.');
    let whole = value.len() >= 16 && (looks_random(value) || value.ends_with('='));
    let cut = value.len() >= 6 && could_be_random(value) && is_cut(text, start + value.len());
    (gap > 0 && (whole || cut)).then(|| Found { start, end: start + len, kind: "authorization" })
}

/// Keys of Mailchimp (`<32 hex>-us1`) and Mailgun (`<32 hex>-<8 hex>-<8 hex>`).
fn mail(text: &str, at: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    if bytes.get(at + 32) != Some(&b'-') || run(&bytes[at..], HEX) != 32 {
        return None;
    }
    let rest = &bytes[at + 33..];
    let kind = match rest {
        [b'u', b's', b'0'..=b'9', ..] => "mailchimp-key",
        _ if run(rest, HEX) == 8 && rest.get(8) == Some(&b'-') && run(&rest[9..], HEX) == 8 => "mailgun-key",
        _ => return None,
    };
    Some(Found { start: at, end: at + 33 + run(rest, WORD), kind })
}

/// A mark within a token, how much of what stands before it and how much behind.
const MARKS: &[(&str, usize, usize, &str)] = &[
    ("Q~", 4, 28, "azure-secret"), // learn.microsoft.com/entra: client secrets, three characters and a digit first
    (".atlasv1.", 14, 24, "terraform-token"), // developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens
];

fn marked(text: &str, found: &mut Vec<Found>) {
    const MOST: usize = 128;
    let bytes = text.as_bytes();
    for (mark, before, after, kind) in MARKS {
        for at in memmem::find_iter(bytes, mark) {
            let head =
                bytes[..at].iter().rev().take(*before).take_while(|b| is(**b, WORD | DOT | TILDE)).count();
            let start = at + mark.len();
            let len = run(&bytes[start..bytes.len().min(start + MOST)], WORD | DOT | TILDE);
            let whole = len >= *after && len < MOST && looks_made(&text[start..start + len]);
            let cut = len >= 6 && len < *after && is_cut(text, start + len);
            if head == *before && (whole || cut) {
                found.push(Found { start: at - head, end: start + len, kind });
            }
        }
    }
}

/// The secret that belongs to a key id of Amazon stands near it: 40 characters of base64.
fn near_aws_key(text: &str, from: usize) -> Option<Found> {
    const NEAR: usize = 160;
    let part = |b: &u8| is(*b, ALNUM) || matches!(b, b'+' | b'/');
    let bytes = text.as_bytes();
    let to = bytes.len().min(from + NEAR);
    let mut at = from;
    while at < to {
        let len = bytes[at..].iter().take_while(|b| part(b)).count();
        if len == 0 {
            at += 1;
            continue;
        }
        let value = &text[at..at + len];
        let cut = len < 40 && could_be_made(value) && is_cut(text, at + len);
        if len == 40 && looks_random(value) || cut {
            return Some(Found { start: at, end: at + len, kind: "aws-secret" });
        }
        at += len;
    }
    None
}
