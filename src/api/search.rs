//! Finding sessions.

use super::catalog::{Catalog, Ready};
use super::record::{Texts, matches};
use super::request::{SearchRequest, ShowRequest, SortBy};
use super::response::{SearchData, ShowData};
use super::scope::Selection;
use super::{cursor, like, lookup, record, warnings};
use crate::error::{Error, Result};
use crate::limits;
use crate::provider::registry;
use crate::query::parse::{Clock, Query, parse, span};
use crate::query::{self, Found, Options, SessionFilter, Sort, run};
use crate::text::Clean;

/// A request that passed its checks.
struct Question<'r> {
    request: &'r SearchRequest,
    selection: Selection,
    query: Query,
    options: Options,
    /// Where the session that `like` names may be.
    scope: Selection,
    /// What a cursor is bound to.
    identity: String,
    cursor: Option<(u64, u64)>,
}

impl Catalog {
    /// Finds sessions.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchData> {
        let question = self.question(request)?;
        self.answer(|ready| page(ready, &question))
    }

    /// Looks one session up.
    pub fn show(&self, request: &ShowRequest) -> Result<ShowData> {
        lookup::check_id(&request.session_id)?;
        let selection = self.scope.select(Some(&request.agent), request.project.as_deref(), &self.env)?;
        self.answer(|ready| {
            let warnings = warnings::collect(ready, &selection);
            let session =
                lookup::find(ready, &selection, &request.session_id, request.include_non_interactive);
            let session =
                session.or_else(|e| warnings::fail_if_blind(ready, &selection, &warnings).and(Err(e)))?;
            let texts = Texts { summaries: request.include_summaries, content: false };
            let scope = self.scope.select(Some(&request.agent), None, &self.env)?;
            let (related, related_total) = record::related(ready, session, &scope, texts);
            let session = record::record(ready, session, texts);
            Ok(ShowData { session, warnings, index: ready.index.clone(), related, related_total })
        })
    }

    /// Checks a request: limits, then agent and project, then scope.
    fn question<'r>(&self, request: &'r SearchRequest) -> Result<Question<'r>> {
        check_limits(request)?;
        let selection = self.scope.select(request.agent.as_deref(), request.project.as_deref(), &self.env)?;
        let clock = Clock { now_ms: self.env.now_ms(), zone: self.env.time_zone() };
        let query = parse(&request.query, &clock, |a| registry::find(a).is_some());
        let time = |value: &Option<String>, what: &str| -> Result<Option<(i64, i64)>> {
            let Some(value) = value else { return Ok(None) };
            let bad = || {
                Error::invalid_request(format!("{what} is no time"))
                    .hint("use a date, RFC 3339, or an age like 7d or 12h")
            };
            span(value.trim(), &clock).ok_or_else(bad).map(Some)
        };
        let filter = SessionFilter {
            agent: selection.agent.map(|p| p.info().id),
            project: selection.project.clone(),
            branch: request.branch.clone(),
            since: time(&request.since, "since")?.map(|s| s.0),
            until: time(&request.until, "until")?.map(|s| s.1),
            include_non_interactive: request.include_non_interactive,
        };
        let options = Options {
            filter,
            content: request.include_content,
            summaries: request.include_summaries,
            titles: self.titles,
            sort: if request.sort == Some(SortBy::Time) { Sort::Time } else { Sort::Relevance },
            collapse: request.collapse,
            now_ms: clock.now_ms,
        };
        let scope = self.scope.select(None, None, &self.env)?;
        let identity = format!(
            "{:?} {:?} {:?}",
            SearchRequest { cursor: None, offset: 0, limit: 0, ..request.clone() },
            self.scope.agent.map(|a| a.info().id),
            self.scope.project
        );
        let cursor = request.cursor.as_deref().map(|c| cursor::read(c, &identity)).transpose()?;
        Ok(Question { request, selection, query, options, scope, identity, cursor })
    }
}

fn check_limits(request: &SearchRequest) -> Result<()> {
    if request.query.len() > limits::QUERY_MAX {
        return Err(Error::invalid_request(format!("query is longer than {} bytes", limits::QUERY_MAX)));
    }
    if !(1..=limits::PAGE_MAX as u64).contains(&request.limit) {
        return Err(Error::invalid_request(format!("limit must be 1 to {}", limits::PAGE_MAX)));
    }
    if request.offset > limits::OFFSET_MAX as u64 {
        return Err(Error::invalid_request(format!("offset must be at most {}", limits::OFFSET_MAX)));
    }
    if let Some(like) = &request.like {
        lookup::check_id(like)?;
    }
    if request.cursor.is_some() && request.offset > 0 {
        return Err(Error::invalid_request("cursor and offset exclude each other"));
    }
    if request.branch.as_ref().is_some_and(|b| b.is_empty() || b.len() > limits::NAME_MAX) {
        return Err(Error::invalid_request(format!("branch must have 1 to {} bytes", limits::NAME_MAX)));
    }
    Ok(())
}

fn page(ready: &Ready<'_>, q: &Question<'_>) -> Result<SearchData> {
    let warnings = warnings::collect(ready, &q.selection);
    warnings::fail_if_blind(ready, &q.selection, &warnings)?;
    let found = match &q.request.like {
        Some(name) => {
            let model = like::model(ready, &q.scope, &q.selection, name)?;
            let telling = like::telling(ready, model)?;
            query::like::find(&ready.view, model, &telling, &q.query, &q.options)
        }
        None => run(&ready.view, &q.query, &q.options),
    };
    let found = found.map_err(|_| Error::index("the index cannot be read"))?;
    let sessions = found.hits.iter().map(|h| ready.view.sessions[h.session as usize].number);
    let state = cursor::state(ready.index.generation, sessions);
    let offset = match q.cursor {
        Some((_, made_for)) if made_for != state => return Err(cursor::expired()),
        Some((offset, _)) => offset,
        None => q.request.offset,
    };
    let total = found.hits.len() as u64;
    let next = offset + q.request.limit;
    let next_offset = (next < total && next <= limits::OFFSET_MAX as u64).then_some(next);
    let (hint, content_total) = hint(ready, q, &found)?;
    Ok(SearchData {
        sessions: rows(ready, q, &found, offset),
        total,
        offset,
        next_offset,
        warnings,
        next_cursor: next_offset.map(|n| cursor::make(n, state, &q.identity)),
        tier: found.tier.filter(|_| total > 0).map(|t| t.as_str().to_owned()),
        filtered_non_interactive: found.hidden as u64,
        hint,
        content_total,
        index: ready.index.clone(),
        truncated: false,
        did_you_mean: corrected(&q.request.query, &found),
    })
}

/// The query as it was read, if words in it were corrected.
fn corrected(query: &str, found: &Found) -> Option<Clean> {
    if found.hits.is_empty() || found.corrections.is_empty() {
        return None;
    }
    let read = found.corrections.iter().fold(query.to_owned(), |q, (typed, word)| q.replacen(typed, word, 1));
    Some(Clean::line(&read, limits::QUERY_MAX))
}

fn rows(
    ready: &Ready<'_>,
    q: &Question<'_>,
    found: &Found,
    offset: u64,
) -> Vec<super::response::SessionRecord> {
    let texts = Texts { summaries: q.request.include_summaries, content: q.request.include_content };
    let hits =
        found.hits.iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(q.request.limit as usize);
    hits.map(|hit| {
        let mut row = record::record(ready, hit.session, texts);
        if q.request.include_content {
            row.matches = Some(matches(ready, hit.session, &hit.messages, &found.words));
        }
        if let Some(copies) = found.copies.get(&hit.session) {
            record::add_copies(ready, copies, &mut row);
        }
        row
    })
    .collect()
}

/// An empty answer says where there would be one.
fn hint(ready: &Ready<'_>, q: &Question<'_>, found: &Found) -> Result<(Option<String>, Option<u64>)> {
    if !found.hits.is_empty() || !q.query.has_text() || q.request.like.is_some() {
        return Ok((None, None));
    }
    if found.hidden > 0 {
        let hint = "only non-interactive sessions match: ask again with include_non_interactive (--include-non-interactive)";
        return Ok((Some(hint.to_owned()), None));
    }
    if q.request.include_content {
        return Ok((None, None));
    }
    let options = Options { content: true, ..q.options.clone() };
    let content =
        run(&ready.view, &q.query, &options).map_err(|_| Error::index("the index cannot be read"))?;
    let total = content.hits.len() as u64;
    let hint = (total > 0)
        .then(|| "conversations match: ask again with include_content (--include-content)".to_owned());
    Ok((hint, Some(total)))
}
