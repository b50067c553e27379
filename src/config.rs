//! What the user set: memory for sessions that vanish, other commands, further stores.
//!
//! `AGF_CONFIG` names the file; else it is `agf-catalog/config.toml` in the user's configuration directory. It is only read.

use crate::discover::{SearchRoot, Trouble};
use crate::io::env::Env;
use crate::io::stat;
use crate::limits::{CONFIG_MAX, LABEL_MAX};
use crate::provider::{Provider, Root, registry};
use crate::text::truncate;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The settings in force.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Sessions stay findable when the agent has deleted them.
    pub keep_vanished: bool,
    /// The command of an agent, by its id: a name or an absolute path.
    pub programs: BTreeMap<String, String>,
    #[serde(rename = "store")]
    stores: Vec<StoreEntry>,
    /// The file is there but could not be used as a whole.
    #[serde(skip)]
    broken: bool,
}

/// A copied or mounted store.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreEntry {
    agent: String,
    /// The agent's own directory (as `~/.codex` is), or what stands for the home.
    root: String,
    label: Option<String>,
}

impl Config {
    /// The user's settings; the defaults if there are none or they can't be understood.
    pub fn load(env: &Env) -> Self {
        let Some(path) = path(env) else { return Self::default() };
        match stat::read_bounded(&path, CONFIG_MAX) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(_) => Self { broken: true, ..Self::default() },
            Ok(bytes) => Self::parse(&bytes),
        }
    }

    fn parse(bytes: &[u8]) -> Self {
        let config = std::str::from_utf8(bytes).ok().and_then(|text| toml::from_str::<Self>(text).ok());
        let Some(mut config) = config else { return Self { broken: true, ..Self::default() } };
        let known = |agent: &String| registry::find(agent).is_some();
        config.broken = !config.programs.keys().chain(config.stores.iter().map(|s| &s.agent)).all(known);
        config
    }

    /// The command that the user set for an agent.
    pub fn program(&self, provider: &dyn Provider) -> Option<&str> {
        let is = |agent: &str| registry::find(agent).is_some_and(|p| p.info().id == provider.info().id);
        self.programs.iter().find(|(agent, _)| is(agent)).map(|(_, program)| program.as_str())
    }

    /// All places to look at: every agent's own, then the stores named here.
    pub fn roots(&self, env: &Env) -> Vec<SearchRoot> {
        let own = registry::ALL.iter().flat_map(|p| {
            p.roots(env).into_iter().map(|root| SearchRoot { provider: *p, root, elsewhere: None })
        });
        let mut all: Vec<SearchRoot> = own.collect();
        for root in self.stores.iter().flat_map(|s| s.roots(env)) {
            let same = |r: &SearchRoot| r.root.path == root.root.path && r.root.label == root.root.label;
            if !all.iter().any(|r| r.provider.info().id == root.provider.info().id && same(r)) {
                all.push(root);
            }
        }
        all
    }

    /// What keeps the settings from being followed.
    pub fn troubles(&self) -> Vec<Trouble> {
        let trouble = || Trouble { agent: None, place: String::new(), code: "config_invalid" };
        self.broken.then(trouble).into_iter().collect()
    }
}

impl StoreEntry {
    fn roots(&self, env: &Env) -> Vec<SearchRoot> {
        let (Some(provider), Some(dir)) = (registry::find(&self.agent), env.path(&self.root)) else {
            return Vec::new();
        };
        let label = self.label.as_deref().unwrap_or(&self.root);
        let label: Arc<str> = truncate(label, LABEL_MAX).into();
        let place = |root| SearchRoot { provider, root, elsewhere: Some(label.clone()) };
        roots_in(provider, &dir, env).into_iter().map(place).collect()
    }
}

/// An agent's roots in a directory that takes the place of its own one, or of the home. What is there decides.
fn roots_in(provider: &dyn Provider, dir: &Path, env: &Env) -> Vec<Root> {
    let home = |home: &Path| provider.roots(&env.elsewhere("HOME", home));
    let below = |roots: Vec<Root>| roots.into_iter().filter(|r| r.path.starts_with(dir)).collect::<Vec<_>>();
    let moved = provider.info().home_var.map(|var| provider.roots(&env.elsewhere(var, dir)));
    let readings = std::iter::once(below(home(dir)))
        .chain(dir.ancestors().skip(1).map(|above| below(home(above))))
        .chain(moved.map(below));
    let mut readings = readings.filter(|roots| roots.iter().any(|r| stat::stat(&r.path).is_ok()));
    let mut roots = readings.next().unwrap_or_default();
    // The agent would have to be told of a store that is not its own; it is not resumed from there.
    roots.iter_mut().for_each(|r| r.env.clear());
    roots
}

fn path(env: &Env) -> Option<PathBuf> {
    let below = |dir: PathBuf| dir.join("agf-catalog").join("config.toml");
    env.dir_var("AGF_CONFIG").or_else(|| directory(env).map(below))
}

fn directory(env: &Env) -> Option<PathBuf> {
    if cfg!(windows) {
        return env.dir_var("APPDATA");
    }
    env.dir_var("XDG_CONFIG_HOME").or_else(|| env.in_home(".config"))
}
