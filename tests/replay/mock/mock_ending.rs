//! How it ends, with which exit code, and what it says then.

use crate::mock::{CALLS, Row, hears, mock, record, tell, text};
use crate::support::host_session::{Received, Session};
use crate::support::{Library, send, wait_for};
use nix::sys::signal::Signal;
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt as _;

const FIRST: &str = r#"request 1 tools/call {"name":"a","arguments":{"q":1}}"#;
const NEW: &str = r#"request 4 tools/call {"name":"a","arguments":{"q":7}}"#;

fn asked(options: &[&str], lines: &[&str]) -> Received {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    hears(&mut mock(&library, &recording, options), lines)
}

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    options: Vec<String>,
    lines: Vec<String>,
    exit: i32,
    says: Vec<String>,
}

#[test]
fn what_was_used_and_what_was_not_is_said_at_the_end_and_decides_the_exit_code() {
    let line = |name: &String| match name.as_str() {
        "first" => FIRST,
        "second" => r#"request 2 tools/call {"name":"a","arguments":{"q":2}}"#,
        "list" => "request 3 tools/list",
        "new" => NEW,
        _ => r#"request 1 tools/call {"name":"\u001b[31m\u202e"}"#,
    };
    let cases: Cases = toml::from_str(include_str!("ending.toml")).expect("it is TOML");
    for case in cases.cases {
        let options: Vec<_> = case.options.iter().map(String::as_str).collect();
        let lines: Vec<_> = case.lines.iter().map(line).collect();
        let received = asked(&options, &lines);
        let err = text(&received.err);
        assert_eq!(
            received.status.code(),
            Some(case.exit),
            "{options:?}: {err}"
        );
        let missing = case.says.iter().find(|part| !err.contains(part.as_str()));
        assert_eq!(missing, None, "{options:?}: {err}");
        assert!(!err.contains('\u{1b}'), "{err}");
    }
}

#[test]
fn what_came_of_it_is_said_to_programs_as_well() {
    let many = (0..25).map(|q| NEW.replace("\"q\":7", &format!("\"q\":{}", q + 100)));
    let many: Vec<_> = [FIRST, FIRST]
        .map(str::to_owned)
        .into_iter()
        .chain(many)
        .collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let received = asked(&["--format", "json", "--assert-no-miss"], &many);
    assert_eq!(received.status.code(), Some(6));
    let err = text(&received.err);
    let told = err.lines().map(serde_json::from_str::<Value>);
    let told: Vec<_> = told.map(|line| line.expect("each line is JSON")).collect();
    let summary = &told[0];
    assert_eq!(
        [&summary["kind"], &summary["recording"]],
        ["summary", "7f3a9c21"]
    );
    let numbers = ["recorded", "used", "requests", "served"].map(|key| summary[key].as_u64());
    assert_eq!(numbers, [3, 1, 27, 2].map(Some));
    let counts = ["repeated", "missed", "unused"].map(|key| summary["counts"][key].as_u64());
    assert_eq!(counts, [1, 25, 2].map(Some));
    let mut missed = told[1].clone();
    missed["text"].take();
    assert_eq!(
        missed,
        json!({"kind": "missed", "method": "tools/call", "name": "a", "reason": "params",
               "nearest": 1, "differs": ["params.arguments.q"], "text": null})
    );
    assert_eq!(
        told[21..],
        [
            json!({"kind": "unused", "seq": 3, "method": "tools/call", "name": "a"}),
            json!({"kind": "unused", "seq": 5, "method": "tools/list", "name": null}),
            json!({"kind": "assertion", "assertion": "--assert-no-miss", "found": 25}),
        ]
    );
}

#[test]
fn a_recording_that_cannot_be_served_is_refused_before_anything_is_served() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let notes = library.path().join("notes.reel");
    std::fs::write(&notes, "notes, long enough to have a header of their own")
        .expect("it can be written");
    let made = |rows: &[Row<&str>]| {
        let library = Library::new();
        (record(library.path(), rows), library)
    };
    let (silent, _one) = made(&[(0, "stderr", "nobody asked")]);
    let redacted = r#"request 1 tools/call {"name":"a","arguments":{"t":"‹secret:2›"}}"#;
    let (redacted, _other) = made(&[(0, "c2s", redacted)]);
    let part = format!("{}#1", recording.display());
    for (recording, code, said) in [
        (part.as_ref(), 2, "a whole recording"),
        (notes.as_path(), 3, "notes.reel"),
        (&silent, 3, "nothing in the recording to answer"),
    ] {
        let received = hears(&mut mock(&library, recording, &[]), &[FIRST]);
        let err = text(&received.err);
        assert_eq!(received.status.code(), Some(code), "{err}");
        assert!(err.contains(said) && received.out.is_empty(), "{err}");
    }
    let err = text(&hears(&mut mock(&library, &redacted, &[]), &[FIRST]).err);
    assert!(err.contains("--bind secret:2="), "it is served: {err}");
}

#[test]
fn a_signal_ends_it_as_it_ends_a_server_and_the_report_is_said() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let library = Library::new();
        let recording = record(library.path(), &CALLS);
        let session = Session::start(&mut mock(&library, &recording, &["--assert-all-used"]));
        tell(&session, FIRST);
        wait_for("the answer", || {
            session.out.contains(b"\"n\":1").then_some(())
        });
        send(signal, session.child.id());
        let received = session.wait();
        assert_eq!(received.status.signal(), Some(signal as i32));
        assert!(text(&received.err).contains("1 of 3 recorded requests used"));
        assert_eq!(library.events("signal")[0]["signal"], signal.as_str());
        // A list does not wait until it is complete, as what is shown alone does.
        let newest = library.json(&["ls"]).swap_remove(0);
        assert_eq!([&newest["origin"], &newest["state"]], ["mock", "complete"]);
        assert_eq!(library.events("exit")[0]["signal"], signal.as_str());
    }
}
