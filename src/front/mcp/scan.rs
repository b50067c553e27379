//! Finds the id of a message that cannot be parsed, or is too large to be kept, in constant memory.

use rmcp::model::RequestId;

/// Longest key or id that is looked at.
const KEEP: usize = 300;

/// What part of the message the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Between tokens.
    Gap,
    /// In a string that is a key of the outermost object.
    Key,
    /// In a string nobody asked for.
    Text,
    /// In the value of the outermost `id`.
    Id { quoted: bool },
}

/// Reads a message byte by byte. Only keys of the outermost object count: an `id` inside the parameters is not the message's.
#[derive(Debug)]
pub struct Scanner {
    at: At,
    depth: u32,
    escaped: bool,
    /// Whether the outermost object expects a key next.
    key_next: bool,
    kept: Vec<u8>,
    key: Vec<u8>,
    id: Option<RequestId>,
    request: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Self {
            at: At::Gap,
            depth: 0,
            escaped: false,
            key_next: false,
            kept: Vec::new(),
            key: Vec::new(),
            id: None,
            request: false,
        }
    }
}

impl Scanner {
    /// The findings of a whole message.
    pub fn of(bytes: &[u8]) -> Self {
        let mut scanner = Self::default();
        scanner.feed(bytes);
        scanner
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.step(*b);
        }
    }

    /// The id, if one was seen whole.
    pub fn id(mut self) -> Option<RequestId> {
        if self.at == (At::Id { quoted: false }) {
            self.end_id(false);
        }
        self.id
    }

    /// Whether it looks like something that waits for an answer.
    pub fn is_request(&self) -> bool {
        self.request
    }

    fn step(&mut self, b: u8) {
        match self.at {
            At::Gap => self.gap(b),
            At::Text | At::Key | At::Id { quoted: true } => self.string(b),
            At::Id { quoted: false } => match b {
                b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' => {
                    self.end_id(false);
                    self.gap(b);
                }
                b => self.keep(b),
            },
        }
    }

    fn gap(&mut self, b: u8) {
        let outer = self.depth == 1;
        match b {
            b'"' => self.open_string(outer),
            b'{' | b'[' => {
                self.depth += 1;
                self.key_next = self.depth == 1 && b == b'{';
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b',' if outer => self.key_next = true,
            b'-' | b'0'..=b'9' if outer && self.key == b"id" => {
                self.at = At::Id { quoted: false };
                self.kept = vec![b];
            }
            _ => {}
        }
    }

    fn open_string(&mut self, outer: bool) {
        self.kept.clear();
        self.at = match (outer && self.key_next, outer && self.key == b"id") {
            (true, _) => At::Key,
            (false, true) => At::Id { quoted: true },
            _ => At::Text,
        };
    }

    fn string(&mut self, b: u8) {
        if self.escaped {
            self.escaped = false;
        } else if b == b'\\' {
            self.escaped = true;
        } else if b == b'"' {
            return self.close_string();
        }
        if self.at != At::Text {
            self.keep(b);
        }
    }

    fn close_string(&mut self) {
        match self.at {
            At::Key => {
                self.key = std::mem::take(&mut self.kept);
                self.request |= self.key == b"method";
                self.key_next = false;
            }
            At::Id { .. } => self.end_id(true),
            _ => {}
        }
        self.at = At::Gap;
    }

    fn end_id(&mut self, quoted: bool) {
        let text = std::mem::take(&mut self.kept);
        self.key.clear();
        self.at = At::Gap;
        if text.len() >= KEEP {
            return;
        }
        let json = if quoted { [b"\"", &text[..], b"\""].concat() } else { text };
        self.id = serde_json::from_slice(&json).ok();
    }

    fn keep(&mut self, b: u8) {
        if self.kept.len() < KEEP {
            self.kept.push(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    fn id(text: &str) -> Option<RequestId> {
        Scanner::of(text.as_bytes()).id()
    }

    #[test]
    fn the_outermost_id_is_found_wherever_it_stands() {
        let text = |t: &str| Some(NumberOrString::String(t.into()));
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":7,"method":"#), Some(NumberOrString::Number(7)));
        assert_eq!(id(r#"{"params":{"id":1,"p":"x\"y{"},"id":"big"}"#), text("big"));
        assert_eq!(id(r#"{"params":[{"id":1}],"id":"a\"b"}"#), text("a\"b"));
        assert_eq!(id(r#"{"id" : -3 }"#), Some(NumberOrString::Number(-3)));
        assert_eq!(id(r#"{"x":"id","y":5}"#), None);
        assert_eq!(id(r#"{"params":{"id":1}}"#), None);
        assert_eq!(id(r#"{"id":{"id":4}}"#), None);
        assert_eq!(id(r#"{"id":null}"#), None);
    }

    #[test]
    fn an_endless_id_is_not_kept() {
        assert_eq!(id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(5000))), None);
    }

    #[test]
    fn only_methods_wait_for_an_answer() {
        assert!(Scanner::of(br#"{"id":1,"method":"x"}"#).is_request());
        assert!(!Scanner::of(br#"{"id":1,"result":{"method":"x"}}"#).is_request());
    }
}
