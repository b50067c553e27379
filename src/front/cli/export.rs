//! A conversation as a file: Markdown to read, JSON lines to work with.

use super::args::{ExportArgs, Format};
use super::find::title;
use super::{ScopeArgs, catalog, output};
use crate::api::Catalog;
use crate::api::envelope::SCHEMA_VERSION;
use crate::api::request::TranscriptRequest;
use crate::api::response::{ReadMessage, SessionRecord, Warning};
use crate::api::transcript::{Fold, Transcript};
use crate::error::{Error, Result};
use crate::io::env::Env;
use crate::io::out_file::OutFile;
use serde::Serialize;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

/// Carries `agf export` out.
pub fn run(args: &ExportArgs, env: Env) -> ExitCode {
    match carry_out(args, env) {
        Ok(warnings) => {
            output::note(&output::warnings(&warnings));
            ExitCode::SUCCESS
        }
        Err(e) => output::complain(&e),
    }
}

fn carry_out(args: &ExportArgs, env: Env) -> Result<Vec<Warning>> {
    let request = TranscriptRequest {
        agent: Some(args.agent.clone()),
        session_id: args.session_id.clone(),
        project: args.project.clone(),
    };
    let catalog = catalog(env.clone(), &ScopeArgs::default(), args.no_refresh)?;
    let Some(name) = &args.output else {
        let transcript = catalog.transcript(&request)?;
        return export(&transcript, args.format, &env, &mut BufWriter::new(io::stdout().lock()));
    };
    let path = env.path(name).ok_or_else(|| {
        Error::invalid_request("the file's path is relative and there is no working directory")
    })?;
    let mut file = open(&catalog, &path, args.force)?;
    let warnings = export(&catalog.transcript(&request)?, args.format, &env, &mut file)?;
    file.finish().map_err(|e| unwritable(&e))?;
    Ok(warnings)
}

fn open(catalog: &Catalog, path: &Path, force: bool) -> Result<OutFile> {
    if catalog.is_in_a_store(path) {
        return Err(Error::invalid_request("the file would lie in an agent's store, which is never written")
            .hint("choose another directory"));
    }
    OutFile::create(path, force).map_err(|e| unwritable(&e))
}

fn unwritable(e: &io::Error) -> Error {
    match e.kind() {
        ErrorKind::AlreadyExists => {
            Error::invalid_request("the file exists").hint("choose another name, or replace it with --force")
        }
        kind => Error::invalid_request(format!("the file cannot be written: {kind}")),
    }
}

/// Writes a conversation, message by message. A reader who goes away is no error.
fn export(transcript: &Transcript, format: Format, env: &Env, out: &mut dyn Write) -> Result<Vec<Warning>> {
    let mut writer = Writer { format, env, child: None, messages: 0, out };
    let mut written = writer.head(&transcript.session);
    let warnings = transcript.each(Fold::Whole, &mut |m| {
        if written.is_ok() {
            written = writer.message(&m);
        }
    })?;
    let warnings: Vec<Warning> = transcript.warnings.iter().cloned().chain(warnings).collect();
    match written.and_then(|()| writer.end(&warnings)) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(unwritable(&e)),
        _ => Ok(warnings),
    }
}

struct Writer<'w> {
    format: Format,
    env: &'w Env,
    child: Option<u64>,
    messages: u64,
    out: &'w mut dyn Write,
}

/// A line of JSON lines.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line<'l> {
    Session {
        schema_version: u32,
        agf_version: &'static str,
        session: &'l SessionRecord,
    },
    Message(&'l ReadMessage),
    /// Without it, the file is not whole.
    End {
        messages: u64,
        warnings: &'l [Warning],
    },
}

impl Writer<'_> {
    fn head(&mut self, session: &SessionRecord) -> io::Result<()> {
        match self.format {
            Format::Jsonl => self.json(&Line::Session {
                schema_version: SCHEMA_VERSION,
                agf_version: env!("CARGO_PKG_VERSION"),
                session,
            }),
            Format::Markdown => self.markdown_head(session),
        }
    }

    fn message(&mut self, m: &ReadMessage) -> io::Result<()> {
        self.messages += 1;
        match self.format {
            Format::Jsonl => self.json(&Line::Message(m)),
            Format::Markdown => self.markdown(m),
        }
    }

    fn end(&mut self, warnings: &[Warning]) -> io::Result<()> {
        if self.format == Format::Jsonl {
            self.json(&Line::End { messages: self.messages, warnings })?;
        }
        self.out.flush()
    }

    fn json(&mut self, line: &Line<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut *self.out, line)?;
        self.out.write_all(b"\n")
    }

    fn markdown_head(&mut self, s: &SessionRecord) -> io::Result<()> {
        writeln!(self.out, "# {}\n", escaped(&title(s)))?;
        let branch = s.git_branch.as_ref().map(|b| b.as_str().to_owned());
        let rows = [
            ("agent", Some(s.agent_name.clone())),
            ("session", Some(s.session_id.clone())),
            ("project", Some(s.project_path.as_str().to_owned())),
            ("branch", branch),
            ("begun", self.time(s.started_ms)),
            ("last", self.time(s.timestamp_ms)),
        ];
        for (name, value) in rows.iter().filter_map(|(n, v)| Some((n, v.as_ref()?))) {
            writeln!(self.out, "- {name}: {}", code(value))?;
        }
        Ok(())
    }

    /// What was said stands in quotes and what tools wrote in fences, so that no text can pass for another part.
    fn markdown(&mut self, m: &ReadMessage) -> io::Result<()> {
        if m.child != self.child {
            self.child = m.child;
            writeln!(self.out, "\n# Sub-agent {}", m.child.unwrap_or(0))?;
        }
        let side = if m.sidechain { "Sub-agent: " } else { "" };
        let role = match m.role.as_str() {
            "user" => "User",
            "assistant" => "Agent",
            "thinking" => "Thinking",
            "tool_input" => "Tool call",
            "tool_output" => "Tool result",
            _ => "Note",
        };
        let tool = m.tool.as_ref().map(|t| format!(" {}", code(t.as_str()))).unwrap_or_default();
        let time = self.time(m.timestamp_ms).map(|t| format!(" · {t}")).unwrap_or_default();
        writeln!(self.out, "\n## {side}{role}{tool}{time} · #{}\n", m.index)?;
        match m.role.as_str() {
            "user" | "assistant" => m
                .text
                .as_str()
                .lines()
                .try_for_each(|l| writeln!(self.out, "{}", format!("> {l}").trim_end())),
            _ => {
                let fence = "`".repeat(longest_run(m.text.as_str()).max(2) + 1);
                writeln!(self.out, "{fence}text\n{}\n{fence}", m.text.as_str().trim_end_matches('\n'))
            }
        }
    }

    fn time(&self, ms: i64) -> Option<String> {
        let (day, time) = self.env.local_time(ms).filter(|_| ms > 0)?;
        Some(format!("{day} {time}"))
    }
}

/// Text between as many backticks as it takes.
fn code(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{gap}{text}{gap}{marks}")
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Text that is nothing but text in Markdown.
fn escaped(text: &str) -> String {
    let special = |c: &char| {
        c.is_ascii_punctuation()
            && !matches!(c, '.' | ',' | '-' | '\'' | '"' | '/' | ':' | ';' | '?' | '(' | ')')
    };
    text.chars().flat_map(|c| special(&c).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_cannot_end_its_fence() {
        assert_eq!((code("a`b"), code("``")), ("``a`b``".to_owned(), "``` `` ```".to_owned()));
        assert_eq!((longest_run("a ```` b `"), longest_run("")), (4, 0));
        assert_eq!(escaped("# <b> [x](y) a.b"), "\\# \\<b\\> \\[x\\](y) a.b");
    }
}
