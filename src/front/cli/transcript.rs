//! A conversation for people: turns with their times, calls of tools in one line each.

use super::args::ShowArgs;
use super::find::{cut, title, width};
use super::pager::Pager;
use super::{ScopeArgs, catalog, output};
use crate::api::request::TranscriptRequest;
use crate::api::response::{ReadMessage, SessionRecord};
use crate::api::transcript::{Fold, Transcript};
use crate::io::env::Env;
use anstyle::{AnsiColor, Style};
use std::process::ExitCode;

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const AGENT: Style = AnsiColor::Cyan.on_default().bold();
const USER: Style = AnsiColor::Green.on_default().bold();
const TOOL: Style = AnsiColor::Yellow.on_default();
const CHILD: Style = AnsiColor::Magenta.on_default().bold();

/// Shows a session's conversation.
pub fn run(args: &ShowArgs, env: Env) -> ExitCode {
    let request = TranscriptRequest {
        agent: args.agent.clone(),
        session_id: args.session_id.clone(),
        project: args.project.clone(),
    };
    let found =
        catalog(env.clone(), &ScopeArgs::default(), args.no_refresh).and_then(|c| c.transcript(&request));
    match found {
        Ok(transcript) => show(&transcript, &env),
        Err(e) => output::complain(&e),
    }
}

fn show(transcript: &Transcript, env: &Env) -> ExitCode {
    let mut pager = Pager::start(env);
    let mut page =
        Page { env, width: width().min(LINE), day: String::new(), speaker: String::new(), child: None };
    pager.print(&page.head(&transcript.session));
    let read = transcript.each(Fold::Line, &mut |m| pager.print(&page.message(&m)));
    pager.print("\n");
    let (remarks, code) = match &read {
        Ok(warnings) => (output::warnings(warnings), ExitCode::SUCCESS),
        Err(_) => (String::new(), ExitCode::FAILURE),
    };
    let code = pager.finish(code);
    output::note(&remarks);
    read.map_or_else(|e| output::complain(&e), |_| code)
}

/// A line of a tool is no longer than this, however wide the terminal is.
const LINE: usize = 160;

/// What was shown last, to tell what must be said anew.
struct Page<'e> {
    env: &'e Env,
    width: usize,
    day: String,
    speaker: String,
    child: Option<u64>,
}

impl Page<'_> {
    fn head(&self, s: &SessionRecord) -> String {
        let mut facts = vec![s.session_id.clone()];
        facts.extend(s.git_branch.as_ref().map(|b| format!("on {b}")));
        facts.push(format!("{} messages", s.message_count));
        let time =
            |ms| self.env.local_time(ms).map_or(String::new(), |(day, time)| format!("{day} {}", &time[..5]));
        format!(
            "{BOLD}{}{BOLD:#}\n{AGENT}{}{AGENT:#}  {}\n{DIM}{}\n{} to {}{DIM:#}\n",
            title(s),
            s.agent_name,
            s.project_path,
            facts.join(" · "),
            time(s.started_ms),
            time(s.timestamp_ms)
        )
    }

    fn message(&mut self, m: &ReadMessage) -> String {
        let mut out = self.section(m);
        let (day, time) =
            self.env.local_time(m.timestamp_ms).filter(|_| m.timestamp_ms > 0).unwrap_or_default();
        if !day.is_empty() && day != self.day {
            out += &format!("\n{DIM}── {day} ──{DIM:#}\n");
            self.day = day;
            self.speaker.clear();
        }
        out += &self.speaker(m, time.get(..5).unwrap_or(""));
        out + &self.body(m)
    }

    /// A line where a sub-agent's file begins.
    fn section(&mut self, m: &ReadMessage) -> String {
        if m.child == self.child {
            return String::new();
        }
        self.child = m.child;
        self.speaker.clear();
        m.child.map_or_else(String::new, |n| format!("\n{CHILD}══ sub-agent {n} ══{CHILD:#}\n"))
    }

    /// A line where somebody else speaks.
    fn speaker(&mut self, m: &ReadMessage, time: &str) -> String {
        let (name, style) = match (m.role.as_str(), m.sidechain) {
            ("user", false) => ("you", USER),
            ("user", true) => ("task", CHILD),
            ("system", _) => ("note", DIM),
            (_, false) => ("agent", AGENT),
            (_, true) => ("sub-agent", CHILD),
        };
        // A prompt is a turn of its own, also after another one.
        if self.speaker == name && m.role != "user" {
            return String::new();
        }
        name.clone_into(&mut self.speaker);
        // Lines of tools and notes end with their numbers.
        let in_line = matches!(m.role.as_str(), "tool_input" | "tool_output" | "system");
        let number = if in_line { String::new() } else { format!("  #{}", m.index) };
        format!("\n{style}{name}{style:#} {DIM}{time}{number}{DIM:#}\n")
    }

    fn body(&self, m: &ReadMessage) -> String {
        let text = m.text.as_str().trim_matches('\n');
        match m.role.as_str() {
            "tool_input" => {
                let tool = m.tool.as_ref().map_or("tool", |t| t.as_str());
                format!("  {TOOL}→ {tool}{TOOL:#} {}\n", self.line(m, tool.len() + 5))
            }
            "tool_output" => format!("  {DIM}←{DIM:#} {}\n", self.line(m, 4)),
            "system" => format!("  {}\n", self.line(m, 2)),
            "thinking" => text.lines().map(|l| format!("{DIM}{l}{DIM:#}\n")).collect(),
            _ => format!("{text}\n"),
        }
    }

    /// A text in one line, with its size if that is not all of it.
    fn line(&self, m: &ReadMessage, used: usize) -> String {
        let size = format!(
            "{}  #{}",
            if m.truncated { format!("  {} bytes", m.bytes) } else { String::new() },
            m.index
        );
        let text = cut(m.text.as_str(), self.width.saturating_sub(used + size.len()));
        format!("{text}{DIM}{size}{DIM:#}")
    }
}
