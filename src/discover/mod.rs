//! What changed in the stores since they were last read, told by names and stat alone.

mod list;
mod scan;
mod tree;
mod watch;

pub use list::look_at;
pub use scan::{
    Active, Changes, DirChange, FileChange, SearchRoot, activate, is_racy, known_dirs, roots_stand, scan,
};
pub use tree::{Dir, File, Health, Known, NO_PARENT, RootId, Trouble};
pub use watch::{Notices, Sentinel, Watcher};
