//! `MCPREEL_LOG`: what the program itself does, in a file, and nowhere else.

use crate::support::{Library, text};
use std::io::Write as _;

const LINE: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/x","params":"zebra"}"#;

/// The log of a session with a server that says back what it is told.
fn log_of(level: Option<&str>) -> Option<String> {
    let library = Library::new();
    let mut run = library.run(["cat"]);
    run.envs(level.map(|level| ("MCPREEL_LOG", level)));
    let mut run = run.spawn().expect("mcpreel starts");
    let mut stdin = run.stdin.take().expect("piped");
    stdin.write_all(LINE).expect("it reads");
    drop(stdin);
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, LINE, "{}", text(&output));
    assert!(output.stderr.is_empty(), "{}", text(&output));
    // The indexer may still be writing.
    library.json(&["show", "@"]);
    std::fs::read_to_string(library.path().join(".local/state/mcpreel/mcpreel.log")).ok()
}

#[test]
fn a_log_tells_of_recorder_and_indexer_and_has_nothing_of_the_traffic() {
    let log = log_of(Some("debug")).expect("there is a log");
    let has = |word: &str| log.contains(word);
    assert!(has("Spawned") && has("Exit") && has("indexing"), "{log}");
    assert!(!has("zebra"), "{log}");
    let process = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    let of = |word: &str| log.lines().find(|line| line.contains(word));
    let [recorder, indexer] = ["Spawned", "indexing"].map(|word| of(word).and_then(process));
    assert!(
        recorder.is_some() && indexer.is_some() && recorder != indexer,
        "{log}"
    );
}

#[test]
fn whoever_only_switches_the_log_on_gets_one() {
    let log = log_of(Some("1")).expect("there is a log");
    assert!(log.contains("Spawned"), "{log}");
}

#[test]
fn without_being_asked_for_there_is_no_log() {
    assert_eq!(log_of(None), None);
    assert_eq!(log_of(Some("")), None);
}
