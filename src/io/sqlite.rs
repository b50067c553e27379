//! Reading SQLite stores without a trace: nothing in a store's directory is made, changed, locked, checkpointed or rolled back.
//!
//! No locks are taken (the VFS without them), so nobody is waited for and nobody waits. What guards a read instead is a look at
//! the files before and after it: if the database changed in between, what was read is thrown away and read again. Appending
//! to a write-ahead log does not disturb a reader, whose view is the last commit at its beginning; starting the log anew or
//! copying it into the database does, and shows.
//!
//! - A database whose log has no content is opened as immutable: SQLite then touches no other file. A rollback journal is left
//!   alone, even a hot one.
//! - A small one with a log is read into memory with the log laid over it (`log`): SQLite meets no file at all.
//! - A large one with a log is opened with it. The log's index is kept in memory (`locking_mode=EXCLUSIVE`), so no `-shm` file
//!   is born, and closing neither checkpoints nor deletes. Two things remain that SQLite cannot be kept from: as root it sets
//!   the log's owner to the database's (its change time shows it), and it would make an empty log if the log vanished in the
//!   few dozen microseconds between our last look and its first one.

mod log;

use self::log::Merged;
use super::stat::{self, FileKind, Fingerprint};
use crate::limits::{SQLITE_MEMORY_MAX, SQLITE_STEPS_MAX, SQLITE_VALUE_MAX};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// Why a database could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot be read")]
    Io(#[from] io::Error),
    #[error("not a database")]
    NotADatabase,
    #[error("damaged database")]
    Corrupt,
    /// A table or column is missing: another version of the store.
    #[error("unknown database layout")]
    Layout,
    #[error("database is being rewritten")]
    Changing,
    #[error("reading the database takes too long")]
    TooLong,
    #[error("database cannot be read")]
    Other,
}

impl Error {
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Io(_) => "cannot be read",
            Self::NotADatabase => "not a database",
            Self::Corrupt => "damaged database",
            Self::Layout => "unknown database layout",
            Self::Changing => "database is being rewritten",
            Self::TooLong => "reading the database takes too long",
            Self::Other => "database cannot be read",
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(e: rusqlite::Error) -> Self {
        match e.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt,
            Some(ErrorCode::OperationInterrupted) => Self::TooLong,
            Some(ErrorCode::Unknown) => Self::Layout,
            _ => Self::Other,
        }
    }
}

/// Reads a database once. The closure may run more than once: it must gather, not emit.
pub fn read<T, E: From<Error>>(path: &Path, f: impl FnMut(&Db) -> Result<T, E>) -> Result<T, E> {
    Store::at(path).read(f)
}

/// A database to read in several steps. As long as its files don't change, all steps see the same state of it.
pub struct Store {
    path: PathBuf,
    memory_max: u64,
    open: Option<(Db, Files)>,
}

impl Store {
    pub fn at(path: &Path) -> Self {
        Self { path: resolve(path), memory_max: memory_max(), open: None }
    }

    /// One step. The closure runs again if the files changed under it, on their new state: it must gather, not emit.
    pub fn read<T, E: From<Error>>(&mut self, mut f: impl FnMut(&Db) -> Result<T, E>) -> Result<T, E> {
        const TRIES: u32 = 4;
        for n in 0..TRIES {
            if n > 0 {
                std::thread::sleep(Duration::from_millis(5 << n));
            }
            let (db, files) = match self.open.take() {
                Some(open) => open,
                None => match connect(&self.path, self.memory_max) {
                    Err(Error::Changing) => continue,
                    other => other?,
                },
            };
            db.steps_left.store(SQLITE_STEPS_MAX, Ordering::Relaxed);
            let result = f(&db);
            if files.unchanged(&self.path) {
                self.open = Some((db, files));
                return result;
            }
        }
        Err(Error::Changing.into())
    }
}

/// What is compared before and after.
#[derive(Debug, PartialEq, Eq)]
struct Files {
    db: Fingerprint,
    wal: Option<Wal>,
    /// A rollback journal: somebody writes, or crashed while writing.
    journal: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Wal {
    file: Fingerprint,
    /// Its salts change when the log starts anew.
    header: [u8; Wal::HEADER],
}

impl Wal {
    const HEADER: usize = 32;

    /// The log, if there is anything in it.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        let (mut file, fp) = match stat::open_regular(&beside(path, "-wal")) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let mut header = [0; Self::HEADER];
        if fp.size <= Self::HEADER as u64 {
            return Ok(None);
        }
        file.read_exact(&mut header)?;
        Ok(Some(Self { file: fp, header }))
    }

    /// Whether all that was in it is still where it was.
    fn extends(&self, before: &Self) -> bool {
        self.file.same_file(&before.file)
            && self.file.size >= before.file.size
            && self.header == before.header
    }
}

impl Files {
    fn of(path: &Path) -> io::Result<Self> {
        let (db, kind) = stat::stat(path)?;
        if kind != FileKind::Regular {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let journal = matches!(stat::stat(&beside(path, "-journal")), Ok((fp, _)) if fp.size > 0);
        Ok(Self { db, wal: Wal::of(path)?, journal })
    }

    /// Whether what is read now is what would have been read when `self` was taken.
    fn unchanged(&self, path: &Path) -> bool {
        let Ok(now) = Self::of(path) else { return false };
        let same_log = match (&self.wal, &now.wal) {
            (Some(before), Some(now)) => now.extends(before),
            (Some(_), None) => false,
            (None, _) => true,
        };
        same_log && self.db == now.db
    }

    fn immutable(&self) -> bool {
        self.wal.is_none() || self.journal
    }

    /// Whether a write could hide behind the clock's tick.
    fn fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64);
        (now - self.db.mtime_ns).abs() < TICK.as_nanos() as i64
    }
}

const TICK: Duration = Duration::from_millis(10);

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// The log lies beside the database itself, not beside a link to it.
fn resolve(path: &Path) -> PathBuf {
    const LINKS: usize = 8;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(to) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| to.clone(), |dir| dir.join(&to));
    }
    path
}

/// As root more is worth keeping SQLite from opening a log.
fn memory_max() -> u64 {
    #[cfg(unix)]
    if rustix::process::geteuid().is_root() {
        return 8 * SQLITE_MEMORY_MAX;
    }
    SQLITE_MEMORY_MAX
}

fn connect(path: &Path, memory_max: u64) -> Result<(Db, Files), Error> {
    let mut files = Files::of(path)?;
    if files.fresh() {
        std::thread::sleep(TICK);
        files = Files::of(path)?;
    }
    let opened = open(path, &files, memory_max).and_then(Db::over);
    // The file is open, its log is perhaps not yet: from here on it must be the file that was looked at.
    if !files.unchanged(path) {
        return Err(Error::Changing);
    }
    Ok((opened?, files))
}

fn open(path: &Path, files: &Files, memory_max: u64) -> Result<Connection, Error> {
    if files.db.size == 0 {
        // A database about to be made. SQLite would take a log beside it for a left-over, and delete it.
        return Ok(Connection::open_in_memory()?);
    }
    check_header(path)?;
    if !files.immutable() && files.db.size <= memory_max {
        let merged = Merged::open(path, &beside(path, "-wal"))?;
        let size = merged.size();
        if size <= memory_max {
            let mut connection = Connection::open_in_memory()?;
            connection.deserialize_read_exact("main", merged, size as usize, true)?;
            return Ok(connection);
        }
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(uri(path, files.immutable()), flags)?)
}

/// Says no to what is no database before SQLite looks for anything beside it.
fn check_header(path: &Path) -> Result<(), Error> {
    let (mut file, _) = stat::open_regular(path)?;
    let mut magic = [0; 16];
    match file.read_exact(&mut magic) {
        Ok(()) if magic == *b"SQLite format 3\0" => Ok(()),
        Ok(()) => Err(Error::NotADatabase),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Err(Error::NotADatabase),
        Err(e) => Err(e.into()),
    }
}

fn uri(path: &Path, immutable: bool) -> String {
    let mut uri = String::from("file:");
    let text = path.as_os_str().as_encoded_bytes();
    if path.is_absolute() {
        uri.push_str(if text.starts_with(b"/") { "//" } else { "///" });
    }
    for b in text {
        match b {
            b'\\' if cfg!(windows) => uri.push('/'),
            b if b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'.' | b'_' | b'~') => {
                uri.push(char::from(*b))
            }
            b':' if cfg!(windows) => uri.push(':'),
            b => {
                let _ = write!(uri, "%{b:02X}");
            }
        }
    }
    uri.push_str("?mode=ro&vfs=");
    uri.push_str(if cfg!(windows) { "win32-none" } else { "unix-none" });
    uri.push_str(if immutable { "&immutable=1" } else { "" });
    uri
}

/// An open database.
pub struct Db {
    connection: Connection,
    steps_left: Arc<AtomicU64>,
}

impl Db {
    fn over(mut connection: Connection) -> Result<Self, Error> {
        const EVERY: u16 = 10_000;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SQLITE_VALUE_MAX as i32)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.busy_timeout(Duration::ZERO)?;
        // Before the first read: the index of the log then lives in memory. Sorting must not spill to a file either.
        connection.execute_batch(
            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA query_only=ON; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON;",
        )?;
        let steps_left = Arc::new(AtomicU64::new(SQLITE_STEPS_MAX));
        let left = Arc::clone(&steps_left);
        let spend = move |n: u64| Some(n.saturating_sub(u64::from(EVERY)));
        let spent = move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).unwrap_or(0) == 0;
        connection.progress_handler(i32::from(EVERY), Some(spent))?;
        Ok(Self { connection, steps_left })
    }

    /// Whether there is a table of this name. Views don't count: what they hold is made by statements of the file's own.
    pub fn table_exists(&self, name: &str) -> Result<bool, Error> {
        let mut found = false;
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE";
        self.rows(sql, &[Param::Text(name)], |_| {
            found = true;
            Ok::<_, Error>(())
        })?;
        Ok(found)
    }

    /// The names of a table's columns; none if it does not exist.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        self.rows("SELECT name FROM pragma_table_info(?1)", &[Param::Text(table)], |row| {
            names.extend(row.text(0).map(Cow::into_owned));
            Ok::<_, Error>(())
        })?;
        Ok(names)
    }

    /// Calls `each` with every row of a query.
    pub fn rows<E: From<Error>>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        mut each: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.connection.prepare(sql).map_err(Error::from)?;
        let mut rows = statement.query(rusqlite::params_from_iter(params)).map_err(Error::from)?;
        while let Some(row) = rows.next().map_err(Error::from)? {
            each(&Row(row))?;
        }
        Ok(())
    }
}

/// A value put into a query.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    Int(i64),
    Text(&'a str),
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Int(n) => ValueRef::Integer(*n),
            Self::Text(t) => ValueRef::Text(t.as_bytes()),
        }))
    }
}

/// A row of a query. A column that is missing, NULL or of a type that cannot be meant is `None`.
pub struct Row<'r>(&'r rusqlite::Row<'r>);

impl Row<'_> {
    fn value(&self, column: usize) -> ValueRef<'_> {
        self.0.get_ref(column).unwrap_or(ValueRef::Null)
    }

    /// Text, or what a column that should hold text has in its place: bytes, a number.
    pub fn text(&self, column: usize) -> Option<Cow<'_, str>> {
        match self.value(column) {
            ValueRef::Text(b) | ValueRef::Blob(b) => Some(String::from_utf8_lossy(b)),
            ValueRef::Integer(n) => Some(n.to_string().into()),
            ValueRef::Real(n) => Some(n.to_string().into()),
            ValueRef::Null => None,
        }
    }

    /// A whole number, also one written as text or with a fraction.
    pub fn int(&self, column: usize) -> Option<i64> {
        match self.value(column) {
            ValueRef::Integer(n) => Some(n),
            ValueRef::Real(n) => n.is_finite().then_some(n as i64),
            ValueRef::Text(b) => std::str::from_utf8(b).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    pub fn real(&self, column: usize) -> Option<f64> {
        match self.value(column) {
            ValueRef::Integer(n) => Some(n as f64),
            ValueRef::Real(n) => Some(n),
            ValueRef::Text(b) => std::str::from_utf8(b).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// The bytes of a blob or a text.
    pub fn blob(&self, column: usize) -> Option<&[u8]> {
        match self.value(column) {
            ValueRef::Text(b) | ValueRef::Blob(b) => Some(b),
            _ => None,
        }
    }

    /// A truth value: a number other than 0.
    pub fn flag(&self, column: usize) -> bool {
        self.int(column).is_some_and(|n| n != 0)
    }
}

#[cfg(test)]
mod tests;
