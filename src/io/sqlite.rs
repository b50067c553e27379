//! Reading SQLite stores without a trace.
