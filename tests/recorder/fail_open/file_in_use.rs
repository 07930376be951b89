//! Somebody else holds the recording, or has damaged it.

use crate::fail_open::echo::{ECHO, Echo};
use crate::support::{Library, text, wait_for};
use rusqlite::{Connection, OpenFlags};

/// A connection to the recording that is being made, once it has its tables.
fn connect(library: &Library) -> Connection {
    wait_for("the recording", || {
        let reel = library.files("reel").pop()?;
        let conn = Connection::open_with_flags(reel, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
        conn.query_row("SELECT id FROM recording", [], |_| Ok(()))
            .ok()?;
        Some(conn)
    })
}

fn lock(conn: &Connection) {
    wait_for("the lock", || conn.execute_batch("BEGIN EXCLUSIVE").ok());
}

#[test]
fn a_file_that_is_locked_to_the_end_delays_nothing_and_is_completed_later() {
    let library = Library::new();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let conn = connect(&library);
    lock(&conn);
    echo.exchange(1000);
    wait_for("a warning", || {
        echo.exchange(1);
        echo.is_warned().then_some(())
    });
    echo.exchange(1000);
    let ended = echo.end();
    ended.assert_one_warning(&["locked", ".spool"]);
    let ls = library.mcpreel("ls").output().expect("mcpreel starts");
    assert!(ls.status.success(), "{}", text(&ls));
    conn.execute_batch("ROLLBACK").expect("it is ours");
    drop(conn);
    assert_eq!(ended.missing(&library), [0; 3]);
    assert_eq!(library.json(&["show", "@"])[0]["state"], "complete");
    assert!(library.files("spool").is_empty());
}

#[test]
fn a_file_that_is_locked_for_a_while_lacks_nothing_and_nobody_is_told() {
    let library = Library::new();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let conn = connect(&library);
    lock(&conn);
    echo.exchange(1000);
    // Longer than the recorder waits for a lock.
    std::thread::sleep(std::time::Duration::from_millis(250));
    conn.execute_batch("ROLLBACK").expect("it is ours");
    let frames = "SELECT sum(length(raw)) FROM frame";
    wait_for("what was sent under the lock", || {
        echo.exchange(1);
        let bytes: i64 = conn.query_row(frames, [], |row| row.get(0)).ok()?;
        usize::try_from(bytes)
            .is_ok_and(|bytes| bytes > echo.sent.len())
            .then_some(())
    });
    drop(conn);
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    assert_eq!(ended.missing(&library), [0; 3]);
}

#[test]
fn a_file_that_somebody_damages_is_made_anew() {
    let library = Library::new();
    let mut echo = Echo::start(&mut library.run(ECHO));
    echo.exchange(300);
    let conn = connect(&library);
    wait_for("the recorder to be idle", || {
        let frames = "SELECT count(*) FROM frame";
        let frames: i64 = conn.query_row(frames, [], |row| row.get(0)).ok()?;
        (frames == 3 * 300).then_some(())
    });
    // Otherwise the recorder has all that matters in its memory and in the WAL.
    wait_for("an empty WAL", || {
        conn.execute_batch("UPDATE recording SET note = 'damaged'")
            .ok()?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = conn.query_row(checkpoint, [], |row| row.get(0)).ok()?;
        (busy == 0).then_some(())
    });
    drop(conn);
    let reel = library.files("reel").remove(0);
    std::fs::write(&reel, "x".repeat(200_000)).expect("it can be written");
    echo.exchange(1000);
    let ended = echo.end();
    assert_eq!(ended.warnings, [""; 0]);
    assert_eq!(ended.missing(&library), [0; 3]);
    assert!(library.events("warning")[0].to_string().contains("anew"));
}
