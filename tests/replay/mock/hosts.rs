//! Hosts that are slow, gone, or ask for more than there is.

use crate::mock::{CALLS, Row, mock, record, tell, text};
use crate::support::host_session::Session;
use crate::support::{Library, peak_memory, send, wait_for};
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::signal::Signal;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

const FIRST: &str = r#"request 1 tools/call {"name":"a","arguments":{"q":1}}"#;

/// A call whose answer fills any pipe.
fn large() -> [Row<String>; 2] {
    let answer = format!(r#"result 1 {{"text":"{}"}}"#, "x".repeat(5 << 20));
    let request = FIRST.to_owned();
    [
        (0, "c2s".to_owned(), request),
        (1, "s2c".to_owned(), answer),
    ]
}

/// A mock that has been asked for [`FIRST`], and what is open to ask for more.
fn asked(mock: &mut Command) -> (Child, ChildStdin) {
    let mut child = mock.spawn().expect("mcpreel starts");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    stdin
        .write_all(&crate::told::bytes(FIRST))
        .expect("it reads");
    (child, stdin)
}

#[test]
fn a_host_that_has_gone_is_no_reason_to_complain() {
    let library = Library::new();
    let recording = record(library.path(), &large());
    let (mut child, _stdin) = asked(&mut mock(&library, &recording, &[]));
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the child is ours");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr).lines().count(),
        1,
        "{}",
        text(&output.stderr)
    );
    let undelivered = library.events("undelivered");
    assert_eq!(undelivered[0]["stream"], "s2c", "{undelivered:?}");
}

#[test]
fn a_host_that_does_not_read_can_still_end_it() {
    let library = Library::new();
    let recording = record(library.path(), &large());
    let (mut child, _stdin) = asked(&mut mock(&library, &recording, &[]));
    // As much as a pipe takes has come: it waits for room, and a signal must wake it. Once it went
    // on to write after the signal, without room, and waited for ever.
    let out = child.stdout.take().expect("stdout is a pipe");
    let room = fcntl(&out, FcntlArg::F_GETPIPE_SZ).expect("it is a pipe");
    let room = u64::try_from(room).expect("it is a size");
    wait_for("a full pipe", || {
        let came = rustix::io::ioctl_fionread(&out).expect("it is a pipe");
        (came >= room).then_some(())
    });
    send(Signal::SIGTERM, child.id());
    let status = wait_for("its end", || child.try_wait().expect("the child is ours"));
    assert_eq!(status.signal(), Some(Signal::SIGTERM as i32));
    drop(out);
}

#[test]
fn a_host_that_reads_no_stderr_gets_its_answers() {
    let library = Library::new();
    let noise = "e".repeat(1 << 20);
    let rows = [
        (0, "c2s", FIRST),
        (1, "stderr", noise.as_str()),
        (2, "s2c", r#"result 1 {"n":1}"#),
    ];
    let recording = record(library.path(), &rows);
    let (mut child, stdin) = asked(&mut mock(&library, &recording, &["--stderr"]));
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    out.read_line(&mut line).expect("it answers");
    assert!(line.contains("\"n\":1"), "{line}");
    drop(stdin);
    let status = child.wait().expect("the child is ours");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_line_that_does_not_end_takes_no_memory_and_the_next_is_read() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let session = Session::start(&mut mock(&library, &recording, &[]));
    let mut stdin = session.stdin.as_ref().expect("stdin is open");
    let piece = vec![b'['; 1 << 20];
    for _ in 0..160 {
        stdin.write_all(&piece).expect("it reads");
    }
    tell(&session, "");
    tell(&session, FIRST);
    wait_for("the answer", || {
        session.out.contains(b"\"n\":1").then_some(())
    });
    let peak = peak_memory(session.child.id());
    assert!(peak.is_none_or(|peak| peak < 150 << 20), "{peak:?}");
    let received = session.end();
    assert!(
        text(&received.out).contains("longer than is read"),
        "{}",
        text(&received.out)
    );
}

#[test]
fn a_closed_stderr_and_a_folder_that_cannot_be_written_change_nothing() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let mut mock = mock(&library, &recording, &["--dir", "/dev/null/x"]);
    mock.stderr(Stdio::null());
    let (child, stdin) = asked(&mut mock);
    drop(stdin);
    let output = child.wait_with_output().expect("the child is ours");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("\"n\":1"));
}
