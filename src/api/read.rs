//! Reading a conversation from the live store.

use super::catalog::{Catalog, Ready};
use super::request::ReadRequest;
use super::response::{ReadData, ReadMessage};
use super::scope::Selection;
use super::{lookup, warnings};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{NAME_MAX, READ_MESSAGE_MAX, READ_PAGE_MAX, TITLE_MAX};
use crate::model::{Facts, Message, Role};
use crate::provider::Sink;
use crate::text::Clean;

impl Catalog {
    /// A page of a conversation.
    pub fn read(&self, request: &ReadRequest) -> Result<ReadData> {
        lookup::check_id(&request.session_id)?;
        let limit = request.limit.unwrap_or(20);
        if !(1..=READ_PAGE_MAX as u64).contains(&limit) {
            return Err(Error::invalid_request(format!("limit must be 1 to {READ_PAGE_MAX}")));
        }
        let roles = roles(&request.roles)?;
        let selection = self.scope.select(Some(&request.agent), request.project.as_deref(), &self.env)?;
        self.answer(|ready| page(ready, &selection, request, limit, &roles))
    }
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

fn page(
    ready: &Ready<'_>,
    selection: &Selection,
    request: &ReadRequest,
    limit: u64,
    roles: &[Role],
) -> Result<ReadData> {
    let warnings = warnings::collect(ready, selection);
    let session = lookup::find(ready, selection, &request.session_id, request.include_non_interactive);
    let session = session.or_else(|e| warnings::fail_if_blind(ready, selection, &warnings).and(Err(e)))?;
    let session = &ready.view.sessions[session as usize];
    let unit = session.unit;
    let gone = || Error::new(ErrorCode::NotFound, "the session's file is gone");
    let source = lookup::source_of(ready, unit).filter(|_| !session.vanished);
    let (provider, source) = source.ok_or_else(gone)?;
    let row = ready.view.snapshot.tables().unit(unit).map(|u| u.row.clone().into_owned()).unwrap_or_default();
    let first = match request.around {
        Some(around) => around.saturating_sub(limit / 2),
        None => request.offset.unwrap_or(0),
    };
    let budget = request.max_bytes.unwrap_or(u64::MAX);
    let mut reader = Pager {
        row,
        open: false,
        outline: request.outline,
        roles,
        first,
        limit,
        budget,
        seq: 0,
        messages: Vec::new(),
        full: false,
    };
    provider
        .parse(&source, None, &mut reader)
        .map_err(|_| Error::new(ErrorCode::ScanFailed, "the session's file cannot be read"))?;
    let next = reader.messages.last().map(|m| m.index + 1).filter(|n| *n < reader.seq);
    Ok(ReadData {
        agent: request.agent.clone(),
        session_id: request.session_id.clone(),
        messages: reader.messages,
        total: reader.seq,
        next_offset: next,
        warnings,
        truncated: false,
    })
}

/// Keeps the messages of one page.
struct Pager<'r> {
    row: String,
    open: bool,
    outline: bool,
    roles: &'r [Role],
    first: u64,
    limit: u64,
    budget: u64,
    seq: u64,
    messages: Vec<ReadMessage>,
    full: bool,
}

impl Sink for Pager<'_> {
    fn open(&mut self, row: &str, _stamp: u64) {
        self.open = row == self.row;
    }

    fn message(&mut self, m: Message<'_>) {
        if !self.open {
            return;
        }
        let index = self.seq;
        self.seq += 1;
        let wanted = self.roles.is_empty() || self.roles.contains(&m.role);
        if index < self.first || !wanted || self.full {
            return;
        }
        let text = if self.outline {
            Clean::line(&m.text, TITLE_MAX)
        } else {
            Clean::block(&m.text, READ_MESSAGE_MAX)
        };
        let size = text.as_str().len() as u64;
        if self.messages.len() as u64 == self.limit || (size > self.budget && !self.messages.is_empty()) {
            self.full = true;
            return;
        }
        self.budget = self.budget.saturating_sub(size);
        let truncated = if self.outline { m.text.len() > TITLE_MAX } else { m.text.len() > READ_MESSAGE_MAX };
        self.messages.push(ReadMessage {
            index,
            role: m.role.as_str().to_owned(),
            timestamp_ms: m.timestamp_ms,
            text,
            truncated,
            bytes: m.text.len() as u64,
            tool: m.tool.map(|t| Clean::line(&t, NAME_MAX)),
        });
    }

    fn close(&mut self, _session: &str, _facts: Facts<'_>) {
        self.open = false;
    }

    fn keep(&mut self, row: &str, _stamp: u64) -> bool {
        row != self.row
    }
}
