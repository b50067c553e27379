//! What a server or command is confined to, and the narrower part of it that a request asks for.

use crate::error::{Error, ErrorCode, Result};
use crate::io::env::Env;
use crate::limits;
use crate::provider::{Provider, registry};
use crate::query::filter::{ProjectMatch, same_path};
use std::path::{Component, Path, PathBuf};

/// The fixed bounds of a catalog's answers.
#[derive(Clone, Default)]
pub struct Scope {
    pub agent: Option<&'static dyn Provider>,
    pub project: Option<String>,
}

/// What a request is about, within the scope.
#[derive(Clone, Default)]
pub struct Selection {
    pub agent: Option<&'static dyn Provider>,
    pub project: Option<ProjectMatch>,
}

impl Scope {
    /// A scope from what the user named.
    pub fn new(agent: Option<&str>, project: Option<&str>, env: &Env) -> Result<Self> {
        let agent = agent.map(find_agent).transpose()?;
        let project = project.map(|p| normalize_project(p, env)).transpose()?;
        Ok(Self { agent, project })
    }

    /// The part of the scope that a request asks for.
    pub fn select(&self, agent: Option<&str>, project: Option<&str>, env: &Env) -> Result<Selection> {
        let agent = agent.map(find_agent).transpose()?;
        let project = project.map(|p| normalize_project(p, env)).transpose()?;
        if let (Some(mine), Some(asked)) = (self.agent, agent)
            && mine.info().id != asked.info().id
        {
            return Err(out_of_scope("agent"));
        }
        if let (Some(mine), Some(asked)) = (&self.project, &project)
            && !matcher(mine)
                .spellings
                .iter()
                .any(|a| matcher(asked).spellings.iter().any(|b| same_path(a, b)))
        {
            return Err(out_of_scope("project"));
        }
        let project = project.as_ref().or(self.project.as_ref()).map(|p| matcher(p));
        Ok(Selection { agent: agent.or(self.agent), project })
    }
}

fn out_of_scope(what: &str) -> Error {
    Error::new(ErrorCode::OutOfScope, format!("the {what} asked for is outside the configured scope"))
        .hint("leave it out to search within the scope")
}

/// The provider a name means.
pub fn find_agent(name: &str) -> Result<&'static dyn Provider> {
    if name.len() > limits::LABEL_MAX {
        return Err(Error::new(
            ErrorCode::InvalidAgent,
            format!("agent name is longer than {} bytes", limits::LABEL_MAX),
        ));
    }
    registry::find(name).ok_or_else(|| {
        let known: Vec<_> = registry::ALL.iter().map(|p| p.info().id).collect();
        Error::new(ErrorCode::InvalidAgent, "unknown agent")
            .hint(format!("known agents: {}", known.join(", ")))
    })
}

/// A project as an absolute path without `.` and `..`. The directory need not exist.
fn normalize_project(text: &str, env: &Env) -> Result<String> {
    if text.is_empty() || text.len() > limits::PROJECT_MAX || text.contains('\0') {
        return Err(Error::invalid_request(format!(
            "project must have 1 to {} bytes and no NUL",
            limits::PROJECT_MAX
        )));
    }
    let is_windows = text.as_bytes().get(1) == Some(&b':') || text.starts_with("\\\\");
    if is_windows {
        return Ok(text.to_owned());
    }
    let path = match text.strip_prefix("~") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            env.home().map(|h| h.join(rest.trim_start_matches('/'))).unwrap_or_else(|| PathBuf::from(text))
        }
        _ if Path::new(text).is_absolute() => PathBuf::from(text),
        _ => env
            .cwd()
            .ok_or_else(|| Error::invalid_request("project is relative and there is no working directory"))?
            .join(text),
    };
    let text = lexical(&path).into_os_string().into_string();
    text.map_err(|_| Error::invalid_request("project does not resolve to a UTF-8 path"))
}

fn lexical(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            part => out.push(part),
        }
        out
    })
}

fn matcher(project: &str) -> ProjectMatch {
    let real = real_path(project).filter(|r| r != project);
    ProjectMatch {
        spellings: [project.to_owned()].into_iter().chain(real).collect(),
        resolve: Some(real_path),
    }
}

/// Where a path leads, if it exists.
#[expect(clippy::disallowed_methods, reason = "the one place that resolves paths")]
fn real_path(path: &str) -> Option<String> {
    Path::new(path)
        .is_absolute()
        .then(|| std::fs::canonicalize(path).ok())??
        .into_os_string()
        .into_string()
        .ok()
}

/// Whether a file is a place or lies in it, links resolved. Of a place that is a file, what stands beside it under a longer name
/// counts too: a database has such companions.
pub fn lies_in(file: &Path, place: &Path) -> bool {
    let real = |p: &Path| p.to_str().and_then(real_path).map_or_else(|| p.to_owned(), PathBuf::from);
    let file = match (file.parent(), file.file_name()) {
        (Some(dir), Some(name)) => real(dir).join(name),
        _ => return true,
    };
    let place = real(place);
    let name = |p: &Path| p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = file.parent() == place.parent() && name(&file).starts_with(&name(&place));
    file.starts_with(&place) || beside && place.is_file()
}
