//! Completion of agents and session ids.

use super::resources::TEMPLATE;
use crate::api::Catalog;
use crate::api::request::SearchRequest;
use crate::error::Result;
use crate::limits::PAGE_MAX;
use rmcp::model::{CompleteRequestParams, CompletionInfo, Reference};

/// The values an argument can have.
pub fn values(catalog: &Catalog, request: &CompleteRequestParams) -> Result<CompletionInfo> {
    let known = match &request.r#ref {
        Reference::Resource(resource) => resource.uri == TEMPLATE,
        Reference::Prompt(prompt) => prompt.name == "resume_work",
        _ => false,
    };
    let start = &request.argument.value;
    let all = match (known, request.argument.name.as_str()) {
        (true, "agent") => agents(catalog)?,
        (true, "session_id") => {
            let agent = request.context.as_ref().and_then(|c| c.get_argument("agent"));
            sessions(catalog, agent.cloned())?
        }
        _ => Vec::new(),
    };
    let mut fitting: Vec<String> = all.into_iter().filter(|v| v.starts_with(start.as_str())).collect();
    let total = u32::try_from(fitting.len()).ok();
    let more = fitting.len() > CompletionInfo::MAX_VALUES;
    fitting.truncate(CompletionInfo::MAX_VALUES);
    Ok(CompletionInfo::with_pagination(fitting, total, more).unwrap_or_default())
}

fn agents(catalog: &Catalog) -> Result<Vec<String>> {
    Ok(catalog.capabilities()?.providers.into_iter().map(|p| p.id).collect())
}

fn sessions(catalog: &Catalog, agent: Option<String>) -> Result<Vec<String>> {
    let request = SearchRequest { agent, limit: PAGE_MAX as u64, ..SearchRequest::default() };
    Ok(catalog.search(&request)?.sessions.into_iter().map(|s| s.session_id).collect())
}
