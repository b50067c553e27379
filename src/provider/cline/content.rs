//! The content of a Cline message, with what the agent puts around a prompt taken off.

use crate::model::Role;
use crate::provider::shared::json::{self, get, items, text};
use crate::provider::shared::out::Texts;
use crate::provider::shared::prompt::{begins_with_element, element};
use serde_json_borrow::Value;
use std::borrow::Cow;

/// Elements around what was typed: the content is the user's.
const AROUND: &[&str] = &["user_input", "user_command", "task", "feedback", "user_message", "answer"];
/// Elements beside what was typed, put there by the agent.
const BESIDE: &[&str] =
    &["environment_details", "mode_notice", "file_content", "folder_content", "explicit_instructions"];
/// Elements taken off one text, at most.
const ELEMENTS: usize = 64;

/// What was typed of a text in the user's name.
pub fn typed(said: &str) -> Cow<'_, str> {
    if !said.contains('<') {
        return Cow::Borrowed(said.trim());
    }
    let mut left = said.to_owned();
    for tag in BESIDE {
        let mut more = ELEMENTS;
        while more > 0 && remove(&mut left, tag) {
            more -= 1;
        }
    }
    let mut left = left.trim();
    while let Some(inside) = AROUND.iter().find_map(|tag| inside(left, tag)) {
        left = inside.trim();
    }
    Cow::Owned(left.to_owned())
}

/// What is in an element that is the whole of a text. One that is not closed goes up to the end.
fn inside<'t>(said: &'t str, tag: &str) -> Option<&'t str> {
    let (start, content) = opening(said, tag)?;
    let content = said.get(content..).filter(|_| start == 0)?;
    Some(content.strip_suffix(&format!("</{tag}>")).unwrap_or(content))
}

/// Removes the first element of a name.
fn remove(said: &mut String, tag: &str) -> bool {
    let Some((start, content)) = opening(said, tag) else { return false };
    let close = format!("</{tag}>");
    let end = said[content..].find(&close).map_or(said.len(), |i| content + i + close.len());
    said.replace_range(start..end, "");
    true
}

/// Where an element's tag begins, and where its content does.
fn opening(said: &str, tag: &str) -> Option<(usize, usize)> {
    let open = format!("<{tag}");
    let mut from = 0;
    loop {
        let start = from + said[from..].find(&open)?;
        let rest = &said[start + open.len()..];
        if rest.starts_with(['>', ' ']) {
            return Some((start, start + open.len() + rest.find('>')? + 1));
        }
        from = start + open.len();
    }
}

/// Emits what a message holds. Gives what the user typed in it, if anything.
pub fn texts(message: &Value<'_>, when: i64, out: &mut Texts<'_>) -> Option<String> {
    let content = get(message, "content");
    activities(message, when, out);
    let mut prompt = String::new();
    let mut speaker = Speaker::of(message);
    let mut say = |said: &str, out: &mut Texts<'_>| {
        let (role, said) = speaker.say(said);
        if role == Role::User && !said.is_empty() {
            prompt.push_str(if prompt.is_empty() { "" } else { "\n" });
            prompt.push_str(&said);
        }
        out.put(role, when, said);
    };
    if let Some(bare) = content.as_str() {
        say(bare, out);
    }
    for block in items(content) {
        match text(block, "type").unwrap_or("") {
            "text" => say(text(block, "text").unwrap_or(""), out),
            _ => part(block, when, out),
        }
    }
    Some(prompt).filter(|p| !p.is_empty())
}

/// Who says the texts of a message.
struct Speaker {
    role: Role,
    /// Before tools had blocks of their own, their results were texts in the user's name, each after a line that names the tool.
    result: bool,
}

impl Speaker {
    fn of(message: &Value<'_>) -> Self {
        let role = match text(message, "role") {
            _ if text(get(message, "metadata"), "kind") == Some("compaction_summary") => Role::System,
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => Role::System,
        };
        Self { role, result: false }
    }

    fn say<'t>(&mut self, said: &'t str) -> (Role, Cow<'t, str>) {
        if self.role != Role::User {
            return (self.role, Cow::Borrowed(said));
        }
        let start = said.trim_start();
        if start.starts_with("[TASK RESUMPTION]") || start.starts_with("[ERROR]") {
            return match element(said, "user_message") {
                Some(message) => (Role::User, Cow::Borrowed(message)),
                None => (Role::System, typed(said)),
            };
        }
        let first = start.lines().next().unwrap_or("");
        if first.starts_with('[') && first.contains("] Result:") {
            self.result = true;
        }
        let role =
            if self.result && !begins_with_element(said, AROUND) { Role::ToolOutput } else { Role::User };
        (role, typed(said))
    }
}

/// Tools that the model's provider ran are noted beside the content.
fn activities(message: &Value<'_>, when: i64, out: &mut Texts<'_>) {
    for a in items(get(get(message, "metadata"), "modelToolActivities")) {
        let name = text(a, "toolName");
        out.tool(Role::ToolInput, when, json::strings(get(a, "input")), name);
        result(get(a, "output"), name, when, out);
    }
}

fn part(block: &Value<'_>, when: i64, out: &mut Texts<'_>) {
    let name = text(block, "name");
    match text(block, "type").unwrap_or("") {
        "thinking" => out.put(Role::Thinking, when, json::strings(get(block, "thinking"))),
        "tool_use" => out.tool(Role::ToolInput, when, json::strings(get(block, "input")), name),
        "tool_result" => result(get(block, "content"), name, when, out),
        "file" => out.put(Role::System, when, json::strings(get(block, "content"))),
        _ => {}
    }
}

/// Text, blocks of text, or whatever else a tool gives. Images are left out.
fn result(content: &Value<'_>, name: Option<&str>, when: i64, out: &mut Texts<'_>) {
    let picture = |b: &&Value<'_>| !matches!(text(b, "type"), Some("image" | "media"));
    let said = if content.is_array() {
        let part = |b| text(b, "text").map_or_else(|| json::strings(b), Cow::Borrowed);
        Cow::Owned(items(content).iter().filter(picture).map(part).collect::<Vec<_>>().join("\n"))
    } else {
        json::strings(content)
    };
    if !said.trim().is_empty() {
        out.tool(Role::ToolOutput, when, said, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_is_found_in_what_is_around_it() {
        for (said, expected) in [
            ("plain < text", "plain < text"),
            ("<user_input mode=\"act\">fix it</user_input>", "fix it"),
            ("<mode_notice>x</mode_notice>\n<user_input mode=\"plan\">a <b> c</user_input>", "a <b> c"),
            ("<user_command slash=\"team\">do</user_command>", "do"),
            ("<task>\nfix it\n</task>\n<environment_details>\n# Time\n</environment_details>", "fix it"),
            ("see <file_content path=\"/a\">\nx\n</file_content> now", "see  now"),
            ("<environment_details>torn", ""),
            ("<task>torn", "torn"),
            ("in <task>code</task> it stays", "in <task>code</task> it stays"),
            ("<taskforce> is no element", "<taskforce> is no element"),
            ("<user_input", "<user_input"),
        ] {
            assert_eq!(typed(said), expected, "{said}");
        }
    }
}
