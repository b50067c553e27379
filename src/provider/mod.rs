//! What the catalog knows of each agent: where its stores are, how to read them, how to get back into a session.
//!
//! One file an agent, one line in [`registry`]. A provider opens only what it is given and never writes.

pub mod registry;
pub mod shared;

mod amazon_q;
mod antigravity;
mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod grok;
mod hermes;
mod kilo;
mod kimi;
mod kiro;
mod oh_my_pi;
mod opencode;
mod pi;
mod prime_agent;
mod qwen;
mod vibe;
mod yolop;

use crate::io::env::Env;
use crate::io::sqlite;
use crate::io::stat::Fingerprint;
use crate::model::{Facts, Locator, Message};
use std::path::PathBuf;

/// Static knowledge of an agent.
#[derive(Debug)]
pub struct Info {
    /// The stable id, as in the contract.
    pub id: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// Other spellings of the id that are accepted.
    pub aliases: &'static [&'static str],
    /// Its commands, the preferred one first.
    pub programs: &'static [&'static str],
    /// Ways to resume; the first is the default.
    pub modes: &'static [Mode],
    pub cwd_rule: CwdRule,
    /// The variable that moves the agent's own directory, if there is one.
    pub home_var: Option<&'static str>,
    /// Raised whenever the same bytes would give other sessions or messages: what was indexed before is read again.
    pub parser_version: u32,
}

impl Info {
    /// The commands to look for: the one the user set, or the agent's usual ones.
    pub fn commands(&self, set: Option<&str>) -> Vec<String> {
        match set {
            Some(one) => vec![one.to_owned()],
            None => self.programs.iter().map(|p| (*p).to_owned()).collect(),
        }
    }
}

/// A way to resume, by its label.
#[derive(Debug)]
pub struct Mode {
    pub label: &'static str,
    /// Added to the command line.
    pub args: &'static [&'static str],
    /// Whether the agent then acts without asking.
    pub bypasses_approval: bool,
}

impl Mode {
    pub const DEFAULT: Mode = Mode { label: "default", args: &[], bypasses_approval: false };
}

/// What the agent makes of the directory it is started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CwdRule {
    /// It must be the session's.
    Required,
    /// The agent goes back to the session's by itself.
    RestoredByAgent,
    /// It does not matter.
    Any,
}

impl CwdRule {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::RestoredByAgent => "restored_by_agent",
            Self::Any => "any",
        }
    }
}

/// A directory (or a single file) that an agent keeps its sessions in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PathBuf,
    /// Tells a provider's roots apart; unique within the provider.
    pub label: &'static str,
    /// What a resumed agent needs in its environment to find this store.
    pub env: Vec<(String, String)>,
}

/// What a name in a store is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Not ours.
    Skip,
    /// A directory to look into.
    Enter,
    /// A file to read; the number is the provider's own kind.
    Source(u8),
}

/// A file of a store as the catalog hands it to its provider.
#[derive(Debug, Clone)]
pub struct Source {
    pub root: Root,
    /// Path below the root, with `/` between names.
    pub rel: String,
    pub kind: u8,
    pub path: PathBuf,
    pub fingerprint: Fingerprint,
}

/// Where an earlier pass over a file ended, and what it knew then.
#[derive(Debug, Clone)]
pub struct Resume<'a> {
    pub offset: u64,
    pub state: &'a [u8],
    pub facts: Facts<'a>,
}

/// Where this pass ended, for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// All bytes before it are taken in.
    pub offset: u64,
    /// The provider's own memory.
    pub state: Vec<u8>,
}

/// The result of reading a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Absent when the next change needs the whole file again.
    pub checkpoint: Option<Checkpoint>,
    /// Records that could not be read.
    pub skipped: u32,
    /// Records that were shortened because of their size.
    pub shortened: u32,
}

/// Why a source could not be read as a whole.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("cannot be read")]
    Io(#[from] std::io::Error),
    /// The tail cannot be understood without what came before: read it all.
    #[error("must be read from its start")]
    NeedsAll,
    #[error("{0}")]
    Format(&'static str),
}

impl From<sqlite::Error> for SourceError {
    fn from(e: sqlite::Error) -> Self {
        match e {
            sqlite::Error::Io(e) => Self::Io(e),
            other => Self::Format(other.as_str()),
        }
    }
}

/// Takes what a provider reads. A unit is the smallest piece that is replaced as a whole: a transcript file, a database row.
pub trait Sink {
    /// Begins a unit. `row` names it within its source; `stamp` changes when it does (0 for a file's only unit).
    fn open(&mut self, row: &str, stamp: u64);
    /// A message of the open unit, in the order of the conversation.
    fn message(&mut self, message: Message<'_>);
    /// Ends the unit. `session` groups the units of one session within the provider.
    fn close(&mut self, session: &str, facts: Facts<'_>);
    /// Whether a row was read before with the same stamp; it is then kept as it was and need not be opened.
    fn keep(&mut self, row: &str, stamp: u64) -> bool;
}

/// An agent's stores. The methods are in the order in which a question uses them.
pub trait Provider: Send + Sync {
    fn info(&self) -> &'static Info;

    /// Where the stores would be. Reads nothing but the small files in which an agent says where its stores are.
    fn roots(&self, env: &Env) -> Vec<Root>;

    /// What a name below a root is, from its path alone (`names` are the path's components).
    fn classify(&self, root: &Root, names: &[&str], is_dir: bool) -> Class;

    /// Reads a source, from `from` on if that is given.
    fn parse(
        &self,
        source: &Source,
        from: Option<&Resume<'_>>,
        sink: &mut dyn Sink,
    ) -> Result<Parsed, SourceError>;

    /// The messages of the record at `at`, from the live source.
    fn read(&self, source: &Source, at: Locator) -> Result<Vec<Message<'static>>, SourceError>;

    /// The arguments that get back into a session, without those of a mode.
    fn resume(&self, session_id: &str) -> Vec<String>;

    /// The same where more than the id counts: what is known of the session, its root, and where below that it lies.
    fn resume_from(&self, facts: &Facts<'_>, _root: &Root, _rel: &str) -> Vec<String> {
        self.resume(&facts.id)
    }

    /// What the agent makes of its directory, where that differs from session to session.
    fn cwd_rule(&self, _facts: &Facts<'_>) -> CwdRule {
        self.info().cwd_rule
    }

    /// Why the agent cannot resume an archived session as it lies, and what to do about it.
    fn unarchive_hint(&self, _session_id: &str) -> Option<String> {
        None
    }
}
