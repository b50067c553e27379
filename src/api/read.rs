//! Reading a conversation from the live store, a page at a time.

use super::catalog::Catalog;
use super::conversation::{self, Conversation};
use super::cursor::Bookmark;
use super::pager::{Ask, Page, Pager, Place};
use super::request::ReadRequest;
use super::response::{ReadData, Warning};
use super::scope::Selection;
use super::{lookup, warnings};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{READ_PAGE_MAX, READ_PARTS_MAX};
use crate::model::Role;

/// Messages on a page when nothing is said.
const LIMIT: u64 = 20;

impl Catalog {
    /// A page of a conversation.
    pub fn read(&self, request: &ReadRequest) -> Result<ReadData> {
        self.read_within(request, u64::MAX)
    }

    /// A page whose messages take up no more room than this as JSON.
    pub fn read_within(&self, request: &ReadRequest, room: u64) -> Result<ReadData> {
        lookup::check_id(&request.session_id)?;
        let question = self.question_of(request);
        let mut ask = ask(request, room, &question)?;
        let selection = self.scope.select(Some(&request.agent), request.project.as_deref(), &self.env)?;
        let (conversation, warnings) =
            self.conversation(&selection, &request.session_id, request.include_non_interactive)?;
        if let Some(wanted) = ask.place.wanted() {
            ask.place = ask.place.at(conversation.shown(wanted)?);
        }
        answer(request, &ask, &question, &conversation, warnings)
    }

    /// Where a session lies, by the state of the stores now.
    pub(super) fn conversation(
        &self,
        selection: &Selection,
        id: &str,
        non_interactive: bool,
    ) -> Result<(Conversation, Vec<Warning>)> {
        self.answer(|ready| {
            let warnings = warnings::collect(ready, selection);
            let session = lookup::find(ready, selection, id, non_interactive);
            let session =
                session.or_else(|e| warnings::fail_if_blind(ready, selection, &warnings).and(Err(e)))?;
            Ok((conversation::locate(ready, session)?, warnings))
        })
    }

    /// What a cursor is bound to: everything that decides which messages follow each other.
    fn question_of(&self, r: &ReadRequest) -> String {
        format!(
            "read {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
            r.agent,
            r.session_id,
            r.project,
            r.roles,
            r.include_non_interactive,
            self.scope.agent.map(|a| a.info().id),
            self.scope.project
        )
    }
}

fn ask(request: &ReadRequest, room: u64, question: &str) -> Result<Ask> {
    let limit = request.limit.unwrap_or(LIMIT);
    if !(1..=READ_PAGE_MAX as u64).contains(&limit) {
        return Err(Error::invalid_request(format!("limit must be 1 to {READ_PAGE_MAX}")));
    }
    let from = request.cursor.as_deref().map(|c| Bookmark::read(c, question)).transpose()?;
    Ok(Ask {
        place: place(request, from)?,
        from,
        limit: limit as usize,
        roles: roles(&request.roles)?,
        outline: request.outline,
        full_tools: request.full_tools,
        budget: request.max_bytes.unwrap_or(u64::MAX),
        room,
    })
}

/// Where the page is. Of the ways to say it, one may be used.
fn place(request: &ReadRequest, from: Option<Bookmark>) -> Result<Place> {
    let said = [
        request.offset.is_some(),
        request.cursor.is_some(),
        request.around.is_some(),
        request.message.is_some(),
    ];
    if said.iter().filter(|s| **s).count() > 1 {
        return Err(Error::invalid_request("offset, cursor, around and message exclude each other"));
    }
    if request.text_offset.is_some() && request.message.is_none() {
        return Err(Error::invalid_request("text_offset needs message"));
    }
    Ok(match (request.message, request.around, from) {
        (Some(message), _, _) => Place::Only(message, request.text_offset.unwrap_or(0)),
        (_, Some(around), _) => Place::Around(around),
        (_, _, Some(bookmark)) => Place::From(bookmark.next),
        _ => Place::From(request.offset.unwrap_or(0)),
    })
}

fn roles(names: &[String]) -> Result<Vec<Role>> {
    names
        .iter()
        .map(|n| {
            let known = Role::ALL.into_iter().find(|r| r.as_str() == n);
            known.ok_or_else(|| {
                Error::invalid_request("unknown role")
                    .hint("roles: user, assistant, thinking, tool_input, tool_output, system")
            })
        })
        .collect()
}

fn answer(
    request: &ReadRequest,
    ask: &Ask,
    question: &str,
    conversation: &Conversation,
    mut warnings: Vec<Warning>,
) -> Result<ReadData> {
    let mut pager = Pager::new(ask);
    warnings.extend(conversation.walk(&mut |spoken| pager.take(spoken))?);
    let Page { messages, more, tight, total, revision, before, intact, landed, mut parts } = pager.finish();
    if ask.place.wanted().is_some() && !landed {
        return Err(Error::new(ErrorCode::NotFound, "the session has no message of this number")
            .hint("numbers are those of matches, or index on a page"));
    }
    if ask.from.is_some() && !intact {
        return Err(Bookmark::expired());
    }
    let next = messages.last().filter(|_| more).map(|m| m.index + 1);
    let cut = !ask.outline && messages.iter().any(|m| m.truncated);
    if parts.len() < 2 {
        parts.clear();
    }
    parts.truncate(READ_PARTS_MAX);
    Ok(ReadData {
        agent: request.agent.clone(),
        session_id: request.session_id.clone(),
        messages,
        total,
        next_offset: next,
        warnings,
        truncated: tight,
        next_cursor: next.map(|next| Bookmark { next, before, revision }.cursor(question)),
        revision: format!("{revision:016x}"),
        changed: ask.from.is_some_and(|b| b.revision != revision),
        around: if let Place::Around(n) = ask.place { Some(n) } else { None },
        parts,
        hint: cut.then(|| hint(&ask.place).to_owned()),
    })
}

fn hint(place: &Place) -> &'static str {
    match place {
        Place::Only(..) => "the text goes on: ask again with text_offset (--text-offset) next_text_offset",
        _ => {
            "texts marked truncated are cut: message (--message) with an index gives that one whole, full_tools (--full-tools) unfolds tools"
        }
    }
}
