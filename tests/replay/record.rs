//! What a replay leaves on record.

use crate::process::{Case, Replayed, SAME, stream};
use crate::support::{self, wait_for};
use crate::told;
use nix::sys::signal::Signal;
use std::process::Stdio;

#[test]
fn a_replay_is_a_recording_of_its_own_that_names_its_parent() {
    let rows = [
        (0, "c2s", r#"request 1 a {"x": 1.50 }"#),
        (1, "s2c", "result 1"),
        (2, "c2s", "notify notifications/odd"),
    ];
    let case = Case::new(&rows);
    let script = [r#"< "id":1"#, "err some words", "> result 1"];
    case.replay(&[], &script).is(0, &[]);
    let made = case.made();
    let summary = case.library.json(&["show", made.to_str().unwrap()]);
    assert_eq!(summary[0]["origin"], "replay");
    assert_eq!(summary[0]["parent"], "7f3a9c21");
    assert_eq!(summary[0]["name"], "told");
    let sent = [rows[0].2, rows[2].2].map(told::bytes).concat();
    assert_eq!(stream(&case.library, &made, "c2s"), sent);
    assert_eq!(stream(&case.library, &made, "s2c"), told::bytes(rows[1].2));
    assert_eq!(stream(&case.library, &made, "stderr"), b"some words\n");
    let events = case
        .library
        .json(&["show", made.to_str().unwrap(), "--events"]);
    let kinds: Vec<_> = events
        .iter()
        .filter_map(|event| event["kind"].as_str())
        .collect();
    for kind in ["start", "spawned", "eof", "exit"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[test]
fn a_cassette_is_replayed_like_the_recording_that_it_was_made_of() {
    let (mut case, recording) = Case::taped(&[
        (0, "c2s", "request 1 a"),
        (1, "s2c", r#"request 1 elicitation/create {"minimum": 14}"#),
        (2, "c2s", "result 1"),
        (3, "s2c", "result 1"),
    ]);
    let script = [
        r#"< "id":1"#,
        r#"> request 1 elicitation/create {"minimum": 14}"#,
        r#"< "result""#,
        "> result 1",
    ];
    case.replay(&[], &script).is(0, &[SAME]);
    case.recording = recording;
    let made = case.library.json(&["show", case.made().to_str().unwrap()]);
    assert!(made[0]["parent"].is_null(), "{made:?}");
    let file = case.library.path().join("told.jsonl");
    assert_eq!(made[0]["context"]["played"], file.to_str().unwrap());
    let shown = case.library.mcpreel("show").arg(case.made()).output();
    let shown = support::text(&shown.unwrap());
    assert!(
        shown.contains("replay of") && shown.contains("told.jsonl"),
        "{shown}"
    );
}

/// What a file is called is the business of whoever called it so.
#[test]
fn which_cassette_was_replayed_is_not_handed_on() {
    let (mut case, recording) = Case::taped(&[(0, "c2s", "request 1 a"), (1, "s2c", "result 1")]);
    case.replay(&[], &[r#"< "id":1"#, "> result 1"])
        .is(0, &[SAME]);
    case.recording = recording;
    let made = case.made();
    for format in ["recording", "jsonl", "html", "markdown", "otlp"] {
        let handed_on = case.library.path().join(format!("handed-on.{format}"));
        let mut export = case.library.mcpreel("export");
        export.arg(&made).args(["--format", format, "-o"]);
        assert!(export.arg(&handed_on).status().unwrap().success());
        let bytes = std::fs::read(&handed_on).unwrap();
        let found = memchr::memmem::find(&bytes, b"told.jsonl");
        assert_eq!(found, None, "{format}");
    }
}

#[test]
fn what_came_of_a_replay_is_told_even_where_it_cannot_be_put_on_record() {
    let case = Case::new(&[(0, "c2s", "request 1 a"), (1, "s2c", "result 1")]);
    let replay = case.command(&[], &[r#"< "id":1"#, "> error 1 -32603"]);
    // The journal may not grow beyond its first record: as on a disk that is full. What becomes of
    // the file that is made of it is only told in time where the machine is not busy.
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 24; exec \"$0\" \"$@\""]);
    limited.arg(replay.get_program()).args(replay.get_args());
    for (name, value) in replay.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let replayed = Replayed::of(&limited.stdin(Stdio::null()).output().unwrap());
    replayed.is(1, &["an error instead of a result", "1 of 1 request sent"]);
    assert!(
        replayed.err.contains("not recorded in full"),
        "{replayed:?}"
    );
}

#[test]
fn the_recorded_command_is_started_where_it_was_started_then() {
    let library = support::Library::new();
    let folder = library.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    // A server that answers only where there is a file of its own.
    std::fs::write(folder.join("answer"), told::bytes("result 1")).unwrap();
    let mut run = library.run(["sh", "-c", "read line; cat answer; cat > /dev/null"]);
    let mut child = run.current_dir(&folder).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &told::bytes("request 1 a")).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let replay = library.mcpreel("replay").arg("@").output().unwrap();
    assert_eq!(replay.status.code(), Some(0), "{}", support::text(&replay));
}

#[test]
fn kill_nine_loses_nothing_that_was_sent_or_used() {
    let many: Vec<String> = (1..=400).map(|id| format!("request {id} a")).collect();
    let answers: Vec<String> = (1..=400).map(|id| format!("result {id}")).collect();
    let rows: Vec<_> = many
        .iter()
        .zip(&answers)
        .flat_map(|(ask, answer)| [(0, "c2s", ask.as_str()), (1, "s2c", answer.as_str())])
        .collect();
    let case = Case::new(&rows);
    let dir = case.library.path().join("server");
    std::fs::create_dir(&dir).unwrap();
    let mut command = case.library.mcpreel("replay");
    command
        .arg(&case.recording)
        .arg("--")
        .arg(support::peer())
        .arg("chatter")
        .arg(&dir);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let got = dir.join("got");
    wait_for("the server has a part of it", || {
        let length = got.metadata().ok()?.len();
        (length > 2000).then_some(())
    });
    support::send(Signal::SIGKILL, child.id());
    child.wait().unwrap();
    // The server is killed with it, and lets go of its file.
    let file = std::fs::File::open(&got).unwrap();
    wait_for("the server has gone", || file.try_lock().ok());
    let got = std::fs::read(&got).unwrap();
    let made = wait_for("the recording", || {
        let spools = case.library.files("spool");
        spools.first().map(|spool| spool.with_extension("reel"))
    });
    let sent = stream(&case.library, &made, "c2s");
    assert!(
        sent.starts_with(&got),
        "{} of {} bytes",
        sent.len(),
        got.len()
    );
}

/// Its linter once blamed the server for the signal that the replay had sent.
#[test]
fn a_server_is_not_blamed_for_the_signal_of_the_replay() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let case = Case::ended(&rows, &told::event("exit SIGTERM"));
    let script = [r#"< "id":1"#, "> result 1", "sleep"];
    case.replay(&[], &script).is(0, &[SAME]);
    let made = case.made();
    let findings = case
        .library
        .json(&["lint", made.to_str().unwrap(), "--fail-on", "never"]);
    let has = |rule| findings.iter().any(|it| it["rule"] == rule);
    assert!(has("shutdown-eof-ignored"), "{findings:?}");
    assert!(!has("process-exit-nonzero"), "{findings:?}");
}
