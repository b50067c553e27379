//! What more than one provider uses.

pub mod document;
pub mod json;
pub mod jsonl;
pub mod out;
pub mod prompt;
pub mod session_parts;
pub mod uri;
