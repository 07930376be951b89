//! `mcpreel mock`: a server that answers from a recording.
//!
//! * [`scenarios`]: what is recorded, what a host says, what it gets: `scenarios/*.toml`, without
//!   processes;
//! * [`again`]: clients that were recorded, run again: they see the same;
//! * [`mock_ending`]: how it ends, with which exit code, and what it says then;
//! * [`hosts`]: hosts that are slow, gone, or ask for more than there is;
//! * [`own`]: the recording of the session with it;
//! * [`time`]: answers that come later;
//! * [`tape`]: a cassette in the place of a recording.

mod again;
mod hosts;
mod mock_ending;
mod own;
mod scenarios;
mod tape;
mod time;

use crate::support::Library;
use crate::support::host_session::{Received, Session};
use crate::support::written;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Milliseconds, stream, what: a row of a recording in the short forms of `support/told.rs`.
type Row<S> = (u64, S, S);

/// Makes a recording of `rows`, the last of them complete, in a folder of its own within `dir`: it
/// says that it was made at another time than it is, so that a library could not say which is
/// newest.
fn record<S: AsRef<str>>(dir: &Path, rows: &[Row<S>]) -> PathBuf {
    let dir = dir.join("told");
    std::fs::create_dir_all(&dir).expect("a folder can be made");
    let mut session = written::Session::start(&dir, "told", 0x7f3a_9c21);
    for (ms, stream, what) in rows {
        // Nothing is on record at the very start but that start itself.
        session.at((ms + 1) * 1_000_000);
        match stream.as_ref() {
            "event" => session.event(&crate::told::event(what.as_ref())),
            stream => session.chunk(
                crate::told::stream_id(stream),
                &crate::told::bytes(what.as_ref()),
            ),
        }
    }
    session.status(None, None);
    session.finish()
}

/// Two calls of one tool.
const CALLS: [Row<&str>; 6] = [
    (
        0,
        "c2s",
        r#"request 1 tools/call {"name":"a","arguments":{"q":1}}"#,
    ),
    (1, "s2c", r#"result 1 {"n":1}"#),
    (
        2,
        "c2s",
        r#"request 2 tools/call {"name":"a","arguments":{"q":2}}"#,
    ),
    (3, "s2c", r#"result 2 {"n":2}"#),
    (4, "c2s", "request 3 tools/list"),
    (5, "s2c", r#"result 3 {"tools":[]}"#),
];

/// `mcpreel mock RECORDING OPTIONS…` with pipes on all three streams.
fn mock(library: &Library, recording: &Path, options: &[&str]) -> Command {
    let mut mock = library.mcpreel("mock");
    mock.arg(recording).args(options);
    mock.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    mock
}

/// What a host gets that says these lines and closes its side.
fn hears(mock: &mut Command, lines: &[&str]) -> Received {
    let session = Session::start(mock);
    for line in lines {
        tell(&session, line);
    }
    session.end()
}

/// Says a line to a mock; one that has gone hears nothing.
fn tell(session: &Session, line: &str) {
    use std::io::Write as _;
    let mut stdin = session.stdin.as_ref().expect("stdin is open");
    let _ = stdin.write_all(&crate::told::bytes(line));
}

/// Bytes as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
