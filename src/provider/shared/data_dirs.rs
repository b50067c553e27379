//! Where programs keep their data, by the customs of the system.

use crate::io::env::Env;
use std::path::{Path, PathBuf};

/// The user's data directories, the usual one first. On Windows there are two.
pub fn data_dirs(env: &Env) -> Vec<PathBuf> {
    // Such a variable counts only if it holds an absolute path.
    let var = |name: &str| env.var(name).map(PathBuf::from).filter(|p| Path::is_absolute(p));
    if cfg!(windows) {
        return ["LOCALAPPDATA", "APPDATA"].into_iter().filter_map(var).collect();
    }
    if cfg!(target_os = "macos") {
        return env.in_home("Library/Application Support").into_iter().collect();
    }
    var("XDG_DATA_HOME").or_else(|| env.in_home(".local/share")).into_iter().collect()
}
