//! A finished recording is one ordinary file, also when somebody was looking at it at the end.

use crate::support::host_session::Session;
use crate::support::pieces::Pieces;
use crate::support::{Library, text, wait_for};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// A session with lines enough for several pages; returns what was sent, the viewer still there.
fn session_watched_by<V>(library: &Library, watch: impl FnOnce(&Path) -> V) -> (Vec<u8>, V) {
    let session = Session::start(&mut library.run(["cat"]));
    let sent = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n".repeat(2000);
    session.send(&Pieces(vec![sent.clone()]));
    let reel = wait_for("a recording with frames", || {
        let reel = library.files("reel").pop()?;
        let frames: i64 = viewer(&reel)
            .ok()?
            .query_row("SELECT count(*) FROM frame", [], |row| row.get(0))
            .ok()?;
        (frames > 0).then_some(reel)
    });
    let viewer = watch(&reel);
    session.send(&Pieces(vec![sent.clone()]));
    assert!(session.end().status.success());
    (sent.repeat(2), viewer)
}

/// A connection as a viewer has it.
fn viewer(reel: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(reel, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// The only file in the folder, once the indexer has seen that nobody is in its way.
fn only_file(library: &Library) -> PathBuf {
    wait_for("one file", || {
        let files = std::fs::read_dir(library.path()).expect("the folder can be listed");
        let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
        (files.len() == 1).then(|| files.remove(0))
    })
}

/// Fails unless the folder holds one plain file with all of `sent`, wherever it is copied to.
fn assert_one_plain_file(library: &Library, sent: &[u8]) {
    let reel = only_file(library);
    // The log goes before the file says so.
    wait_for("a file that has left WAL mode", || {
        let header = std::fs::read(&reel).expect("it can be read");
        (header[18..20] == [1, 1]).then_some(())
    });
    let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
    let copy = elsewhere.path().join("copy.reel");
    std::fs::copy(&reel, &copy).expect("it can be copied");
    let conn = viewer(&copy).expect("it is a database");
    let ask = |sql: &str| {
        conn.query_row(sql, [], |row| row.get::<_, String>(0))
            .expect("it answers")
    };
    assert_eq!(ask("PRAGMA integrity_check"), "ok");
    assert_eq!(ask("SELECT state FROM recording"), "complete");
    for stream in ["c2s", "s2c"] {
        assert!(library.stream(stream) == sent, "{stream}");
    }
    only_file(library);
}

fn next_command(library: &Library) {
    let output = library.mcpreel("show").output().expect("mcpreel starts");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_recording_that_nobody_looks_at_is_one_plain_file() {
    let library = Library::new();
    let (sent, ()) = session_watched_by(&library, |_| ());
    next_command(&library);
    assert_one_plain_file(&library, &sent);
}

#[test]
fn a_viewer_that_is_idle_at_the_end_leaves_one_plain_file() {
    let library = Library::new();
    let (sent, viewer) = session_watched_by(&library, |reel| {
        let conn = viewer(reel).expect("it is a database");
        conn.query_row("SELECT id FROM recording", [], |_| Ok(()))
            .expect("it answers");
        conn
    });
    drop(viewer);
    next_command(&library);
    assert_one_plain_file(&library, &sent);
}

#[test]
fn a_viewer_in_the_middle_of_reading_at_the_end_leaves_one_plain_file() {
    let library = Library::new();
    let (sent, viewer) = session_watched_by(&library, |reel| {
        let conn = viewer(reel).expect("it is a database");
        conn.execute_batch("BEGIN; SELECT count(*) FROM frame")
            .expect("it answers");
        conn
    });
    // It still sees what it saw, and whoever comes now sees all of it.
    viewer
        .execute_batch("SELECT count(*) FROM frame")
        .expect("it answers");
    next_command(&library);
    assert!(library.stream("s2c") == sent);
    drop(viewer);
    next_command(&library);
    assert_one_plain_file(&library, &sent);
}

#[test]
fn a_viewer_that_lets_go_when_it_is_complete_leaves_one_plain_file() {
    let library = Library::new();
    let (sent, viewer) = session_watched_by(&library, |reel| {
        let conn = viewer(reel).expect("it is a database");
        std::thread::spawn(move || {
            wait_for("the end", || {
                let state = conn.query_row("SELECT state FROM recording", [], |row| {
                    row.get::<_, String>(0)
                });
                // While the recorder switches the mode it holds the file.
                (state.is_ok_and(|state| state != "live")).then_some(())
            });
        })
    });
    next_command(&library);
    viewer.join().expect("it has seen the end");
    next_command(&library);
    assert_one_plain_file(&library, &sent);
}
