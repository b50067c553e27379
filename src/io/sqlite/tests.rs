//! The reader against databases as other programs write and leave them.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::time::Instant;

type Listing = BTreeMap<String, (Fingerprint, Vec<u8>)>;

#[expect(clippy::disallowed_methods, reason = "a test looks at its own small files")]
fn listing(dir: &Path) -> Listing {
    let mut all = Listing::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let (fp, _) = stat::stat(&path).unwrap();
        all.insert(path.file_name().unwrap().to_string_lossy().into_owned(), (fp, fs::read(&path).unwrap()));
    }
    let (mut own, _) = stat::stat(dir).unwrap();
    own.size = 0;
    all.insert(".".into(), (own, Vec::new()));
    all
}

/// As root, SQLite sets a log's owner when it opens it.
fn without_log_times(mut all: Listing) -> Listing {
    all.iter_mut().filter(|(name, _)| name.ends_with("-wal")).for_each(|(_, (fp, _))| fp.ctime_ns = 0);
    all
}

fn writer(path: &Path, wal: bool) -> Connection {
    let c = Connection::open(path).unwrap();
    if wal {
        c.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(())).unwrap();
        c.query_row("PRAGMA wal_autocheckpoint=0", [], |_| Ok(())).unwrap();
    }
    c.execute_batch("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t(name) VALUES('first')")
        .unwrap();
    c
}

fn names(path: &Path) -> Result<Vec<String>, Error> {
    names_from(Store::at(path))
}

/// As a database is read that is too large for memory.
fn names_on_disk(path: &Path) -> Result<Vec<String>, Error> {
    names_from(Store { memory_max: 0, ..Store::at(path) })
}

fn names_from(mut store: Store) -> Result<Vec<String>, Error> {
    store.read(|db| {
        let mut all = Vec::new();
        db.rows("SELECT name FROM t ORDER BY id", &[], |row| {
            all.extend(row.text(0).map(Cow::into_owned));
            Ok::<_, Error>(())
        })?;
        Ok(all)
    })
}

#[test]
fn a_live_log_is_read_and_nothing_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b%20?#é.db");
    let c = writer(&path, true);
    c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    c.execute_batch("INSERT INTO t(name) VALUES('second'); BEGIN; INSERT INTO t(name) VALUES('not yet')")
        .unwrap();
    let before = listing(dir.path());
    assert_eq!(before.len(), 4, "the database, its log, its index, the directory");
    assert_eq!(names(&path).unwrap(), ["first", "second"]);
    assert_eq!(listing(dir.path()), before);
    assert_eq!(names_on_disk(&path).unwrap(), ["first", "second"]);
    assert_eq!(without_log_times(listing(dir.path())), without_log_times(before));
    c.execute_batch("COMMIT").unwrap();
    assert_eq!(names(&path).unwrap(), ["first", "second", "not yet"]);
    assert_eq!(names_on_disk(&path).unwrap(), ["first", "second", "not yet"]);
}

#[test]
fn what_is_read_through_memory_is_what_sqlite_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let c = writer(&path, true);
    let all = |c: &Connection| {
        let mut s = c.prepare("SELECT name FROM t ORDER BY id").unwrap();
        s.query_map([], |r| r.get::<_, String>(0)).unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    for round in 0..40 {
        c.execute_batch("BEGIN").unwrap();
        for n in 0..round * 7 % 50 {
            c.execute("INSERT INTO t(name) VALUES(?1)", [format!("{round} {n}").repeat(1 + n * 40)]).unwrap();
        }
        c.execute("DELETE FROM t WHERE id % 3 = ?1", [(round % 3) as i64]).unwrap();
        c.execute_batch(if round % 4 == 3 { "ROLLBACK" } else { "COMMIT" }).unwrap();
        match round % 10 {
            4 => c.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap(),
            9 => c.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap(),
            _ => {}
        }
        assert_eq!(names(&path).unwrap(), all(&c), "{round}");
        assert_eq!(names_on_disk(&path).unwrap(), all(&c), "{round}");
    }
}

#[test]
fn a_damaged_log_counts_up_to_its_damage() {
    let dir = tempfile::tempdir().unwrap();
    let c = writer(&dir.path().join("live.db"), true);
    c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    c.execute_batch("INSERT INTO t(name) VALUES('second')").unwrap();
    c.execute_batch("INSERT INTO t(name) VALUES('third')").unwrap();
    let files = listing(dir.path());
    let path = dir.path().join("x.db");
    fs::write(&path, &files["live.db"].1).unwrap();
    let mut log = files["live.db-wal"].1.clone();
    let last = log.len() - 1;
    log[last] ^= 1;
    for (log, expected) in [
        (&log[..], &["first", "second"][..]),
        (&log[..last - 5000], &["first"]),
        (&log[..40], &["first"]),
        (&[0; 5000], &["first"]),
    ] {
        fs::write(beside(&path, "-wal"), log).unwrap();
        assert_eq!(names(&path).unwrap(), expected);
        assert_eq!(names_on_disk(&path).unwrap(), expected);
    }
}

#[test]
fn a_log_left_by_a_crash_is_read_without_its_index() {
    let dir = tempfile::tempdir().unwrap();
    let c = writer(&dir.path().join("live.db"), true);
    let store = dir.path().join("store");
    fs::create_dir(&store).unwrap();
    fs::copy(dir.path().join("live.db"), store.join("x.db")).unwrap();
    fs::copy(dir.path().join("live.db-wal"), store.join("x.db-wal")).unwrap();
    drop(c);
    let before = listing(&store);
    assert_eq!(names(&store.join("x.db")).unwrap(), ["first"]);
    assert_eq!(listing(&store), before);
    // A link elsewhere stands for the database with its log.
    #[cfg(unix)]
    {
        let link = dir.path().join("link.db");
        std::os::unix::fs::symlink("store/x.db", &link).unwrap();
        assert_eq!(names(&link).unwrap(), ["first"]);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_is_no_obstacle() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    drop(writer(&path, true));
    assert!(!beside(&path, "-wal").exists());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let before = listing(dir.path());
    assert_eq!(names(&path).unwrap(), ["first"]);
    assert_eq!(listing(dir.path()), before);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_locked_database_answers_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let c = writer(&path, false);
    c.execute_batch("BEGIN EXCLUSIVE; INSERT INTO t(name) VALUES('second')").unwrap();
    let before = listing(dir.path());
    let start = Instant::now();
    assert_eq!(names(&path).unwrap(), ["first"]);
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn a_hot_journal_stays_hot() {
    let dir = tempfile::tempdir().unwrap();
    let c = writer(&dir.path().join("live.db"), false);
    c.execute_batch("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN").unwrap();
    for _ in 0..2000 {
        c.execute("INSERT INTO t(name) VALUES(?1)", ["a text that fills pages"]).unwrap();
    }
    let store = dir.path().join("store");
    fs::create_dir(&store).unwrap();
    fs::copy(dir.path().join("live.db"), store.join("x.db")).unwrap();
    fs::copy(dir.path().join("live.db-journal"), store.join("x.db-journal")).unwrap();
    let before = listing(&store);
    let _ = names(&store.join("x.db"));
    assert_eq!(listing(&store), before);
}

#[test]
fn what_is_no_database_or_a_broken_one_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    fs::write(&path, b"hello, this is no database at all").unwrap();
    assert!(matches!(names(&path), Err(Error::NotADatabase)));
    fs::write(&path, b"SQLite format 3\0").unwrap();
    assert!(names(&path).is_err());
    let good = dir.path().join("good.db");
    drop(writer(&good, false));
    let mut bytes = listing(dir.path()).remove("good.db").unwrap().1;
    bytes.truncate(5000);
    bytes[100..4096].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    let before = listing(dir.path());
    assert!(names(&path).is_err());
    assert!(names(&dir.path().join("missing.db")).is_err());
    assert!(names(dir.path()).is_err());
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn a_database_about_to_be_made_is_empty_and_keeps_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    fs::write(&path, b"").unwrap();
    fs::write(beside(&path, "-wal"), [7; 100]).unwrap();
    let before = listing(dir.path());
    assert!(!read(&path, |db| db.table_exists("t")).unwrap());
    assert!(matches!(names(&path), Err(Error::Layout)));
    assert_eq!(listing(dir.path()), before);
}

#[test]
fn the_layout_can_be_asked_for_and_views_are_no_tables() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    writer(&path, false).execute_batch("CREATE VIEW v AS SELECT 1").unwrap();
    read(&path, |db| {
        assert!(db.table_exists("T").unwrap() && !db.table_exists("v").unwrap());
        assert_eq!(db.columns("t").unwrap(), ["id", "name"]);
        assert!(db.columns("none").unwrap().is_empty());
        Ok::<_, Error>(())
    })
    .unwrap();
}

#[test]
fn any_type_can_be_in_any_column() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    drop(writer(&path, false));
    read(&path, |db| {
        db.rows("SELECT NULL, 7, 2.5, ' 8 ', x'ff61', ?1, ?2", &[Param::Int(3), Param::Text("p")], |row| {
            assert_eq!((row.text(0), row.int(0), row.blob(0), row.real(0)), (None, None, None, None));
            assert_eq!((row.text(1).as_deref(), row.int(1)), (Some("7"), Some(7)));
            assert_eq!((row.int(2), row.real(2)), (Some(2), Some(2.5)));
            assert_eq!((row.int(3), row.blob(3)), (Some(8), Some(&b" 8 "[..])));
            assert_eq!((row.text(4).as_deref(), row.int(4)), (Some("\u{fffd}a"), None));
            assert_eq!((row.int(5), row.text(6).as_deref(), row.text(99)), (Some(3), Some("p"), None));
            assert!(row.flag(1) && !row.flag(0));
            Ok::<_, Error>(())
        })
    })
    .unwrap();
}

#[test]
fn a_query_without_end_is_stopped_and_nothing_can_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    drop(writer(&path, false));
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let found = read(&path, |db| {
        db.steps_left.store(1_000_000, Ordering::Relaxed);
        db.rows(endless, &[], |_| Ok::<_, Error>(()))
    });
    assert!(matches!(found, Err(Error::TooLong)));
    for sql in ["DELETE FROM t", "CREATE TABLE u(x)", "ATTACH 'y.db' AS y"] {
        assert!(read(&path, |db| db.rows(sql, &[], |_| Ok::<_, Error>(()))).is_err(), "{sql}");
    }
}

#[test]
fn a_change_during_a_read_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let c = writer(&path, true);
    let mut store = Store::at(&path);
    let count = |db: &Db| {
        let mut n = None;
        db.rows("SELECT count(*) FROM t", &[], |row| {
            n = row.int(0);
            Ok::<_, Error>(())
        })?;
        Ok::<_, Error>(n.unwrap_or(-1))
    };
    assert_eq!(store.read(count).unwrap(), 1);
    c.execute_batch("INSERT INTO t(name) VALUES('second')").unwrap();
    assert_eq!(store.read(count).unwrap(), 1, "one state for all steps");
    let mut runs = 0;
    let n = store.read(|db| {
        runs += 1;
        if runs == 1 {
            c.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
        count(db)
    });
    assert_eq!((n.unwrap(), runs), (2, 2));
    let always = store.read(|db| {
        c.execute_batch("INSERT INTO t(name) VALUES('more'); PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        count(db)
    });
    assert!(matches!(always, Err(Error::Changing)));
}
