//! The outside world: environment, files, databases. All reading is bounded. The only writers are [`cache_dir`] and,
//! for the file that an export names, [`out_file`].

pub mod cache_dir;
pub mod env;
pub mod faults;
pub mod lines;
pub mod out_file;
pub mod sqlite;
pub mod stat;
