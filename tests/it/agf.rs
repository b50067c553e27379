//! Running the program in a home of its own.

use crate::fixture::Home;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home and the program in it.
pub struct Agf {
    pub home: Home,
    pub vars: Vec<(String, String)>,
    program: PathBuf,
    /// The user to run as, if not the present one.
    user: Option<u32>,
}

/// What a run printed.
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

impl Agf {
    pub fn new() -> Self {
        Self::at(Home::empty())
    }

    pub fn of(case: &Path) -> Self {
        Self::at(Home::of(case))
    }

    fn at(home: Home) -> Self {
        Self { home, vars: Vec::new(), program: env!("CARGO_BIN_EXE_agf").into(), user: None }
    }

    /// Hands the home to a user for whom permissions count: root, who may read everything, becomes another one.
    #[cfg(unix)]
    pub fn plain_user(mut self) -> Self {
        const NOBODY: u32 = 65_534;
        if rustix::process::geteuid().is_root() {
            let home = self.home.path().to_owned();
            let program = home.join("program");
            fs::copy(&self.program, &program).unwrap();
            let given = Command::new("chown").arg("-R").arg(format!("{NOBODY}:{NOBODY}")).arg(&home).status();
            assert!(given.unwrap().success());
            (self.program, self.user) = (program, Some(NOBODY));
        }
        self
    }

    pub fn var(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        self.vars.push((name.to_owned(), value.as_ref().to_str().unwrap().to_owned()));
        self
    }

    pub fn path(&self, rel: &str) -> PathBuf {
        self.home.path().join(rel)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", self.path("bin"))
            .current_dir(self.home.path());
        command.envs(self.vars.iter().map(|(k, v)| (k, v))).stdin(Stdio::null());
        #[cfg(unix)]
        if let Some(user) = self.user {
            std::os::unix::process::CommandExt::uid(&mut command, user);
            std::os::unix::process::CommandExt::gid(&mut command, user);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |b: Vec<u8>| String::from_utf8(b).expect("output is UTF-8");
        Ran { out: text(stdout), err: text(stderr), code: status.code().unwrap_or(-1) }
    }

    /// The data of a good answer.
    pub fn data(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}: {}", ran.out);
        assert!(ran.out.ends_with('\n') && ran.out.lines().count() == 1, "one line: {}", ran.out);
        let mut answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&answer["schema_version"], &answer["ok"]), (&json!(1), &json!(true)));
        answer["data"].take()
    }

    /// The error of a failed request.
    pub fn error(&self, args: &[&str]) -> Value {
        let ran = self.run(args);
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{args:?}: {}{}", ran.out, ran.err);
        let mut answer: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&answer["ok"], answer.get("data")), (&json!(false), None));
        answer["error"].take()
    }

    /// Ids of the sessions whose conversation holds `text`.
    pub fn ids(&self, text: &str) -> Vec<String> {
        let wide = ["--include-content", "--include-non-interactive", "--no-collapse", "--limit", "200"];
        let data = self.data(&[&["search", text], wide.as_slice()].concat());
        // A word that is only spelled nearly like the one asked for is not it.
        if matches!(data["tier"].as_str(), Some("exact" | "prefix")) { ids(&data) } else { Vec::new() }
    }

    /// All listed sessions, by id.
    pub fn listed(&self) -> Vec<Value> {
        let data = self.data(&["search", "--limit", "200", "--include-summaries"]);
        data["sessions"].as_array().unwrap().clone()
    }

    /// Writes a file below the home.
    pub fn write(&self, rel: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(rel);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A Claude Code session of one prompt and one answer.
    pub fn claude(&self, cwd: &str, id: &str, prompt: &str) -> PathBuf {
        self.write(&claude_path(cwd, id), claude_lines(cwd, id, &[("user", prompt), ("assistant", "I see.")]))
    }

    /// A Codex session of one prompt and one answer.
    pub fn codex(&self, cwd: &str, id: &str, prompt: &str) -> PathBuf {
        let record = |second: u32, kind: &str, payload: Value| {
            format!(
                "{}\n",
                json!({ "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"), "type": kind, "payload": payload })
            )
        };
        let said = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
        let lines = record(
            0,
            "session_meta",
            json!({ "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": cwd, "originator": "codex-tui", "source": "cli" }),
        ) + &record(1, "response_item", said("user", "input_text", prompt))
            + &record(2, "response_item", said("assistant", "output_text", "I see."));
        self.write(&format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl"), lines)
    }
}

pub fn ids(data: &Value) -> Vec<String> {
    data["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["session_id"].as_str().unwrap().to_owned())
        .collect()
}

/// Where Claude Code keeps a session.
pub fn claude_path(cwd: &str, id: &str) -> String {
    let slug: String = cwd
        .encode_utf16()
        .map(|u| u8::try_from(u).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from))
        .collect();
    format!(".claude/projects/{slug}/{id}.jsonl")
}

/// One record of a Claude Code transcript.
pub fn claude_line(cwd: &str, id: &str, n: usize, role: &str, text: &str) -> String {
    let content = if role == "user" { json!(text) } else { json!([{ "type": "text", "text": text }]) };
    let message = json!({ "id": format!("msg_{n}"), "role": role, "model": "claude-x", "content": content });
    let record = json!({
        "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": id, "version": "2.1.90", "gitBranch": "main",
        "type": role, "uuid": format!("{id}-{n}"), "timestamp": format!("2026-03-01T10:{:02}:{:02}.000Z", n / 60, n % 60), "message": message,
    });
    format!("{record}\n")
}

pub fn claude_lines(cwd: &str, id: &str, turns: &[(&str, &str)]) -> String {
    turns.iter().enumerate().map(|(n, (role, text))| claude_line(cwd, id, n, role, text)).collect()
}

/// An id that looks like one.
pub fn id(n: u32) -> String {
    format!("{n:08x}-2222-4333-8444-555555555555")
}
