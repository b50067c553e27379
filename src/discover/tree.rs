//! The tree of directories and files as it was last seen.

use crate::io::stat::Fingerprint;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The parent of a root's own directory.
pub const NO_PARENT: u32 = u32::MAX;

/// A root as it is remembered: which agent's, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RootId<'a> {
    #[serde(borrow)]
    pub agent: Cow<'a, str>,
    #[serde(borrow)]
    pub label: Cow<'a, str>,
    #[serde(borrow)]
    pub path: Cow<'a, str>,
    /// When somebody last asked with it, to a day; 0 if that was not noted.
    pub seen_ms: i64,
}

impl RootId<'_> {
    pub fn into_owned(self) -> RootId<'static> {
        RootId {
            agent: Cow::Owned(self.agent.into_owned()),
            label: Cow::Owned(self.label.into_owned()),
            path: Cow::Owned(self.path.into_owned()),
            seen_ms: self.seen_ms,
        }
    }
}

/// A directory of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dir<'a> {
    pub root: u32,
    pub parent: u32,
    /// Path below the root; empty for the root itself.
    #[serde(borrow)]
    pub rel: Cow<'a, str>,
    pub fingerprint: Fingerprint,
    /// It may have changed without a trace since: list it again.
    pub racy: bool,
    /// It could not be listed: what is known of it may be out of date.
    pub failed: bool,
    /// It is not there any more; what was in it is kept.
    pub gone: bool,
}

/// Whether a file can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Health {
    #[default]
    Good,
    /// A FIFO, device, socket or directory with a session's name.
    NotRegular,
    /// No permission, or an error of the disk.
    Unreadable,
    /// Its format as a whole was not understood.
    Malformed,
    /// It is gone; what it held is kept.
    Vanished,
}

/// A file of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File<'a> {
    pub dir: u32,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    pub kind: u8,
    pub fingerprint: Fingerprint,
    /// It may have changed without a trace since: compare its content.
    pub racy: bool,
    /// Reached through a symbolic link.
    pub link: bool,
    pub health: Health,
}

/// What an earlier look remembers. Ids are places in the tables; a hole is an entry that is gone.
pub trait Known {
    fn roots(&self) -> &[RootId<'_>];
    fn dir(&self, id: u32) -> Option<&Dir<'_>>;
    fn dir_count(&self) -> u32;
    fn file(&self, id: u32) -> Option<&File<'_>>;
    fn dirs_in(&self, dir: u32) -> &[u32];
    fn files_in(&self, dir: u32) -> &[u32];
}

/// Something that could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub agent: Option<&'static str>,
    /// Path below the store's root.
    pub place: String,
    pub code: &'static str,
}
