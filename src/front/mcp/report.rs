//! `--check` and `--list-tools`: what the server would do, without a client.

use super::options::Options;
use super::tools;
use crate::api::request::SearchRequest;
use crate::api::{Catalog, Scope};
use crate::error::Result;
use crate::io::env::Env;
use std::fmt::Write;

/// The tools as `tools/list` gives them.
pub fn tools_json(options: &Options) -> String {
    serde_json::to_string_pretty(&tools::list(&options.allow)).unwrap_or_default() + "\n"
}

/// Asks the catalog once, and says what came of it.
pub fn check(options: &Options, env: Env) -> Result<String> {
    let scope = Scope::new(options.agent.as_deref(), options.project.as_deref(), &env)?;
    let catalog = Catalog::new(env, scope);
    let found = catalog.search(&SearchRequest { limit: 1, ..SearchRequest::default() })?;
    let status = catalog.status();
    let capabilities = catalog.capabilities()?;
    let any = |value: &Option<String>| value.clone().unwrap_or_else(|| "any".to_owned());
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<9} {value}");
    };
    row("server", format!("agf {}", env!("CARGO_PKG_VERSION")));
    row("agent", any(&capabilities.scope.agent));
    row("project", any(&capabilities.scope.project));
    row("allowed", options.allow.names().join(", "));
    row(
        "tools",
        tools::list(&options.allow).iter().map(|t| t.name.to_string()).collect::<Vec<_>>().join(", "),
    );
    row("index", status.path);
    row("sessions", format!("{} ({} more are not interactive)", found.total, found.filtered_non_interactive));
    for w in &found.warnings {
        let agent = w.agent.as_deref().unwrap_or("index");
        row("warning", format!("{agent}: {} ({}, {} times)", w.message, w.code, w.count));
    }
    Ok(text)
}
