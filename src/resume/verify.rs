//! Whether a plan would work, looked up on the live disk at the time of the question.

use super::plan::Plan;
use crate::io::env::Env;
use crate::io::stat::{self, FileKind, Fingerprint};
use crate::provider::CwdRule;
use std::path::{Path, PathBuf};

/// One condition of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub check: &'static str,
    pub ok: bool,
    pub detail: String,
}

/// A plan's conditions and what was found on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub checks: Vec<Check>,
    pub program: Option<PathBuf>,
    pub working_directory_exists: bool,
    pub ready: bool,
}

/// The source a plan relies on.
pub struct Evidence<'e> {
    pub path: &'e Path,
    /// Its state when it was indexed.
    pub indexed: Fingerprint,
    /// Whether the id still leads to exactly one session in the catalog just brought up to date.
    pub resolves: bool,
}

/// Looks at the disk.
pub fn verify(plan: &Plan, evidence: &Evidence<'_>, env: &Env) -> Verified {
    let program = env.find_program(&plan.programs);
    let there = match crate::discover::look_at(evidence.path) {
        Ok((fp, FileKind::Regular)) => Some(fp),
        _ => None,
    };
    let cwd_exists =
        plan.cwd.as_deref().map_or(plan.cwd_rule == CwdRule::Any, |c| stat::is_directory(Path::new(c)));
    let checks = vec![
        check(
            "source_exists",
            there.is_some(),
            "the session's file is in the store",
            "the session's file is gone or cannot be read",
        ),
        check(
            "source_matches_index",
            there.is_some_and(|fp| fp.same_file(&evidence.indexed)),
            "the file is the one that was indexed",
            "the file was replaced since it was indexed",
        ),
        check(
            "executable_found",
            program.is_some(),
            "the agent's command is on PATH",
            "the agent's command is not on PATH",
        ),
        check(
            "working_directory_exists",
            cwd_exists,
            "the working directory exists",
            if plan.cwd.is_none() {
                "the session's working directory is not known"
            } else {
                "the session's working directory does not exist"
            },
        ),
        check(
            "id_still_resolves",
            evidence.resolves,
            "the id leads to this session",
            "the id leads to no session or to several",
        ),
    ];
    let needed = |c: &Check| c.check != "working_directory_exists" || plan.cwd_rule == CwdRule::Required;
    let ready = checks.iter().filter(|c| needed(c)).all(|c| c.ok);
    Verified { checks, program, working_directory_exists: cwd_exists, ready }
}

fn check(check: &'static str, ok: bool, yes: &str, no: &str) -> Check {
    Check { check, ok, detail: if ok { yes } else { no }.to_owned() }
}
