//! Lines of a file with their offsets, in bounded memory whatever their length.
//!
//! Only `\n` ends a line. A line longer than [`LINE_MAX`] is not held whole: while it streams past, what exceeds
//! [`LONG_STRING_MAX`] of each JSON string in it is dropped, so that the rest still parses; a line that is too long even then
//! loses the tails of its arrays and objects.

use crate::limits::{LINE_MAX, LONG_STRING_MAX};
use memchr::{memchr, memchr2};
use std::io::{self, Read};

/// One line.
#[derive(Debug)]
pub struct Line<'b> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its length there, without the line feed.
    pub len: u64,
    /// Its bytes, shortened if `cut`.
    pub bytes: &'b [u8],
    pub cut: bool,
    /// Whether a line feed ends it. Only the last line can lack one.
    pub complete: bool,
}

const CHUNK: usize = 256 << 10;

/// Reads lines from `offset` on.
pub struct LineReader<R> {
    input: R,
    buf: Vec<u8>,
    /// The unread part of `buf`.
    start: usize,
    end: usize,
    /// File offset of `buf[start]`.
    offset: u64,
    short: Vec<u8>,
    eof: bool,
}

impl<R: Read> LineReader<R> {
    /// `input` stands at `offset` of its file.
    pub fn new(input: R, offset: u64) -> Self {
        Self { input, buf: vec![0; CHUNK], start: 0, end: 0, offset, short: Vec::new(), eof: false }
    }

    /// The next line, or `None` at the end. An empty unterminated rest is no line.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(i) = memchr(b'\n', &self.buf[searched..self.end]) {
                return Ok(Some(self.take(searched + i, true)));
            }
            if self.end - self.start > LINE_MAX {
                return self.next_long().map(Some);
            }
            searched = self.end;
            if self.eof || !self.fill(&mut searched)? {
                let end = self.end;
                return Ok((self.start < end).then(|| self.take(end, false)));
            }
        }
    }

    fn take(&mut self, end: usize, complete: bool) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        self.start = if complete { end + 1 } else { end };
        self.offset += (self.start - start) as u64;
        Line { offset, len: (end - start) as u64, bytes: &self.buf[start..end], cut: false, complete }
    }

    /// Reads more behind what is there; `searched` moves with the data.
    fn fill(&mut self, searched: &mut usize) -> io::Result<bool> {
        if self.start > 0 && (self.start == self.end || self.buf.len() - self.end < CHUNK / 4) {
            self.buf.copy_within(self.start..self.end, 0);
            *searched -= self.start;
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buf.len() {
            self.buf.resize((self.buf.len() * 2).min(LINE_MAX + 2 * CHUNK), 0);
        }
        let n = read_some(&mut self.input, &mut self.buf[self.end..])?;
        self.end += n;
        self.eof = n == 0;
        Ok(n > 0)
    }

    /// A line that does not fit: passes it through the shortener up to its line feed.
    fn next_long(&mut self) -> io::Result<Line<'_>> {
        let offset = self.offset;
        let mut shortener = Shortener::new(std::mem::take(&mut self.short));
        let complete = loop {
            let chunk = &self.buf[self.start..self.end];
            if let Some(i) = memchr(b'\n', chunk) {
                shortener.push(&chunk[..i]);
                self.start += i + 1;
                self.offset += i as u64 + 1;
                break true;
            }
            shortener.push(chunk);
            self.offset += chunk.len() as u64;
            (self.start, self.end) = (0, 0);
            let n = read_some(&mut self.input, &mut self.buf)?;
            self.end = n;
            if n == 0 {
                self.eof = true;
                break false;
            }
        };
        self.short = shortener.out;
        let len = self.offset - offset - u64::from(complete);
        Ok(Line { offset, len, bytes: &self.short, cut: true, complete })
    }
}

fn read_some(input: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buf) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Copies JSON with its long strings and, past a size, the rest of its containers left out.
struct Shortener {
    out: Vec<u8>,
    /// In a string: how much of it was kept.
    string: Option<usize>,
    escape: bool,
    depth: usize,
    /// Everything up to the end of the container at this depth is dropped.
    skip: Option<usize>,
}

impl Shortener {
    fn new(mut out: Vec<u8>) -> Self {
        out.clear();
        Self { out, string: None, escape: false, depth: 0, skip: None }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let used = if self.string.is_some() { self.in_string(bytes) } else { self.outside(bytes) };
            bytes = &bytes[used..];
        }
    }

    fn emit(&mut self, bytes: &[u8]) {
        if self.skip.is_none() && self.out.len() < 2 * LINE_MAX {
            self.out.extend_from_slice(bytes);
        }
    }

    /// Consumes a stretch of a string: up to its end, or one escape, or all there is.
    fn in_string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escape) {
            self.keep(&bytes[..1], true);
            return 1;
        }
        match memchr2(b'"', b'\\', bytes) {
            Some(0) if bytes[0] == b'"' => {
                self.string = None;
                self.emit(b"\"");
                1
            }
            Some(0) => {
                self.escape = true;
                self.keep(b"\\", false);
                1
            }
            Some(n) => {
                self.keep(&bytes[..n], false);
                n
            }
            None => {
                self.keep(bytes, false);
                bytes.len()
            }
        }
    }

    /// Keeps string content up to the limit; an escape already begun is always finished.
    fn keep(&mut self, bytes: &[u8], finish: bool) {
        let kept = self.string.unwrap_or(0);
        if finish && kept <= LONG_STRING_MAX {
            self.emit(bytes);
            self.string = Some((kept + bytes.len()).min(LONG_STRING_MAX));
        } else if kept < LONG_STRING_MAX {
            let n = bytes.len().min(LONG_STRING_MAX - kept);
            let n = if n < bytes.len() { boundary(bytes, n) } else { n };
            self.emit(&bytes[..n]);
            self.string = Some(kept + n);
            if n < bytes.len() {
                self.cut_string();
            }
        } else {
            self.cut_string();
        }
    }

    /// Ends what is kept of the string, without a half `\uXXXX` at its end.
    fn cut_string(&mut self) {
        if self.string.replace(LONG_STRING_MAX + 1).is_some_and(|kept| kept > LONG_STRING_MAX)
            || self.skip.is_some()
        {
            return;
        }
        let from = self.out.len().saturating_sub(5);
        let Some(i) = memchr::memmem::rfind(&self.out[from..], b"\\u").map(|i| from + i) else { return };
        let before = self.out[..i].iter().rev().take_while(|b| **b == b'\\').count();
        if before % 2 == 0 {
            self.out.truncate(i);
        }
    }

    fn outside(&mut self, bytes: &[u8]) -> usize {
        let n = bytes
            .iter()
            .position(|b| matches!(b, b'"' | b'{' | b'[' | b'}' | b']' | b','))
            .unwrap_or(bytes.len());
        self.emit(&bytes[..n]);
        let Some(b) = bytes.get(n) else { return n };
        match b {
            b'"' => {
                self.emit(b"\"");
                self.string = Some(0);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.emit(&[*b]);
            }
            b'}' | b']' => {
                if self.skip == Some(self.depth) {
                    self.skip = None;
                }
                self.depth = self.depth.saturating_sub(1);
                self.emit(&[*b]);
            }
            _ if self.skip.is_none() && self.out.len() > LINE_MAX => self.skip = Some(self.depth),
            _ => self.emit(b","),
        }
        n + 1
    }
}

/// The largest place at or before `at` that does not split a UTF-8 character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    (0..=at).rev().take(4).find(|i| bytes.get(*i).is_none_or(|b| b & 0xc0 != 0x80)).unwrap_or(at)
}

/// A stretch of a file that a locator names, with the treatment [`LineReader`] gave it.
pub fn read_record(file: &mut (impl Read + io::Seek), offset: u64, len: u64) -> io::Result<Vec<u8>> {
    file.seek(io::SeekFrom::Start(offset))?;
    let mut reader = LineReader::new(file.take(len), offset);
    let line = reader.next_line()?;
    Ok(line.map(|l| l.bytes.to_vec()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(data: &[u8]) -> Vec<(u64, Vec<u8>, bool, bool)> {
        let mut reader = LineReader::new(data, 0);
        let mut lines = Vec::new();
        while let Some(l) = reader.next_line().unwrap() {
            lines.push((l.offset, l.bytes.to_vec(), l.cut, l.complete));
        }
        lines
    }

    #[test]
    fn only_line_feeds_end_lines() {
        let lines = all("a\u{2028}b\r\n\nc".as_bytes());
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0].1, "a\u{2028}b\r".as_bytes());
        assert_eq!((lines[2].0, lines[2].3), (8, false));
    }

    #[test]
    fn a_huge_string_is_cut_and_the_record_still_parses() {
        let text =
            format!(r#"{{"a":"{}\"é","b":[{{"t":"end"}}],"c":1}}"#, "xé\\n\\u00e9".repeat(LINE_MAX / 4));
        let data = format!("{text}\n{{\"next\":1}}\n");
        let lines = all(data.as_bytes());
        assert_eq!(lines.len(), 2);
        assert!(lines[0].2 && lines[0].1.len() < LONG_STRING_MAX + 100);
        let value: serde_json::Value = serde_json::from_slice(&lines[0].1).unwrap();
        assert_eq!((value["b"][0]["t"].as_str(), value["c"].as_i64()), (Some("end"), Some(1)));
        assert_eq!(lines[1].1, br#"{"next":1}"#);
    }

    #[test]
    fn a_huge_array_is_cut_and_the_record_still_parses() {
        let items = vec![r#"{"k":["some text"],"n":12345}"#; LINE_MAX / 10].join(",");
        let data = format!(r#"{{"list":[{items}],"role":"user"}}"#);
        let lines = all(data.as_bytes());
        assert_eq!(lines.len(), 1);
        assert!(lines[0].1.len() <= 2 * LINE_MAX);
        let value: serde_json::Value = serde_json::from_slice(&lines[0].1).unwrap();
        assert!(value["list"].as_array().unwrap().len() > 1000);
    }

    proptest! {
        #[test]
        fn lines_and_offsets_rebuild_the_input(data in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..2000)) {
            let mut rebuilt = Vec::new();
            for (offset, bytes, _, complete) in all(&data) {
                prop_assert_eq!(offset as usize, rebuilt.len());
                rebuilt.extend(bytes);
                if complete { rebuilt.push(b'\n'); }
            }
            prop_assert_eq!(rebuilt, data);
        }
    }
}
