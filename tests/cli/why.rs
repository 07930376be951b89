//! `why`: the cause of what went wrong in sessions that really did.

use super::{demo, refusal, stdout};
use crate::support::host_session::{Received, Session};
use crate::support::{Library, peer};
use serde_json::Value;
use std::io::Write as _;
use std::process::Command;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// What servers of a few lines of shell answer.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

/// The host sends each line, waits until something with the word beside it has come, and leaves.
fn session(run: &mut Command, lines: &[(&str, &str)]) -> Received {
    let session = Session::start(run);
    let mut stdin = session.stdin.as_ref().expect("stdin is open");
    for (line, until) in lines {
        writeln!(stdin, "{line}").expect("the server reads");
        crate::support::wait_for(until, || {
            session.out.contains(until.as_bytes()).then_some(())
        });
    }
    session.end()
}

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
        "no-such-server is in none of the folders of PATH (/nowhere, /bin)",
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
fn where_nothing_is_wrong_it_says_so_and_what_that_rests_on() {
    let library = Library::new();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let mut run = library.run([peer().as_os_str(), "rmcp-server".as_ref()]);
    let lines = [(INITIALIZE, "serverInfo"), (ready, ""), (list, "steps")];
    session(&mut run, &lines);
    let says = "nothing wrong was found: 2 of 2 requests answered, none failed";
    assert_best(&library, "nothing-wrong", says);
    let said = stdout(&library, &["why"]);
    assert!(said.contains("the two agreed on 2025-11-25"), "{said}");
    assert!(!said.contains("sure"), "{said}");
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
    let (code, refused) = refusal(&demo, &["why", address]);
    assert_eq!(code, Some(2), "{refused}");
    assert!(refused.contains("leave out #SEQ"), "{refused}");
}

#[test]
fn of_requests_that_were_not_followed_nobody_says_that_they_were_not_answered() {
    const REQUESTS: usize = 6000;
    let library = Library::new();
    let mut requests = String::new();
    for id in 0..REQUESTS {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        requests.push_str(&request);
        requests.push('\n');
    }
    let path = library.path().join("requests");
    std::fs::write(&path, requests).expect("it can be written");
    // All of them are answered, but not before the last has come.
    let mut run = library.run_sh(r#"tac | sed 's/"method":"ping"/"result":{}/'"#);
    let requests = std::fs::File::open(&path).expect("it is there");
    run.stdin(requests).output().expect("mcpreel starts");
    assert_best(
        &library,
        "nothing-wrong",
        "of 6 000 requests not all were followed",
    );
    let rows = library.json(&["show", "-q", "status:given-up"]);
    let given_up = rows.len();
    assert!(given_up > 1000 && given_up < REQUESTS, "{given_up}");
    let found = library.json(&["lint", "@", "--fail-on", "never"]);
    let strays = found
        .iter()
        .filter(|row| row["rule"] == "response-unknown-id");
    assert_eq!(strays.count(), 0);
    let row = &library.json(&["stats"])[0];
    assert_eq!(
        (&row["given_up"], &row["failed"]),
        (&given_up.into(), &0.into())
    );
    let row = &library.json(&["ls"])[0];
    assert_eq!((&row["open"], &row["failed"]), (&0.into(), &0.into()));
}

#[test]
fn a_refused_probe_for_the_newer_era_has_failed_nowhere() {
    let library = Library::new();
    let refusal =
        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32601,"message":"no such method"}}"#;
    let script = format!("read a; echo '{refusal}'; read b; echo '{ANSWER}'; cat >/dev/null");
    let probe = r#"{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let lines = [(probe, "-32601"), (INITIALIZE, "serverInfo"), (ready, "")];
    session(&mut library.run_sh(&script), &lines);
    let says = "2 of 2 requests answered, none failed";
    assert_best(&library, "nothing-wrong", says);
    assert_eq!(library.json(&["ls"])[0]["failed"], 0);
    let refused = ["show", "@", "--exchanges", "-q", "status:error"];
    assert_eq!(library.json(&refused).len(), 1);
    let failed = library
        .mcpreel("show")
        .args(["@", "-q", "is:failed", "--json"])
        .output();
    let failed = failed.expect("mcpreel starts");
    assert!(
        failed.stdout.is_empty(),
        "{}",
        crate::support::text(&failed)
    );
}

#[test]
fn a_recording_outside_the_folder_whose_recorder_was_killed_is_named_as_that() {
    let (library, elsewhere) = (Library::new(), Library::new());
    let script = format!("read a; echo '{ANSWER}'; cat >/dev/null");
    let mut run = elsewhere.run_sh(&script);
    let mut host = Session::start(&mut run);
    let mut stdin = host.stdin.as_ref().expect("stdin is open");
    writeln!(stdin, "{INITIALIZE}").expect("the server reads");
    crate::support::wait_for("the answer", || {
        host.out.contains(b"serverInfo").then_some(())
    });
    // As soon as it is a recording, its recorder is killed.
    crate::support::wait_for("a message on record", || {
        let summary = elsewhere.json(&["show", "@"]);
        (summary[0]["messages"].as_u64() > Some(0)).then_some(())
    });
    host.child.kill().expect("the recorder runs");
    host.wait();
    let path = elsewhere.files("reel").remove(0);
    let path = path.to_str().expect("its name is text");
    let causes = library.json(&["why", path]);
    assert_eq!(causes[0]["cause"], "cannot-say", "{causes:#?}");
    let sentence = causes[0]["sentence"].as_str().expect("it is text");
    assert!(
        sentence.contains("the recording stops in the middle of the session"),
        "{sentence}"
    );
    assert_eq!(library.json(&["show", path])[0]["state"], "interrupted");
    for command in ["why", "show", "lint"] {
        let output = library.mcpreel(command).arg(path).output();
        let output = crate::support::text(&output.expect("mcpreel starts"));
        assert!(output.contains("interrupted"), "{command}: {output}");
        assert!(!output.contains("live"), "{command}: {output}");
        assert!(output.contains("--dir"), "{command}: {output}");
    }
    // In its own folder it is completed.
    assert_eq!(elsewhere.json(&["show", "@"])[0]["state"], "recovered");
}
