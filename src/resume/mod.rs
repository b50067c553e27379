//! Getting back into a session: what to run, as data, and whether it would work now.

pub mod plan;
pub mod verify;

pub use plan::{Plan, find_mode, plan};
pub use verify::{Check, verify};
