//! Starting and ending the server.

use super::layer::Layer;
use super::options::{Options, Oversize};
use super::pending::Pending;
use super::pipes::{self, Pipes};
use super::server::Server;
use super::transport::Guard;
use crate::api::Scope;
use crate::error::{Error, Result};
use crate::io::env::Env;
use rmcp::service::{ServerInitializeError, ServiceExt};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Exit code when the session ended because of an oversized line.
const CLOSED: u8 = 1;

/// Serves on standard input and output until the client is done.
pub fn serve(options: &Options, env: Env) -> Result<ExitCode> {
    let scope = Scope::new(options.agent.as_deref(), options.project.as_deref(), &env)?;
    prepare(options);
    let failed = |e: std::io::Error| Error::index(format!("cannot start: {}", e.kind()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().map_err(failed)?;
    let Pipes { lines, out, end } = pipes::open(options.message_max, options.oversize).map_err(failed)?;
    let pending = Arc::new(Pending::default());
    let server = Layer::new(Server::new(options, scope, env, pending.clone()));
    let guard = Guard::new(lines, out, pending, options.message_max, options.oversize);
    let clean = runtime.block_on(session(server, guard));
    // Work that nobody waits for ends with the process.
    runtime.shutdown_background();
    end.wait();
    if options.oversize == Oversize::Close && end.oversized() {
        say(&format!("agf: a message was larger than {} bytes\n", options.message_max));
        return Ok(ExitCode::from(CLOSED));
    }
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One session; whether it ended as it should.
async fn session(server: Layer<Server>, guard: Guard) -> bool {
    match server.serve(guard).await {
        Ok(running) => running.waiting().await.is_ok(),
        Err(ServerInitializeError::ConnectionClosed(_)) => true,
        Err(_) => false,
    }
}

fn prepare(options: &Options) {
    if std::io::stdin().is_terminal() {
        say(
            "agf mcp speaks the Model Context Protocol on standard input; it is meant to be started by an agent\n\
             hint: `agf mcp config claude` prints how to register it, `agf mcp --check` looks whether it would work\n",
        );
    }
    // A message of a panic can hold what was being read.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        say(&format!("agf: internal error{place}\n"));
    }));
    let level: LevelFilter = options.log_level.parse().unwrap_or(LevelFilter::WARN);
    // rmcp logs whole messages, which hold text of sessions.
    let rmcp = level.min(LevelFilter::ERROR);
    let targets = Targets::new().with_target("agf_catalog", level).with_target("rmcp", rmcp);
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let _ = tracing_subscriber::registry().with(log).with(targets).try_init();
}

/// Writes to standard error; that nobody reads it is no error.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
