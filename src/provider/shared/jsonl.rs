//! Files of one JSON object a line, as agents write them and as crashes leave them.

use crate::io::lines::{LineReader, read_record};
use crate::io::stat;
use crate::model::{Locator, Message};
use crate::provider::{Checkpoint, Parsed, Source, SourceError};
use serde_json_borrow::Value;
use std::io::{Read, Seek, SeekFrom};

/// A place in a file: a line, without its line feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub offset: u64,
    pub len: u32,
    /// Which record of the line is meant, where a lost line feed left several on it.
    pub nth: u16,
}

/// Texts of one record of a line with several.
pub const PARTS_PER_RECORD: usize = 1024;

impl Place {
    pub fn part(self, part: usize) -> Locator {
        let part = usize::from(self.nth) * PARTS_PER_RECORD + part;
        Locator { offset: self.offset, len: self.len, part: part.min(usize::from(u16::MAX)) as u16 }
    }
}

/// How a pass over a file went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct End {
    /// Behind the last complete line.
    pub offset: u64,
    pub skipped: u32,
    pub shortened: u32,
    /// The last line lacks its line feed but was a whole record and was used.
    pub loose: bool,
    /// The file is compressed: places in it are none of the file.
    pub packed: bool,
}

impl End {
    /// What the pass came to, with the provider's memory for the next one, if that can go on from here.
    pub fn parsed(self, state: Vec<u8>) -> Parsed {
        let checkpoint = (!self.loose && !self.packed).then_some(Checkpoint { offset: self.offset, state });
        Parsed { checkpoint, skipped: self.skipped, shortened: self.shortened }
    }
}

/// What is to be done after a record.
pub type Step = Result<(), SourceError>;

/// Calls `each` with every record from `offset` on. The file is read up to the size it had when it was opened.
pub fn each_record(
    source: &Source,
    offset: u64,
    each: impl FnMut(&Value<'_>, Place) -> Step,
) -> Result<End, SourceError> {
    if source.rel.ends_with(".zst") {
        let (file, _) = stat::open_regular(&source.path)?;
        let input = zstd::stream::read::Decoder::new(file)?;
        let end = records(LineReader::new(input, 0), each)?;
        return Ok(End { packed: true, ..end });
    }
    let (mut file, fp) = stat::open_regular(&source.path)?;
    file.seek(SeekFrom::Start(offset))?;
    records(LineReader::new(file.take(fp.size.saturating_sub(offset)), offset), each)
}

fn records(
    mut reader: LineReader<impl Read>,
    mut each: impl FnMut(&Value<'_>, Place) -> Step,
) -> Result<End, SourceError> {
    let mut end = End::default();
    while let Some(line) = reader.next_line()? {
        let mut place = Place { offset: line.offset, len: line.len.min(u64::from(u32::MAX)) as u32, nth: 0 };
        let (good, bad) = values(line.bytes, |v| {
            let done = each(v, place);
            place.nth += 1;
            done
        })?;
        if line.complete {
            end.offset = line.offset + line.len + 1;
            end.skipped += bad;
            end.shortened += u32::from(line.cut);
        } else {
            end.loose |= good > 0;
            end.offset = end.offset.max(line.offset);
        }
    }
    Ok(end)
}

/// The records of one line: usually one; two where a line feed was lost between writers. Returns how many, and whether bytes were left.
pub fn values(line: &[u8], mut each: impl FnMut(&Value<'_>) -> Step) -> Result<(u32, u32), SourceError> {
    let line = trim(line);
    if line.is_empty() {
        return Ok((0, 0));
    }
    if std::str::from_utf8(line).is_ok() {
        return salvage(line, &mut each);
    }
    salvage(String::from_utf8_lossy(line).as_bytes(), &mut each)
}

fn salvage(line: &[u8], each: &mut impl FnMut(&Value<'_>) -> Step) -> Result<(u32, u32), SourceError> {
    const TRIES: usize = 16;
    let (mut good, mut bad, mut at) = (0, 0, 0);
    for _ in 0..TRIES {
        let mut stream = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<Value<'_>>();
        let mut done = 0;
        let mut broken = false;
        for value in &mut stream {
            match value {
                Ok(v) if v.is_object() => {
                    each(&v)?;
                    good += 1;
                }
                Ok(_) => bad = 1,
                Err(_) => {
                    broken = true;
                    break;
                }
            }
        }
        done += stream.byte_offset();
        if !broken {
            break;
        }
        bad = 1;
        // A torn record: the next one on this line, if any, begins where one object ends and another starts.
        match memchr::memmem::find(&line[at + done..], b"}{\"") {
            Some(i) => at += done + i + 1,
            None => break,
        }
    }
    Ok((good, bad))
}

/// Without white space, NUL bytes (a crash leaves runs of them) and a byte order mark around it.
fn trim(mut line: &[u8]) -> &[u8] {
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0;
    line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    while let Some((first, rest)) = line.split_first().filter(|(b, _)| blank(b)) {
        let _ = first;
        line = rest;
    }
    while let Some((_, rest)) = line.split_last().filter(|(b, _)| blank(b)) {
        line = rest;
    }
    line
}

/// The record at a locator, handed to `each`.
pub fn record_at(
    source: &Source,
    at: Locator,
    mut each: impl FnMut(&Value<'_>, Place) -> Step,
) -> Result<(), SourceError> {
    let mut place = Place { offset: at.offset, len: at.len, nth: 0 };
    let bytes = if source.rel.ends_with(".zst") {
        let (file, _) = stat::open_regular(&source.path)?;
        let mut input = zstd::stream::read::Decoder::new(file)?;
        std::io::copy(&mut (&mut input).take(at.offset), &mut std::io::sink())?;
        let mut reader = LineReader::new(input.take(u64::from(at.len)), at.offset);
        reader.next_line()?.map(|l| l.bytes.to_vec()).unwrap_or_default()
    } else {
        let (mut file, _) = stat::open_regular(&source.path)?;
        read_record(&mut file, at.offset, u64::from(at.len))?
    };
    values(&bytes, |v| {
        let done = each(v, place);
        place.nth += 1;
        done
    })?;
    Ok(())
}

/// The records in a stretch of several lines, for messages that are written in pieces.
pub fn stretch(
    source: &Source,
    at: Locator,
    each: impl FnMut(&Value<'_>, Place) -> Step,
) -> Result<(), SourceError> {
    let (mut file, _) = stat::open_regular(&source.path)?;
    file.seek(SeekFrom::Start(at.offset))?;
    records(LineReader::new(file.take(u64::from(at.len)), at.offset), each).map(drop)
}

/// Whether any of these strings stands in the file before `offset`. Costs a read of that part, no parsing.
pub fn any_before(source: &Source, offset: u64, needles: &[String]) -> Result<bool, SourceError> {
    const CHUNK: usize = 1 << 20;
    if needles.is_empty() {
        return Ok(false);
    }
    let finders: Vec<_> = needles.iter().map(|n| memchr::memmem::Finder::new(n.as_bytes())).collect();
    let overlap = needles.iter().map(String::len).max().unwrap_or(0);
    let (file, _) = stat::open_regular(&source.path)?;
    let mut input = file.take(offset);
    let mut buf = Vec::with_capacity(CHUNK + overlap);
    loop {
        let keep = buf.len().min(overlap);
        buf.drain(..buf.len() - keep);
        if Read::by_ref(&mut input).take(CHUNK as u64).read_to_end(&mut buf)? == 0 {
            return Ok(false);
        }
        if finders.iter().any(|f| f.find(&buf).is_some()) {
            return Ok(true);
        }
    }
}

/// A message that no longer borrows from its record.
pub fn own(message: Message<'_>) -> Message<'static> {
    Message {
        role: message.role,
        timestamp_ms: message.timestamp_ms,
        text: message.text.into_owned().into(),
        at: message.at,
        tool: message.tool.map(|t| t.into_owned().into()),
        sidechain: message.sidechain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &[u8]) -> (Vec<String>, u32) {
        let mut seen = Vec::new();
        let (_, bad) = values(line, |v| {
            seen.push(super::super::json::text(v, "t").unwrap_or("").to_owned());
            Ok(())
        })
        .unwrap();
        (seen, bad)
    }

    #[test]
    fn two_records_on_a_line_are_both_kept() {
        assert_eq!(kinds(br#"{"t":"a"}{"t":"b"}"#), (vec!["a".into(), "b".into()], 0));
        assert_eq!(kinds(br#"torn tail"}{"t":"b"}"#), (vec!["b".into()], 1));
        assert_eq!(kinds(br#"{"t":"a"}{"t":"#), (vec!["a".into()], 1));
    }

    #[test]
    fn nul_bom_and_bad_utf8_do_not_hide_a_record() {
        assert_eq!(kinds(b"\0\0\xef\xbb\xbf{\"t\":\"a\"}\0\0\r").1, 1);
        assert_eq!(kinds(b"\xef\xbb\xbf{\"t\":\"a\"}\0\0\r"), (vec!["a".into()], 0));
        assert_eq!(kinds(b"{\"t\":\"\xff\xfe\"}").0, ["\u{fffd}\u{fffd}"]);
        assert_eq!(kinds(b"[1]"), (vec![], 1));
        let deep = "[".repeat(20_000);
        assert_eq!(kinds(deep.as_bytes()), (vec![], 1));
    }
}
