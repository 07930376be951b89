//! Whose command is started: that of a stranger's file never unseen.

use crate::process::{Case, Replayed, SAME};
use crate::support::{Library, MCPREEL, terminal::Terminal, wait_for};
use crate::told;
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A session that was recorded in `library`, whose server leaves a mark each time that it is
/// started.
fn recorded(library: &Library) -> (PathBuf, PathBuf) {
    let folder = library.path().join("project");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("answer"), told::bytes("result 1")).unwrap();
    let script = "echo >> started; read line; cat answer; cat > /dev/null # \u{1b}[31m";
    let mut child = library.run_sh(script).current_dir(&folder).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&told::bytes("request 1 a")).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    let mark = folder.join("started");
    assert_eq!(starts(&mark), 1);
    let recording = library.recordings().remove(0);
    // `show` completes the recording: on a busy machine the end of the session may still be in the
    // spool, which the tests do not move along.
    play(library, "show", &recording, &[]).is(0, &[]);
    (recording, mark)
}

fn starts(mark: &Path) -> u64 {
    mark.metadata().unwrap().len()
}

/// `mcpreel COMMAND RECORDING OPTIONS` without a terminal.
fn play(library: &Library, command: &str, recording: &Path, options: &[&str]) -> Replayed {
    let mut command = library.mcpreel(command);
    command.arg(recording).args(options).stdin(Stdio::null());
    Replayed::of(&command.output().unwrap())
}

/// The recording as files that came from elsewhere: moved, and made a cassette, and a recording of
/// that.
fn strangers(library: &Library, elsewhere: &Path) -> Vec<PathBuf> {
    let (recording, _) = recorded(library);
    let moved = elsewhere.join("moved.reel");
    std::fs::rename(&recording, &moved).unwrap();
    let cassette = library.path().join("tape.jsonl");
    let tape = play(
        library,
        "export",
        &moved,
        &["--raw", "-o", cassette.to_str().unwrap()],
    );
    tape.is(0, &[]);
    let imported = library
        .path()
        .join("2026-01-01T00-00-00_tape_00000001.reel");
    let options = [
        "--raw",
        "--format",
        "recording",
        "-o",
        imported.to_str().unwrap(),
    ];
    play(library, "export", &cassette, &options).is(0, &[]);
    vec![moved, cassette, imported]
}

#[test]
fn the_command_of_a_strangers_file_is_named_and_not_started() {
    let (library, elsewhere) = (Library::new(), tempfile::tempdir().unwrap());
    let mark = library.path().join("project/started");
    for file in strangers(&library, elsewhere.path()) {
        for (command, options) in [("replay", &[][..]), ("minimise", &["--fails", "is:failed"])] {
            let said = play(&library, command, &file, options);
            assert_eq!(said.code, Some(7), "{file:?}: {said:?}");
            for part in [
                "cat answer",
                r"# \x1b[31m",
                "project",
                "--run-recorded-command",
            ] {
                assert!(said.err.contains(part), "no {part}: {said:?}");
            }
        }
        assert_eq!(starts(&mark), 1, "{file:?}");
        // Who gives a command knows which.
        let other = [
            "--",
            "sh",
            "-c",
            "read line; cat project/answer; cat > /dev/null",
        ];
        let mut command = library.mcpreel("replay");
        command.arg(&file).args(other).current_dir(library.path());
        Replayed::of(&command.stdin(Stdio::null()).output().unwrap()).is(0, &[SAME]);
        assert_eq!(starts(&mark), 1, "{file:?}");
    }
}

#[test]
fn what_never_started_is_not_started_again_without_a_command() {
    let library = Library::new();
    library
        .run(["/no/such/server"])
        .output()
        .expect("it starts");
    let replay = |more: &[&str]| {
        let mut command = library.mcpreel("replay");
        Replayed::of(&command.arg("@").args(more).output().unwrap())
    };
    let said = replay(&[]);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(
        said.err.contains("the recorded server never started"),
        "{said:?}"
    );
    assert_eq!(library.json(&["ls"]).len(), 1);
    assert!(!replay(&["--", "cat"]).err.contains("never started"));
}

#[test]
fn it_is_started_where_the_user_says_so() {
    let (library, elsewhere) = (Library::new(), tempfile::tempdir().unwrap());
    let mark = library.path().join("project/started");
    for (nth, file) in strangers(&library, elsewhere.path()).iter().enumerate() {
        play(&library, "replay", file, &["--run-recorded-command"]).is(0, &[SAME]);
        assert_eq!(starts(&mark), nth as u64 + 2);
    }
    // A folder that is named may be anybody's.
    let dir = elsewhere.path().to_str().unwrap();
    let said = play(&library, "replay", Path::new("@"), &["--dir", dir]);
    assert_eq!(said.code, Some(7), "{said:?}");
}

#[test]
fn what_others_may_write_to_is_not_ones_own() {
    let library = Library::new();
    let (recording, mark) = recorded(&library);
    for (path, mode, own) in [(library.path(), 0o777, 0o700), (&*recording, 0o622, 0o600)] {
        let set = |mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        set(mode);
        let said = play(&library, "replay", Path::new("@"), &[]);
        assert_eq!(said.code, Some(7), "{path:?}: {said:?}");
        set(own);
    }
    assert_eq!(starts(&mark), 1);
    play(&library, "replay", Path::new("@"), &[]).is(0, &[SAME]);
    assert_eq!(starts(&mark), 2);
}

#[test]
fn a_copy_of_a_strangers_recording_is_a_strangers_in_ones_own_folder_too() {
    let (library, elsewhere) = (Library::new(), tempfile::tempdir().unwrap());
    let (recording, mark) = recorded(&library);
    let strangers = elsewhere.path().join("moved.reel");
    let copy = |of: &Path, name: &str, command, options: &[&str]| {
        let copy = library.path().join(name);
        let options = [options, &["--force", "-o", copy.to_str().unwrap()]].concat();
        play(&library, command, of, &options).is(0, &[]);
        copy
    };
    let own = copy(&recording, "own.reel", "redact", &[]);
    play(&library, "replay", &own, &[]).is(0, &[SAME]);
    std::fs::rename(&recording, &strangers).unwrap();
    for (command, options) in [
        ("redact", &[][..]),
        ("export", &["--format", "recording"]),
        ("export", &["--format", "recording", "--raw"]),
        ("export", &["--format", "recording", "--raw", "--to", "1"]),
    ] {
        let made = copy(&strangers, "copy.reel", command, options);
        let again = copy(&made, "again.reel", "redact", &[]);
        for file in [made, again] {
            let said = play(&library, "replay", &file, &[]);
            assert_eq!(said.code, Some(7), "{command} {options:?}: {said:?}");
        }
    }
    assert_eq!(starts(&mark), 2);
}

#[test]
fn on_a_terminal_the_user_sees_it_and_is_asked() {
    let (library, elsewhere) = (Library::new(), tempfile::tempdir().unwrap());
    let mark = library.path().join("project/started");
    let file = strangers(&library, elsewhere.path()).remove(0);
    let arguments = ["replay", file.to_str().unwrap()];
    let dir = library.path().to_str().unwrap();
    let path = std::env::var("PATH").unwrap();
    let environment = [("HOME", dir), ("MCPREEL_DIR", dir), ("PATH", &path)];
    for (answer, verdict, started) in [
        ("no\r", "nothing was started", 1),
        ("yes\r", "1 of 1 request sent", 2),
    ] {
        let mut terminal = Terminal::start(MCPREEL, &arguments, &environment, (200, 30));
        wait_for("the question", || {
            let text = terminal.text();
            (text.contains("cat answer") && text.contains("Start it?")).then_some(())
        });
        assert_eq!(starts(&mark), 1, "before the answer");
        terminal.press(answer);
        wait_for("the verdict", || {
            terminal.text().contains(verdict).then_some(())
        });
        assert_eq!(starts(&mark), started);
    }
}

const READS: &str = r#"result 2 {"tools":[{"name":"look","annotations":{"readOnlyHint":true}}]}"#;

/// A stranger says in his recording that a tool only reads, and calls it before the server that is
/// driven was asked.
#[test]
fn what_a_strangers_file_says_of_its_tools_does_not_count() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut case = Case::new(&[
        (0, "c2s", r#"request 1 tools/call {"name":"look"}"#),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 tools/list"),
        (3, "s2c", READS),
    ]);
    let lists = format!("> {READS}");
    let called = [r#"< "id":1"#, "> result 1", r#"< "id":2"#, &lists];
    case.replay(&[], &called).is(0, &[SAME]);
    // The recording of that replay has the word of this one, also in its start event.
    for own in case.library.recordings() {
        // On a busy machine the tables of a recording are behind until somebody reads it.
        case.library.json(&["show", own.to_str().unwrap()]);
        let moved = elsewhere.path().join(own.file_name().unwrap());
        std::fs::rename(&own, &moved).unwrap();
        case.recording = moved;
        let refused = case.replay(&[], &[r#"< "id":2"#, &lists]);
        refused.is(7, &["look only reads by a recording that is not your own"]);
        case.replay(&["--allow-tool", "look"], &called)
            .is(0, &[SAME]);
    }
}
