//! The outside world: environment, files, databases. All reading is bounded; the only writer is [`cache_dir`].

pub mod cache_dir;
pub mod env;
pub mod faults;
pub mod lines;
pub mod sqlite;
pub mod stat;
