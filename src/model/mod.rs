//! The vocabulary: what a session, a message and a place in a store are. Pure data.

mod facts;
mod ids;
mod message;
pub mod timestamp;

pub use facts::{Facts, Interactivity, ResumeKind, TitleSource, UnitKind};
pub use ids::{normalize_agent, valid_session_id};
pub use message::{Locator, Message, Role};
