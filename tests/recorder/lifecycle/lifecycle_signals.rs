//! Signals: each reaches the server once, whichever way it came, as far as that can be told.

use crate::lifecycle::host::{Ended, Host, Recorder, rest};
use crate::support::{Library, MCPREEL, peer, wait_for};
use nix::pty::openpty;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

const PASSED_ON: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// A server that says which signals it has caught, and has said that it is ready.
fn catcher(arguments: &[&str]) -> Host {
    let peer = peer();
    let server = [peer.to_str().expect("it has a plain name"), "signals"];
    let mut host = Host::run(&[&server, arguments].concat());
    assert_eq!(host.hear(), "ready");
    host
}

fn is(signal: Signal) -> impl Fn(&Value) -> bool {
    move |event| event["signal"] == signal.as_str()
}

#[test]
fn a_signal_to_us_alone_is_passed_on_once_to_a_server_that_catches_it() {
    let mut host = catcher(&[]);
    for signal in PASSED_ON {
        host.signal(signal);
        assert_eq!(host.hear(), signal.as_str());
        let event = host.event("signal", is(signal));
        assert_eq!(event["sender"], std::process::id());
        assert_eq!(
            event["passed"], "perhaps-twice",
            "it cannot be told from a group signal"
        );
    }
    let ended = host.end();
    assert_eq!(
        (ended.out.as_str(), ended.status.code()),
        ("", Some(0)),
        "each once"
    );
}

#[test]
fn a_signal_to_us_alone_ends_a_server_that_does_not_catch_it() {
    for signal in PASSED_ON {
        let mut host = Host::run(&["cat"]);
        host.say("hello");
        assert_eq!(host.hear(), "hello");
        host.signal(signal);
        let _keeps_it_open = host.stdin.take();
        let ended = host.wait();
        assert_eq!(ended.status.signal(), Some(signal as i32));
        assert_eq!(ended.event("signal")["passed"], "once", "{signal}");
        assert_eq!(ended.event("exit")["signal"], signal.as_str());
    }
}

/// On a machine that is so busy that the server needs longer to end than it is given, it may be
/// told twice; not five times in a row.
#[test]
fn a_signal_to_the_group_is_not_passed_on_to_a_server_that_ends_of_it() {
    let attempt = || -> Ended {
        let mut host = catcher(&["once"]);
        host.signal_group(Signal::SIGTERM);
        assert_eq!(host.hear(), "SIGTERM");
        let _keeps_it_open = host.stdin.take();
        host.wait()
    };
    let in_time = (0..5).map(|_| attempt()).find(|ended| {
        assert_eq!((ended.out.as_str(), ended.status.code()), ("", Some(42)));
        ended.event("signal")["passed"] == "not-needed"
    });
    assert!(in_time.is_some(), "it was passed on every time");
}

/// The server may be gone before we look at the signal; its end was then on record, and what had
/// ended it was not.
#[test]
fn a_signal_to_the_group_that_ends_the_server_at_once_is_on_record() {
    for _ in 0..10 {
        let mut host = Host::run(&["cat"]);
        host.say("hello");
        assert_eq!(host.hear(), "hello");
        host.signal_group(Signal::SIGTERM);
        let _keeps_it_open = host.stdin.take();
        let ended = host.wait();
        assert_eq!(ended.status.signal(), Some(Signal::SIGTERM as i32));
        assert_eq!(ended.event("signal")["signal"], "SIGTERM");
    }
}

#[test]
fn a_signal_to_the_group_that_does_not_end_the_server_is_said_to_have_come_twice_perhaps() {
    let mut host = catcher(&[]);
    host.signal_group(Signal::SIGUSR1);
    assert_eq!(host.hear(), "SIGUSR1");
    host.event("signal", |event| event["passed"] == "perhaps-twice");
    let ended = host.end();
    // Two that wait for a busy server are one.
    assert!(
        ["", "SIGUSR1\n"].contains(&ended.out.as_str()),
        "{}",
        ended.out
    );
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored_for_both() {
    let library = Library::new();
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "trap '' HUP INT; exec \"$@\"",
        "sh",
        MCPREEL,
        "run",
        "sh",
        "-c",
    ]);
    command.arg("kill -HUP $$; kill -INT $$; echo alive; read -r line; echo \"still $line\"");
    command
        .env("MCPREEL_DIR", library.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut host = Host::start(library, command);
    assert_eq!(host.hear(), "alive", "the server ignores them");
    host.signal(Signal::SIGHUP);
    host.signal_group(Signal::SIGINT);
    host.say("here");
    assert_eq!(host.hear(), "still here");
    let ended = host.end();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(ended.library.events("signal"), Vec::<Value>::new());
}

/// The terminal has told the server already.
#[test]
fn a_signal_from_the_terminal_is_not_passed_on() {
    let terminal = openpty(None, None).expect("there are terminals");
    let library = Library::new();
    let mut command = Command::new("setsid");
    command
        .args(["--ctty", MCPREEL, "run"])
        .arg(peer())
        .arg("signals");
    command.env("MCPREEL_DIR", library.path());
    command
        .stdin(terminal.slave)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut recorder = Recorder(command.spawn().expect("setsid is part of every Linux"));
    drop(command);
    let mut out = recorder.0.stdout.take().expect("it is a pipe");
    let mut keyboard = File::from(terminal.master);
    assert_eq!(crate::lifecycle::host::line(&mut out), "ready");
    keyboard.write_all(b"\x03").expect("the terminal is open");
    assert_eq!(crate::lifecycle::host::line(&mut out), "SIGINT");
    let event = wait_for("the signal event", || {
        crate::lifecycle::host::events_so_far(&library)
            .into_iter()
            .find(is(Signal::SIGINT))
    });
    assert_eq!(
        (&event["passed"], event.get("sender")),
        (&json!("not-needed"), None)
    );
    keyboard.write_all(b"\x04").expect("the terminal is open");
    assert_eq!(rest(out), "", "it came once");
    assert!(recorder.0.wait().expect("it is ours").success());
}
