//! Search results for people.

use super::args::FindArgs;
use super::output;
use crate::api::response::{Match, SearchData, SessionRecord};
use crate::io::env::Env;
use anstyle::{AnsiColor, Style};
use std::io::IsTerminal;
use std::process::ExitCode;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();
const AGENT: Style = AnsiColor::Cyan.on_default();
const PROJECT: Style = AnsiColor::Green.on_default();
const HIT: Style = AnsiColor::Yellow.on_default().bold();

pub fn run(args: FindArgs, env: Env) -> ExitCode {
    let now = env.now_ms();
    let found = super::search(env, args.narrow.no_refresh, &args.request());
    if args.json {
        return output::json(found);
    }
    match found {
        Ok(found) => {
            output::print(&render(&found, now, width()));
            output::note(&remarks(&found));
            ExitCode::SUCCESS
        }
        Err(e) => output::complain(&e),
    }
}

/// Columns of the terminal; as wide as needed when there is none.
pub fn width() -> usize {
    let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map_or(usize::MAX, |(w, _)| usize::from(w.0).max(40))
}

fn render(found: &SearchData, now: i64, width: usize) -> String {
    let column = |f: fn(&SessionRecord) -> &str, most: usize| {
        found.sessions.iter().map(|s| f(s).width()).max().unwrap_or(0).min(most)
    };
    let agents = column(|s| &s.agent, 12);
    let projects = column(|s| s.project_name.as_str(), 24);
    let mut out = String::new();
    for s in &found.sessions {
        let head = format!(
            "{DIM}{:>4}{DIM:#}  {AGENT}{}{AGENT:#}  {PROJECT}{}{PROJECT:#}  ",
            age(now - s.timestamp_ms),
            pad(&s.agent, agents),
            pad(s.project_name.as_str(), projects)
        );
        let used = 4 + 2 + agents + 2 + projects + 2;
        out += &format!("{head}{BOLD}{}{BOLD:#}\n", cut(&title(s), width.saturating_sub(used)));
        out += &format!("      {DIM}{}{DIM:#}\n", cut(&details(s), width.saturating_sub(6)));
        for m in s.matches.iter().flatten() {
            out += &format!("      {}\n", passage(m, width.saturating_sub(6)));
        }
    }
    out
}

pub fn title(s: &SessionRecord) -> String {
    s.title.as_ref().and_then(|t| t.as_ref()).map_or("(no title)".to_owned(), |t| t.as_str().to_owned())
}

fn details(s: &SessionRecord) -> String {
    let mut parts = vec![s.session_id.clone()];
    parts.extend(s.git_branch.as_ref().map(|b| format!("on {b}")));
    parts.push(format!("{} messages", s.message_count));
    parts.extend(s.forked_from.as_ref().map(|id| format!("fork of {id}")));
    parts.extend(s.parent_session_id.as_ref().map(|id| format!("from {id}")));
    match s.duplicates {
        Some(1) => parts.push("and a copy".to_owned()),
        Some(n) => parts.push(format!("and {n} copies")),
        None => {}
    }
    if s.archived {
        parts.push("archived".to_owned());
    }
    if !s.interactive {
        parts.push(s.source_kind.clone());
    }
    parts.join(" · ")
}

fn passage(m: &Match, width: usize) -> String {
    let role = match m.role.as_str() {
        "tool_input" | "tool_output" => "tool",
        "assistant" => "agent",
        other => other,
    };
    let text = m.snippet.as_str();
    let shown = cut(text, width.saturating_sub(role.len() + 2));
    let kept = shown.trim_end_matches('…').len();
    let mut out = format!("{DIM}{role}:{DIM:#} ");
    let mut at = 0;
    for (start, end) in m.highlights.iter().filter(|(_, end)| *end <= kept) {
        out += &format!("{}{HIT}{}{HIT:#}", &text[at..*start], &text[*start..*end]);
        at = *end;
    }
    out + &shown[at..]
}

fn remarks(found: &SearchData) -> String {
    let mut out = String::new();
    let shown = found.sessions.len() as u64;
    match (found.total, &found.hint) {
        (0, Some(hint)) => out += &format!("no session matches; {hint}\n"),
        (0, None) => out += "no session matches\n",
        (total, _) if total > shown => out += &format!("{shown} of {total} sessions; more with -n\n"),
        _ => {}
    }
    if let Some(tier) = found.tier.as_deref().filter(|t| *t != "exact") {
        let how = match tier {
            "prefix" => "words that begin like yours",
            "form" => "other forms of your words",
            "typo" => "words spelled nearly like yours",
            "part" => "words that hold yours",
            "most" => "most of your words",
            _ => "your letters in names and titles",
        };
        out += &format!("nothing matches exactly; these match {how}\n");
    }
    if let Some(read) = &found.did_you_mean {
        out += &format!("did you mean: {read}\n");
    }
    out + &output::warnings(&found.warnings)
}

fn age(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match minutes {
        0..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        1440..86_400 => format!("{}d", minutes / 1440),
        86_400..1_051_200 => format!("{}mo", minutes / 43_800),
        _ => format!("{}y", minutes / 525_600),
    }
}

/// Text of exactly this many columns.
fn pad(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let gap = columns.saturating_sub(text.width());
    text + &" ".repeat(gap)
}

/// Text of at most this many columns.
pub fn cut(text: &str, columns: usize) -> String {
    if columns == usize::MAX || text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let end = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > columns
    });
    format!("{}…", &text[..end.map_or(text.len(), |(i, _)| i)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_as_they_are_shown() {
        assert_eq!(cut("プロジェクト", 6), "プロ…");
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(cut("short", 10), "short");
    }

    #[test]
    fn ages() {
        assert_eq!(
            [0, 3_600_000, 86_400_000 * 3, 86_400_000 * 90, 86_400_000 * 800].map(age),
            ["0m", "1h", "3d", "2mo", "2y"]
        );
    }
}
