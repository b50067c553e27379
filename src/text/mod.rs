//! Text that comes from the stores: cut, cleaned, masked and split into words. Everything here is pure.

pub mod fold;
pub mod redact;
pub mod sanitize;
pub mod tokenize;
pub mod truncate;

pub use sanitize::Clean;
pub use truncate::{ceil_boundary, floor_boundary, truncate};
