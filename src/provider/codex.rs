//! Codex CLI.
