//! How to get back into a session.

use super::catalog::{Catalog, Ready};
use super::request::PlanRequest;
use super::response::{PlanCheck, PlanData, ResumePlan};
use super::scope::Selection;
use super::{lookup, warnings};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::LABEL_MAX;
use crate::model::ResumeKind;
use crate::provider::Provider;
use crate::query::view::Session;
use crate::resume::verify::Evidence;
use crate::resume::{find_mode, plan, verify};

impl Catalog {
    /// Says what to run to get back into a session, checked against the live disk. Nothing is run.
    pub fn resume_plan(&self, request: &PlanRequest) -> Result<PlanData> {
        lookup::check_id(&request.session_id)?;
        if request.mode.as_ref().is_some_and(|m| m.len() > LABEL_MAX) {
            return Err(Error::invalid_request(format!("mode is longer than {LABEL_MAX} bytes")));
        }
        let selection = self.scope.select(Some(&request.agent), request.project.as_deref(), &self.env)?;
        self.answer(|ready| self.plan(ready, &selection, request))
    }

    fn plan(&self, ready: &Ready<'_>, selection: &Selection, request: &PlanRequest) -> Result<PlanData> {
        let warnings = warnings::collect(ready, selection);
        let session = lookup::find(ready, selection, &request.session_id, request.include_non_interactive);
        let session =
            session.or_else(|e| warnings::fail_if_blind(ready, selection, &warnings).and(Err(e)))?;
        let session = &ready.view.sessions[session as usize];
        let facts = &session.facts;
        let provider = session.provider;
        let mode = find_mode(provider, request.mode.as_deref()).ok_or_else(|| unknown_mode(provider))?;
        resumable(session)?;
        let (_, source) = lookup::source_of(ready, session.unit)
            .ok_or_else(|| Error::new(ErrorCode::NotFound, "session not found within the requested scope"))?;
        let plan = plan(provider, &source, facts, mode, self.config.program(provider));
        let evidence = Evidence { path: &source.path, indexed: source.fingerprint, resolves: true };
        let verified = verify(&plan, &evidence, &self.env);
        let blocked = facts.archived.then(|| provider.unarchive_hint(&facts.id)).flatten();
        Ok(PlanData {
            plan: ResumePlan {
                agent: plan.agent.to_owned(),
                session_id: plan.session_id,
                program: verified.program.map_or_else(
                    || plan.programs.first().cloned().unwrap_or_default(),
                    |p| p.to_string_lossy().into_owned(),
                ),
                args: plan.args,
                env: plan.env,
                cwd: plan.cwd,
                executable_found: verified.checks.iter().any(|c| c.check == "executable_found" && c.ok),
                working_directory_exists: verified.working_directory_exists,
                ready: verified.ready && blocked.is_none(),
                checks: verified
                    .checks
                    .into_iter()
                    .map(|c| PlanCheck { check: c.check.to_owned(), ok: c.ok, detail: c.detail })
                    .collect(),
                resume_kind: facts.resume.as_str().to_owned(),
                cwd_rule: plan.cwd_rule.as_str().to_owned(),
                mode: plan.mode.to_owned(),
                r#unsafe: plan.bypasses_approval,
                hint: blocked,
            },
            executed: false,
            requires_user_action: true,
            warnings,
        })
    }
}

fn resumable(session: &Session<'_>) -> Result<()> {
    const READ: &str = "read it instead, and give what matters to a new session";
    let refuse = |message: &'static str, hint: &'static str| {
        Err(Error::new(ErrorCode::InvalidResumePlan, message).hint(hint))
    };
    if session.vanished {
        return refuse("the agent has deleted this session", "only what is in the index is left of it");
    }
    if session.elsewhere.is_some() {
        return refuse("the session lies in a copied store, where the agent does not look", READ);
    }
    match session.facts.resume {
        ResumeKind::None => refuse("the agent cannot resume this session", READ),
        _ => Ok(()),
    }
}

fn unknown_mode(provider: &dyn Provider) -> Error {
    let labels: Vec<_> = provider.info().modes.iter().map(|m| m.label).collect();
    Error::new(ErrorCode::InvalidResumePlan, "unknown resume mode")
        .hint(format!("modes of this agent: {}", labels.join(", ")))
}
