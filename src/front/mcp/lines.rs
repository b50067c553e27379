//! Lines from a stream, however long they are, in bounded memory.

use super::options::Oversize;
use super::scan::Scanner;
use rmcp::model::RequestId;
use std::io::{BufRead, Result};

/// One line without its end.
#[derive(Debug)]
pub enum Line {
    Whole(Vec<u8>),
    /// A line over the limit: its size, and the id of the request it was, if it was one.
    Oversized {
        bytes: u64,
        id: Option<RequestId>,
        request: bool,
    },
}

/// Splits a stream into lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    limit: usize,
    oversize: Oversize,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R, limit: usize, oversize: Oversize) -> Self {
        Self { input, limit, oversize }
    }

    /// The next line; `None` at the end. A last line needs no line feed.
    pub fn next(&mut self) -> Result<Option<Line>> {
        let mut line = Vec::new();
        let mut seen = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            if chunk.is_empty() {
                return Ok(seen.then_some(Line::Whole(line)));
            }
            seen = true;
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if line.len() + part.len() > self.limit {
                return self.oversized(&line).map(Some);
            }
            line.extend_from_slice(part);
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(Line::Whole(line)));
            }
        }
    }

    /// Passes over the rest of a line that is too long. If the session ends because of it, its end is not waited for.
    fn oversized(&mut self, head: &[u8]) -> Result<Line> {
        if self.oversize == Oversize::Close {
            return Ok(Line::Oversized { bytes: self.limit as u64 + 1, id: None, request: false });
        }
        let mut scanner = Scanner::of(head);
        let mut bytes = head.len() as u64;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            scanner.feed(part);
            bytes += part.len() as u64;
            let used = part.len() + usize::from(end.is_some());
            let last = end.is_some() || chunk.is_empty();
            self.input.consume(used);
            if last {
                return Ok(Line::Oversized { bytes, request: scanner.is_request(), id: scanner.id() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    fn sizes(text: &str, limit: usize) -> Vec<u64> {
        let mut lines =
            Lines::new(BufReader::with_capacity(3, Cursor::new(text.to_owned())), limit, Oversize::Discard);
        std::iter::from_fn(|| lines.next().ok().flatten())
            .map(|l| match l {
                Line::Whole(l) => l.len() as u64,
                Line::Oversized { bytes, .. } => 1000 + bytes,
            })
            .collect()
    }

    #[test]
    fn the_limit_counts_without_the_line_feed() {
        assert_eq!(sizes("12345\n1234\n\n123456\n12", 5), [5, 4, 0, 1006, 2]);
        assert_eq!(sizes("1234567", 5), [1007]);
    }

    #[test]
    fn the_id_of_an_oversized_request_is_found() {
        let text = format!("{{\"method\":\"m\",\"p\":\"{}\",\"id\":9}}\n", "x".repeat(50));
        let mut lines = Lines::new(BufReader::with_capacity(8, Cursor::new(text)), 20, Oversize::Discard);
        let line = lines.next().unwrap().unwrap();
        assert!(matches!(line, Line::Oversized { id: Some(_), request: true, .. }), "{line:?}");
    }
}
