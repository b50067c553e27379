//! The one shape of every answer.

use crate::error::{Candidate, Error, Result};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the contract. Additions do not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// An answer, good or bad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Envelope<T> {
    pub schema_version: u32,
    pub agf_version: String,
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorBody {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub retryable: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<CandidateBody>,
}

/// One of several sessions an identity could mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CandidateBody {
    pub agent: String,
    pub session_id: String,
    pub project_path: String,
    pub timestamp_ms: i64,
}

impl<T> Envelope<T> {
    pub fn new(result: Result<T>) -> Self {
        let (data, error) = match result {
            Ok(data) => (Some(data), None),
            Err(error) => (None, Some(ErrorBody::from(error))),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            agf_version: env!("CARGO_PKG_VERSION").to_owned(),
            ok: error.is_none(),
            data,
            error,
        }
    }
}

impl From<Error> for ErrorBody {
    fn from(error: Error) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            message: error.message.into_owned(),
            hint: error.hint.map(|h| h.into_owned()),
            retryable: error.code.retryable(),
            candidates: error.candidates.into_iter().map(CandidateBody::from).collect(),
        }
    }
}

impl From<Candidate> for CandidateBody {
    fn from(c: Candidate) -> Self {
        Self {
            agent: c.agent,
            session_id: c.session_id,
            project_path: c.project_path,
            timestamp_ms: c.timestamp_ms,
        }
    }
}
