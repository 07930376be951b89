//! Who closes what, and who is told.

use crate::lifecycle::host::{Host, line, pass, timed};
use crate::support::wait_for;
use nix::sys::signal::Signal;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

#[test]
fn the_hosts_end_of_file_reaches_the_server_at_once_and_late_answers_still_arrive() {
    let mut host = Host::sh(
        "while read -r line; do :; done; echo ended
         until [ -e late ]; do sleep 0.01; done; echo late; exit 4",
    );
    host.say("hello");
    drop(host.stdin.take());
    assert_eq!(host.hear(), "ended");
    host.touch("late");
    assert_eq!(host.hear(), "late");
    let ended = host.end();
    assert_eq!(ended.status.code(), Some(4));
    assert_eq!(ended.closer("c2s"), "writer");
}

#[test]
fn a_server_that_ignores_the_end_of_file_is_relayed_until_the_host_ends_it() {
    let mut host = Host::sh(
        "while read -r line; do :; done; echo deaf
         until [ -e late ]; do sleep 0.01; done; echo late; while :; do sleep 0.05; done",
    );
    drop(host.stdin.take());
    assert_eq!(host.hear(), "deaf");
    // Longer than anything that is ever waited for once the server has gone.
    pass(Duration::from_millis(3_200));
    host.touch("late");
    assert_eq!(host.hear(), "late", "no deadline is imposed on a server");
    host.signal(Signal::SIGTERM);
    let ended = host.wait();
    assert_eq!(ended.status.signal(), Some(Signal::SIGTERM as i32));
    assert_eq!(ended.event("exit")["signal"], "SIGTERM");
}

#[test]
fn a_server_that_closes_its_stdout_is_waited_for_and_goes_on_reading() {
    let mut host = Host::sh("exec >&-; read -r line; echo \"got $line\" >&2; exit 5");
    assert_eq!(host.hear(), "", "the host sees the end of stdout");
    host.say("hello");
    let ended = host.wait();
    assert_eq!(
        (ended.err.as_str(), ended.status.code()),
        ("got hello\n", Some(5))
    );
    assert_eq!(ended.closer("s2c"), "writer");
}

#[test]
fn a_server_that_closes_its_stderr_goes_on_answering() {
    let mut host = Host::sh("exec 2>&-; read -r line; echo \"got $line\"");
    let mut stderr = host.stderr.take().expect("it is a pipe");
    assert_eq!(line(&mut stderr), "", "the host sees the end of stderr");
    host.say("hello");
    assert_eq!(host.hear(), "got hello");
    assert_eq!(host.end().closer("stderr"), "writer");
}

#[test]
fn a_server_that_closes_its_stdin_makes_the_hosts_writes_fail() {
    let mut host = Host::sh("exec <&-; echo closed; until [ -e go ]; do sleep 0.01; done");
    assert_eq!(host.hear(), "closed");
    let stdin = host.stdin.as_mut().expect("it is open");
    let error = wait_for("a broken pipe", || stdin.write_all(b"hello\n").err());
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    host.touch("go");
    let ended = host.wait();
    assert!(ended.status.success());
    assert_eq!(ended.closer("c2s"), "reader");
}

/// Nothing is written when the host goes: it has to be noticed without traffic.
#[test]
fn a_host_that_closes_stdout_is_noticed_while_the_server_is_silent() {
    gone_reader(
        "echo ready; until [ -e go ]; do sleep 0.01; done; echo lost; exit 0",
        "s2c",
    );
}

#[test]
fn a_host_that_closes_stderr_is_noticed_while_the_server_is_silent() {
    gone_reader(
        "echo ready; until [ -e go ]; do sleep 0.01; done; echo lost >&2; exit 0",
        "stderr",
    );
}

/// `server` says that it is ready, and writes to `stream` once it may.
fn gone_reader(server: &str, stream: &str) {
    let mut host = Host::sh(server);
    assert_eq!(host.hear(), "ready");
    match stream {
        "s2c" => drop(host.stdout.take()),
        _ => drop(host.stderr.take()),
    }
    host.event("eof", |event| {
        event["stream"] == stream && event["by"] == "reader"
    });
    assert!(host.runs(), "the server has a life of its own");
    host.touch("go");
    let ended = host.wait();
    assert_eq!(
        ended.status.signal(),
        Some(Signal::SIGPIPE as i32),
        "as without a recorder"
    );
    assert_eq!(ended.event("exit")["signal"], "SIGPIPE");
}

#[test]
fn a_host_that_vanishes_takes_both_with_it() {
    let mut host = Host::sh("echo ready; while read -r line; do :; done; echo bye; exit 6");
    assert_eq!(host.hear(), "ready");
    drop((host.stdin.take(), host.stdout.take(), host.stderr.take()));
    let (ended, took) = timed(|| host.wait());
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    // It depends on which of the three it is told first.
    let by_pipe = ended.status.signal() == Some(Signal::SIGPIPE as i32);
    assert!(
        by_pipe || ended.status.code() == Some(6),
        "{}",
        ended.status
    );
}
