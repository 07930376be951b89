//! How it ends, with which exit code, and what it says then.

use crate::mock::{CALLS, Row, hears, mock, record, tell, text};
use crate::support::host_session::{Received, Session};
use crate::support::{Library, wait_for};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt as _;

const FIRST: &str = r#"request 1 tools/call {"name":"a","arguments":{"q":1}}"#;
const SECOND: &str = r#"request 2 tools/call {"name":"a","arguments":{"q":2}}"#;
const LIST: &str = "request 3 tools/list";
const NEW: &str = r#"request 4 tools/call {"name":"a","arguments":{"q":7}}"#;

fn asked(options: &[&str], lines: &[&str]) -> Received {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    hears(&mut mock(&library, &recording, options), lines)
}

type Words<'w> = &'w [&'w str];

#[test]
fn what_was_used_and_what_was_not_is_said_at_the_end_and_decides_the_exit_code() {
    let all = &["--assert-all-used", "--assert-no-miss", "--assert-order"];
    let hostile = r#"request 1 tools/call {"name":"\u001b[31m\u202e"}"#;
    let cases: [(Words<'_>, Words<'_>, i32, Words<'_>); 11] = [
        (
            &[],
            &[FIRST, FIRST, NEW],
            0,
            &[
                "mock of 7f3a9c21: 1 of 3 recorded requests used, 1 repeated, 1 not on record\n",
                "missed: tools/call a: not on record with these params; the nearest is \
                 7f3a9c21#1, which differs in params.arguments.q\n",
                "unused: #3 tools/call a\n",
                "unused: #5 tools/list\n",
            ],
        ),
        (all, &[FIRST, SECOND, LIST], 0, &["3 of 3"]),
        (
            &all[..1],
            &[FIRST, LIST],
            6,
            &["--assert-all-used: 1 unused"],
        ),
        (
            &all[1..2],
            &[NEW],
            6,
            &["--assert-no-miss: 1 not on record"],
        ),
        (
            &all[2..],
            &[SECOND, FIRST],
            6,
            &["--assert-order: 1 out of order"],
        ),
        (&all[1..], &[FIRST, LIST, SECOND], 0, &["3 of 3"]),
        (&["--on-miss", "exit"], &[NEW], 6, &["1 not on record"]),
        (
            &["--on-miss", "nearest", all[1]],
            &[NEW],
            6,
            &["1 answered by the nearest"],
        ),
        (&["--once", all[1]], &[FIRST, FIRST], 6, &["has been used"]),
        (&["--on-miss", "hang"], &[NEW], 0, &["1 not on record"]),
        (&[], &[hostile], 0, &["\\x1b[31m\\u{202e}"]),
    ];
    for (options, lines, code, said) in cases {
        let received = asked(options, lines);
        let err = text(&received.err);
        assert_eq!(received.status.code(), Some(code), "{options:?}: {err}");
        let missing = said.iter().find(|part| !err.contains(**part));
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
        (&redacted, 3, "secret:2"),
    ] {
        let received = hears(&mut mock(&library, recording, &[]), &[FIRST]);
        let err = text(&received.err);
        assert_eq!(received.status.code(), Some(code), "{err}");
        assert!(err.contains(said) && received.out.is_empty(), "{err}");
    }
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
        let pid = i32::try_from(session.child.id()).expect("a process id is small");
        kill(Pid::from_raw(pid), signal).expect("it can be signalled");
        let received = session.wait();
        assert_eq!(received.status.signal(), Some(signal as i32));
        assert!(text(&received.err).contains("1 of 3 recorded requests used"));
        let newest = library.json(&["ls"]).swap_remove(0);
        assert_eq!([&newest["origin"], &newest["state"]], ["mock", "complete"]);
        assert_eq!(library.events("signal")[0]["signal"], signal.as_str());
        assert_eq!(library.events("exit")[0]["signal"], signal.as_str());
    }
}
