//! `export --format recording`: a copy in one plain file, of whatever it was before.

use super::{live_with_a_frame, mcpreel, sample, stdout};
use crate::support::{Library, text};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Copies `recording` to a file of this name; returns it with what was said.
fn copied(library: &Library, recording: &str, name: &str) -> (PathBuf, String) {
    let path = library.path().join(name);
    let shown = path.to_str().expect("the path is text");
    let args = [
        "export",
        recording,
        "--raw",
        "--format",
        "recording",
        "-o",
        shown,
    ];
    let output = mcpreel(library, &args);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (path, said)
}

fn frames(library: &Library, recording: &Path) -> Vec<serde_json::Value> {
    let path = recording.to_str().expect("the path is text");
    library.json(&["show", path, "--frames"])
}

#[test]
fn a_recording_that_grows_is_copied_as_it_is_now() {
    let library = Library::new();
    let (mut server, mut stdin, live) = live_with_a_frame(&library);
    let elsewhere = Library::new();
    let (copy, said) = copied(&elsewhere, &live, "copy.reel");
    assert!(said.contains("1 frame,"), "{said}");
    assert!(said.contains("it is still being recorded"), "{said}");
    writeln!(stdin, "{{\"n\":2}}").expect("it reads");
    drop(stdin);
    assert!(server.wait().expect("it ends").success());
    assert_eq!(frames(&elsewhere, &copy).len(), 1);
    assert_eq!(library.json(&["show", "@", "--frames"]).len(), 2);
}

/// What is said of a file: why it went wrong, and what its rules find.
fn judged(library: &Library, file: &Path) -> (String, String) {
    let path = file.to_str().expect("the path is text");
    let why = stdout(library, &["why", path]);
    (why, stdout(library, &["lint", path, "--fail-on", "error"]))
}

#[test]
fn a_part_says_so_and_what_is_missing_is_no_fault() {
    let library = Library::new();
    let sample = sample("well-behaved");
    let file = |name: &str| library.path().join(name).display().to_string();
    let recording = Path::new(&sample);
    let of_sample = frames(&library, recording);
    let part = ["--from", "5", "--to", "8"];
    for (name, options) in [
        ("raw.reel", &["--format", "recording", "--raw"][..]),
        ("redacted.reel", &["--format", "recording"]),
        ("raw.jsonl", &["--format", "jsonl", "--raw"]),
    ] {
        let (target, command) = (file(name), ["export", &sample, "-o"]);
        let args = [&command[..], &[&target], options, &part].concat();
        let output = mcpreel(&library, &args);
        assert!(output.status.success(), "{}", text(&output));
        let target = Path::new(&target);
        let raw = |frames: &[serde_json::Value]| -> Vec<_> {
            frames.iter().map(|frame| frame["text"].clone()).collect()
        };
        let frames = frames(&library, target);
        assert!(!frames[0]["text"].is_null());
        assert_eq!(raw(&frames), raw(&of_sample[4..8]), "{name}");
        let shown = stdout(&library, &["show", &target.display().to_string()]);
        assert!(shown.contains("only       from #5, to #8"), "{shown}");
        let (why, lint) = judged(&library, target);
        assert!(why.contains("only a part of the session"), "{why}");
        assert!(lint.contains("nothing found"), "{lint}");
    }
    let whole = file("again.jsonl");
    let of_part = file("raw.reel");
    stdout(&library, &["export", &of_part, "--raw", "-o", &whole]);
    let header = std::fs::read_to_string(whole).expect("it is text");
    let header = header.lines().next().expect("it has a header");
    assert!(
        header.contains(r#""selection":{"from":5,"to":8}"#),
        "{header}"
    );
}
