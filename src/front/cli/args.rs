//! What can be typed.

use crate::api::request::{PlanRequest, ReadRequest, SearchRequest, ShowRequest, SortBy};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Find any coding-agent session on this machine, and how to get back into it.
///
/// The index is brought up to date with the agents' own stores on every call; the stores are never changed.
#[derive(Debug, Parser)]
#[command(name = "agf", version, max_term_width = 110)]
pub struct Cli {
    /// Run on built-in sample sessions instead of yours
    #[arg(long, global = true)]
    pub demo: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find sessions, for people
    Find(FindArgs),
    /// Find sessions (JSON)
    Search(SearchArgs),
    /// Show what is known of one session (JSON), or its conversation for people
    Show(ShowArgs),
    /// Say how to get back into a session; runs nothing (JSON)
    ResumePlan(PlanArgs),
    /// Read a conversation, page by page (JSON)
    Read(ReadArgs),
    /// Write a whole conversation as Markdown or JSON lines
    Export(ExportArgs),
    /// List agents, limits and operations (JSON)
    Capabilities(ScopeArgs),
    /// Look after the index
    Index(IndexArgs),
    /// Serve agents over the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(super::mcp::McpArgs),
}

#[derive(Debug, Default, Args)]
pub struct ScopeArgs {
    /// Only this agent's sessions
    #[arg(long, short)]
    pub agent: Option<String>,
    /// Only sessions of exactly this directory
    #[arg(long, short, value_parser = path())]
    pub project: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SortArg {
    Relevance,
    Time,
}

/// What narrows a search, for both ways of printing it.
#[derive(Debug, Args)]
pub struct Narrow {
    /// Sessions that did something since then: a date, RFC 3339, or an age like 7d
    #[arg(long)]
    pub since: Option<String>,
    /// Sessions that began before then
    #[arg(long)]
    pub until: Option<String>,
    /// Sessions on exactly this git branch
    #[arg(long)]
    pub branch: Option<String>,
    #[arg(long, value_enum)]
    pub sort: Option<SortArg>,
    /// Sessions on the same thing as this one: its id, or agent:id
    #[arg(long, value_name = "ID")]
    pub like: Option<String>,
    /// Show a fork or copy beside its original even if the same messages match
    #[arg(long)]
    pub no_collapse: bool,
    /// Also sub-agents, exec and SDK runs
    #[arg(long, visible_alias = "all")]
    pub include_non_interactive: bool,
    /// Answer from the index as it is
    #[arg(long)]
    pub no_refresh: bool,
}

#[derive(Debug, Args)]
pub struct SearchArgs {
    /// Words, "phrases", -not, prefix*, key:value
    pub query: Vec<String>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Rows on the page, 1 to 200
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: u64,
    #[arg(long, default_value_t = 0)]
    pub offset: u64,
    /// Continue where next_cursor of an earlier answer points
    #[arg(long)]
    pub cursor: Option<String>,
    /// Search and return titles, summaries and recaps
    #[arg(long)]
    pub include_summaries: bool,
    /// Search the conversations and return matching passages
    #[arg(long, short = 'c', visible_alias = "content")]
    pub include_content: bool,
    #[command(flatten)]
    pub narrow: Narrow,
}

#[derive(Debug, Args)]
pub struct FindArgs {
    /// Words, "phrases", -not, prefix*, key:value (agent project branch model role since until on in is)
    pub query: Vec<String>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Rows to show, 1 to 200
    #[arg(long, short = 'n', default_value_t = 10)]
    pub limit: u64,
    #[command(flatten)]
    pub narrow: Narrow,
    /// Print the JSON answer instead
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    pub session_id: String,
    /// Needed but for a transcript of an id that only one agent has
    #[arg(long, short, required_unless_present = "transcript")]
    pub agent: Option<String>,
    /// Show the conversation itself, through $PAGER on a terminal
    #[arg(long, short, conflicts_with = "include_summaries")]
    pub transcript: bool,
    /// Choose among sessions that share the id
    #[arg(long, short, value_parser = path())]
    pub project: Option<String>,
    #[arg(long)]
    pub include_summaries: bool,
    #[arg(long)]
    pub include_non_interactive: bool,
    #[arg(long)]
    pub no_refresh: bool,
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    pub session_id: String,
    #[arg(long, short)]
    pub agent: String,
    #[arg(long, short, value_parser = path())]
    pub project: Option<String>,
    /// A label from `agf capabilities`
    #[arg(long)]
    pub mode: Option<String>,
    #[arg(long)]
    pub include_non_interactive: bool,
}

#[derive(Debug, Args)]
pub struct ReadArgs {
    pub session_id: String,
    #[arg(long, short)]
    pub agent: String,
    #[arg(long, short, value_parser = path())]
    pub project: Option<String>,
    /// First message, from 0
    #[arg(long)]
    pub offset: Option<u64>,
    /// Messages on the page, 1 to 200
    #[arg(long, short = 'n')]
    pub limit: Option<u64>,
    /// Place the page around this message: the number in `matches`
    #[arg(long, conflicts_with = "offset")]
    pub around: Option<u64>,
    /// Continue where next_cursor of an earlier answer points
    #[arg(long, conflicts_with_all = ["offset", "around"])]
    pub cursor: Option<String>,
    /// Only this message, with its whole text (1 MiB at a time)
    #[arg(long, conflicts_with_all = ["offset", "around", "cursor"])]
    pub message: Option<u64>,
    /// Where in that text to begin: next_text_offset of an earlier answer
    #[arg(long, requires = "message")]
    pub text_offset: Option<u64>,
    /// Texts of tools as long as others; else their first 256 bytes
    #[arg(long)]
    pub full_tools: bool,
    /// Only these roles
    #[arg(long = "role")]
    pub roles: Vec<String>,
    /// One line a message
    #[arg(long)]
    pub outline: bool,
    /// Text bytes on the page, at most
    #[arg(long)]
    pub max_bytes: Option<u64>,
    #[arg(long)]
    pub include_non_interactive: bool,
    #[arg(long)]
    pub no_refresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Markdown,
    Jsonl,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    pub session_id: String,
    #[arg(long, short)]
    pub agent: String,
    #[arg(long, short, value_parser = path())]
    pub project: Option<String>,
    /// Markdown to read; JSON lines, one a message, to work with
    #[arg(long, short, value_enum)]
    pub format: Format,
    /// The file to write; standard output if absent. Never one in an agent's store
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<String>,
    /// Replace the file if it exists
    #[arg(long, requires = "output")]
    pub force: bool,
    #[arg(long)]
    pub no_refresh: bool,
}

#[derive(Debug, Args)]
pub struct IndexArgs {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, Subcommand)]
pub enum Action {
    /// Show where the index is and what it holds
    Status,
    /// Compare the index with its checksums
    Verify,
    /// Build the index anew
    Rebuild,
    /// Remove the index; the next search builds it again
    Clear,
}

/// Stands in front of a word that begins with `-` but is no option, until the options are parsed.
const SHIELD: char = '\u{1}';

/// Lets words like `-excluded` and `--dry-run` stand among the words of a query.
///
/// In `search` and `find`, `-word` of two or more letters is never a cluster of short options. In `find` an unknown `--option` is a
/// word too; in `search`, which programs call, it stays an error.
pub fn shield(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let name = |a: &OsString| a.to_str().filter(|a| matches!(*a, "search" | "find")).map(str::to_owned);
    let Some((at, command)) = args.iter().enumerate().skip(1).find_map(|(i, a)| Some((i, name(a)?))) else {
        return args;
    };
    let cli = Cli::command();
    let Some(known) = cli.find_subcommand(&command) else { return args };
    let takes_value = |a: &str| options(known).any(|(o, value)| o == a && value);
    let mut value_next = false;
    for arg in args.iter_mut().skip(at + 1) {
        let Some(text) = arg.to_str() else { continue };
        if text == "--" {
            break;
        }
        if std::mem::take(&mut value_next) {
            continue;
        }
        value_next = takes_value(text);
        if is_word(text, known, command == "find") {
            *arg = format!("{SHIELD}{text}").into();
        }
    }
    args
}

fn options(command: &clap::Command) -> impl Iterator<Item = (String, bool)> {
    command.get_arguments().flat_map(|a| {
        let value = a.get_action().takes_values();
        let longs =
            a.get_long_and_visible_aliases().unwrap_or_default().into_iter().map(|l| format!("--{l}"));
        let shorts =
            a.get_short_and_visible_aliases().unwrap_or_default().into_iter().map(|s| format!("-{s}"));
        longs.chain(shorts).map(move |o| (o, value)).collect::<Vec<_>>()
    })
}

fn is_word(text: &str, command: &clap::Command, unknown_too: bool) -> bool {
    if let Some(long) = text.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or(long);
        let known = options(command).any(|(o, _)| o.get(2..) == Some(long))
            || matches!(long, "help" | "demo" | "version");
        return unknown_too && !known;
    }
    let short = text.strip_prefix('-').unwrap_or("");
    short.chars().count() > 1
        && !short[1..].chars().all(|c| c.is_ascii_digit())
        && !short[1..].starts_with('=')
}

/// A path that is no text becomes one that no directory can have, so that it is refused like any other impossible one.
fn path() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|p| p.into_string().unwrap_or_else(|_| "\0".to_owned()))
}

fn base(query: &[String], scope: &ScopeArgs, narrow: &Narrow) -> SearchRequest {
    let words: Vec<&str> = query.iter().map(|w| w.trim_start_matches(SHIELD)).collect();
    SearchRequest {
        query: words.join(" "),
        agent: scope.agent.clone(),
        project: scope.project.clone(),
        since: narrow.since.clone(),
        until: narrow.until.clone(),
        branch: narrow.branch.clone(),
        like: narrow.like.clone(),
        collapse: !narrow.no_collapse,
        sort: narrow.sort.map(|s| match s {
            SortArg::Relevance => SortBy::Relevance,
            SortArg::Time => SortBy::Time,
        }),
        include_non_interactive: narrow.include_non_interactive,
        ..SearchRequest::default()
    }
}

impl SearchArgs {
    pub fn request(&self) -> SearchRequest {
        SearchRequest {
            limit: self.limit,
            offset: self.offset,
            cursor: self.cursor.clone(),
            include_summaries: self.include_summaries,
            include_content: self.include_content,
            ..base(&self.query, &self.scope, &self.narrow)
        }
    }
}

impl FindArgs {
    pub fn request(&self) -> SearchRequest {
        SearchRequest {
            limit: self.limit,
            include_summaries: true,
            include_content: true,
            ..base(&self.query, &self.scope, &self.narrow)
        }
    }
}

impl ShowArgs {
    pub fn request(&self) -> ShowRequest {
        ShowRequest {
            agent: self.agent.clone().unwrap_or_default(),
            session_id: self.session_id.clone(),
            project: self.project.clone(),
            include_summaries: self.include_summaries,
            include_non_interactive: self.include_non_interactive,
        }
    }
}

impl PlanArgs {
    pub fn request(&self) -> PlanRequest {
        PlanRequest {
            agent: self.agent.clone(),
            session_id: self.session_id.clone(),
            project: self.project.clone(),
            mode: self.mode.clone(),
            include_non_interactive: self.include_non_interactive,
        }
    }
}

impl ReadArgs {
    pub fn request(&self) -> ReadRequest {
        ReadRequest {
            agent: self.agent.clone(),
            session_id: self.session_id.clone(),
            project: self.project.clone(),
            offset: self.offset,
            limit: self.limit,
            around: self.around,
            cursor: self.cursor.clone(),
            message: self.message,
            text_offset: self.text_offset,
            full_tools: self.full_tools,
            roles: self.roles.clone(),
            outline: self.outline,
            max_bytes: self.max_bytes,
            include_non_interactive: self.include_non_interactive,
        }
    }
}
