//! The catalog as an MCP server on standard input and output.
//!
//! ```text
//! stdin → pipes → lines → transport (wire, scan) → rmcp → layer → server → calls, resources, prompts → Catalog
//!                                                             work: permits, queue, cancel, progress
//! ```

pub mod config;
pub mod options;
pub mod report;
pub mod start;
mod calls;
mod complete;
mod fence;
mod layer;
mod lines;
mod pending;
mod pipes;
mod prompts;
mod resources;
mod scan;
mod server;
mod skill;
mod tools;
mod transport;
#[cfg(debug_assertions)]
mod trial;
mod wire;
mod work;

pub use options::{Groups, Options, Oversize};
