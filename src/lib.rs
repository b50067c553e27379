//! A persistent, indexed catalog of coding-agent sessions with read-only query front ends.
//!
//! Data flows one way, and the modules below stand in that order; each may use only those before it:
//!
//! ```text
//! provider stores → discover (stat) → provider (parse) → index (tantivy cache) → query → api (contract) → front ends
//! ```

pub mod limits;
pub mod error;
pub mod model;
pub mod text;
pub mod io;
pub mod provider;
pub mod discover;
pub mod config;
pub mod index;
pub mod query;
pub mod resume;
pub mod api;
pub mod front;
