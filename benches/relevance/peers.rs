//! Other tools on the same history: each is given by an environment variable that holds its program.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A tool to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    FastResume,
    Agf,
    Ripgrep,
}

impl Peer {
    pub const ALL: [(&'static str, &'static str, Peer); 3] = [
        ("FR", "fast-resume", Peer::FastResume),
        ("AGF_0_15", "AGF 0.15", Peer::Agf),
        ("RG", "rg", Peer::Ripgrep),
    ];

    fn arguments(self, query: &str) -> Vec<&str> {
        match self {
            Self::FastResume => vec!["--json", "--limit", "20", query],
            Self::Agf => vec!["search", "--include-summaries", query],
            Self::Ripgrep => {
                vec!["-l", "-i", "-F", "--hidden", "--sortr", "modified", "--", query.trim_matches('"'), "."]
            }
        }
    }
}

/// Asks a peer; ids of its first sessions.
pub fn ask(
    peer: Peer,
    program: &Path,
    home: &Path,
    query: &str,
    of_file: &HashMap<PathBuf, String>,
) -> Vec<String> {
    let out = Command::new(program)
        .args(peer.arguments(query))
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(home)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(out) = out else { return Vec::new() };
    let text = String::from_utf8_lossy(&out.stdout);
    if peer == Peer::Ripgrep {
        let stem = |line: &str| of_file.get(&PathBuf::from(Path::new(line).file_name()?)).cloned();
        return text.lines().filter_map(stem).take(20).collect();
    }
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let (list, key) = match peer {
        Peer::FastResume => (&answer["sessions"], "id"),
        _ => (&answer["data"]["sessions"], "session_id"),
    };
    list.as_array().into_iter().flatten().filter_map(|s| Some(s[key].as_str()?.to_owned())).take(20).collect()
}
