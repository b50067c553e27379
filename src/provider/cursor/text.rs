//! Transcripts of early builds: plain text with `user:` and `assistant:` on lines of their own, and marks for reasoning and tools.

use super::transcript::{self, count};
use crate::io::stat;
use crate::limits::DOCUMENT_MAX;
use crate::model::{Message, Role};
use crate::provider::shared::out::{Emit, Texts};
use crate::provider::shared::prompt::{query, workspace};
use crate::provider::{Parsed, Sink, Source, SourceError};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::ErrorKind;

pub fn parse(source: &Source, id: &str, sink: &mut dyn Sink) -> Result<Parsed, SourceError> {
    let mut facts = transcript::facts(source, id);
    let (mut turn, mut counted) = (0, false);
    sink.open("", 0);
    let directory = read(source, &mut |m, of| {
        counted &= turn == of;
        turn = of;
        count(&m, &mut counted, &mut facts);
        sink.message(m);
    })?;
    facts.project = Cow::Owned(directory.unwrap_or_default());
    sink.close(id, facts);
    Ok(Parsed::default())
}

/// Emits all texts.
pub fn texts(source: &Source, emit: Emit<'_>) -> Result<(), SourceError> {
    read(source, &mut |m, _| emit(m)).map(drop)
}

/// Hands over all texts, each with the number of its turn, and gives the directory told to the model.
fn read(source: &Source, emit: &mut dyn FnMut(Message<'_>, u32)) -> Result<Option<String>, SourceError> {
    let bytes = stat::read_bounded(&source.path, DOCUMENT_MAX).map_err(|e| match e.kind() {
        ErrorKind::FileTooLarge => SourceError::Format("too large"),
        _ => SourceError::Io(e),
    })?;
    let all = String::from_utf8_lossy(&bytes);
    let turn = Cell::new(0);
    let mut give = |m: Message<'_>| emit(m, turn.get());
    let mut out = Texts::new(&mut give, source.fingerprint.size);
    let mut directory = None;
    for block in blocks(all.trim_start_matches('\u{feff}')) {
        turn.set(block.turn);
        match block.role {
            Role::User => {
                directory = directory.or_else(|| workspace(block.text));
                out.put(Role::User, 0, query(block.text).unwrap_or_default());
            }
            role => out.tool(role, 0, block.text.trim(), block.tool),
        }
    }
    Ok(directory)
}

/// A stretch of the text by one speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Block<'t> {
    role: Role,
    tool: Option<&'t str>,
    text: &'t str,
    turn: u32,
}

fn blocks(all: &str) -> Vec<Block<'_>> {
    let mut done = Vec::new();
    let mut now = Block { role: Role::System, tool: None, text: "", turn: 0 };
    let (mut start, mut at) = (0, 0);
    for line in all.split_inclusive('\n') {
        let end = at + line.len();
        if let Some((next, from)) = begins(line, &now, &all[start..at]) {
            done.push(Block { text: &all[start..at], ..now });
            now = next;
            start = at + from;
        }
        at = end;
    }
    done.push(Block { text: &all[start..], ..now });
    // What stands before the first speaker is nobody's.
    done.retain(|b| b.turn > 0);
    done
}

/// The block that begins with a line, and where in the line. `so_far` is the text of the one before.
fn begins<'t>(line: &'t str, now: &Block<'t>, so_far: &str) -> Option<(Block<'t>, usize)> {
    const QUERY: (&str, &str) = ("<user_query>", "</user_query>");
    let block = |role, tool, turn| Block { role, tool, text: "", turn };
    let bare = line.trim_end();
    if now.role == Role::User && so_far.matches(QUERY.0).count() > so_far.matches(QUERY.1).count() {
        return None;
    }
    match bare {
        "user:" => return Some((block(Role::User, None, now.turn + 1), line.len())),
        "assistant:" | "A:" => return Some((block(Role::Assistant, None, now.turn + 1), line.len())),
        _ if now.role == Role::User || now.turn == 0 => return None,
        _ => {}
    }
    for (mark, role) in [
        ("[Thinking]", Role::Thinking),
        ("[Tool call]", Role::ToolInput),
        ("[Tool result]", Role::ToolOutput),
    ] {
        let Some(rest) = bare.strip_prefix(mark) else { continue };
        return Some(match role {
            Role::Thinking => (block(role, None, now.turn), mark.len()),
            _ => (block(role, Some(rest.trim()).filter(|n| !n.is_empty()), now.turn), line.len()),
        });
    }
    // Arguments are indented; reasoning and results end with their paragraph.
    let over = match now.role {
        Role::ToolInput => !bare.is_empty() && !line.starts_with([' ', '\t']),
        Role::ToolOutput | Role::Thinking => bare.is_empty(),
        _ => false,
    };
    over.then(|| (block(Role::Assistant, None, now.turn), 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speakers_and_marks_part_the_text() {
        let all = "head\nuser:\n<user_query>\nwhat is\nuser:\n</user_query>\n\nassistant:\n[Thinking] hm\n\nLet me look.\n[Tool call] Grep\n  pattern: x\n\n[Tool result] Grep\nfound\n\nDone.\nA:\nMore.";
        let found: Vec<_> =
            blocks(all).into_iter().map(|b| (b.role, b.tool, b.text.trim(), b.turn)).collect();
        assert_eq!(
            found,
            [
                (Role::User, None, "<user_query>\nwhat is\nuser:\n</user_query>", 1),
                (Role::Assistant, None, "", 2),
                (Role::Thinking, None, "hm", 2),
                (Role::Assistant, None, "Let me look.", 2),
                (Role::ToolInput, Some("Grep"), "pattern: x", 2),
                (Role::ToolOutput, Some("Grep"), "found", 2),
                (Role::Assistant, None, "Done.", 2),
                (Role::Assistant, None, "More.", 3),
            ]
        );
    }
}
