//! What more than one provider uses.

pub mod json;
pub mod jsonl;
pub mod prompt;
