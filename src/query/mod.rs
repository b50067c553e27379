//! Questions: what was asked, which sessions it means, in which order, and the passages that show it.

pub mod content;
pub mod collapse;
pub mod copies;
pub mod failed;
pub mod family;
pub mod filter;
pub mod forms;
pub mod ladder;
pub mod like;
pub mod metadata;
pub mod order;
pub mod parse;
pub mod run;
pub mod sentence;
pub mod snippet;
pub mod terms;
pub mod view;

pub use filter::SessionFilter;
pub use parse::Query;
pub use run::{Found, Hit, Options, Sort, Tier, run};
pub use view::{Session, View};
