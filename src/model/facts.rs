//! What is known of a session without its text.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Where a title comes from, in falling order of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TitleSource {
    Prompt,
    Summary,
    Auto,
    Custom,
}

impl TitleSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Custom => "custom",
            Self::Auto => "auto",
            Self::Summary => "summary",
            Self::Prompt => "prompt",
        }
    }
}

/// Whether a person drove the session. Only evidence makes it `No`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Interactivity {
    #[default]
    Unknown,
    Yes,
    No,
}

/// What a unit of the store contributes to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum UnitKind {
    /// The conversation itself; a session exists only with one of these.
    #[default]
    Main,
    /// A child's conversation without an id of its own: its text is found and attributed to the session.
    Child,
    /// Names and flags kept outside the conversation.
    Side,
}

/// How well the agent can get back into a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ResumeKind {
    /// By its id.
    #[default]
    Exact,
    /// Only as the latest one of its directory.
    LastInDirectory,
    /// Only as a copy under a new id.
    ForkOnly,
    /// Not at all.
    None,
}

impl ResumeKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LastInDirectory => "last_in_directory",
            Self::ForkOnly => "fork_only",
            Self::None => "none",
        }
    }
}

/// Facts of one unit (a transcript file, a database row, a side file). A session is the fold of its units' facts.
///
/// Strings borrow from the catalog file when read back, and are owned when fresh from a store.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts<'a> {
    pub kind: UnitKind,
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Where the session began: the directory its store is keyed on. Empty when unknown.
    #[serde(borrow)]
    pub project: Cow<'a, str>,
    /// Where the agent must be started to get back in, when that is not `project`.
    #[serde(borrow, with = "borrowed")]
    pub resume_cwd: Option<Cow<'a, str>>,
    #[serde(borrow, with = "borrowed")]
    pub branch: Option<Cow<'a, str>>,
    #[serde(borrow, with = "borrowed")]
    pub worktree: Option<Cow<'a, str>>,
    #[serde(borrow, with = "borrowed")]
    pub title: Option<Cow<'a, str>>,
    pub title_source: Option<TitleSource>,
    #[serde(borrow, with = "borrowed")]
    pub model: Option<Cow<'a, str>>,
    /// The newest prompts, newest first. Kept apart from the other facts on disk, like the recap.
    #[serde(skip)]
    pub summaries: Vec<Cow<'a, str>>,
    #[serde(skip)]
    pub recap: Option<Cow<'a, str>>,
    #[serde(with = "postcard::fixint::le")]
    pub started_ms: i64,
    #[serde(with = "postcard::fixint::le")]
    pub last_ms: i64,
    /// Real prompts and assistant messages.
    pub messages: u32,
    pub interactive: Interactivity,
    /// `cli`, `ide`, `exec`, `sdk`, `subagent`, `background`, … or `unknown`.
    #[serde(borrow)]
    pub source_kind: Cow<'a, str>,
    #[serde(borrow, with = "borrowed")]
    pub parent: Option<Cow<'a, str>>,
    #[serde(borrow, with = "borrowed")]
    pub forked_from: Option<Cow<'a, str>>,
    pub archived: bool,
    pub resume: ResumeKind,
    /// Hash of the first message's own id: sessions that share it share their beginning. 0 when unknown.
    #[serde(with = "postcard::fixint::le")]
    pub lineage: u64,
    /// Evidence that the beginning was copied from another session.
    pub copied: bool,
    /// It goes on from another session, with or without messages of its own.
    pub inherits: bool,
}

/// Optional strings that borrow when read back; serde's derive borrows only a bare `Cow`.
mod borrowed {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::borrow::Cow;

    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    pub fn serialize<S: Serializer>(text: &Option<Cow<'_, str>>, to: S) -> Result<S::Ok, S::Error> {
        text.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Cow<'de, str>>, D::Error> {
        Ok(Option::<Text<'de>>::deserialize(from)?.map(|t| t.0))
    }
}

impl<'a> Facts<'a> {
    pub fn into_owned(self) -> Facts<'static> {
        fn own(s: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(s.into_owned())
        }
        fn opt(s: Option<Cow<'_, str>>) -> Option<Cow<'static, str>> {
            s.map(own)
        }
        Facts {
            kind: self.kind,
            id: own(self.id),
            project: own(self.project),
            resume_cwd: opt(self.resume_cwd),
            branch: opt(self.branch),
            worktree: opt(self.worktree),
            title: opt(self.title),
            title_source: self.title_source,
            model: opt(self.model),
            summaries: self.summaries.into_iter().map(own).collect(),
            recap: opt(self.recap),
            started_ms: self.started_ms,
            last_ms: self.last_ms,
            messages: self.messages,
            interactive: self.interactive,
            source_kind: own(self.source_kind),
            parent: opt(self.parent),
            forked_from: opt(self.forked_from),
            archived: self.archived,
            resume: self.resume,
            lineage: self.lineage,
            copied: self.copied,
            inherits: self.inherits,
        }
    }

    /// Takes a title if it is at least as trustworthy as the one known so far.
    pub fn offer_title(&mut self, title: Cow<'a, str>, source: TitleSource) {
        if !title.is_empty() && self.title_source.is_none_or(|s| s <= source) {
            self.title = Some(title);
            self.title_source = Some(source);
        }
    }

    /// Widens the time span to hold `ms`.
    pub fn saw_time(&mut self, ms: i64) {
        if ms > 0 {
            self.started_ms = if self.started_ms == 0 { ms } else { self.started_ms.min(ms) };
            self.last_ms = self.last_ms.max(ms);
        }
    }
}
