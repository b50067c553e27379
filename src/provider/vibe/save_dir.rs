//! Where Vibe keeps its sessions.

use crate::io::env::Env;
use crate::io::stat;
use crate::limits::SIDE_FILE_MAX;
use crate::provider::shared::json::text;
use serde_json_borrow::Value;
use std::path::{Path, PathBuf};

/// The variables that move the store, as far as they are set.
pub fn variables(env: &Env) -> Vec<(String, String)> {
    let dir = |name: &str| Some((name.to_owned(), env.dir_var(name)?.to_string_lossy().into_owned()));
    let object =
        |name: &str| from_json(env.var(name)?).and(Some((name.to_owned(), env.var(name)?.to_owned())));
    let all = [dir("VIBE_HOME"), object("VIBE_SESSION_LOGGING"), dir("VIBE_SESSION_LOGGING__SAVE_DIR")];
    all.into_iter().flatten().collect()
}

/// The directory of the sessions: a variable's, else the one in `config.toml`, else `logs/session` in Vibe's own directory.
pub fn find(env: &Env) -> Option<PathBuf> {
    let home = env.dir_var("VIBE_HOME").or_else(|| env.in_home(".vibe"))?;
    let variable = || env.dir_var("VIBE_SESSION_LOGGING__SAVE_DIR");
    let object = || expand(env, &from_json(env.var("VIBE_SESSION_LOGGING")?)?);
    let config = || {
        let bytes = stat::read_bounded(&home.join("config.toml"), SIDE_FILE_MAX).ok()?;
        expand(env, &from_toml(&String::from_utf8_lossy(&bytes))?)
    };
    variable().or_else(object).or_else(config).or_else(|| Some(home.join("logs/session")))
}

/// An absolute path, one below the home directory, or one below the working directory.
fn expand(env: &Env, dir: &str) -> Option<PathBuf> {
    let dir = dir.trim();
    match dir.strip_prefix("~/") {
        _ if dir.is_empty() => None,
        Some(rest) => env.in_home(rest),
        None if Path::new(dir).is_absolute() => Some(PathBuf::from(dir)),
        None => env.cwd().map(|c| c.join(dir)),
    }
}

fn from_json(object: &str) -> Option<String> {
    let value: Value<'_> = serde_json::from_str(object).ok()?;
    text(&value, "save_dir").map(str::to_owned)
}

/// `save_dir` of the table `session_logging`, as a table of its own, dotted, or inline.
fn from_toml(toml: &str) -> Option<String> {
    let mut table = String::new();
    for line in toml.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            table = plain(name.split(']').next().unwrap_or(""));
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let key = if table.is_empty() { plain(key) } else { format!("{table}.{}", plain(key)) };
        match key.as_str() {
            "session_logging.save_dir" => return string(value),
            "session_logging" => {
                if let Some(found) = inline(value) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// A key without its quotes and blanks.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect()
}

fn inline(table: &str) -> Option<String> {
    let rest = &table[table.find("save_dir")?..];
    string(rest.split_once('=')?.1)
}

/// A string in single or double quotes. Escapes of the latter are nearly those of JSON.
fn string(value: &str) -> Option<String> {
    let value = value.trim();
    if let Some(literal) = value.strip_prefix('\'') {
        return literal.split('\'').next().map(str::to_owned);
    }
    let mut escaped = false;
    let end = value.strip_prefix('"')?.bytes().position(|b| {
        let end = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        end
    })?;
    serde_json::from_str(value.get(..end + 2)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_in_all_spellings() {
        for (toml, expected) in [
            (
                "a = 1\n[session_logging]\nenabled = true\nsave_dir = \"/s \\\"x\\\"\" # note\n",
                Some("/s \"x\""),
            ),
            ("[ session_logging ]\nsave_dir='/l\\it'\n", Some("/l\\it")),
            ("session_logging.save_dir = \"~/s\"", Some("~/s")),
            ("session_logging = { enabled = true, save_dir = \"/i\" }", Some("/i")),
            ("[other]\nsave_dir = \"/o\"\n[session_logging]\nenabled = false", None),
            ("[session_logging]\nsave_dir = 7\n", None),
            ("[session_logging]\nsave_dir = \"torn", None),
            ("", None),
        ] {
            assert_eq!(from_toml(toml).as_deref(), expected, "{toml}");
        }
        assert_eq!(from_json(r#"{"save_dir":"/j"}"#).as_deref(), Some("/j"));
        assert_eq!(from_json("/j"), None);
    }

    #[test]
    fn variables_come_first() {
        let find = |vars: &[(&str, &str)]| {
            let env = Env::from_vars(vars.iter().copied().chain([("HOME", "/h")])).with_cwd("/c");
            find(&env).unwrap()
        };
        assert_eq!(find(&[]), Path::new("/h/.vibe/logs/session"));
        assert_eq!(find(&[("VIBE_HOME", "/v")]), Path::new("/v/logs/session"));
        assert_eq!(find(&[("VIBE_SESSION_LOGGING", r#"{"save_dir":"~/j"}"#)]), Path::new("/h/j"));
        let both =
            [("VIBE_SESSION_LOGGING", r#"{"save_dir":"/j"}"#), ("VIBE_SESSION_LOGGING__SAVE_DIR", "d")];
        assert_eq!(find(&both), Path::new("/c/d"));
    }
}
