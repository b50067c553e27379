//! Questions: what was asked, which sessions it means, in which order, and the passages that show it.

pub mod content;
pub mod failed;
pub mod filter;
pub mod forms;
pub mod ladder;
pub mod metadata;
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
