//! The catalog on disk: a tantivy index of messages and a table of what is known of every file and session, published together.

pub mod schema;
pub mod tables;
pub mod snapshot;
mod directory;
mod ingest;
mod lock;
mod merge;
mod refresh;
mod store;

pub use ingest::session_number;
pub use refresh::{Progress, Refreshed, Request, is_current, locate, look, overlay, refresh};
pub use snapshot::Snapshot;
pub use store::{Loaded, Status, Store};
