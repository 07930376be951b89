//! A cassette in the place of a recording: the same comes out, and nothing of it is left.

use crate::mock::{CALLS, hears, mock, record, tell};
use crate::support::host_session::Session;
use crate::support::{Library, send, text, wait_for};
use nix::sys::signal::Signal;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

const FIRST: &str = r#"request "x" tools/call {"name":"a","arguments":{"q":1}}"#;
const NEW: &str = r#"request 4 tools/call {"name":"a","arguments":{"q":7}}"#;

/// The recording of two calls, and a cassette of it.
fn both(library: &Library) -> [PathBuf; 2] {
    let recording = record(library.path(), &CALLS);
    let cassette = library.path().join("calls.jsonl");
    let mut export = library.mcpreel("export");
    export.args(["--raw", "--format", "jsonl", "--output"]);
    let output = export.arg(&cassette).arg(&recording).output();
    let output = output.expect("mcpreel starts");
    assert!(output.status.success(), "{}", text(&output));
    [recording, cassette]
}

/// What stands in the folder for temporary files.
fn temporary(dir: &Path) -> usize {
    std::fs::read_dir(dir).map_or(0, Iterator::count)
}

#[test]
fn a_cassette_is_served_as_the_recording_that_it_was_made_of() {
    let library = Library::new();
    let lines = [FIRST, NEW, "request 3 tools/list"];
    let [one, other] = both(&library).map(|file| {
        let temp = Library::new();
        let mut mock = mock(&library, &file, &["--assert-no-miss"]);
        let received = hears(mock.env("TMPDIR", temp.path()), &lines);
        assert_eq!(received.status.code(), Some(6));
        assert_eq!(temporary(temp.path()), 0);
        crate::mock::text(&received.out)
    });
    // Only its name is its own: nobody could open the id of what was made of it.
    assert_eq!(one.replace("7f3a9c21", "calls.jsonl"), other);
    assert_eq!(one.lines().count(), 3, "{one}");
}

#[test]
fn a_signal_leaves_nothing_of_a_cassette_behind() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let (library, temp) = (Library::new(), Library::new());
        let [_, cassette] = both(&library);
        let mut mock = mock(&library, &cassette, &[]);
        let session = Session::start(mock.env("TMPDIR", temp.path()));
        tell(&session, FIRST);
        wait_for("the answer", || {
            session.out.contains(b"\"n\":1").then_some(())
        });
        assert_eq!(temporary(temp.path()), 1);
        send(signal, session.child.id());
        let received = session.wait();
        assert_eq!(received.status.signal(), Some(signal as i32));
        assert!(crate::mock::text(&received.err).contains("1 of 3 recorded requests used"));
        assert_eq!(temporary(temp.path()), 0);
    }
}
