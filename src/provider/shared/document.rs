//! Files that are one JSON document.

use crate::io::stat;
use crate::provider::SourceError;
use serde_json_borrow::Value;
use std::path::Path;

/// Hands a document over, or nothing if the file is blank. One that is no JSON, or larger than `max`, is an error.
pub fn read<T>(path: &Path, max: u64, f: impl FnOnce(&Value<'_>) -> T) -> Result<Option<T>, SourceError> {
    let bytes = stat::read_bounded(path, max).map_err(too_large)?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim_matches(|c: char| c.is_whitespace() || c == '\0');
    if text.is_empty() {
        return Ok(None);
    }
    let value: Value<'_> = serde_json::from_str(text).map_err(|_| SourceError::Format("not valid JSON"))?;
    Ok(Some(f(&value)))
}

fn too_large(e: std::io::Error) -> SourceError {
    match e.kind() {
        std::io::ErrorKind::FileTooLarge => SourceError::Format("too large"),
        _ => SourceError::Io(e),
    }
}
