//! Opaque places in a list of results: bound to the query, the scope and the state of the catalog they were made for.

use crate::error::{Error, ErrorCode, Result};
use crate::limits::{CURSOR_MAX, OFFSET_MAX};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Makes a cursor.
pub fn make(offset: u64, state: u64, question: &str) -> String {
    format!("{offset:x}.{state:x}.{:016x}", xxh3_64(question.as_bytes()))
}

/// Names a list of results: its generation, and, since states that were never published share one, its sessions in their order.
pub fn state(generation: u64, sessions: impl Iterator<Item = u64>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&generation.to_le_bytes());
    sessions.for_each(|s| hash.update(&s.to_le_bytes()));
    hash.digest()
}

/// The offset and the state a cursor stands for, if it belongs to this question.
pub fn read(cursor: &str, question: &str) -> Result<(u64, u64)> {
    let invalid = || {
        Error::invalid_request("cursor is not one of this search")
            .hint("use next_cursor of an answer with the same arguments")
    };
    if cursor.len() > CURSOR_MAX {
        return Err(invalid());
    }
    let mut parts = cursor.split('.');
    let mut number = || u64::from_str_radix(parts.next()?, 16).ok();
    let (offset, state, hash) =
        (number().ok_or_else(invalid)?, number().ok_or_else(invalid)?, number().ok_or_else(invalid)?);
    if hash != xxh3_64(question.as_bytes()) || offset > OFFSET_MAX as u64 {
        return Err(invalid());
    }
    Ok((offset, state))
}

/// Where a page of a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bookmark {
    /// The next message.
    pub next: u64,
    /// Names the messages before it, up to the beginning of their file.
    pub before: u64,
    /// Names the whole session.
    pub revision: u64,
}

impl Bookmark {
    /// The cursor that stands for it.
    pub fn cursor(self, question: &str) -> String {
        let hash = xxh3_64(question.as_bytes());
        format!("{:x}.{:x}.{:x}.{hash:x}", self.next, self.before, self.revision)
    }

    /// What a cursor stands for, if it belongs to this question.
    pub fn read(cursor: &str, question: &str) -> Result<Self> {
        let invalid = || {
            Error::invalid_request("cursor is not one of this conversation")
                .hint("use next_cursor of an answer with the same arguments")
        };
        let parts: Option<Vec<u64>> = cursor.split('.').map(|p| u64::from_str_radix(p, 16).ok()).collect();
        match parts.as_deref() {
            Some([next, before, revision, hash])
                if cursor.len() <= CURSOR_MAX && *hash == xxh3_64(question.as_bytes()) =>
            {
                Ok(Self { next: *next, before: *before, revision: *revision })
            }
            _ => Err(invalid()),
        }
    }

    /// What was read before has changed.
    pub fn expired() -> Error {
        Error::new(
            ErrorCode::CursorExpired,
            "what was read of the session has changed since this cursor was made",
        )
        .hint("read again from the start")
    }
}

/// A cursor of another state leads nowhere.
pub fn expired() -> Error {
    Error::new(ErrorCode::CursorExpired, "the sessions changed since this cursor was made")
        .hint("search again from the start")
}
