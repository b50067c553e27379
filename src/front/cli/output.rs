//! The one place that writes to standard output and error.

use crate::api::envelope::Envelope;
use crate::api::response::Warning;
use crate::error::{Error, Result};
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// Prints an answer as one line of JSON. A closed pipe is not an error.
pub fn json<T: Serialize>(result: Result<T>) -> ExitCode {
    let envelope = Envelope::new(result);
    let failed = !envelope.ok;
    let mut line = serde_json::to_vec(&envelope).unwrap_or_default();
    line.push(b'\n');
    let _ = std::io::stdout().lock().write_all(&line);
    if failed {
        note("agf: the request failed; the answer on standard output says why\n");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Prints text, with its colours where they can be shown.
pub fn print(text: &str) {
    let _ = anstream::stdout().lock().write_all(text.as_bytes());
}

/// Prints a remark beside the answer.
pub fn note(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// What stands between an answer and completeness, a line each.
pub fn warnings(warnings: &[Warning]) -> String {
    let line = |w: &Warning| {
        let agent = w.agent.as_deref().map(|a| format!("{a}: ")).unwrap_or_default();
        let count = if w.count > 1 { format!(" ({} times)", w.count) } else { String::new() };
        let place = w.source.as_ref().map(|s| format!(", {s}")).unwrap_or_default();
        format!("warning: {agent}{}{count}{place}\n", w.message)
    };
    warnings.iter().map(line).collect()
}

/// Says what went wrong and what to do about it.
pub fn complain(error: &Error) -> ExitCode {
    let mut text = format!("agf: {}\n", error.message);
    for c in &error.candidates {
        text += &format!("  {} {} {}\n", c.agent, c.session_id, c.project_path);
    }
    if let Some(hint) = &error.hint {
        text += &format!("hint: {hint}\n");
    }
    note(&text);
    ExitCode::FAILURE
}
