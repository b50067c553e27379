//! Credentials in addresses.

use super::Found;
use super::bytes::{DIGIT, is, is_cut};
use super::value::{could_be_made, looks_random};
use memchr::memmem;

/// Addresses whose path is the credential.
const HOOKS: &[&str] = &[
    "hooks.slack.com/",          // api.slack.com/messaging/webhooks
    "discord.com/api/webhooks/", // discord.com/developers/docs/resources/webhook
    "discordapp.com/api/webhooks/",
    "canary.discord.com/api/webhooks/",
    "ptb.discord.com/api/webhooks/",
    "outlook.office.com/webhook/",
    "hooks.zapier.com/hooks/catch/",
    "maker.ifttt.com/trigger/",
    "open.feishu.cn/open-apis/bot/",
];

/// Finds passwords in `scheme://user:password@host`, and addresses that are passwords.
pub fn find(text: &str, found: &mut Vec<Found>) {
    for i in memmem::find_iter(text.as_bytes(), "://") {
        let start = i + 3;
        found.extend(hook(text, start).or_else(|| password(text, i, start)));
    }
}

/// How far an address goes. One in an escaped string ends before the escape.
fn end_of(text: &str, start: usize) -> usize {
    const LONGEST: usize = 1024;
    let stop =
        |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'|');
    let bytes = &text.as_bytes()[start..];
    let end = start + bytes.iter().take(LONGEST).position(stop).unwrap_or(bytes.len().min(LONGEST));
    let end = super::floor_boundary(text, end);
    start + text[start..end].trim_end_matches(['.', '…']).len()
}

fn hook(text: &str, start: usize) -> Option<Found> {
    let rest = &text[start..];
    let head = HOOKS.iter().find(|h| rest.starts_with(**h)).map(|h| h.len());
    // Of Microsoft Teams: every organisation has a host of its own.
    let teams = || {
        rest.bytes().take(80).position(|b| b == b'/').filter(|i| rest[..*i].ends_with(".webhook.office.com"))
    };
    let from = start + head.or_else(teams)?;
    let end = end_of(text, from);
    let path = &text[from..end];
    (looks_random(path) || is_cut(text, end) && could_be_made(path)).then_some(Found {
        start: from,
        end,
        kind: "webhook",
    })
}

fn password(text: &str, scheme: usize, start: usize) -> Option<Found> {
    let end = end_of(text, start);
    let address = &text[start..end];
    if address.contains("[redacted:") {
        return None;
    }
    let host = address.find(['/', '?', '#']).unwrap_or(address.len());
    let Some(colon) = address[..host].find(':') else { return user(text, start, &address[..host]) };
    let secret = start + colon + 1;
    let is_port = address[colon + 1..host].bytes().all(|b| is(b, DIGIT));
    // A password may hold a slash; a port may be followed by one.
    let at = if is_port { address[..host].rfind('@') } else { address.rfind('@').filter(|i| *i > colon) };
    match at {
        Some(at) if start + at > secret => is_given(&text[secret..start + at]).then_some(start + at),
        Some(_) => None,
        None => {
            let web = text[..scheme].ends_with("http") || text[..scheme].ends_with("https");
            let value = &text[secret..end];
            let cut = value.len() >= 5 && !is_port && is_cut(text, end) && !address[..host].contains('@');
            (cut && is_given(value) && (!web || could_be_made(value))).then_some(end)
        }
    }
    .map(|end| Found { start: secret, end, kind: "url-password" })
}

/// `https://<token>@host`.
fn user(text: &str, start: usize, authority: &str) -> Option<Found> {
    let at = authority.rfind('@')?;
    (at >= 16 && looks_random(&text[start..start + at])).then_some(Found {
        start,
        end: start + at,
        kind: "url-password",
    })
}

/// Not a variable, and not the word for what belongs there.
fn is_given(password: &str) -> bool {
    const WORDS: [&str; 7] = ["password", "pass", "passwd", "pwd", "secret", "pw1", "token"];
    !password.starts_with(['$', '{', '<', '*', '%', '[', '('])
        && !password.contains("[redacted")
        && !password.contains("...")
        && !WORDS.contains(&password.to_ascii_lowercase().as_str())
}
