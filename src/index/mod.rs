//! The catalog on disk: a tantivy index of messages and a table of what is known of every file and session, published together.

pub mod schema;
pub mod tables;
pub mod snapshot;
mod directory;
mod ingest;
mod lock;
mod merge;
mod plan;
mod refresh;
mod roots;
mod store;
mod write;

pub use ingest::session_number;
pub use plan::{is_current, locate};
pub use refresh::{Progress, Refreshed, Request, look, overlay, refresh};
pub use snapshot::Snapshot;
pub use store::{Loaded, Status, Store};
