//! How the command ends where it takes a terminal, a signal or a pipe that nobody reads, and what it
//! says to programs.

use crate::process::{Case, Replayed, Row};
use crate::support::{MCPREEL, peer, send, terminal::Terminal, wait_for};
use nix::sys::signal::Signal;
use serde_json::Value;
use std::process::Stdio;

const PLAIN: [Row<'static>; 2] = [(0, "c2s", "request 1 a"), (1, "s2c", r#"result 1 {"n":1}"#)];

#[test]
fn what_is_no_recording_is_3_and_a_server_that_cannot_be_started_is_4() {
    let case = Case::new(&PLAIN);
    let broken = case.library.path().join("broken.reel");
    std::fs::write(&broken, "no recording").unwrap();
    for (recording, code, said) in [
        (&broken, 3, "broken.reel"),
        (&case.recording, 4, "no-such-server"),
    ] {
        let mut command = case.library.mcpreel("replay");
        command.arg(recording).args(["--", "no-such-server"]);
        let replayed = Replayed::of(&command.output().unwrap());
        assert_eq!(replayed.code, Some(code), "{replayed:?}");
        let all = replayed.out + &replayed.err;
        assert!(all.contains(said), "{all}");
    }
}

#[test]
fn on_a_terminal_one_yes_allows_what_was_listed() {
    let case = Case::new(&[
        (0, "c2s", r#"request 1 tools/call {"name":"make"}"#),
        (1, "s2c", "result 1"),
    ]);
    for (answer, verdict) in [("yes\r", "1 of 1 request sent"), ("no\r", "1 call: make")] {
        let (peer, recording) = (peer(), case.recording.to_str().unwrap());
        let server = [
            "--",
            peer.to_str().unwrap(),
            "script",
            "< make",
            "> result 1",
        ];
        let arguments = [&["replay", recording][..], &server].concat();
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
fn who_interrupts_gets_what_was_found_and_the_server_is_ended() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 b"),
        (3, "s2c", "result 2"),
    ];
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< "id":2"#,
        "> notify so-far",
    ];
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let case = Case::new(&rows);
        let mut command = case.command(&[], &script);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        wait_for("the server has the second request", || {
            let spool = case.library.files("spool").pop()?;
            let bytes = std::fs::read(spool).ok()?;
            let text = br#""method":"so-far""#;
            memchr::memmem::find(&bytes, text).map(|_| ())
        });
        send(signal, child.id());
        let replayed = Replayed::of(&child.wait_with_output().unwrap());
        let parts = ["2 of 2 requests sent, 1 answered", "stopped before its end"];
        replayed.is(code, &parts);
        assert!(case.made().exists());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure_and_loses_no_verdict() {
    let case = Case::new(&PLAIN);
    for (options, answer, code) in [
        (&[][..], r#"> result 1 {"n":1}"#, 0),
        (&["--json"], r#"> result 1 {"n":"x"}"#, 1),
        (&["--format", "junit"], "exit 9", 4),
    ] {
        let mut command = case.command(options, &[r#"< "id":1"#, answer]);
        let (unread, stdout) = std::io::pipe().unwrap();
        drop(unread);
        let status = command.stdout(stdout).status().unwrap();
        assert_eq!(status.code(), Some(code), "{answer} {options:?}");
    }
}

#[test]
fn programs_get_an_object_per_line() {
    let case = Case::new(&PLAIN);
    let script = [r#"< "id":1"#, r#"> result 1 {"n":2}"#];
    let replayed = case.replay(&["--format", "json"], &script);
    let lines = replayed.is(1, &[]).out.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| lines.iter().find(|line| line["kind"] == kind).unwrap();
    assert_eq!(of("summary")["exit_code"], 1);
    let difference = of("difference");
    assert_eq!(difference["class"], "changed");
    assert_eq!(difference["left"], 1);
    assert_eq!(difference["path"], "result.n");
    let open = difference["open"][0].as_str().unwrap();
    assert!(open.starts_with("mcpreel open"), "{open}");
    let replay = of("replay");
    assert_eq!([&replay["sent"], &replay["answered"]], [1, 1]);
    assert_eq!(replay["path"], case.made().to_str().unwrap());
}

#[test]
fn where_a_replay_fails_the_variables_that_were_set_then_and_are_not_now_are_named() {
    let mut case = Case::new(&PLAIN);
    let script = |answer| [r#"< "id":1"#, answer];
    let (same, other) = (
        script(r#"> result 1 {"n":1}"#),
        script(r#"> result 1 {"n":2}"#),
    );
    let mut then = case.command(&[], &same);
    then.env("ADA_TOKEN", "x").env("SSH_TTY", "/dev/pts/1");
    assert!(then.status().unwrap().success());
    case.recording = case.made();
    let names = |replayed: Replayed| replayed.err.contains("ADA_TOKEN");
    let failed = case.replay(&[], &other);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.err.contains("not now: ADA_TOKEN\n"), "{failed:?}");
    let again = case.command(&[], &other).env("ADA_TOKEN", "y").output();
    let told = [Replayed::of(&again.unwrap()), case.replay(&[], &same)].map(names);
    assert_eq!(told, [false; 2], "they are set, or nothing fails");
}

/// Once every run was a test of its own.
#[test]
fn reports_and_annotations_are_about_the_cassette() {
    let (case, _) = Case::taped(&PLAIN);
    let folder = case.library.path().canonicalize().unwrap();
    let cassette = folder.join("told.jsonl");
    for (format, said) in [
        ("junit", "<testsuite name=\"told.jsonl\""),
        ("github", "::error file=told.jsonl,"),
    ] {
        let mut command = case.library.mcpreel("replay");
        command.args(["--format", format]).arg(&cassette);
        command.args(["--", "false"]).current_dir(&folder);
        let out = Replayed::of(&command.stdin(Stdio::null()).output().unwrap()).out;
        assert!(out.contains(said), "{out}");
    }
}
