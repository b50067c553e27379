//! One binary for all integration tests. Every test has a home of its own and a cleared environment.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "tests make and look at their own files and run the program")]

mod access;
mod agf;
mod architecture;
mod buglog;
mod classes;
mod cli;
mod config;
mod contract;
mod docs;
mod faults;
mod fixture;
mod freshness;
mod homes;
mod hostile;
mod mcp;
mod mcp_agf;
mod mcp_calls;
mod mcp_faults;
mod mcp_flow;
mod mcp_stores;
mod mcp_wire;
mod properties;
mod reading;
mod providers;
mod related;
mod relevance;
mod resident;
mod searching;
mod secrets;
mod shapes;
mod stores;
mod texts;
