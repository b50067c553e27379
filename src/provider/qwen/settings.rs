//! Where Qwen Code's settings say that its sessions are.

use crate::io::env::Env;
use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::provider::shared::json::at;
use serde_json_borrow::Value;
use std::path::{Path, PathBuf};

/// `advanced.runtimeOutputDir`: the workspace's settings hold over the user's; a relative path counts from the workspace.
pub fn runtime_dir(env: &Env, home: &Path) -> Option<PathBuf> {
    let workspace = env.cwd().map(|c| c.join(".qwen/settings.json"));
    let user = home.join("settings.json");
    let value = workspace.and_then(|p| configured(&p)).or_else(|| configured(&user))?;
    match value.strip_prefix('~') {
        Some("") => env.home().map(Into::into),
        Some(rest) if rest.starts_with(['/', '\\']) => env.in_home(rest.trim_start_matches(['/', '\\'])),
        _ if Path::new(&value).is_absolute() => Some(value.into()),
        _ => env.cwd().map(|c| c.join(value)),
    }
}

fn configured(path: &Path) -> Option<String> {
    let bytes = stat::read_bounded(path, SIDE_FILE_MAX).ok()?;
    let text = without_comments(&String::from_utf8_lossy(&bytes));
    let value: Value<'_> = serde_json::from_str(&text).ok()?;
    let dir = at(&value, &["advanced", "runtimeOutputDir"]).as_str()?.trim();
    (!dir.is_empty()).then(|| dir.to_owned())
}

/// Settings may have `//` and `/* */` comments.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(i) = rest.find(['"', '/']) {
        let (before, from) = rest.split_at(i);
        out.push_str(before);
        let len = match from.as_bytes() {
            [b'/', b'/', ..] => from.find('\n').unwrap_or(from.len()),
            [b'/', b'*', ..] => from.find("*/").map_or(from.len(), |end| end + 2),
            [b'"', ..] => string_len(from),
            _ => 1,
        };
        if from.starts_with('"') || len == 1 {
            out.push_str(&from[..len]);
        }
        rest = &from[len..];
    }
    out + rest
}

/// The length of the JSON string that a text begins with.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().skip(1).position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |i| i + 2)
}

#[cfg(test)]
mod tests {
    use super::without_comments;

    #[test]
    fn comments_go_and_strings_stay() {
        let text = "{ // a \"b\"\n \"u\": \"http://x/*y*/\\\"//\", /* c */ \"v\": 1 / 2 }";
        assert_eq!(without_comments(text), "{ \n \"u\": \"http://x/*y*/\\\"//\",  \"v\": 1 / 2 }");
        assert_eq!(without_comments("\"open // "), "\"open // ");
        assert_eq!(without_comments("a /* open"), "a ");
    }
}
