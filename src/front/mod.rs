//! Front ends: each turns requests of its own kind into those of the catalog, and answers into its own form.

pub mod cli;
#[cfg(feature = "mcp")]
pub mod mcp;
