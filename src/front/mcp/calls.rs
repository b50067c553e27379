//! What the tools do: arguments in, envelope out.

use super::fence::Fence;
use super::options::Groups;
use super::tools;
use crate::api::Catalog;
use crate::api::envelope::Envelope;
use crate::api::request::{CapabilitiesRequest, PlanRequest, ReadRequest, SearchRequest, ShowRequest};
use crate::api::response::{
    CapabilitiesData, PlanData, ReadData, SearchData, SessionRecord, ShowData, Warning,
};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::READ_PARTS_MAX;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Room for the envelope around the rows of an answer.
const FRAME: usize = 2048;
/// Room for the list of a session's files beside its messages.
const PARTS: usize = 64 * READ_PARTS_MAX;

/// A call whose arguments were read.
#[derive(Debug, Clone)]
pub enum Call {
    Capabilities,
    Show(ShowRequest),
    Read(ReadRequest),
    Plan(PlanRequest),
    Search(SearchRequest),
}

/// What holds for a call beside its arguments.
#[derive(Debug, Clone)]
pub struct Terms {
    pub groups: Groups,
    pub output_max: usize,
    /// Sessions that are running now and ask this server, as (agent, id).
    pub current: Vec<(&'static str, String)>,
    /// Limits that differ from the built-in ones.
    pub limits: Vec<(&'static str, usize)>,
}

/// An answer in both forms.
#[derive(Debug)]
pub struct Answer {
    structured: Value,
    text: String,
    failed: bool,
    /// Whether it quotes conversations.
    quotes: bool,
}

impl Call {
    /// Reads the arguments of a tool; `None` if there is no such tool.
    pub fn read(tool: &str, arguments: Option<JsonObject>) -> Option<Result<Self>> {
        let arguments = Value::Object(arguments.unwrap_or_default());
        Some(match tool {
            tools::CAPABILITIES => parse(arguments).map(|CapabilitiesRequest {}| Self::Capabilities),
            tools::SHOW => parse(arguments).map(Self::Show),
            tools::READ => parse(arguments).map(Self::Read),
            tools::PLAN => parse(arguments).map(Self::Plan),
            tools::SEARCH => parse(arguments).map(Self::Search),
            _ => return None,
        })
    }

    /// Refuses what the owner did not allow.
    pub fn permitted(&self, groups: &Groups) -> Result<()> {
        let (summaries, content, transcript) = match self {
            Self::Search(r) => (r.include_summaries, r.include_content, false),
            Self::Show(r) => (r.include_summaries, false, false),
            Self::Read(_) => (false, false, true),
            Self::Plan(_) | Self::Capabilities => (false, false, false),
        };
        refuse(summaries && !groups.summaries, "include_summaries", "summaries")?;
        refuse(content && !groups.content, "include_content", "content")?;
        // What a session is like tells what was said in it.
        let like = matches!(self, Self::Search(r) if r.like.is_some());
        refuse(like && !groups.content, "like", "content")?;
        refuse(transcript && !groups.transcript, tools::READ, "transcript")
    }

    /// Asks the catalog. `late` says that the index could not be brought up to date in time.
    pub fn answer(&self, catalog: &Catalog, terms: &Terms, late: bool) -> Answer {
        match self {
            Self::Capabilities => Answer::of(capabilities(catalog, terms), false),
            Self::Show(r) => Answer::of(show(catalog, r, terms, late), false),
            Self::Read(r) => Answer::of(read(catalog, r, terms, late), true),
            Self::Plan(r) => Answer::of(plan(catalog, r, terms, late), false),
            Self::Search(r) => Answer::of(search(catalog, r, terms, late), r.include_content),
        }
    }
}

fn parse<T: DeserializeOwned>(arguments: Value) -> Result<T> {
    serde_json::from_value(arguments).map_err(|e| {
        let told: String = e.to_string().chars().filter(|c| !c.is_control()).take(300).collect();
        Error::invalid_request(format!("failed to deserialize parameters: {told}"))
            .hint("see the input schema of the tool")
    })
}

fn refuse(refused: bool, what: &str, group: &str) -> Result<()> {
    if !refused {
        return Ok(());
    }
    Err(Error::new(ErrorCode::NotAllowed, format!("{what} is not allowed on this server"))
        .hint(format!("its owner can start it with {group} among --allow")))
}

impl Answer {
    pub fn of<T: Serialize>(result: Result<T>, quotes: bool) -> Self {
        let envelope = Envelope::new(result);
        Self {
            structured: serde_json::to_value(&envelope).unwrap_or_default(),
            text: size_of(&envelope).1,
            failed: !envelope.ok,
            quotes: quotes && envelope.ok,
        }
    }

    pub fn failure(error: Error) -> Self {
        Self::of::<()>(Err(error), false)
    }

    /// The result of the call. Text from conversations stands between two marks in what a model reads.
    pub fn into_result(self) -> CallToolResult {
        let mut content = vec![ContentBlock::text(self.text)];
        if self.quotes {
            let fence = Fence::new();
            content.insert(0, ContentBlock::text(fence.open));
            content.push(ContentBlock::text(fence.close));
        }
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(self.structured);
        result.is_error = Some(self.failed);
        result
    }
}

/// Size of a value as JSON, and the JSON.
fn size_of<T: Serialize>(value: &T) -> (usize, String) {
    let text = serde_json::to_string(value).unwrap_or_default();
    (text.len(), text)
}

/// How many of the items fit.
fn fitting<T: Serialize>(items: &[T], most: usize) -> usize {
    let mut left = most.saturating_sub(FRAME);
    items
        .iter()
        .take_while(|item| {
            let size = size_of(item).0 + 1;
            let fits = size <= left;
            left = left.saturating_sub(size);
            fits
        })
        .count()
}

fn capabilities(catalog: &Catalog, terms: &Terms) -> Result<CapabilitiesData> {
    let mut data = catalog.capabilities()?;
    data.groups = Some(terms.groups.names().into_iter().map(str::to_owned).collect());
    data.limits.extend(terms.limits.iter().map(|(name, value)| ((*name).to_owned(), *value as u64)));
    Ok(data)
}

fn search(catalog: &Catalog, request: &SearchRequest, terms: &Terms, late: bool) -> Result<SearchData> {
    let mut data = catalog.search(request)?;
    let kept = fitting(&data.sessions, terms.output_max).max(1);
    if kept < data.sessions.len() {
        // Asked again for what fits, so that the cursor stands where the page ends.
        data = catalog.search(&SearchRequest { limit: kept as u64, ..request.clone() })?;
        data.truncated = true;
    }
    if !terms.groups.content && data.content_total.take().is_some() {
        // Whether a word was ever said is content.
        data.hint = None;
    }
    data.sessions.iter_mut().for_each(|s| mark(s, terms));
    if late {
        data.index.complete = false;
        data.warnings.push(stale());
    }
    Ok(data)
}

fn show(catalog: &Catalog, request: &ShowRequest, terms: &Terms, late: bool) -> Result<ShowData> {
    let mut data = catalog.show(request).map_err(|e| unsure(e, late))?;
    let room = terms.output_max.saturating_sub(size_of(&data.session).0);
    let kept = fitting(&data.related, room);
    if kept < data.related.len() {
        data.related_total.get_or_insert(data.related.len() as u64);
        data.related.truncate(kept);
    }
    mark(&mut data.session, terms);
    if late {
        data.index.complete = false;
        data.warnings.push(stale());
    }
    Ok(data)
}

fn plan(catalog: &Catalog, request: &PlanRequest, terms: &Terms, late: bool) -> Result<PlanData> {
    let mut data = catalog.resume_plan(request).map_err(|e| unsure(e, late))?;
    refuse(data.plan.r#unsafe && !terms.groups.unsafe_modes, "this resume mode", "unsafe-modes")?;
    if late {
        data.warnings.push(stale());
    }
    Ok(data)
}

fn read(catalog: &Catalog, request: &ReadRequest, terms: &Terms, late: bool) -> Result<ReadData> {
    let room = terms.output_max.saturating_sub(FRAME + PARTS) as u64;
    let mut data = catalog.read_within(request, room).map_err(|e| unsure(e, late))?;
    if late {
        data.warnings.push(stale());
    }
    Ok(data)
}

fn mark(session: &mut SessionRecord, terms: &Terms) {
    let current =
        terms.current.iter().any(|(agent, id)| *agent == session.agent && *id == session.session_id);
    session.current = current.then_some(true);
}

fn stale() -> Warning {
    Warning {
        agent: None,
        code: "index_not_refreshed".to_owned(),
        message: "the index is still being brought up to date; this answer comes from what it held before"
            .to_owned(),
        count: 1,
        source: None,
    }
}

/// Not being in an index that is not complete yet proves nothing.
fn unsure(error: Error, late: bool) -> Error {
    if !(late && error.code == ErrorCode::NotFound) {
        return error;
    }
    Error::new(ErrorCode::IndexUnavailable, "the index is still being built")
        .hint("ask again in half a minute")
}
