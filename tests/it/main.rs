//! One binary for all integration tests. Every test has a home of its own and a cleared environment.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod fixture;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_calls;
mod providers;
