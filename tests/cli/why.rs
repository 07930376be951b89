//! `why`: the cause of what went wrong in sessions that really did.

use super::{demo, refused, stdout};
use crate::support::Library;
use crate::support::host_session::{Received, Session};
use serde_json::Value;
use std::io::Write as _;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// What servers of a few lines of shell answer.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

/// The host keeps its side open until the server has ended: nobody has told it to.
fn stays(mut session: Session) -> Received {
    let stdin = session.stdin.take();
    let received = session.wait();
    drop(stdin);
    received
}

/// The causes of the newest recording.
fn causes(library: &Library) -> Vec<Value> {
    let causes = library.json(&["why"]);
    assert!(!causes.is_empty(), "it always says something");
    causes
}

#[track_caller]
fn assert_best(library: &Library, cause: &str, says: &str) {
    let causes = causes(library);
    assert_eq!(causes[0]["cause"], cause, "{causes:#?}");
    let sentence = causes[0]["sentence"].as_str().expect("it is text");
    assert!(sentence.contains(says), "{sentence}");
}

#[test]
fn a_command_that_is_not_there_is_told_with_the_path_that_was_searched() {
    let library = Library::new();
    let mut run = library.run(["no-such-server"]);
    run.env("PATH", "/nowhere:/bin");
    run.output().expect("mcpreel starts");
    assert_best(
        &library,
        "server-not-found",
        "no-such-server: command not found (searched PATH=/nowhere:/bin)",
    );
}

#[test]
fn a_server_that_dies_at_its_start_is_told_with_its_last_words() {
    let library = Library::new();
    let script = "echo 'Error: WEATHER_TOKEN is not set' >&2; exit 3";
    stays(Session::start(&mut library.run_sh(script)));
    let says = "stderr says: Error: WEATHER_TOKEN is not set";
    assert_best(&library, "died-at-start", says);
}

#[test]
fn a_server_that_crashes_in_a_call_is_told_with_the_call() {
    let library = Library::new();
    let script = format!("read a; echo '{ANSWER}'; read b; read c; kill -ABRT $$");
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"transfer"}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut run = library.run_sh(&script);
    let host = Session::start(&mut run);
    let mut stdin = host.stdin.as_ref().expect("stdin is open");
    for line in [INITIALIZE, ready, call] {
        writeln!(stdin, "{line}").expect("the server reads");
    }
    stays(host);
    assert_best(
        &library,
        "crashed",
        "was ended by SIGABRT in the middle of transfer (#",
    );
    let causes = causes(&library);
    assert_eq!(causes[0]["certainty"], "certain");
    assert_eq!(causes[0]["evidence"][0]["kind"], "frame");
    let frame = causes[0]["evidence"][0]["frame"].as_u64();
    let called = stdout(
        &library,
        &["show", &format!("@#{}", frame.expect("it has a place"))],
    );
    assert!(called.contains("transfer"), "{called}");
}

#[test]
fn people_are_told_the_cause_how_sure_it_is_where_it_shows_and_what_to_do() {
    let demo = demo();
    let id = demo.json(&["ls"])[0]["id"].as_str().expect("it has one")[..4].to_owned();
    let said = stdout(&demo, &["why"]);
    let names: Vec<_> = said
        .lines()
        .map(|line| &line[..line.len().min(9)])
        .collect();
    for name in ["why      ", "sure     ", "shown    ", "do       "] {
        assert!(names.contains(&name), "{name:?} is not in\n{said}");
    }
    // An address leads to its frame.
    let address = said
        .split_whitespace()
        .find(|word| word.starts_with(&id) && word.contains('#'));
    let address = address.unwrap_or_else(|| panic!("no address in\n{said}"));
    stdout(&demo, &["show", address]);
    refused(&demo, &["why", address], 2, "#SEQ names one frame");
}
