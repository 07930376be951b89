//! `why`: the cause of what went wrong in sessions that really did.

use super::{demo, refused, stdout};
use crate::support::{Library, MCPREEL};
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The causes of the newest recording.
fn causes(library: &Library) -> Vec<Value> {
    let causes = library.json(&["why"]);
    assert!(!causes.is_empty(), "it always says something");
    causes
}

#[track_caller]
fn assert_best(library: &Library, cause: &str, says: &str) {
    let causes = causes(library);
    assert_eq!(causes[0]["cause"], cause, "{causes:#?}");
    let sentence = causes[0]["sentence"].as_str().expect("it is text");
    assert!(sentence.contains(says), "{sentence}");
}

#[test]
fn a_command_that_is_not_there_is_told_with_the_path_that_was_searched() {
    let library = Library::new();
    let mut run = library.run(["no-such-server"]);
    run.env("PATH", "/nowhere:/bin");
    run.output().expect("mcpreel starts");
    assert_best(
        &library,
        "server-not-found",
        "no-such-server: command not found (searched PATH=/nowhere:/bin)",
    );
}

#[test]
fn people_are_told_the_cause_how_sure_it_is_where_it_shows_and_what_to_do() {
    let demo = demo();
    let id = demo.json(&["ls"])[0]["id"].as_str().expect("it has one")[..4].to_owned();
    let said = stdout(&demo, &["why"]);
    let names: Vec<_> = said
        .lines()
        .map(|line| &line[..line.len().min(9)])
        .collect();
    for name in ["why      ", "sure     ", "shown    ", "do       "] {
        assert!(names.contains(&name), "{name:?} is not in\n{said}");
    }
    // An address leads to its frame.
    let address = said
        .split_whitespace()
        .find(|word| word.starts_with(&id) && word.contains('#'));
    let address = address.unwrap_or_else(|| panic!("no address in\n{said}"));
    stdout(&demo, &["show", address]);
    let way_out = format!("`mcpreel show '{address}'` shows it");
    refused(&demo, &["why", address], 2, &way_out);
    let see = said.lines().find(|line| line.starts_with("see "));
    let see = see.and_then(|line| line.split("mcpreel show ").nth(1));
    let see = see.expect("it says where to look");
    // A shell would take what follows an open # for a comment.
    let see = see
        .strip_prefix('\'')
        .and_then(|see| see.strip_suffix('\''));
    stdout(&demo, &["show", see.expect("it is quoted")]);
}

/// All of a line was once read for its beginning.
#[test]
#[cfg(target_os = "linux")]
fn a_line_of_any_length_takes_little_memory() {
    let library = Library::new();
    let script = "read line; head -c 100000000 /dev/zero | tr '\\0' x; cat > /dev/null";
    let mut run = library.run_sh(script);
    let mut run = run.stdout(Stdio::null()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(b"{}\n").unwrap();
    assert!(run.wait().unwrap().success());
    stdout(&library, &["show", "@"]);
    let mut why = Command::new("sh");
    why.args(["-c", r#"ulimit -d 90000; exec "$0" why"#, MCPREEL]);
    why.env("MCPREEL_DIR", library.path());
    let why = why.env("HOME", library.path()).output().unwrap();
    assert!(why.status.success(), "{}", crate::support::text(&why));
}
