//! What changed in the stores since they were last read, told by names and stat alone.

mod list;
mod scan;
mod tree;

pub use list::look_at;
pub use scan::{Active, Changes, DirChange, FileChange, activate, is_racy, scan};
pub use tree::{Dir, File, Health, Known, NO_PARENT, RootId, Trouble};
