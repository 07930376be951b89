//! How we end: as the server did, or with a code that says why it never ran.

use crate::lifecycle::host::{Ended, Host, timed};
use crate::support::{Library, MCPREEL};
use nix::sys::signal::Signal;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

#[test]
fn the_servers_exit_code_is_ours() {
    let ended = Host::sh("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; exit 3").wait();
    assert_eq!(ended.status.code(), Some(3));
    let exit = ended.event("exit");
    assert_eq!(
        (&exit["code"], &exit["signal"]),
        (&3.into(), &serde_json::Value::Null)
    );
    let measured = |key: &str| exit[key].as_u64().expect("it is a number");
    assert!(
        measured("max_rss_bytes") > 100_000,
        "a shell takes more than 100 kB: {exit}"
    );
    assert!(
        measured("user_ns") + measured("system_ns") > 1_000_000,
        "it has counted: {exit}"
    );
}

#[test]
fn the_signal_that_kills_the_server_kills_us() {
    for signal in [
        Signal::SIGKILL,
        Signal::SIGSEGV,
        Signal::SIGTERM,
        Signal::SIGABRT,
    ] {
        let name = signal.as_str().trim_start_matches("SIG");
        let ended = Host::sh(&format!("ulimit -c 0; kill -{name} $$")).wait();
        assert_eq!(ended.status.signal(), Some(signal as i32));
        assert_eq!(ended.event("exit")["signal"], signal.as_str());
    }
}

/// The server's core file is its own affair; a second one, of the recorder, would mislead.
#[test]
fn we_leave_no_core_file() {
    let library = Library::new();
    let mut limits = std::process::Command::new("sh");
    limits.args(["-c", "ulimit -c unlimited 2>/dev/null; exec \"$@\"", "sh"]);
    limits
        .arg(MCPREEL)
        .args(["run", "sh", "-c", "ulimit -c 0; kill -SEGV $$"]);
    limits.env("MCPREEL_DIR", library.path());
    let ended = Host::start(library, limits).wait();
    assert_eq!(ended.status.signal(), Some(Signal::SIGSEGV as i32));
    assert!(!ended.status.core_dumped());
}

/// The kernel then forgets how a child ended, unless it is told otherwise.
#[test]
fn the_exit_code_is_known_although_the_host_ignores_the_end_of_children() {
    let library = Library::new();
    let mut command = std::process::Command::new("env");
    command.args(["--ignore-signal=CHLD", MCPREEL, "run", "sh", "-c", "exit 3"]);
    command.env("MCPREEL_DIR", library.path());
    let ended = Host::start(library, command).wait();
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(ended.event("exit")["code"], 3);
}

/// The bound is a quarter of a second; a busy machine gets five attempts at twice that, since what
/// is to be told apart is the second that is waited for survivors.
#[test]
fn we_end_with_the_server_although_the_host_is_still_there() {
    let attempt = || {
        let mut host = Host::sh("echo ready; read -r line; exit 7");
        assert_eq!(host.hear(), "ready");
        host.say("end");
        let _keeps_it_open = host.stdin.take();
        let (ended, took) = timed(|| host.wait());
        assert_eq!(ended.status.code(), Some(7));
        took
    };
    let in_time = (0..5).any(|_| attempt() < Duration::from_millis(500));
    assert!(in_time, "it took longer every time");
}

#[test]
fn a_command_that_is_not_found_is_127_and_says_where_it_was_looked_for() {
    let ended = refused("no-such-server", 127);
    assert!(ended.err.contains("PATH"), "{}", ended.err);
    refused("./no-such-server", 127);
}

#[test]
fn a_script_without_its_interpreter_is_127_and_says_so() {
    let ended = refused_script("#!/no/such/interpreter\n", 0o755, 127);
    assert!(ended.err.contains("interpreter"), "{}", ended.err);
}

#[test]
fn a_file_that_cannot_be_executed_is_126() {
    refused_script("#!/bin/sh\n", 0o644, 126);
    refused("/", 126);
}

/// Our own failure: no descriptors are left for the pipes.
#[test]
fn what_fails_before_the_start_is_125() {
    let library = Library::new();
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "ulimit -n 8; exec \"$@\"",
        "sh",
        crate::support::MCPREEL,
    ]);
    command
        .args(["run", "cat"])
        .env("MCPREEL_DIR", library.path());
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    says_why(Host::start(library, command), "cat", 125);
}

fn refused_script(text: &str, mode: u32, code: u8) -> Ended {
    let library = Library::new();
    let script = library.path().join("server");
    std::fs::write(&script, text).expect("the folder can be written");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).expect("it is ours");
    let command = library.run([&script]);
    says_why(Host::start(library, command), "server", code)
}

fn refused(command: &str, code: u8) -> Ended {
    says_why(Host::run(&[command]), command, code)
}

/// One line on stderr that names the command, the code, and a recording that has both.
fn says_why(host: Host, command: &str, code: u8) -> Ended {
    let ended = host.end();
    assert_eq!(ended.status.code(), Some(i32::from(code)), "{}", ended.err);
    assert_eq!(ended.out, "");
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(
        ended.err.starts_with("mcpreel: ") && ended.err.contains(command),
        "{}",
        ended.err
    );
    let event = ended.event("spawn-failed");
    assert_eq!(event["exit_code"], code);
    let message = event["message"].as_str().expect("it is text");
    assert!(
        ended.err.contains(message),
        "{message} is not {}",
        ended.err
    );
    ended
}
