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

#[test]
fn what_was_used_and_what_was_not_is_said_at_the_end() {
    let received = asked(&[], &[FIRST, FIRST, NEW]);
    assert_eq!(received.status.code(), Some(0));
    assert_eq!(
        text(&received.err),
        "mcpreel: mock of 7f3a9c21: 1 of 3 recorded requests used, 1 repeated, 1 not on record\n\
         mcpreel:   missed: tools/call a: not on record with these params; the nearest is \
         7f3a9c21#1, which differs in params.arguments.q\n\
         mcpreel:   unused: #3 tools/call a, #5 tools/list\n"
    );
}

#[test]
fn what_came_of_it_is_said_to_programs_as_well() {
    let said = |options: &[&str], lines: &[&str]| {
        let options = [&["--format", "json"], options].concat();
        let received = asked(&options, lines);
        let err = text(&received.err);
        let said = err.lines().map(serde_json::from_str::<Value>);
        let said: Result<Vec<_>, _> = said.collect();
        (
            received.status.code(),
            said.unwrap_or_else(|error| panic!("{error}: {err}")),
        )
    };
    let (code, told) = said(&["--assert-no-miss"], &[FIRST, FIRST, NEW]);
    assert_eq!(code, Some(6));
    let summary = &told[0];
    assert_eq!(summary["kind"], "summary");
    assert_eq!(summary["recording"], "7f3a9c21");
    let numbers = ["recorded", "used", "requests", "served"].map(|key| summary[key].as_u64());
    assert_eq!(numbers, [3, 1, 3, 2].map(Some));
    let counts = &summary["counts"];
    for (key, number) in [("repeated", 1), ("missed", 1), ("unused", 2)] {
        assert_eq!(counts[key], number, "{counts}");
    }
    assert_eq!(summary["left_out"]["missed"], 0);
    assert_eq!(
        told[1..],
        [
            json!({
                "kind": "missed",
                "method": "tools/call",
                "name": "a",
                "reason": "params",
                "nearest": 1,
                "differs": ["params.arguments.q"],
                "text": "tools/call a: not on record with these params; the nearest is \
                         7f3a9c21#1, which differs in params.arguments.q",
            }),
            json!({"kind": "unused", "seq": 3, "method": "tools/call", "name": "a"}),
            json!({"kind": "unused", "seq": 5, "method": "tools/list", "name": null}),
            json!({"kind": "assertion", "assertion": "--assert-no-miss", "found": 1}),
        ]
    );
    // Of a list that is too long the rest is counted.
    let many: Vec<String> = (0..25)
        .map(|q| {
            NEW.replace("4 tools", &format!("{} tools", q + 10))
                .replace('7', &format!("{}", q + 100))
        })
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (code, told) = said(&[], &many);
    assert_eq!(code, Some(0));
    let of = |kind: &str| told.iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((of("missed"), of("summary")), (20, 1), "{told:?}");
    assert_eq!(told[0]["counts"]["missed"], 25);
    assert_eq!(told[0]["left_out"]["missed"], 5);
}

#[test]
fn an_assertion_that_does_not_hold_is_exit_code_6() {
    let all = &["--assert-all-used", "--assert-no-miss", "--assert-order"];
    let cases: [(&[&str], &[&str], i32, &str); 8] = [
        (all, &[FIRST, SECOND, LIST], 0, "3 of 3"),
        (&all[..1], &[FIRST, LIST], 6, "--assert-all-used: 1 unused"),
        (&all[1..2], &[NEW], 6, "--assert-no-miss: 1 not on record"),
        (
            &all[2..],
            &[SECOND, FIRST],
            6,
            "--assert-order: 1 out of order",
        ),
        (&all[1..], &[FIRST, LIST, SECOND], 0, "3 of 3"),
        (&["--on-miss", "exit"], &[NEW], 6, "1 not on record"),
        (
            &["--on-miss", "nearest", all[1]],
            &[NEW],
            6,
            "1 answered by the nearest",
        ),
        (&["--on-miss", "hang"], &[NEW], 0, "1 not on record"),
    ];
    for (options, lines, code, said) in cases {
        let received = asked(options, lines);
        let err = text(&received.err);
        assert_eq!(received.status.code(), Some(code), "{options:?}: {err}");
        assert!(err.contains(said), "{options:?}: {err}");
    }
}

#[test]
fn only_a_whole_recording_is_served() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    hears(&mut mock(&library, &recording, &[]), &[FIRST]);
    let received = hears(&mut mock(&library, "@#1".as_ref(), &[]), &[FIRST]);
    let err = text(&received.err);
    assert_eq!(received.status.code(), Some(2), "{err}");
    assert!(
        err.contains("a whole recording") && received.out.is_empty(),
        "{err}"
    );
}

#[test]
fn a_recording_that_cannot_be_served_is_exit_code_3_before_anything_is_served() {
    let library = Library::new();
    let file = library.path().join("notes.reel");
    std::fs::write(&file, "notes, long enough to have a header of their own")
        .expect("it can be written");
    let received = hears(&mut mock(&library, &file, &[]), &[FIRST]);
    assert_eq!(received.status.code(), Some(3), "{}", text(&received.err));
    let silent: [Row<&str>; 1] = [(0, "stderr", "nobody asked")];
    let redacted: [Row<&str>; 2] = [
        (
            0,
            "c2s",
            r#"request 1 tools/call {"name":"a","arguments":{"t":"‹secret:1›"}}"#,
        ),
        (1, "s2c", r#"result 1 {"user":"‹secret:2›"}"#),
    ];
    let bound = [
        "--bind",
        "secret:1=env:TOKEN",
        "--bind",
        "secret:3=env:TOKEN",
    ];
    for (rows, said) in [
        (&silent[..], "nothing in the recording to answer"),
        (&redacted, "secret:2:"),
    ] {
        let library = Library::new();
        let recording = record(library.path(), rows);
        let mut mock = mock(&library, &recording, &bound);
        let received = hears(mock.env("TOKEN", "t"), &[FIRST]);
        let err = text(&received.err);
        assert_eq!(received.status.code(), Some(3), "{err}");
        assert!(err.contains(said) && received.out.is_empty(), "{err}");
    }
}

#[test]
fn bound_secrets_come_from_the_environment() {
    let library = Library::new();
    let redacted: [Row<&str>; 2] = [
        (
            0,
            "c2s",
            r#"request 1 tools/call {"name":"a","arguments":{"t":"‹secret:1›"}}"#,
        ),
        (1, "s2c", r#"result 1 {"user":"‹secret:1›"}"#),
    ];
    let recording = record(library.path(), &redacted);
    let mut mock = mock(
        &library,
        &recording,
        &["--bind", "secret:1=env:TOKEN", "--assert-no-miss"],
    );
    let line = r#"request 1 tools/call {"name":"a","arguments":{"t":"hunter2"}}"#;
    let received = hears(mock.env("TOKEN", "hunter2"), &[line]);
    assert_eq!(received.status.code(), Some(0), "{}", text(&received.err));
    assert_eq!(
        text(&received.out),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"user\":\"hunter2\"}}\n"
    );
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
        signal_to(&session, signal);
        let received = session.wait();
        assert_eq!(received.status.signal(), Some(signal as i32));
        assert!(text(&received.err).contains("1 of 3 recorded requests used"));
        let newest = library.json(&["ls"]).swap_remove(0);
        assert_eq!(
            (&newest["origin"], &newest["state"]),
            (&"mock".into(), &"complete".into())
        );
        assert_eq!(library.events("signal")[0]["signal"], signal.as_str());
        assert_eq!(library.events("exit")[0]["signal"], signal.as_str());
    }
}

fn signal_to(session: &Session, signal: Signal) {
    let pid = i32::try_from(session.child.id()).expect("a process id is small");
    kill(Pid::from_raw(pid), signal).expect("it can be signalled");
}

#[test]
fn it_dies_as_the_recorded_server_did_or_by_way_of_a_fault() {
    let ends = [("exit 3", Some(3), None), ("exit SIGKILL", None, Some(9))];
    for (end, code, signal) in ends {
        let library = Library::new();
        let rows = [(0, "c2s", FIRST), (1, "event", end)];
        let recording = record(library.path(), &rows);
        let received = hears(&mut mock(&library, &recording, &[]), &[FIRST]);
        let err = text(&received.err);
        assert_eq!(
            (received.status.code(), received.status.signal()),
            (code, signal),
            "{err}"
        );
        assert!(err.contains("1 of 1 recorded request used"), "{err}");
    }
    let received = asked(&["--fault", "tool:a -> crash"], &[LIST, FIRST]);
    assert_eq!(received.status.signal(), Some(Signal::SIGABRT as i32));
    assert!(text(&received.out).contains("\"tools\":[]"));
}

#[test]
fn hostile_texts_are_escaped_on_stderr() {
    let line = "request 1 tools/call {\"name\":\"\\u001b[31m\\u202e\"}";
    let received = asked(&[], &[line]);
    let err = text(&received.err);
    assert!(err.contains("\\x1b[31m\\u{202e}"), "{err}");
    assert!(!received.err.contains(&0x1b), "{err}");
}
