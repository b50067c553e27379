//! The command line.

mod args;
mod demo;
mod export;
mod find;
mod maintain;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod pager;
mod progress;
mod transcript;

use crate::api::request::SearchRequest;
use crate::api::response::SearchData;
use crate::api::{Catalog, Freshness, Scope};
use crate::error::Result;
use crate::io::env::Env;
use args::{Cli, Command, ScopeArgs};
use clap::{CommandFactory, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs a command line.
pub fn run(env: Env, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args::shield(args)) {
        Ok(cli) => cli,
        Err(e) => {
            let _ = e.print();
            return ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2));
        }
    };
    let Some(command) = cli.command else {
        output::print(&Cli::command().render_help().ansi().to_string());
        return ExitCode::SUCCESS;
    };
    let env = if cli.demo {
        match demo::env(&env) {
            Ok(env) => env,
            Err(e) => return output::complain(&e),
        }
    } else {
        env
    };
    dispatch(command, env)
}

fn dispatch(command: Command, env: Env) -> ExitCode {
    match command {
        Command::Search(a) => output::json(search(env, a.narrow.no_refresh, &a.request())),
        Command::Show(a) if a.transcript => transcript::run(&a, env),
        Command::Export(a) => export::run(&a, env),
        Command::Show(a) => {
            output::json(catalog(env, &ScopeArgs::default(), a.no_refresh).and_then(|c| c.show(&a.request())))
        }
        Command::ResumePlan(a) => {
            output::json(catalog(env, &ScopeArgs::default(), false).and_then(|c| c.resume_plan(&a.request())))
        }
        Command::Read(a) => {
            output::json(catalog(env, &ScopeArgs::default(), a.no_refresh).and_then(|c| c.read(&a.request())))
        }
        Command::Capabilities(a) => output::json(catalog(env, &a, false).and_then(|c| c.capabilities())),
        Command::Find(a) => find::run(a, env),
        Command::Index(a) => maintain::run(&a.action, env),
        #[cfg(feature = "mcp")]
        Command::Mcp(a) => mcp::run(&a, env),
    }
}

/// Searches. What the user narrows it to bounds the answer, not what else may be looked at for it (`--like`).
fn search(env: Env, no_refresh: bool, request: &SearchRequest) -> Result<SearchData> {
    catalog(env, &ScopeArgs::default(), no_refresh)?.search(request)
}

/// A catalog within what the user named.
fn catalog(env: Env, scope: &ScopeArgs, no_refresh: bool) -> Result<Catalog> {
    let scope = Scope::new(scope.agent.as_deref(), scope.project.as_deref(), &env)?;
    let freshness = if no_refresh { Freshness::AsIs } else { Freshness::Refresh };
    Ok(progress::watched(Catalog::new(env, scope).freshness(freshness)))
}
