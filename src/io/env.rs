//! What the process was given: variables, home, working directory, clock. Read once, then passed down, so that tests can run side by side.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The environment of one invocation.
#[derive(Debug, Clone, Default)]
pub struct Env {
    vars: BTreeMap<String, String>,
    home: Option<PathBuf>,
    cwd: Option<PathBuf>,
    fixed_now_ms: Option<i64>,
}

impl Env {
    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the process environment")]
    pub fn from_process() -> Self {
        let vars = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        Self { vars, cwd: std::env::current_dir().ok(), ..Self::default() }.with_home()
    }

    /// An environment made of nothing but these variables.
    pub fn from_vars<K: Into<String>, V: Into<String>>(vars: impl IntoIterator<Item = (K, V)>) -> Self {
        let vars = vars.into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        Self { vars, ..Self::default() }.with_home()
    }

    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    pub fn with_now_ms(mut self, now_ms: i64) -> Self {
        self.fixed_now_ms = Some(now_ms);
        self
    }

    fn with_home(mut self) -> Self {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        self.home = self.var(name).map(PathBuf::from).filter(|p| p.is_absolute());
        self
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// A variable that holds a directory: absolute, or relative to the working directory; a leading `~/` is the home.
    pub fn dir_var(&self, name: &str) -> Option<PathBuf> {
        let value = self.var(name)?;
        if let Some(rest) = value.strip_prefix("~/") {
            return self.home.as_ref().map(|h| h.join(rest));
        }
        let path = Path::new(value);
        if path.is_absolute() { Some(path.to_owned()) } else { self.cwd.as_ref().map(|c| c.join(path)) }
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// A path below the home directory.
    pub fn in_home(&self, rel: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|h| h.join(rel))
    }

    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        self.fixed_now_ms.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond())
    }

    /// The user's time zone: `TZ` if it names one, the system's else.
    pub fn time_zone(&self) -> jiff::tz::TimeZone {
        match self.var("TZ") {
            Some(name) => jiff::tz::TimeZone::get(name).unwrap_or(jiff::tz::TimeZone::UTC),
            None => jiff::tz::TimeZone::system(),
        }
    }

    /// The first executable of one of these names on `PATH`, as an absolute path.
    pub fn find_program(&self, names: &[&str]) -> Option<PathBuf> {
        let path = self.var("PATH")?;
        let dirs: Vec<PathBuf> = path
            .split(if cfg!(windows) { ';' } else { ':' })
            .map(|d| if d.is_empty() { PathBuf::from(".") } else { PathBuf::from(d) })
            .filter_map(|d| if d.is_absolute() { Some(d) } else { Some(self.cwd.as_ref()?.join(d)) })
            .collect();
        names.iter().find_map(|n| dirs.iter().map(|d| d.join(n)).find(|p| super::stat::is_executable(p)))
    }
}
