//! Rows of `messages`.

use crate::io::sqlite::{Db, Error, Param, Row, Store};
use crate::model::{Facts, Message, Role, timestamp};
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::out::{Emit, ROW_MAX, Texts};
use crate::provider::shared::prompt::saw_prompt;
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Reads messages of a database of this layout.
pub struct Reader {
    columns: Vec<String>,
}

/// A row, as far as it is of use.
#[derive(Debug, Default)]
struct Said {
    row: i64,
    role: String,
    content: String,
    calls: String,
    tool: String,
    at: i64,
    reasoning: String,
    /// It stands in the user's name and is not the user's.
    injected: bool,
}

impl Reader {
    pub fn new(store: &mut Store) -> Result<Self, Error> {
        Ok(Self { columns: store.read(|db| db.columns("messages"))? })
    }

    /// Emits a session's messages and adds what they say. Returns whether all could be read.
    pub fn all(&self, store: &mut Store, session: &str, facts: &mut Facts<'_>, emit: Emit<'_>) -> bool {
        const AT_ONCE: usize = 256;
        if !self.has("session_id") {
            return true;
        }
        let sql = self.query(&format!("session_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT {AT_ONCE}"));
        let mut last = 0;
        loop {
            let params = [Param::Text(session), Param::Int(last)];
            let Ok(rows) = store.read(|db| gather(db, &sql, &params)) else { return false };
            rows.iter().for_each(|said| said.texts(Some(facts), emit));
            match rows.last() {
                Some(row) if rows.len() == AT_ONCE => last = row.row,
                _ => return true,
            }
        }
    }

    /// Emits the texts of one row.
    pub fn one(&self, store: &mut Store, row: u64, emit: Emit<'_>) -> Result<(), Error> {
        let sql = self.query("rowid = ?1");
        let rows = store.read(|db| gather(db, &sql, &[Param::Int((row & ROW_MAX) as i64)]))?;
        rows.iter().for_each(|said| said.texts(None, emit));
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|c| c == name)
    }

    /// Rewound messages, and those whose place a summary took, are left out.
    fn query(&self, which: &str) -> String {
        let column = |name: &str| if self.has(name) { name.to_owned() } else { "NULL".to_owned() };
        let flag = |name: &str, usual: u8| {
            if self.has(name) { format!("ifnull({name}, {usual})") } else { usual.to_string() }
        };
        let hidden = if self.has("display_kind") { "ifnull(display_kind, '') = 'hidden'" } else { "0" };
        format!(
            "SELECT rowid, {}, {}, {}, {}, {}, {}, {}, {} OR {} OR {hidden} FROM messages WHERE {which_counts} AND {which}",
            column("role"),
            column("content"),
            column("tool_calls"),
            column("tool_name"),
            column("timestamp"),
            column("reasoning"),
            column("reasoning_content"),
            flag("observed", 0),
            flag("_compressed_summary", 0),
            which_counts = format_args!("{} <> 0 AND {} = 0", flag("active", 1), flag("compacted", 0)),
        )
    }
}

fn gather(db: &Db, sql: &str, params: &[Param<'_>]) -> Result<Vec<Said>, Error> {
    let mut rows = Vec::new();
    db.rows(sql, params, |row| {
        rows.push(Said::of(row));
        Ok::<_, Error>(())
    })?;
    Ok(rows)
}

impl Said {
    fn of(row: &Row<'_>) -> Self {
        let words = |n| row.text(n).map(Cow::into_owned).unwrap_or_default();
        let reasoning = [words(6), words(7)].into_iter().find(|r| !r.trim().is_empty());
        Self {
            row: row.int(0).unwrap_or(0),
            role: words(1),
            content: decoded(words(2)),
            calls: words(3),
            tool: words(4),
            at: row.real(5).and_then(timestamp::from_number).unwrap_or(0),
            reasoning: reasoning.unwrap_or_default(),
            injected: row.flag(8),
        }
    }

    fn texts(&self, mut facts: Option<&mut Facts<'_>>, emit: Emit<'_>) {
        let mut replied = false;
        let mut seen = |m: Message<'_>| {
            if let Some(facts) = &mut facts {
                facts.saw_time(m.timestamp_ms);
                match m.role {
                    Role::User => {
                        facts.messages += 1;
                        saw_prompt(facts, &m.text);
                    }
                    // A reply is one message, whatever it is made of.
                    Role::Assistant | Role::ToolInput if !replied => {
                        facts.messages += 1;
                        replied = true;
                    }
                    _ => {}
                }
            }
            emit(m);
        };
        let mut out = Texts::of_row(&mut seen, self.row as u64);
        match self.role.as_str() {
            "user" if self.injected => out.put(Role::System, self.at, &*self.content),
            "user" => self.prompt(&mut out),
            "assistant" => self.reply(&mut out),
            "tool" => {
                let name = (!self.tool.is_empty()).then_some(self.tool.as_str());
                out.tool(Role::ToolOutput, self.at, &*self.content, name);
            }
            _ => {}
        }
    }

    fn prompt(&self, out: &mut Texts<'_>) {
        let (injected, typed) = split(&self.content);
        out.put(Role::System, self.at, injected);
        out.put(Role::User, self.at, typed);
    }

    fn reply(&self, out: &mut Texts<'_>) {
        out.put(Role::Thinking, self.at, &*self.reasoning);
        out.put(Role::Assistant, self.at, &*self.content);
        let calls = serde_json::from_str(&self.calls).unwrap_or(Value::Null);
        for call in items(&calls) {
            let function = get(call, "function");
            let function = if function.is_object() { function } else { call };
            out.tool(
                Role::ToolInput,
                self.at,
                json::embedded(get(function, "arguments")),
                text(function, "name"),
            );
        }
    }
}

/// Content with images is a list of blocks, marked by a control character and `json:`.
fn decoded(content: String) -> String {
    let Some(list) = content.strip_prefix(['\0', '\u{1}']).and_then(|c| c.strip_prefix("json:")) else {
        return content;
    };
    match serde_json::from_str::<Value<'_>>(list) {
        Ok(v) => json::content(&v, &["text", "input_text"]).into_owned(),
        Err(_) => String::new(),
    }
}

/// What a text in the user's name begins with when the harness wrote it.
const HARNESS: &[&str] = &[
    "Review the conversation above and update the skill library",
    "Review the conversation above and consider saving to memory",
    "[SYSTEM:",
    "[IMPORTANT: Background process",
];
const SUMMARIES: &[&str] = &["[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:"];
const SUMMARY_END: &str = "--- END OF CONTEXT SUMMARY";
const SKILL: &str = "[IMPORTANT: The user has invoked the ";
/// What stands before and behind the words that go with a skill, or with several.
const SKILL_WORDS: [(&str, &str); 2] = [
    (
        "The user has provided the following instruction alongside the skill invocation: ",
        "\n\n[Runtime note:",
    ),
    ("\nUser instruction: ", "\n\n[Loaded as part of the "),
];

/// What the harness put into a text in the user's name, and what the user typed. A skill's own text is dropped.
fn split(content: &str) -> (&str, &str) {
    let text = content.trim_start();
    if text.starts_with(SKILL) {
        let words = SKILL_WORDS.iter().find_map(|(before, behind)| {
            let rest = &text[text.find(before)? + before.len()..];
            Some(rest.find(behind).map_or(rest, |end| &rest[..end]))
        });
        return ("", words.unwrap_or("").trim());
    }
    if SUMMARIES.iter().any(|s| text.starts_with(s)) {
        let Some(end) = text.find(SUMMARY_END) else { return (text, "") };
        let line = text[end..].find('\n').map_or(text.len(), |i| end + i);
        return (&text[..end], text[line..].trim());
    }
    if HARNESS.iter().any(|h| text.starts_with(h)) { (text, "") } else { ("", content) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_typed_is_a_prompt() {
        assert_eq!(split("fix it"), ("", "fix it"));
        let skill = format!(
            "{SKILL}\"work\" skill … The full skill content is loaded below.]\n\nbody\n\n{}fix the pump\n\n[Runtime note: x]",
            SKILL_WORDS[0].0
        );
        assert_eq!(split(&skill), ("", "fix the pump"));
        assert_eq!(split(&format!("{SKILL}\"work\" skill]\nbody")), ("", ""));
        let summary = "[CONTEXT COMPACTION — REFERENCE ONLY] earlier\n--- END OF CONTEXT SUMMARY — respond below ---\n\ngo on";
        assert_eq!(split(summary), ("[CONTEXT COMPACTION — REFERENCE ONLY] earlier\n", "go on"));
        assert_eq!(split("[CONTEXT SUMMARY]: all"), ("[CONTEXT SUMMARY]: all", ""));
        assert_eq!(
            decoded("\0json:[{\"type\":\"text\",\"text\":\"see\"},{\"type\":\"image_url\"}]".into()),
            "see"
        );
        assert_eq!(decoded("\0json:[".into()), "");
    }
}
