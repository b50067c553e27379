//! Writes made-up sessions the way Claude Code, Codex and pi do.

use super::corpus::civil;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Pi,
}

/// Who says something, or which side of a tool call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    User,
    Agent,
    Call,
    Output,
    /// Text that the harness puts in: reminders, instructions, surroundings.
    Harness,
}

/// A session to write.
#[derive(Debug, Clone)]
pub struct Session {
    pub agent: Agent,
    pub id: String,
    pub project: String,
    pub branch: String,
    pub title: Option<String>,
    pub ended_ms: i64,
    pub turns: Vec<(Says, String)>,
}

/// `2026-11-30T21:02:07.385Z`
fn stamp(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    let ((y, m, d), rest) = (civil(seconds.div_euclid(86_400)), seconds.rem_euclid(86_400));
    format!(
        "{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
        ms.rem_euclid(1000)
    )
}

impl Session {
    /// When a turn was.
    fn at(&self, n: usize) -> i64 {
        self.ended_ms - (self.turns.len() - n) as i64 * 5_000
    }

    pub fn write(&self, home: &Path) -> std::io::Result<()> {
        let (rel, lines) = match self.agent {
            Agent::Claude => self.claude(),
            Agent::Codex => self.codex(),
            Agent::Pi => self.pi(),
        };
        let path = home.join(rel);
        fs::create_dir_all(path.parent().unwrap_or(home))?;
        let mut file = fs::File::create(path)?;
        for line in lines {
            writeln!(file, "{line}")?;
        }
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(self.ended_ms.max(0) as u64);
        file.set_modified(time)?;
        match self.agent {
            Agent::Claude => append(&home.join(".claude/history.jsonl"), &self.history()),
            Agent::Codex => match &self.title {
                Some(title) => append(
                    &home.join(".codex/session_index.jsonl"),
                    &json!({ "id": self.id, "thread_name": title, "updated_at": stamp(self.ended_ms) }),
                ),
                None => Ok(()),
            },
            Agent::Pi => Ok(()),
        }
    }

    fn first_prompt(&self) -> &str {
        self.turns.iter().find(|(who, _)| *who == Says::User).map_or("", |(_, text)| text)
    }

    fn history(&self) -> Value {
        json!({ "display": self.first_prompt(), "pastedContents": {}, "timestamp": self.ended_ms, "project": self.project, "sessionId": self.id })
    }

    fn claude(&self) -> (String, Vec<Value>) {
        let slug: String =
            self.project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut lines: Vec<Value> =
            self.turns.iter().enumerate().map(|(n, (who, text))| self.claude_line(n, *who, text)).collect();
        let title =
            self.title.iter().map(|t| json!({ "type": "ai-title", "aiTitle": t, "sessionId": self.id }));
        lines.extend(title);
        (format!(".claude/projects/{slug}/{}.jsonl", self.id), lines)
    }

    fn claude_line(&self, n: usize, who: Says, text: &str) -> Value {
        let (role, content) = match who {
            Says::User | Says::Harness => ("user", json!(text)),
            Says::Agent => ("assistant", json!([{ "type": "text", "text": text }])),
            Says::Call => (
                "assistant",
                json!([{ "type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": { "command": text } }]),
            ),
            Says::Output => (
                "user",
                json!([{ "type": "tool_result", "tool_use_id": format!("t{}", n.saturating_sub(1)), "content": text }]),
            ),
        };
        let mut line = json!({
            "parentUuid": null, "isSidechain": false, "userType": "external", "entrypoint": "cli", "cwd": self.project, "sessionId": self.id,
            "version": "2.1.300", "gitBranch": self.branch, "type": role, "uuid": format!("{}-{n}", self.id), "timestamp": stamp(self.at(n)),
            "message": { "id": format!("msg_{n}"), "role": role, "content": content },
        });
        if who == Says::Harness {
            line["isMeta"] = json!(true);
        }
        line
    }

    fn codex(&self) -> (String, Vec<Value>) {
        let start = stamp(self.at(0));
        let path = format!(
            ".codex/sessions/{}/rollout-{}-{}.jsonl",
            start[..10].replace('-', "/"),
            start[..19].replace(':', "-"),
            self.id
        );
        let meta = json!({ "timestamp": start, "type": "session_meta", "payload": {
            "id": self.id, "timestamp": start, "cwd": self.project, "originator": "codex-tui", "cli_version": "0.171.0", "source": "cli",
            "git": { "branch": self.branch },
        } });
        let record = |(n, (who, text)): (usize, &(Says, String))| json!({ "timestamp": stamp(self.at(n)), "type": "response_item", "payload": codex_item(n, *who, text) });
        (path, std::iter::once(meta).chain(self.turns.iter().enumerate().map(record)).collect())
    }

    fn pi(&self) -> (String, Vec<Value>) {
        let start = stamp(self.at(0));
        let slug = self.project.trim_matches('/').replace('/', "-");
        let path =
            format!(".pi/agent/sessions/--{slug}--/{}_{}.jsonl", start.replace([':', '.'], "-"), self.id);
        let head = json!({ "type": "session", "version": 3, "id": self.id, "timestamp": start, "cwd": self.project });
        let record = |(n, (who, text)): (usize, &(Says, String))| {
            let text = json!([{ "type": "text", "text": text }]);
            let mut message = match who {
                Says::User => json!({ "role": "user", "content": text }),
                // Nothing of the kind stands in its logs.
                Says::Harness => json!({ "role": "system", "content": [] }),
                Says::Agent => json!({ "role": "assistant", "content": text }),
                Says::Call => {
                    let call = json!({ "type": "toolCall", "id": format!("t{n}"), "name": "bash", "arguments": { "command": text } });
                    json!({ "role": "assistant", "content": [call] })
                }
                Says::Output => {
                    json!({ "role": "toolResult", "toolCallId": format!("t{}", n.saturating_sub(1)), "toolName": "bash", "content": text })
                }
            };
            message["timestamp"] = json!(self.at(n));
            json!({ "type": "message", "id": n.to_string(), "parentId": null, "timestamp": stamp(self.at(n)), "message": message })
        };
        (path, std::iter::once(head).chain(self.turns.iter().enumerate().map(record)).collect())
    }
}

fn codex_item(n: usize, who: Says, text: &str) -> Value {
    match who {
        Says::User => {
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
        }
        Says::Harness => {
            let text = format!("<environment_context>\n{text}\n</environment_context>");
            json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
        }
        Says::Agent => {
            json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
        }
        Says::Call => {
            json!({ "type": "function_call", "name": "shell_command", "arguments": json!({ "command": text }).to_string(), "call_id": format!("c{n}") })
        }
        Says::Output => {
            json!({ "type": "function_call_output", "call_id": format!("c{}", n.saturating_sub(1)), "output": text })
        }
    }
}

fn append(path: &Path, line: &Value) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{line}")
}
