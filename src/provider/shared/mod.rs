//! What more than one provider uses.

pub mod conversations;
pub mod data_dirs;
pub mod document;
pub mod hash;
pub mod json;
pub mod jsonl;
pub mod out;
pub mod pi;
pub mod prompt;
pub mod session_parts;
pub mod uri;
