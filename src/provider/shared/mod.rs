//! What more than one provider uses.

pub mod document;
pub mod json;
pub mod jsonl;
pub mod md5;
pub mod out;
pub mod pi;
pub mod prompt;
pub mod sha256;
