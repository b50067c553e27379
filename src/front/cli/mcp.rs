//! `agf mcp`: its options, and what they start.

use super::output;
use crate::error::{Error, Result};
use crate::front::mcp::{Groups, Options, Oversize, config, report, start};
use crate::io::env::Env;
use crate::limits::{MCP_CALLS_MAX, MCP_MESSAGE_MAX, MCP_OUTPUT_MAX};
use clap::{Args, Subcommand, ValueEnum};
use std::process::ExitCode;

/// What hosts are recommended to allow.
const RECOMMENDED: &str = "metadata,summaries,content,transcript,prompts";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = false)]
pub struct McpArgs {
    #[command(subcommand)]
    action: Option<McpAction>,
    /// Only this agent's sessions
    #[arg(long, short, global = true)]
    agent: Option<String>,
    /// Only sessions of exactly this directory
    #[arg(long, short, global = true)]
    project: Option<String>,
    /// What clients may see: metadata, summaries, content, transcript, prompts, unsafe-modes [default: metadata,summaries]
    #[arg(long, global = true, value_name = "GROUPS")]
    allow: Option<String>,
    /// Say whether the server would work, and end
    #[arg(long)]
    check: bool,
    /// Print the tools as clients see them, and end
    #[arg(long)]
    list_tools: bool,
    /// Longest line of a client
    #[arg(long, value_name = "N", default_value_t = MCP_MESSAGE_MAX as u64, value_parser = clap::value_parser!(u64).range(1024..=16_777_216))]
    max_message_bytes: u64,
    /// Largest answer; more is left for the next page
    #[arg(long, value_name = "N", default_value_t = MCP_OUTPUT_MAX as u64, value_parser = clap::value_parser!(u64).range(16_384..=4_194_304))]
    max_output_bytes: u64,
    /// Calls that work at the same time
    #[arg(long, value_name = "N", default_value_t = MCP_CALLS_MAX as u64, value_parser = clap::value_parser!(u64).range(1..=16))]
    max_concurrent: u64,
    /// What happens to a line over the limit
    #[arg(long, value_enum, default_value_t = OversizeArg::Discard)]
    on_oversize: OversizeArg,
    /// What is logged to standard error
    #[arg(long, value_enum, default_value_t = Level::Warn)]
    log_level: Level,
}

#[derive(Debug, Subcommand)]
enum McpAction {
    /// Print how to register the server with a host; writes nothing
    Config {
        #[arg(value_parser = config::HOSTS)]
        host: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OversizeArg {
    /// Answer with an error and go on
    Discard,
    /// End the session
    Close,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }
}

impl McpArgs {
    fn options(&self) -> Result<Options> {
        Ok(Options {
            agent: self.agent.clone(),
            project: self.project.clone(),
            allow: self.allow.as_deref().map(Groups::parse).transpose()?.unwrap_or_default(),
            message_max: self.max_message_bytes as usize,
            output_max: self.max_output_bytes as usize,
            calls_max: self.max_concurrent as usize,
            oversize: match self.on_oversize {
                OversizeArg::Discard => Oversize::Discard,
                OversizeArg::Close => Oversize::Close,
            },
            log_level: self.log_level.as_str().to_owned(),
        })
    }
}

/// Carries `agf mcp …` out.
pub fn run(args: &McpArgs, env: Env) -> ExitCode {
    carry_out(args, env).unwrap_or_else(|e| output::complain(&e))
}

fn carry_out(args: &McpArgs, env: Env) -> Result<ExitCode> {
    let options = args.options()?;
    if let Some(McpAction::Config { host }) = &args.action {
        return print_config(host, args, options, &env);
    }
    if args.list_tools {
        output::print(&report::tools_json(&options));
        return Ok(ExitCode::SUCCESS);
    }
    if args.check {
        output::print(&report::check(&options, env)?);
        return Ok(ExitCode::SUCCESS);
    }
    start::serve(&options, env)
}

fn print_config(host: &str, args: &McpArgs, options: Options, env: &Env) -> Result<ExitCode> {
    let options = match args.allow {
        Some(_) => options,
        None => Options { allow: Groups::parse(RECOMMENDED)?, ..options },
    };
    let (place, text) = config::snippet(host, &options, env)
        .ok_or_else(|| Error::invalid_request("unknown host").hint(config::HOSTS.join(", ")))?;
    output::note(&format!("put this into {place}:\n"));
    output::print(&text);
    Ok(ExitCode::SUCCESS)
}
