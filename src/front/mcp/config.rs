//! How to register the server with a host. Prints; writes nothing.

use super::options::Options;
use crate::io::env::Env;
use serde_json::{Value, json};

/// Hosts whose configuration is known.
pub const HOSTS: [&str; 5] = ["claude", "codex", "gemini", "cursor", "opencode"];

/// Variables that move a store or the index. A host that hands on only a few variables must be told about those that are set.
const PLACES: [&str; 8] = [
    "AGF_CACHE_DIR",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// The snippet for a host, and where it belongs; `None` for an unknown host.
pub fn snippet(host: &str, options: &Options, env: &Env) -> Option<(&'static str, String)> {
    let program = std::env::current_exe().ok().and_then(|p| p.into_os_string().into_string().ok());
    let program = program.unwrap_or_else(|| "agf".to_owned());
    let args = arguments(options);
    let set: Vec<&str> = PLACES.into_iter().filter(|n| env.var(n).is_some()).collect();
    Some(match host {
        "claude" => (
            ".mcp.json in the project, or `claude mcp add-json agf '…' --scope user`",
            claude(&program, &args),
        ),
        "codex" => ("~/.codex/config.toml", codex(&program, &args, &set)),
        "gemini" => ("~/.gemini/settings.json", gemini(&program, &args)),
        "cursor" => ("~/.cursor/mcp.json", claude(&program, &args)),
        "opencode" => ("~/.config/opencode/opencode.json", opencode(&program, &args)),
        _ => return None,
    })
}

fn arguments(options: &Options) -> Vec<String> {
    let mut args = vec!["mcp".to_owned()];
    let named = [("--agent", &options.agent), ("--project", &options.project)];
    for (flag, value) in named {
        args.extend(value.iter().flat_map(|v| [flag.to_owned(), v.clone()]));
    }
    args.extend(["--allow".to_owned(), options.allow.names().join(",")]);
    args
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn claude(program: &str, args: &[String]) -> String {
    pretty(&json!({ "mcpServers": { "agf": { "type": "stdio", "command": program, "args": args } } }))
}

fn gemini(program: &str, args: &[String]) -> String {
    pretty(&json!({ "mcpServers": { "agf": { "command": program, "args": args, "trust": false } } }))
}

fn opencode(program: &str, args: &[String]) -> String {
    let command: Vec<&str> = std::iter::once(program).chain(args.iter().map(String::as_str)).collect();
    pretty(&json!({
        "$schema": "https://opencode.ai/config.json",
        "mcp": { "agf": { "type": "local", "command": command, "enabled": true } }
    }))
}

/// A JSON string is a TOML string, and so is an array of them.
fn codex(program: &str, args: &[String], set: &[&str]) -> String {
    let mut text = format!(
        "[mcp_servers.agf]\ncommand = {}\nargs = {}\nstartup_timeout_sec = 10\ntool_timeout_sec = 60\n",
        json!(program),
        json!(args)
    );
    if !set.is_empty() {
        text += &format!(
            "# Codex hands on HOME, LANG, LOGNAME, PATH, SHELL, TERM, TZ and USER, and these:\nenv_vars = {}\n",
            json!(set)
        );
    }
    text
}
