//! A whole conversation, handed over message by message, for those who print or keep it.

use super::catalog::Catalog;
use super::conversation::{self, Conversation};
use super::pager::frame;
use super::record::{Texts, record};
use super::request::TranscriptRequest;
use super::response::{ReadMessage, SessionRecord, Warning};
use super::{lookup, scope, warnings};
use crate::error::Result;
use crate::limits::READ_TOOL_HEAD;
use crate::model::Role;
use crate::text::Clean;
use std::path::Path;

/// A conversation that can be read.
pub struct Transcript {
    pub session: SessionRecord,
    pub warnings: Vec<Warning>,
    conversation: Conversation,
}

/// How long texts of tools and of the harness are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// One short line.
    Line,
    /// As long as they are.
    Whole,
}

impl Catalog {
    /// Looks a conversation up, to be read from the live store. A session that is named is not hidden, whoever drove it.
    pub fn transcript(&self, request: &TranscriptRequest) -> Result<Transcript> {
        lookup::check_id(&request.session_id)?;
        let selection = self.scope.select(request.agent.as_deref(), request.project.as_deref(), &self.env)?;
        self.answer(|ready| {
            let warnings = warnings::collect(ready, &selection);
            let session = lookup::find(ready, &selection, &request.session_id, true);
            let session =
                session.or_else(|e| warnings::fail_if_blind(ready, &selection, &warnings).and(Err(e)))?;
            let texts = Texts { summaries: true, content: false };
            Ok(Transcript {
                session: record(ready, session, texts),
                warnings,
                conversation: conversation::locate(ready, session)?,
            })
        })
    }

    /// Whether a file would lie in an agent's store, or in the directory of its own that the agent keeps that in.
    pub fn is_in_a_store(&self, path: &Path) -> bool {
        let home = self.env.home();
        let own_dir = |root: &Path| {
            let dir = root.parent()?;
            let hidden = dir.file_name()?.to_str()?.starts_with('.');
            (hidden && dir.parent() == home).then(|| dir.to_owned())
        };
        let roots = self.config.roots(&self.env).into_iter().map(|r| r.root.path);
        roots.flat_map(|r| [own_dir(&r), Some(r)]).flatten().any(|dir| scope::lies_in(path, &dir))
    }
}

impl Transcript {
    /// Hands over every message, each once, in order. Returns what could not be read.
    pub fn each(&self, fold: Fold, each: &mut dyn FnMut(ReadMessage)) -> Result<Vec<Warning>> {
        self.conversation.walk(&mut |spoken| {
            if spoken.copy_of.is_some() {
                return;
            }
            let m = &spoken.message;
            let folded =
                fold == Fold::Line && !matches!(m.role, Role::User | Role::Assistant | Role::Thinking);
            let text = match folded {
                true => Clean::line(&m.text, READ_TOOL_HEAD),
                false => Clean::block(&m.text, usize::MAX),
            };
            let mut message = frame(&spoken, text);
            message.truncated = folded && m.text.len() > READ_TOOL_HEAD;
            each(message);
        })
    }
}
