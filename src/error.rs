//! One error type for everything a caller can be told, with a closed set of codes.

use std::borrow::Cow;

/// Why a request failed, as clients see it. The spelling is part of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    InvalidRequest,
    InvalidAgent,
    OutOfScope,
    NotFound,
    AmbiguousSession,
    ScanFailed,
    InvalidResumePlan,
    NotAllowed,
    CursorExpired,
    IndexUnavailable,
    Busy,
    InternalError,
}

impl ErrorCode {
    pub const ALL: [ErrorCode; 12] = [
        Self::InvalidRequest,
        Self::InvalidAgent,
        Self::OutOfScope,
        Self::NotFound,
        Self::AmbiguousSession,
        Self::ScanFailed,
        Self::InvalidResumePlan,
        Self::NotAllowed,
        Self::CursorExpired,
        Self::IndexUnavailable,
        Self::Busy,
        Self::InternalError,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidAgent => "invalid_agent",
            Self::OutOfScope => "out_of_scope",
            Self::NotFound => "not_found",
            Self::AmbiguousSession => "ambiguous_session",
            Self::ScanFailed => "scan_failed",
            Self::InvalidResumePlan => "invalid_resume_plan",
            Self::NotAllowed => "not_allowed",
            Self::CursorExpired => "cursor_expired",
            Self::IndexUnavailable => "index_unavailable",
            Self::Busy => "busy",
            Self::InternalError => "internal_error",
        }
    }

    /// Whether the same request may succeed later.
    pub const fn retryable(self) -> bool {
        matches!(self, Self::Busy | Self::IndexUnavailable | Self::CursorExpired)
    }
}

/// A failed request: a stable code, a message that starts in lower case and ends without a period, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    pub code: ErrorCode,
    pub message: Cow<'static, str>,
    pub hint: Option<Cow<'static, str>>,
    pub candidates: Vec<Candidate>,
}

/// One of several sessions an identity could mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub agent: String,
    pub session_id: String,
    pub project_path: String,
    pub timestamp_ms: i64,
}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), hint: None, candidates: Vec::new() }
    }

    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub fn index(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::IndexUnavailable, message)
            .hint("run `agf index rebuild`, or set AGF_CACHE_DIR to a directory that can be written")
    }
}

pub type Result<T> = std::result::Result<T, Error>;
