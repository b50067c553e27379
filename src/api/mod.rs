//! The contract: requests and answers as plain data, and the one façade that front ends call.

pub mod catalog;
pub mod envelope;
pub mod request;
pub mod response;
mod capabilities;
mod conversation;
mod cursor;
mod like;
mod lookup;
mod pager;
mod plan;
mod read;
mod record;
mod resident;
mod scope;
mod search;
pub mod transcript;
mod warnings;

pub use catalog::{Catalog, Freshness};
pub use scope::Scope;
