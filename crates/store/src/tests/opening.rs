//! Files that cannot be read say why, and are left alone.

use super::written_session::*;
use crate::open::OpenError;
use crate::reader::{ReadError, Recording};
use crate::schema::State;
use mcpreel_trace::frame::Seq;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

fn recorded_file(dir: &Path) -> PathBuf {
    let mut session = Session::start(dir, "weather", 1);
    busy_session(&mut session, 2000, 1000);
    session.end();
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    indexer.finish(State::Complete).unwrap();
    std::fs::remove_file(crate::library::spool_of(&session.reel)).unwrap();
    session.reel.clone()
}

fn error_of(path: &Path) -> OpenError {
    let opened = Recording::open(path).and_then(|recording| recording.summary());
    match opened {
        Err(ReadError::Open(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_file_that_is_no_recording_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.reel");
    assert!(matches!(error_of(&path), OpenError::Missing { .. }));
    std::fs::write(&path, "").unwrap();
    assert!(matches!(error_of(&path), OpenError::Empty { .. }));
    for content in [&b"notes"[..], &b"x".repeat(20_000)] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(error_of(&path), OpenError::NotSqlite { .. }));
    }
    std::fs::remove_file(&path).unwrap();
    let foreign = Connection::open(&path).unwrap();
    foreign.execute_batch("CREATE TABLE t (x)").unwrap();
    drop(foreign);
    assert!(matches!(error_of(&path), OpenError::Foreign { .. }));
}

#[test]
fn a_damaged_file_says_so_and_opens_as_far_as_it_can() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded_file(dir.path());
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let recording = Recording::open(&path);
    let far = recording.as_ref().map_or(0, |recording| {
        recording.heads(Seq(0), 5).map_or(0, |heads| heads.len())
    });
    let fault = recording.and_then(|recording| {
        let frames = recording.summary()?.frames;
        (1..=frames).try_for_each(|seq| recording.raw(Seq(seq)).map(drop))
    });
    assert_eq!(far, 5, "{fault:?}");
    assert!(
        matches!(fault, Err(ReadError::Open(OpenError::Damaged { .. }))),
        "{fault:?}"
    );
}

#[test]
fn a_pipe_in_place_of_a_file_is_named_and_not_waited_for() {
    use crate::library::{Library, Standing, spool_of};
    let dir = tempfile::tempdir().unwrap();
    let fifo = |path: &Path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fifo(&dir.path().join("a.reel"));
    fifo(&dir.path().join("b.spool"));
    let reel = recorded_file(dir.path());
    fifo(&spool_of(&reel));
    let entries = Library::new(dir.path()).list().unwrap();
    assert_eq!(entries.len(), 3);
    let readable = |entry: &&crate::library::Entry| entry.standing != Standing::Unreadable;
    assert_eq!(entries.iter().filter(readable).count(), 1);
    assert!(matches!(
        error_of(&dir.path().join("a.reel")),
        OpenError::Io { .. }
    ));
    fifo(&crate::open::beside(&reel, "-journal"));
    assert!(matches!(error_of(&reel), OpenError::Io { .. }));
}

#[test]
fn an_id_is_eight_hex_digits_or_the_file_is_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded_file(dir.path());
    let conn = Connection::open(&path).unwrap();
    let sql = "UPDATE recording SET id = char(27) || ']0;x' || char(7)";
    conn.execute(sql, []).unwrap();
    drop(conn);
    let message = error_of(&path).to_string();
    assert!(message.contains("is damaged"), "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

/// Statements that make a recording's schema another one.
const CRAFTED: [(&str, &str); 6] = [
    (
        "view",
        "DROP TABLE annotation; CREATE VIEW annotation AS
         WITH RECURSIVE r (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x FROM r",
    ),
    (
        "trigger",
        "CREATE TRIGGER t AFTER DELETE ON message BEGIN DELETE FROM finding; END",
    ),
    (
        "column",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql,
         'note            TEXT,', 'note TEXT AS (hex(zeroblob(400000000))),')
         WHERE name = 'recording'",
    ),
    (
        "case",
        "DROP TABLE annotation; CREATE TABLE Annotation (id AS (hex(zeroblob(4e8))), x)",
    ),
    ("index", "CREATE INDEX i ON message (hex(zeroblob(4)))"),
    (
        "name",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET name = 'x', tbl_name = 'x',
         sql = replace(sql, 'note     TEXT', 'note     TEXT AS (hex(zeroblob(4e8)))')
         WHERE name = 'annotation'",
    ),
];

#[test]
fn a_schema_that_no_recording_has_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let genuine = recorded_file(dir.path());
    for (what, sql) in CRAFTED {
        let path = dir.path().join(format!("{what}.reel"));
        std::fs::copy(&genuine, &path).unwrap();
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(sql).unwrap();
        drop(conn);
        let error = error_of(&path);
        assert!(
            matches!(error, OpenError::Damaged { .. }),
            "{what}: {error:?}"
        );
        let error = crate::open::writable(&path).unwrap_err();
        assert!(
            matches!(error, OpenError::Damaged { .. }),
            "{what}: {error:?}"
        );
    }
}

#[test]
fn a_copy_of_a_live_recording_is_read_without_leaving_anything_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut session = Session::start(dir.path(), "weather", 1);
    busy_session(&mut session, 3, 1000);
    let mut indexer = session.indexer();
    drain(&mut indexer, &bytes(u64::MAX));
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("a b#c?.reel");
    std::fs::copy(&session.reel, &copy).unwrap();
    let recording = Recording::open(&copy).unwrap();
    assert_eq!(recording.summary().unwrap().state, State::Live);
    drop(recording);
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[test]
fn what_another_version_derived_is_derived_anew_without_touching_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = recorded_file(dir.path());
    let expected = derived(&path);
    let older = Connection::open(&path).unwrap();
    older
        .execute_batch("UPDATE recording SET derived_version = 0; DELETE FROM exchange;")
        .unwrap();
    drop(older);
    let before = std::fs::read(&path).unwrap();
    let recording = Recording::open(&path).unwrap();
    let summary = recording.summary().unwrap();
    assert!(summary.derived);
    let mut exchanges = 0;
    recording.each_exchange(|_| exchanges += 1).unwrap();
    assert_eq!(exchanges, summary.exchanges);
    drop(recording);
    assert!(std::fs::read(&path).unwrap() == before);
    crate::indexer::derive::reindex(&path, &mut |_| ()).unwrap();
    assert_same(&derived(&path), &expected);
}
