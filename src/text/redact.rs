//! Masking what looks like a credential. Shapes are those the issuers document; a mask is `[redacted:<kind>]`.

use super::{ceil_boundary, floor_boundary};
use std::borrow::Cow;
use std::ops::Range;

/// A token that is known by how it begins.
struct Shape {
    prefix: &'static str,
    kind: &'static str,
    /// Characters after the prefix, at least.
    min: usize,
}

const fn shape(prefix: &'static str, min: usize, kind: &'static str) -> Shape {
    Shape { prefix, kind, min }
}

const SHAPES: &[Shape] = &[
    shape("sk-ant-", 20, "anthropic-key"),
    shape("sk-proj-", 20, "openai-key"),
    shape("sk-svcacct-", 20, "openai-key"),
    shape("sk-or-v1-", 20, "openrouter-key"),
    shape("sk_live_", 16, "stripe-key"),
    shape("sk_test_", 16, "stripe-key"),
    shape("rk_live_", 16, "stripe-key"),
    shape("rk_test_", 16, "stripe-key"),
    shape("whsec_", 20, "stripe-key"),
    shape("sk-", 32, "api-key"),
    shape("ghp_", 30, "github-token"),
    shape("gho_", 30, "github-token"),
    shape("ghu_", 30, "github-token"),
    shape("ghs_", 30, "github-token"),
    shape("ghr_", 30, "github-token"),
    shape("github_pat_", 30, "github-token"),
    shape("glpat-", 18, "gitlab-token"),
    shape("gldt-", 18, "gitlab-token"),
    shape("glrt-", 18, "gitlab-token"),
    shape("xoxb-", 20, "slack-token"),
    shape("xoxp-", 20, "slack-token"),
    shape("xoxa-", 20, "slack-token"),
    shape("xoxs-", 20, "slack-token"),
    shape("xapp-", 20, "slack-token"),
    shape("AIza", 34, "google-key"),
    shape("ya29.", 20, "google-token"),
    shape("GOCSPX-", 20, "google-secret"),
    shape("npm_", 30, "npm-token"),
    shape("pypi-", 50, "pypi-token"),
    shape("hf_", 30, "huggingface-token"),
    shape("dop_v1_", 40, "digitalocean-token"),
    shape("SG.", 40, "sendgrid-key"),
    shape("key-", 32, "mailgun-key"),
    shape("shpat_", 30, "shopify-token"),
    shape("sq0atp-", 20, "square-token"),
    shape("EAACEdEose0cBA", 10, "facebook-token"),
    shape("dckr_pat_", 20, "docker-token"),
    shape("lin_api_", 30, "linear-key"),
    shape("ntn_", 40, "notion-token"),
    shape("gsk_", 30, "groq-key"),
    shape("xai-", 40, "xai-key"),
    shape("r8_", 30, "replicate-token"),
    shape("tskey-", 20, "tailscale-key"),
    shape("AGE-SECRET-KEY-", 40, "age-key"),
    shape("hvs.", 20, "vault-token"),
    shape("pul-", 38, "pulumi-token"),
    shape("CFPAT-", 30, "contentful-token"),
    shape("figd_", 30, "figma-token"),
    shape("sntrys_", 30, "sentry-token"),
    shape("dapi", 32, "databricks-token"),
    shape("eyJ", 60, "jwt"),
];

/// Identifiers of Amazon keys: a fixed head and 16 capitals or digits.
const AWS: [&str; 4] = ["AKIA", "ASIA", "AROA", "AIDA"];

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
    const AROUND: usize = 8 << 10;
    let from = floor_boundary(text, range.start.saturating_sub(AROUND));
    let to = ceil_boundary(text, (range.end + AROUND).min(text.len()));
    let near = &text[from..to];
    mask(near, range.start - from..range.end - from, &credentials(near)).0
}

/// All that looks like a credential, in order.
fn credentials(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    pem_blocks(text, &mut found);
    auth_values(text, &mut found);
    url_passwords(text, &mut found);
    assigned_secrets(text, &mut found);
    tokens(text, &mut found);
    found.sort_by_key(|f| (f.0, std::cmp::Reverse(f.1)));
    found
}

fn mask(text: &str, range: Range<usize>, found: &[Found]) -> (String, usize) {
    let mut out = String::with_capacity(range.len());
    let (mut at, mut count) = (range.start, 0);
    for (start, end, kind) in found.iter().filter(|f| f.0 < range.end) {
        if *end <= at {
            continue;
        }
        // What overlaps the one before is part of its mask.
        if *start >= at || count == 0 {
            out.push_str(&text[at..(*start).max(at)]);
            out.push_str("[redacted:");
            out.push_str(kind);
            out.push(']');
            count += 1;
        }
        at = *end;
    }
    out.push_str(text.get(at..range.end).unwrap_or(""));
    (out, count)
}

type Found = (usize, usize, &'static str);

fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}

/// Runs of token characters, each tried against the shapes at its start and after a `=`, `/` or `.` inside it.
fn tokens(text: &str, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_token_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|b| is_token_byte(**b)).count();
        if end - at >= 16 {
            run(text, at, end, found);
        }
        at = end;
    }
}

fn run(text: &str, start: usize, end: usize, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < end {
        let head = at == start || matches!(bytes[at - 1], b'=' | b'/' | b'+' | b'~' | b'.');
        if head && let Some(kind) = kind_of(&text[at..end]) {
            found.push((at, end, kind));
            return;
        }
        at += 1;
    }
}

fn kind_of(token: &str) -> Option<&'static str> {
    if AWS.iter().any(|p| token.starts_with(p)) {
        let body = token[4..].bytes().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count();
        return (body == 16).then_some("aws-key-id");
    }
    let shape = SHAPES.iter().find(|s| token.starts_with(s.prefix))?;
    let body = &token[shape.prefix.len()..];
    let ok = match shape.kind {
        "jwt" => token.bytes().filter(|b| *b == b'.').count() >= 2,
        _ => looks_random(body),
    };
    (ok && body.len() >= shape.min).then_some(shape.kind)
}

/// A key has digits or changes of case; a hyphenated name has neither.
fn looks_random(body: &str) -> bool {
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let upper = body.bytes().any(|b| b.is_ascii_uppercase());
    let lower = body.bytes().any(|b| b.is_ascii_lowercase());
    digits >= 2 || (upper && lower && digits >= 1)
}

/// `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn pem_blocks(text: &str, found: &mut Vec<Found>) {
    let mut from = 0;
    while let Some(i) = text[from..].find("-----BEGIN ") {
        let start = from + i;
        let header = &text[start + 11..];
        let Some(label) = header.split("-----").next() else { return };
        if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
            from = start + 11;
            continue;
        }
        let end = text[start..].find("-----END ").map_or(text.len(), |e| {
            let tail = start + e + 9;
            text[tail..].find("-----").map_or(text.len(), |t| tail + t + 5)
        });
        found.push((start, end, "private-key"));
        from = end;
    }
}

/// The value of an `Authorization` header: `Bearer x`, `Basic x`, `Token x`.
fn auth_values(text: &str, found: &mut Vec<Found>) {
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic "] {
        for (i, _) in text.match_indices(scheme) {
            let start = i + scheme.len();
            let len = text.as_bytes()[start..].iter().take_while(|b| is_token_byte(**b)).count();
            let value = &text[start..start + len];
            if len >= 16 && (looks_random(value) || value.ends_with('=')) {
                found.push((start, start + len, "authorization"));
            }
        }
    }
}

/// The password in `scheme://user:password@host`.
fn url_passwords(text: &str, found: &mut Vec<Found>) {
    for (i, _) in text.match_indices("://") {
        let start = i + 3;
        let stop = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'<' | b'>' | b'`');
        let len = text.as_bytes()[start..].iter().take_while(|b| !stop(b)).count();
        let authority = &text[start..start + len];
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let Some(colon) = user.find(':') else { continue };
        if user.len() > colon + 1 && !user[colon + 1..].starts_with(['$', '{', '<', '*']) {
            found.push((start + colon + 1, start + user.len(), "url-password"));
        }
    }
}

/// `AWS_SECRET_ACCESS_KEY=…` and friends: a name that says secret, then a value that looks random.
fn assigned_secrets(text: &str, found: &mut Vec<Found>) {
    const NAMES: &[&str] = &[
        "secret",
        "password",
        "passwd",
        "api_key",
        "apikey",
        "api-key",
        "access_key",
        "auth_token",
        "private_key",
    ];
    let lower = text.to_ascii_lowercase();
    for name in NAMES {
        for (i, _) in lower.match_indices(name) {
            let bytes = text.as_bytes();
            let mut at = i + name.len();
            at += bytes[at..]
                .iter()
                .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
                .count();
            let gap = bytes[at..]
                .iter()
                .take_while(|b| matches!(b, b'"' | b'\'' | b' ' | b':' | b'=' | b'\\'))
                .count();
            if gap == 0 || !bytes[at..at + gap].iter().any(|b| matches!(b, b':' | b'=')) {
                continue;
            }
            at += gap;
            let len = bytes[at..].iter().take_while(|b| is_token_byte(**b)).count();
            let value = &text[at..at + len];
            if len >= 16 && looks_random(value) && value.bytes().any(|b| b.is_ascii_alphabetic()) {
                found.push((at, at + len, "secret"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_of_a_secret_is_masked_too() {
        let body = "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1bC3dE5gH7j";
        let text =
            format!("before\n-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n-----END PRIVATE KEY-----\nafter");
        let inside = text.find(body).unwrap() + 7;
        assert_eq!(passage(&text, inside..text.len()), "[redacted:private-key]\nafter");
        assert_eq!(passage(&text, 0..inside), "before\n[redacted:private-key]");
        assert_eq!(passage(&text, inside..inside + 5), "[redacted:private-key]");
        assert_eq!(passage(&text, 0..4), "befo");
    }

    #[test]
    fn credentials_are_masked() {
        let body = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5";
        for (text, secret) in [
            (format!("ghp_{body}"), body),
            (format!("key sk-ant-api03-{body} end"), body),
            ("AKIAIOSFODNN7EXAMPLE".into(), "AKIAIOSFODNN7EXAMPLE"),
            (format!("Authorization: Bearer {body}"), body),
            ("postgres://u:pw@h/db".into(), ":pw@"),
            (format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"), body),
            (format!("AWS_SECRET_ACCESS_KEY={body}"), body),
        ] {
            let (masked, n) = redact(&text);
            assert!(
                n >= 1 && !masked.contains(secret) && masked.contains("[redacted:"),
                "{text} -> {masked}"
            );
        }
    }

    #[test]
    fn plain_text_is_left_alone() {
        for text in [
            "rotate token",
            "token_count: 12345678",
            "9c1f5038-4775-4aa9-bb82-2aa43d5774be",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sk-learn-contrib-and-other-long-package-names",
            "https://example.com/a:b@c",
            "the password: see the vault",
            "git@github.com:acme/app.git",
        ] {
            assert_eq!(redact(text).1, 0, "{text} -> {}", redact(text).0);
        }
    }
}
