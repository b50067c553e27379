//! Opaque places in a list of results: bound to the query, the scope and the generation they were made for.

use crate::error::{Error, ErrorCode, Result};
use crate::limits::CURSOR_MAX;
use xxhash_rust::xxh3::xxh3_64;

/// Makes a cursor.
pub fn make(offset: u64, generation: u64, question: &str) -> String {
    format!("{offset:x}.{generation:x}.{:016x}", xxh3_64(question.as_bytes()))
}

/// The offset a cursor stands for, if it belongs to this question.
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
    let (offset, generation, hash) =
        (number().ok_or_else(invalid)?, number().ok_or_else(invalid)?, number().ok_or_else(invalid)?);
    if hash != xxh3_64(question.as_bytes()) {
        return Err(invalid());
    }
    Ok((offset, generation))
}

/// A cursor of an earlier generation leads nowhere.
pub fn expired() -> Error {
    Error::new(ErrorCode::CursorExpired, "the sessions changed since this cursor was made")
        .hint("search again from the start")
}
