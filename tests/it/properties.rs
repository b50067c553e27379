//! What must hold for every file a provider is given, tried on all fixtures cut and damaged in many ways.

use crate::fixture::{self, Home};
use agf_catalog::io::env::Env;
use agf_catalog::io::stat;
use agf_catalog::model::{Facts, Locator, Message, Role};
use agf_catalog::provider::{
    Checkpoint, Class, Parsed, Provider, Resume, Root, Sink, Source, SourceError, registry,
};
use std::fs;
use std::path::{Path, PathBuf};

/// One unit as it was read.
#[derive(Debug, Clone, PartialEq, Default)]
struct Unit {
    row: String,
    session: String,
    facts: Facts<'static>,
    messages: Vec<(Role, i64, String, Locator)>,
}

#[derive(Default)]
struct Units {
    all: Vec<Unit>,
    open: Unit,
}

impl Sink for Units {
    fn open(&mut self, row: &str, _stamp: u64) {
        self.open = Unit { row: row.to_owned(), ..Unit::default() };
    }

    fn message(&mut self, m: Message<'_>) {
        self.open.messages.push((m.role, m.timestamp_ms, m.text.into_owned(), m.at));
    }

    fn close(&mut self, session: &str, facts: Facts<'_>) {
        let mut unit = std::mem::take(&mut self.open);
        (unit.session, unit.facts) = (session.to_owned(), facts.into_owned());
        self.all.push(unit);
    }

    fn keep(&mut self, _row: &str, _stamp: u64) -> bool {
        false
    }
}

type Read = (Result<Parsed, SourceError>, Vec<Unit>);

fn parse(provider: &dyn Provider, source: &Source, from: Option<&Resume<'_>>) -> Read {
    let mut units = Units::default();
    let parsed = provider.parse(source, from, &mut units);
    (parsed, units.all)
}

/// Every source of every fixture.
fn sources() -> Vec<(&'static dyn Provider, Source, Home)> {
    let mut all = Vec::new();
    for (id, case) in fixture::cases() {
        let provider = registry::find(&id).unwrap();
        let home = Home::of(&case);
        let env = Env::from_vars([("HOME", home.path().to_str().unwrap())]).with_cwd(home.path());
        for root in provider.roots(&env) {
            let mut found = Vec::new();
            walk(provider, &root, &mut Vec::new(), &mut found);
            for (rel, kind, path) in found {
                let (fingerprint, _) = stat::stat(&path).unwrap();
                let own = Home::empty();
                let copy = own.path().join(rel.rsplit('/').next().unwrap());
                fs::copy(&path, &copy).unwrap();
                all.push((provider, Source { root: root.clone(), rel, kind, path: copy, fingerprint }, own));
            }
        }
    }
    assert!(all.len() > 20);
    all
}

fn walk(
    provider: &dyn Provider,
    root: &Root,
    names: &mut Vec<String>,
    found: &mut Vec<(String, u8, PathBuf)>,
) {
    let path = names.iter().fold(root.path.clone(), |p, n| p.join(n));
    let Ok(entries) = fs::read_dir(&path) else { return };
    for name in entries.flatten().filter_map(|e| e.file_name().into_string().ok()) {
        names.push(name.clone());
        let parts: Vec<&str> = names.iter().map(String::as_str).collect();
        match provider.classify(root, &parts, path.join(&name).is_dir()) {
            Class::Enter => walk(provider, root, names, found),
            Class::Source(kind) => found.push((parts.join("/"), kind, path.join(&name))),
            Class::Skip => {}
        }
        names.pop();
    }
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "jsonl" || e == "json")
}

/// Reads what stands before `cut`, then the rest from where that ended: as the index does when a file grows.
fn in_two_steps(provider: &dyn Provider, source: &Source, all: &[u8], cut: usize) -> Option<Vec<Unit>> {
    fs::write(&source.path, &all[..cut]).unwrap();
    let (parsed, first) = parse(provider, source, None);
    let Checkpoint { offset, state } = parsed.ok()?.checkpoint?;
    let [before] = first.as_slice() else { return None };
    fs::write(&source.path, all).unwrap();
    let resume = Resume { offset, state: &state, facts: before.facts.clone() };
    match parse(provider, source, Some(&resume)) {
        (Err(SourceError::NeedsAll), _) => None,
        (parsed, mut second) => {
            parsed.unwrap();
            let after = second.pop().expect("a unit that grew is still one");
            let kept = before.messages.iter().filter(|m| m.3.offset < offset).cloned();
            let messages = kept.chain(after.messages).collect();
            Some(vec![Unit { messages, ..after }])
        }
    }
}

#[test]
fn a_file_read_in_two_steps_is_the_file_read_at_once() {
    let mut compared = 0;
    for (provider, source, _home) in sources().iter().filter(|(_, s, _)| is_text(&s.path)) {
        let all = fs::read(&source.path).unwrap();
        let (parsed, whole) = parse(*provider, source, None);
        if parsed.is_err() {
            continue;
        }
        let lines = all.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
        let cuts: Vec<usize> =
            lines.flat_map(|l| [l.saturating_sub(20), l - 1, l, l + 7]).filter(|c| *c < all.len()).collect();
        for cut in cuts {
            if let Some(steps) = in_two_steps(*provider, source, &all, cut) {
                assert_eq!(steps, whole, "{} cut at {cut}", source.rel);
                compared += 1;
            }
        }
        fs::write(&source.path, &all).unwrap();
    }
    assert!(compared > 100, "{compared}");
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    const PIECES: &[&[u8]] = &[
        b"\n",
        b"}{",
        b"\"",
        b"null",
        b"[]",
        b"{}",
        b"\0\0\0\0",
        b"\xff\xfe",
        b"-1",
        b"1e999",
        b"\\ud800",
        b"99999999999999999999",
        "\u{2028}".as_bytes(),
        b"<command-name>",
        b"</",
        b"true",
        b"\\u0000",
    ];
    let at = numbers.below(bytes.len());
    match numbers.below(5) {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << numbers.below(8),
        2 => {
            let piece = PIECES[numbers.below(PIECES.len())];
            bytes.splice(at..at, piece.iter().copied());
        }
        3 => {
            let end = (at + numbers.below(60)).min(bytes.len());
            bytes.drain(at..end);
        }
        _ => {
            let end = (at + numbers.below(400)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            bytes.splice(at..at, copy);
        }
    }
}

/// No damage makes a provider panic, and whatever it hands out it can find again at the place it names.
#[test]
fn damaged_files_are_read_and_read_back() {
    let mut numbers = Numbers(20_260_301);
    let mut messages = 0;
    for (provider, source, _home) in sources() {
        let all = fs::read(&source.path).unwrap();
        for _ in 0..40 {
            let mut bytes = all.clone();
            for _ in 0..=numbers.below(3) {
                if !bytes.is_empty() {
                    damage(&mut bytes, &mut numbers);
                }
            }
            fs::write(&source.path, &bytes).unwrap();
            let (_, units) = parse(provider, &source, None);
            for (_, _, text, at) in units.iter().flat_map(|u| &u.messages) {
                let again = provider
                    .read(&source, *at)
                    .map(|found| found.into_iter().any(|m| m.at == *at && m.text == *text));
                assert!(
                    again.unwrap_or(false),
                    "{}: {text:?} at {at:?} in {}",
                    source.rel,
                    String::from_utf8_lossy(&bytes)
                );
                messages += 1;
            }
        }
    }
    assert!(messages > 1000, "{messages}");
}
