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
        self.path(self.var(name)?)
    }

    /// The environment in which an agent would see another home, or another directory of its own: nothing but that is set.
    pub fn elsewhere(&self, var: &str, dir: &Path) -> Self {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let name = if var == "HOME" { home } else { var };
        Self { fixed_now_ms: self.fixed_now_ms, ..Self::from_vars([(name, dir.to_string_lossy())]) }
    }

    /// A path as users write it: absolute, or relative to the working directory; a leading `~/` is the home.
    pub fn path(&self, value: &str) -> Option<PathBuf> {
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

    /// A time as the user's clocks show it: date and time of day.
    pub fn local_time(&self, ms: i64) -> Option<(String, String)> {
        let time = self.time_zone().to_datetime(jiff::Timestamp::from_millisecond(ms).ok()?);
        Some((time.strftime("%Y-%m-%d").to_string(), time.strftime("%H:%M:%S").to_string()))
    }

    /// The first executable of one of these names on `PATH`, as an absolute path. A name that is one is taken as it is.
    pub fn find_program(&self, names: &[String]) -> Option<PathBuf> {
        let dirs: Vec<PathBuf> = self
            .var("PATH")
            .into_iter()
            .flat_map(|path| path.split(if cfg!(windows) { ';' } else { ':' }))
            .filter_map(|d| {
                if Path::new(d).is_absolute() { Some(d.into()) } else { Some(self.cwd.as_ref()?.join(d)) }
            })
            .collect();
        let places = |name: &String| match Path::new(name) {
            path if path.is_absolute() => vec![path.to_owned()],
            name => dirs.iter().map(|d| d.join(name)).collect(),
        };
        names.iter().flat_map(places).find(|p| super::stat::is_executable(p))
    }
}
