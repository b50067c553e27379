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

/// A cursor of another state leads nowhere.
pub fn expired() -> Error {
    Error::new(ErrorCode::CursorExpired, "the sessions changed since this cursor was made")
        .hint("search again from the start")
}
