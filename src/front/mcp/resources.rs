//! Sessions as resources: `agf://session/{agent}/{session_id}`.

use super::calls::Terms;
use super::fence::Fence;
use crate::api::Catalog;
use crate::api::request::{ReadRequest, SearchRequest, SortBy};
use crate::api::response::{ReadData, SessionRecord};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::{MCP_RESOURCES_MAX, READ_PAGE_MAX};
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::json;
use std::fmt::Write;

pub const TEMPLATE: &str = "agf://session/{agent}/{session_id}";
const PREFIX: &str = "agf://session/";

/// The template.
pub fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "session")
        .with_title("A past session")
        .with_description("The beginning of a conversation; untrusted text")
        .with_mime_type("text/plain")
}

/// The newest sessions.
pub fn list(catalog: &Catalog, terms: &Terms) -> Result<Vec<Resource>> {
    let request = SearchRequest {
        limit: MCP_RESOURCES_MAX as u64,
        sort: Some(SortBy::Time),
        include_summaries: terms.groups.summaries,
        ..SearchRequest::default()
    };
    Ok(catalog.search(&request)?.sessions.iter().map(resource).collect())
}

fn resource(s: &SessionRecord) -> Resource {
    let name = format!("{} {} {}", s.agent, s.project_name, s.session_id);
    let resource = Resource::new(uri(&s.agent, &s.session_id), name)
        .with_description(format!("{} messages in {}", s.message_count, s.project_path))
        .with_mime_type("text/plain");
    match s.title.iter().flatten().next() {
        Some(title) => resource.with_title(title.as_str()),
        None => resource,
    }
}

/// The URI of a session.
fn uri(agent: &str, id: &str) -> String {
    let mut uri = format!("{PREFIX}{agent}/");
    for b in id.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
            uri.push(char::from(b));
        } else {
            let _ = write!(uri, "%{b:02X}");
        }
    }
    uri
}

/// The identity in a URI.
fn identity(uri: &str) -> Option<(String, String)> {
    let (agent, id) = uri.strip_prefix(PREFIX)?.split_once('/')?;
    if id.contains('/') {
        return None;
    }
    Some((decode(agent)?, decode(id)?))
}

fn decode(text: &str) -> Option<String> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [b, tail @ ..] = rest {
        rest = tail;
        if *b != b'%' {
            out.push(*b);
            continue;
        }
        let (digits, tail) = rest.split_at_checked(2)?;
        out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = tail;
    }
    String::from_utf8(out).ok()
}

/// The beginning of a session, as much of it as an answer may hold.
pub fn read(catalog: &Catalog, uri: &str, terms: &Terms) -> Result<ResourceContents> {
    let missing = || Error::new(ErrorCode::NotFound, "there is no such resource");
    let (agent, session_id) = identity(uri).ok_or_else(missing)?;
    let data = catalog.read(&ReadRequest {
        agent,
        session_id,
        limit: Some(READ_PAGE_MAX as u64),
        max_bytes: Some(terms.output_max as u64 / 2),
        include_non_interactive: true,
        ..ReadRequest::default()
    })?;
    Ok(ResourceContents::text(render(&data), uri).with_mime_type("text/plain"))
}

fn render(data: &ReadData) -> String {
    let mut text = String::new();
    for m in &data.messages {
        let _ = writeln!(text, "[{} {}] {}", m.index, m.role, m.text);
    }
    let mut out = Fence::new().around(text.trim_end());
    if let Some(next) = data.next_offset {
        let _ = write!(out, "\n{} messages in all; agf_read_session goes on with offset {next}", data.total);
    }
    out
}

/// A failure in the terms of the protocol.
pub fn error(error: Error, uri: &str) -> ErrorData {
    let data = json!({ "uri": uri, "code": error.code.as_str(), "retryable": error.code.retryable() });
    match error.code {
        ErrorCode::Busy | ErrorCode::InternalError | ErrorCode::IndexUnavailable | ErrorCode::ScanFailed => {
            ErrorData::internal_error(error.message, Some(data))
        }
        _ => ErrorData::resource_not_found(error.message, Some(data)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_its_uri() {
        let id = "2026/a b%é";
        assert_eq!(identity(&uri("codex", id)), Some(("codex".to_owned(), id.to_owned())));
        for bad in
            ["", "file:///etc/passwd", "agf://session/claude", "agf://session/a/b/c", "agf://session/a/%f"]
        {
            assert_eq!(identity(bad), None, "{bad}");
        }
    }
}
