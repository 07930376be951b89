//! `--update`: a cassette becomes what the server says now.

use crate::process::{Case, Replayed, Row};
use crate::support::peer;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::Command;

const ROWS: [Row<'static>; 9] = [
    (
        0,
        "c2s",
        r#"request 1 a {"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}"#,
    ),
    (4, "s2c", r#"result 1 {"n":1}"#),
    (5, "c2s", "request 2 b"),
    (6, "stderr", "about b"),
    (
        7,
        "s2c",
        r#"notify notifications/message {"level":"info","data":"x"}"#,
    ),
    (9, "s2c", r#"result 2 {"text":"old"}"#),
    (10, "c2s", "notify notifications/odd"),
    (11, "c2s", "request 3 c"),
    (15, "s2c", r#"result 3 {"n":3}"#),
];

/// What the server says; to `b` it answers so.
fn script(answer: &str) -> Vec<String> {
    let steps = [
        r#"< "id":1"#,
        r#"> result 1 {"n":1}"#,
        r#"< "id":2"#,
        "err about b",
        r#"> notify notifications/message {"level":"info","data":"x"}"#,
    ];
    let mut steps = steps.map(str::to_owned).to_vec();
    steps.push(format!(r#"> result 2 {{"text":"{answer}"}}"#));
    steps.extend([r#"< "id":3"#, r#"> result 3 {"n":3}"#].map(str::to_owned));
    steps
}

/// A case whose recording is a cassette, with something in its header that nobody knows.
fn taped(rows: &[Row<'_>]) -> Case {
    let (case, recording) = Case::taped(rows);
    std::fs::remove_file(recording).unwrap();
    let text = read(&case).replacen("}\n", ",\"team\":[\"ada\", 2.50]}\n", 1);
    std::fs::write(&case.recording, text).unwrap();
    case
}

fn read(case: &Case) -> String {
    std::fs::read_to_string(&case.recording).unwrap()
}

fn update(case: &Case, options: &[&str], script: &[impl AsRef<str>]) -> Replayed {
    let options = [&["--update", "--allow-side-effects"], options].concat();
    let script: Vec<_> = script.iter().map(AsRef::as_ref).collect();
    case.replay(&options, &script)
}

#[test]
fn the_cassette_becomes_what_the_server_says_now() {
    let case = taped(&ROWS);
    update(&case, &[], &script("new")).is(0, &["cassette", "written anew"]);
    let second = read(&case);
    assert!(
        second.contains("\"text\":\"new\"") && !second.contains("\"old\""),
        "{second}"
    );

    // The same server again: not a byte, and the file is not even touched.
    let written = case.recording.metadata().unwrap().ino();
    update(&case, &[], &script("new")).is(0, &["stays as it is"]);
    assert_eq!(read(&case), second);
    assert_eq!(case.recording.metadata().unwrap().ino(), written);

    let again = script("new");
    let again: Vec<_> = again.iter().map(String::as_str).collect();
    case.replay(&[], &again).is(0, &[crate::process::SAME]);
}

/// Once the command after `--` was written into the cassette, with whatever secrets were in it.
#[test]
fn the_cassette_keeps_the_command_that_it_had() {
    let case = taped(&ROWS);
    let before = read(&case);
    update(&case, &[], &script("new")).is(0, &["written anew"]);
    let after = read(&case);
    let start = |text: &str| text.lines().nth(1).unwrap().to_owned();
    assert_eq!(start(&after), start(&before));
    assert!(!after.contains("script"), "{after}");
}

#[test]
fn what_is_new_comes_where_it_was_said_and_what_is_gone_is_gone() {
    let case = taped(&ROWS);
    let mut said = script("old");
    said[4] = "> notify notifications/tools/list_changed".to_owned();
    said.push("err goodbye".to_owned());
    update(&case, &["--fail-on", "noise"], &said).is(0, &["written anew"]);
    let after = read(&case);
    let messages: Vec<_> = after
        .lines()
        .filter(|line| line.contains("\"raw\""))
        .collect();
    assert!(
        !messages.concat().contains("notifications/message"),
        "{after}"
    );
    let at = |text: &str| {
        after
            .lines()
            .skip(1)
            .position(|line| line.contains(text))
            .unwrap()
    };
    let (asked, new, answered) = (at("\"id\":2,\"method\""), at("list_changed"), at("\"re\":"));
    assert!(asked < new && answered < new, "{after}");
    assert!(
        at("{\"text\":\"old\"") > new && at("goodbye") > new,
        "{after}"
    );
    // Read again, it has no fault.
    let mut show = case.library.mcpreel("show");
    let shown = show.arg(&case.recording).output().unwrap();
    let said = String::from_utf8(shown.stderr).unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_recording_is_what_happened_and_is_not_rewritten() {
    let case = Case::new(&ROWS);
    let before = std::fs::read(&case.recording).unwrap();
    let said = update(&case, &[], &["err started"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("mcpreel export"), "{said:?}");
    assert_eq!(std::fs::read(&case.recording).unwrap(), before);
    assert_eq!(case.library.files("reel").len(), 1, "nothing was started");
}

fn in_ci(case: &Case, option: &str, answer: &str) -> Replayed {
    let script = script(answer);
    let script: Vec<_> = script.iter().map(String::as_str).collect();
    let mut command: Command = case.command(&[option], &script);
    Replayed::of(&command.env("CI", "true").output().unwrap())
}

#[test]
fn where_nobody_looks_it_takes_another_word() {
    let case = taped(&ROWS);
    let before = read(&case);
    let refused = in_ci(&case, "--update", "new");
    assert_eq!(refused.code, Some(7), "{refused:?}");
    assert!(refused.err.contains("--update-in-ci"), "{refused:?}");
    assert_eq!(case.library.files("reel").len(), 0, "nothing was started");
    assert_eq!(read(&case), before);
    in_ci(&case, "--update-in-ci", "new").is(0, &["written anew"]);
    assert_ne!(read(&case), before);
}

#[test]
fn a_session_that_failed_or_is_not_whole_is_not_kept() {
    let calls: [Row<'static>; 4] = [
        (0, "c2s", r#"request 1 tools/call {"name":"make"}"#),
        (1, "s2c", "result 1"),
        (2, "c2s", "request 2 b"),
        (3, "s2c", "result 2"),
    ];
    let make = taped(&calls);
    let before = read(&make);
    let other = r#"> result 2 {"more":1}"#;
    let refused = make.replay(&["--update"], &[r#"< "id":2"#, other]);
    refused.is(7, &["not updated", "make"]);
    assert_eq!(read(&make), before);

    let case = taped(&ROWS);
    let before = read(&case);
    let crash = [r#"< "id":1"#, r#"> result 1 {"n":2}"#, "exit 3"];
    update(&case, &[], &crash).is(4, &["not updated", "exit code 3"]);
    let hang = [r#"< "id":1"#, r#"> result 1 {"n":2}"#, "< nothing"];
    update(&case, &["--timeout", "200ms"], &hang).is(5, &["not updated"]);
    // All of it was sent, and what was answered differs; the last answer does not come.
    let mut late = script("new");
    late.truncate(late.len() - 1);
    late.push("< nothing".to_owned());
    update(&case, &["--timeout", "200ms"], &late).is(5, &["not updated"]);
    let asks = [
        r#"< "id":1"#,
        "> request 7 roots/list",
        r#"< "id":7"#,
        r#"> result 1 {"n":1}"#,
        r#"< "id":2"#,
        r#"> result 2 {"text":"new"}"#,
        r#"< "id":3"#,
        r#"> result 3 {"n":3}"#,
    ];
    update(&case, &[], &asks).is(1, &["not updated", "record the session anew"]);
    assert_eq!(read(&case), before);
}

#[test]
fn the_file_keeps_its_place_and_its_mode_and_what_cannot_be_read_is_not_lost() {
    let mut case = taped(&ROWS);
    let real = case.recording.clone();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link: PathBuf = case.library.path().join("link.jsonl");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    case.recording = link;
    update(&case, &[], &script("new")).is(0, &["written anew"]);
    assert!(case.recording.is_symlink());
    assert!(read(&case).contains("\"text\":\"new\""));
    assert_eq!(real.metadata().unwrap().mode() & 0o777, 0o640);

    let damaged = read(&case).replacen("{\"n\":2,", "{\"n\":2", 1);
    std::fs::write(&case.recording, &damaged).unwrap();
    let said = update(&case, &[], &script("newer"));
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains("would lose"), "{said:?}");
    assert_eq!(read(&case), damaged);
}

/// A server during whose answers the kernel refuses whatever the replay writes.
#[cfg(target_os = "linux")]
const REFUSED: &str = r#"read -r a; prlimit --pid "$PPID" --fsize=1:
    echo '{"jsonrpc":"2.0","id":1,"result":{"n":2}}'; read -r b
    echo '{"jsonrpc":"2.0","id":2,"result":{"text":"new"}}'; read -r c; read -r d
    prlimit --pid "$PPID" --fsize=unlimited:; echo '{"jsonrpc":"2.0","id":3,"result":{"n":3}}'"#;

#[cfg(target_os = "linux")]
#[test]
fn a_session_that_is_not_on_record_as_a_whole_is_not_kept() {
    let case = taped(&ROWS);
    let before = read(&case);
    let said = case.against(
        &["--update", "--allow-side-effects"],
        &["sh", "-c", REFUSED],
    );
    said.is(1, &["not updated", "not on record as a whole"]);
    assert_eq!(read(&case), before);
}

#[test]
fn what_somebody_else_changes_meanwhile_is_not_written_over() {
    let case = taped(&ROWS);
    let changed = read(&case) + "\n";
    // The server adds a line to the cassette before it says anything.
    let server = r#"printf '\n' >> "$0"; exec "$@""#;
    let (peer, path) = (peer(), case.recording.clone());
    let [peer, path] = [&peer, &path].map(|path| path.to_str().unwrap());
    let script = script("new");
    let mut words = vec!["sh", "-c", server, path, peer, "script"];
    words.extend(script.iter().map(String::as_str));
    let said = case.against(&["--update", "--allow-side-effects"], &words);
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains("another program changed it"), "{said:?}");
    assert_eq!(read(&case), changed);
}

/// Once a token came into a file that is kept beside the code, and nobody was told.
#[test]
fn what_may_be_secret_in_what_the_server_says_now_is_told() {
    let case = taped(&ROWS);
    let said = update(
        &case,
        &[],
        &script("ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo"),
    );
    said.is(0, &["written anew", "in it may be secret"]);
}

#[test]
fn secrets_are_not_written_into_a_redacted_cassette() {
    let case = taped(&ROWS);
    let redacted = read(&case).replacen(
        "\"transport\"",
        "\"redaction\":{\"rules\":1},\"transport\"",
        1,
    );
    std::fs::write(&case.recording, &redacted).unwrap();
    let said = update(&case, &[], &script("new"));
    assert_eq!(said.code, Some(7), "{said:?}");
    assert!(said.err.contains("secrets"), "{said:?}");
    let said = update(&case, &["--only", "method:a"], &script("new"));
    assert_eq!(said.code, Some(2), "{said:?}");
    assert_eq!(read(&case), redacted);
}
