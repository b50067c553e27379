//! Every bound the program keeps, in one place. Messages, `agf capabilities` and `docs/limits.md` are made from these.

/// One bound: its name as printed by `agf capabilities`, its value and its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub value: u64,
    pub unit: &'static str,
    pub what: &'static str,
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident: $ty:ty = $value:expr, $unit:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: $ty = $value;)+

        /// All limits, in the order of `docs/limits.md`.
        pub const ALL: &[Limit] = &[$(Limit {
            name: stringify!($name),
            value: $value as u64,
            unit: $unit,
            what: concat!($($doc),+).trim_ascii(),
        }),+];
    };
}

limits! {
    /// Rows on a search page, at most.
    PAGE_MAX: usize = 200, "sessions";
    /// Rows on a search page when nothing is said.
    PAGE_DEFAULT: usize = 20, "sessions";
    /// Largest offset into the results.
    OFFSET_MAX: usize = 1_000_000, "sessions";
    /// Longest query.
    QUERY_MAX: usize = 1024, "bytes";
    /// Longest session id.
    ID_MAX: usize = 1024, "bytes";
    /// Longest project path in a request.
    PROJECT_MAX: usize = 4096, "bytes";
    /// Longest agent name or resume mode in a request.
    LABEL_MAX: usize = 64, "bytes";
    /// Longest cursor in a request.
    CURSOR_MAX: usize = 128, "bytes";
    /// Summaries of one session, newest first.
    SUMMARIES_MAX: usize = 3, "summaries";
    /// Longest summary or recap in an answer.
    SUMMARY_MAX: usize = 1024, "bytes";
    /// Longest title.
    TITLE_MAX: usize = 256, "bytes";
    /// Longest project name or branch.
    NAME_MAX: usize = 256, "bytes";
    /// Longest path or worktree in an answer.
    PATH_MAX: usize = 4096, "bytes";
    /// Matching messages shown with one session.
    MATCHES_MAX: usize = 3, "messages";
    /// Longest snippet.
    SNIPPET_MAX: usize = 300, "bytes";
    /// A line of a store beyond this length has its long strings cut to `LONG_STRING_MAX`.
    LINE_MAX: usize = 4 << 20, "bytes";
    /// What is kept of each string in a line longer than `LINE_MAX`.
    LONG_STRING_MAX: usize = 64 << 10, "bytes";
    /// Indexed text of one user or assistant message; the rest of a longer one is not searchable.
    PROSE_MAX: usize = 1 << 20, "bytes";
    /// Indexed text of one tool input or output: its head and its tail, half each.
    TOOL_MAX: usize = 256 << 10, "bytes";
    /// Longest word in the index; of a longer run of letters only this head is searchable.
    TOKEN_MAX: usize = 64, "bytes";
    /// A store's side file (names, settings) beyond this size is not read.
    SIDE_FILE_MAX: u64 = 16 << 20, "bytes";
    /// A configuration file beyond this size is not read.
    CONFIG_MAX: u64 = 1 << 20, "bytes";
    /// A conversation kept as one document beyond this size is not read.
    DOCUMENT_MAX: u64 = 32 << 20, "bytes";
    /// Work of one read of a store's database, in steps of SQLite's machine; beyond it the read fails.
    SQLITE_STEPS_MAX: u64 = 400_000_000, "steps";
    /// A database with a live log is read into memory up to this size (as root, 8 times that).
    SQLITE_MEMORY_MAX: u64 = 16 << 20, "bytes";
    /// Largest text, blob or row read from a store's database.
    SQLITE_VALUE_MAX: usize = 128 << 20, "bytes";
    /// Directories below a store's root, at most this deep.
    DEPTH_MAX: usize = 12, "directories";
    /// Words and phrases of one query; the rest is ignored.
    QUERY_TERMS_MAX: usize = 32, "terms";
    /// Terms one word of a query may expand to (prefix, typo, part).
    EXPANSION_MAX: usize = 128, "terms";
    /// Warnings in one answer.
    WARNINGS_MAX: usize = 50, "warnings";
    /// Sessions named as related to one.
    RELATED_MAX: usize = 20, "sessions";
    /// Ids of copies named with a result.
    DUPLICATES_MAX: usize = 5, "sessions";
    /// Words by which sessions on the same thing are found (`like`).
    LIKE_TERMS_MAX: usize = 24, "words";
    /// Text of the session that `like` takes its words from, and of one message of it a 256th part.
    LIKE_TEXT_MAX: usize = 1 << 20, "bytes";
    /// Candidates named by `ambiguous_session`.
    CANDIDATES_MAX: usize = 10, "sessions";
    /// Messages on a page of `agf read`.
    READ_PAGE_MAX: usize = 200, "messages";
    /// Text of one message on a page of `agf read`.
    READ_MESSAGE_MAX: usize = 16 << 10, "bytes";
    /// Text of a tool call or its result on a page of `agf read`, unless `full_tools` is asked for.
    READ_TOOL_HEAD: usize = 256, "bytes";
    /// Text of the one message that `agf read --message` gives; more is read with `--text-offset`.
    READ_WHOLE_MAX: usize = 1 << 20, "bytes";
    /// Files and children of a session listed with a page of `agf read`.
    READ_PARTS_MAX: usize = 20, "parts";
    /// Messages of a session in several files that are compared to show copies once.
    READ_COPIES_MAX: usize = 1 << 20, "messages";
    /// Memory for the index writer while it takes in a large change.
    WRITER_MEMORY: usize = 180 << 20, "bytes";
    /// Segments of the index after a refresh.
    SEGMENTS_MAX: usize = 10, "segments";
    /// Source bytes taken in before a first build commits what it has.
    COMMIT_EVERY: u64 = 256 << 20, "bytes";
    /// What the index holds of a store is let go of when nobody has asked with that store for this long.
    STORE_KEPT_DAYS: u64 = 30, "days";
    /// Time after which a first build commits what it has.
    COMMIT_EVERY_MS: u64 = 10_000, "milliseconds";
    /// Changes up to this size are taken into memory for each answer; larger ones are published.
    OVERLAY_MAX: u64 = 128 << 10, "bytes";
    /// How long a refresh waits for another process that refreshes the same index.
    LOCK_WAIT_MS: u64 = 30_000, "milliseconds";
    /// A file whose time stamp is younger than this when it is read is looked at again by the next query.
    RACY_MS: u64 = 2_000, "milliseconds";
    /// Line that an MCP client sends, without its line feed (`--max-message-bytes`).
    MCP_MESSAGE_MAX: usize = 64 << 10, "bytes";
    /// JSON of one MCP answer; what does not fit is left for the next page (`--max-output-bytes`).
    MCP_OUTPUT_MAX: usize = 40_000, "bytes";
    /// MCP calls that work at the same time (`--max-concurrent`).
    MCP_CALLS_MAX: usize = 2, "calls";
    /// MCP calls that wait for one of these to end; one more is `busy`.
    MCP_QUEUE_MAX: usize = 16, "calls";
    /// How long an MCP call waits before it is `busy`.
    MCP_QUEUE_WAIT_MS: u64 = 750, "milliseconds";
    /// Cancelled or overdue MCP calls that may end in the background without counting as working.
    MCP_STRAYS_MAX: usize = 2, "calls";
    /// How long an MCP call may bring the index up to date before the answer comes from the index as it is.
    MCP_CALL_BUDGET_MS: u64 = 10_000, "milliseconds";
    /// Messages in a batch of MCP revision 2025-03-26.
    MCP_BATCH_MAX: usize = 64, "messages";
    /// Sessions listed as MCP resources.
    MCP_RESOURCES_MAX: usize = 50, "sessions";
}
