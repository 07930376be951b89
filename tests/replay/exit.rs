//! How the command ends, and what it says.

use crate::process::{Case, Replayed, Row, SAME};
use crate::support::{MCPREEL, terminal::Terminal, wait_for};
use mcpreel_trace::event::EventKind;
use std::process::Stdio;

const PLAIN: [Row<'static>; 2] = [(0, "c2s", "request 1 a"), (1, "s2c", r#"result 1 {"n":1}"#)];

const CALLS: [Row<'static>; 6] = [
    (0, "c2s", "request 1 tools/list"),
    (
        1,
        "s2c",
        r#"result 1 {"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"make"}]}"#,
    ),
    (2, "c2s", r#"request 2 tools/call {"name":"look"}"#),
    (3, "s2c", "result 2"),
    (4, "c2s", r#"request 3 tools/call {"name":"make"}"#),
    (5, "s2c", "result 3"),
];

const LIST: &str =
    r#"> result 1 {"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"make"}]}"#;

#[test]
fn a_replay_without_a_difference_is_0_and_one_with_a_difference_is_1() {
    let case = Case::new(&PLAIN);
    let say = |what| [r#"< "id":1"#, what];
    case.replay(&[], &say(r#"> result 1 {"n":1}"#)).is(0, &[]);
    case.replay(&[], &say(r#"> result 1 {"n":"x"}"#)).is(1, &[]);
    case.replay(&[], &say("> error 1 -32603")).is(1, &[]);
}

#[test]
fn wrong_arguments_are_2_with_the_way_out_and_nothing_is_started() {
    let case = Case::new(&PLAIN);
    for (options, way_out) in [
        (&["--order", "random"][..], "causal"),
        (&["--only", "is:wrong"], "is:"),
        (&["--until", "x"], "its number"),
        (&["--until", "3"], "the recording ends with #2"),
        (&["--edit", "1:params.a=Oslo"], "double quotes"),
        (&["--edit", "2:params.a=1"], "no request"),
        (&["--bind", "secret:1=hunter2"], "env:TOKEN"),
        (&["--rewrite", "/home"], "/tmp/copy"),
        (&["--timeout", "9"], "500ms"),
        (&["--edit", "1:id=99"], "not edited"),
        (&["--edit", "1:params.a.b=1"], "no such place"),
        (&["--edit", "1:method.x=1"], "no such place"),
        (&["--edit", "1:result.x=1"], "no such place"),
        (&["--speed", "0"], "0.5"),
        (&["--speed", "2"], "--order timed"),
        (&["--max-gap", "2s"], "--order timed"),
        (&["--on-server-request", "maybe"], "stub"),
    ] {
        let replayed = case.replay(options, &["err started"]);
        assert_eq!(replayed.code, Some(2), "{options:?}: {replayed:?}");
        assert!(replayed.err.contains(way_out), "{options:?}: {replayed:?}");
        assert!(!replayed.err.contains("started"), "{replayed:?}");
    }
    assert_eq!(case.library.files("reel").len(), 1, "nothing was recorded");
}

/// An edit that changes nothing would pass for one that changes no answer.
#[test]
fn an_edit_that_has_no_place_is_2() {
    let case = Case::new(&CALLS);
    for (options, why) in [
        (
            &["--until", "2", "--edit", r#"3:params.name="x""#][..],
            "after --until",
        ),
        (
            &["--only", "tool:look", "--edit", r#"5:params.name="x""#],
            "fit --only",
        ),
        (
            &["--edit", "3:params.arguments.deep.er=1"],
            "params.arguments.deep.er: the request has no such place",
        ),
    ] {
        let said = case.replay(options, &[]);
        assert_eq!(said.code, Some(2), "{options:?}: {said:?}");
        assert!(said.err.contains(why), "{options:?}: {said:?}");
    }
}

#[test]
fn a_server_that_dies_again_does_the_same_but_not_without_a_word() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 b"),
    ];
    let end = EventKind::Exit {
        code: Some(9),
        signal: None,
        max_rss_bytes: 0,
        user_ns: 0,
        system_ns: 0,
    };
    let script = [r#"< "id":1"#, "> result 1", r#"< "id":2"#, "exit 9"];
    let said = "the server ended with exit code 9, after b, as in the recording";
    Case::ended(&rows, &end).replay(&[], &script).is(0, &[said]);
}

#[test]
fn what_cannot_be_used_is_3_and_so_is_nothing_to_compare() {
    let case = Case::new(&PLAIN);
    let shaken = Case::new(&[
        (0, "c2s", "request 1 initialize"),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 a"),
        (3, "s2c", "result 2"),
    ]);
    for case in [&case, &shaken] {
        let said = case.replay(&["--only", "method:nothing"], &[]);
        said.is(3, &[]);
        assert!(
            said.err.contains("no request of the client fits"),
            "{said:?}"
        );
    }
    let empty = Case::new(&[(0, "stderr", "hello")]);
    empty.replay(&[], &[]).is(3, &[]);
    let broken = case.library.path().join("broken.reel");
    std::fs::write(&broken, "no recording").unwrap();
    let mut replay = case.library.mcpreel("replay");
    let output = replay.arg(&broken).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_server_that_cannot_be_started_is_4() {
    let case = Case::new(&PLAIN);
    let mut command = case.library.mcpreel("replay");
    command.arg(&case.recording).args(["--", "no-such-server"]);
    let replayed = Replayed::of(&command.output().unwrap());
    assert_eq!(replayed.code, Some(4), "{replayed:?}");
    assert!(replayed.out.contains("no-such-server"), "{replayed:?}");
}

#[test]
fn calls_that_may_do_something_are_refused_with_7_and_allowed_by_name() {
    let case = Case::new(&CALLS);
    let look = [r#"< "id":1"#, LIST, "< look", "> result 2"];
    let refused = case.replay(&[], &look);
    refused.is(7, &["make", "#5", "--allow-tool"]);
    let both: Vec<_> = look.into_iter().chain(["< make", "> result 3"]).collect();
    case.replay(&["--allow-tool", "make"], &both).is(0, &[SAME]);
    case.replay(&["--allow-side-effects"], &both).is(0, &[SAME]);
}

#[test]
fn on_a_terminal_one_yes_allows_what_was_listed() {
    let case = Case::new(&CALLS);
    let script = [
        r#"< "id":1"#,
        LIST,
        "< look",
        "> result 2",
        "< make",
        "> result 3",
    ];
    for (answer, verdict) in [("yes\r", "3 of 3 requests sent"), ("no\r", "1 call: make")] {
        let peer = crate::support::peer();
        let recording = case.recording.to_str().unwrap();
        let mut arguments = vec!["replay", recording, "--", peer.to_str().unwrap(), "script"];
        arguments.extend(script);
        let dir = case.library.path().to_str().unwrap();
        let environment = [("HOME", dir), ("MCPREEL_DIR", dir)];
        let mut terminal = Terminal::start(MCPREEL, &arguments, &environment, (100, 30));
        wait_for("the question", || {
            let text = terminal.text();
            (text.contains("make, 1 call") && text.contains("Call them?")).then_some(())
        });
        terminal.press(answer);
        wait_for("the verdict", || {
            terminal.text().contains(verdict).then_some(())
        });
    }
}

#[test]
fn what_is_worse_decides_how_it_ends() {
    let case = Case::new(&CALLS);
    let crash = [r#"< "id":1"#, LIST, "< look", "exit 9"];
    // The call of `make` was never reached, so only the crash is there.
    case.replay(&[], &crash).is(4, &["exit code 9"]);
    let later = Case::new(&[CALLS[0], CALLS[1], CALLS[4], CALLS[5], CALLS[2], CALLS[3]]);
    later.replay(&[], &crash).is(7, &["exit code 9", "make"]);
    let differs = [r#"< "id":1"#, LIST, "< look", r"> error 2 -32603"];
    later.replay(&[], &differs).is(7, &[]);
}

#[test]
fn who_interrupts_gets_what_was_found_and_the_server_is_ended() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 b"),
        (3, "s2c", "result 2"),
    ];
    for (signal, code) in [
        (nix::sys::signal::Signal::SIGINT, 130),
        (nix::sys::signal::Signal::SIGTERM, 143),
    ] {
        let case = Case::new(&rows);
        let script = [
            r#"< "id":1"#,
            "> result 1",
            r#"< "id":2"#,
            "> notify notifications/so-far",
        ];
        let mut command = case.command(&[], &script);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
        wait_for("the server has the second request", || {
            let spool = case.library.files("spool").pop()?;
            let bytes = std::fs::read(spool).ok()?;
            let text = br#""method":"notifications/so-far""#;
            bytes
                .windows(text.len())
                .any(|part| part == text)
                .then_some(())
        });
        nix::sys::signal::kill(pid, signal).unwrap();
        let replayed = Replayed::of(&child.wait_with_output().unwrap());
        let parts = ["2 of 2 requests sent, 1 answered", "stopped before its end"];
        replayed.is(code, &parts);
        assert!(case.made().exists());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_and_loses_no_verdict() {
    let case = Case::new(&PLAIN);
    for (answer, code) in [
        (r#"> result 1 {"n":1}"#, 0),
        (r#"> result 1 {"n":"x"}"#, 1),
        ("exit 9", 4),
    ] {
        for options in [&[][..], &["--json"], &["--format", "junit"]] {
            let mut command = case.command(options, &[r#"< "id":1"#, answer]);
            let (unread, stdout) = std::io::pipe().unwrap();
            drop(unread);
            let status = command.stdout(stdout).status().unwrap();
            assert_eq!(status.code(), Some(code), "{answer} {options:?}");
        }
    }
}

#[test]
fn the_result_is_on_stdout_and_progress_only_on_a_terminal() {
    let case = Case::new(&PLAIN);
    let replayed = case.replay(
        &[],
        &[r#"< "id":1"#, r#"> result 1 {"n":1}"#, "err its words"],
    );
    replayed.is(0, &["recording", "mcpreel open"]);
    assert_eq!(
        replayed.err, "",
        "the server's words are on record, not here"
    );
}
