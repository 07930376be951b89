//! Servers that misbehave, as real processes: recordings made by hand, and a server that does what its
//! script says.

use crate::process::{Case, Row, SAME};

const ALL: &str = "--allow-side-effects";

/// The answers that the recorded server gave, given again.
#[track_caller]
fn alike(rows: &[Row<'_>], options: &[&str], script: &[&str]) {
    Case::new(rows).replay(options, script).is(0, &[SAME]);
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = ["ignore SIGTERM", r#"< "id":1"#, "> result 1", "sleep"];
    let replayed = Case::new(&rows).replay(&[], &script);
    replayed.is(1, &["was killed"]);
}

#[test]
fn a_server_that_does_not_read_hangs() {
    let call = r#"request 1 tools/call {"name":"big","arguments":{"text":"fill(300000)"}}"#;
    let rows = [(0, "c2s", call), (1, "s2c", "result 1")];
    let replayed = Case::new(&rows).replay(&[ALL, "--timeout", "1s"], &["sleep"]);
    replayed.is(5, &["hang", "tools/call big (#1)", "the write is blocked"]);
}

#[test]
fn a_server_that_says_nothing_hangs() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = ["err thinking about it", r#"< "id":1"#, "sleep"];
    let replayed = Case::new(&rows).replay(&["--timeout", "1s"], &script);
    replayed.is(5, &["hang", "a (#1)", "not blocked", "thinking about it"]);
}

#[test]
fn a_server_that_crashes_is_named_with_its_last_words() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (2, "c2s", r#"request 2 tools/call {"name":"boom"}"#),
        (3, "s2c", "result 2"),
        (4, "c2s", "request 3 c"),
        (5, "s2c", "result 3"),
    ];
    let script = [
        r#"< "id":1"#,
        "> result 1",
        "< boom",
        "err fatal: no",
        "raise SIGSEGV",
    ];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(
        4,
        &[
            "SIGSEGV",
            "after tools/call",
            "2 of 3 requests sent",
            "fatal: no",
        ],
    );
    let script = [r#"< "id":1"#, "> result 1", "exit 3"];
    Case::new(&rows)
        .replay(&[ALL], &script)
        .is(4, &["exit code 3"]);
}

#[test]
fn an_answer_of_five_megabytes_is_compared_whole() {
    let answer = r#"result 1 {"content":[{"type":"text","text":"fill(5000000)"}]}"#;
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", answer)];
    let say = format!("> {answer}");
    alike(&rows, &[], &[r#"< "id":1"#, &say]);
    let other = say.replace(")\"}", ")!\"}");
    Case::new(&rows)
        .replay(&[], &[r#"< "id":1"#, &other])
        .is(1, &["#1"]);
}

#[test]
fn redacted_values_have_to_be_supplied() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (
            2,
            "c2s",
            r#"request 2 tools/call {"name":"b","arguments":{"key":"‹secret:1›"}}"#,
        ),
        (3, "s2c", "result 2"),
    ];
    let script = [r#"< "id":1"#, "> result 1"];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(3, &["secret:1"]);
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< {"key":"hunter2"}"#,
        "> result 2",
    ];
    let case = Case::new(&rows);
    let mut command = case.command(&[ALL, "--bind", "secret:1=env:TOKEN"], &script);
    command.env("TOKEN", "hunter2");
    let replayed = crate::process::Replayed::of(&command.output().unwrap());
    replayed.is(0, &[SAME]);
}
