//! The sample recordings, and a session that is recorded twice.

use crate::cassette::taken;
use crate::cassette::written;
use crate::support::Library;
use mcpreel_store::reader::Recording;
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;

fn samples() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recordings");
    let files = std::fs::read_dir(root).expect("the folder can be listed");
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "reel"));
    assert!(files.len() >= 4, "{files:?}");
    files
}

#[test]
fn a_sample_exported_twice_is_the_same_to_the_byte_and_so_is_what_was_made_of_it() {
    for reel in samples() {
        let file = written(&reel);
        assert!(written(&reel) == file, "{}", reel.display());
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let tape = taken(dir.path(), &file);
        assert_eq!(tape.told(), [""; 0], "{}", reel.display());
        assert!(written(tape.reel()) == file, "{}", reel.display());
        let id = |tape: &mcpreel::cli::cassette::Tape| {
            let recording = Recording::open(tape.reel()).expect("it can be read");
            recording.summary().expect("it can be read").id
        };
        assert_eq!(
            id(&tape),
            id(&taken(dir.path(), &file)),
            "the id comes from the content"
        );
    }
}

/// A cassette whose times, and what else the system measures or counts, are all zero.
fn without_times(file: &[u8]) -> Vec<Value> {
    const MEASURED: [&str; 7] = [
        "t",
        "t0",
        "pid",
        "max_rss_bytes",
        "user_ns",
        "system_ns",
        "lasted_ns",
    ];
    let blank = |value: &mut Value| {
        if let Value::Object(members) = value {
            for key in MEASURED {
                members.shift_remove(key);
            }
        }
    };
    let lines = file
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let lines = lines.map(|line| {
        let mut line: Value = serde_json::from_slice(line).expect("it is JSON");
        blank(&mut line);
        if let Some(event) = line.get_mut("event") {
            blank(event);
        }
        line
    });
    lines.collect()
}

#[test]
fn a_session_that_is_recorded_again_differs_in_nothing_but_times() {
    let record = || {
        let library = Library::new();
        let mut run = library
            .run(["--name", "echo", "--", "cat"])
            .spawn()
            .expect("it starts");
        let mut stdin = run.stdin.take().expect("it is a pipe");
        let mut stdout = std::io::BufReader::new(run.stdout.take().expect("it is a pipe"));
        for id in 0..5 {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
            stdin.write_all(line.as_bytes()).expect("it reads");
            let mut back = String::new();
            std::io::BufRead::read_line(&mut stdout, &mut back).expect("it answers");
            assert_eq!(back, line);
        }
        drop(stdin);
        assert!(run.wait().expect("it ends").success());
        library.json(&["show", "@"]);
        written(&library.files("reel").remove(0))
    };
    let (first, second) = (record(), record());
    assert!(first != second, "times are the same twice");
    let (mut first, mut second) = (without_times(&first), without_times(&second));
    // The kernel decides which of the ends is seen first.
    for lines in [&mut first, &mut second] {
        lines.retain(|line| line["event"]["kind"] != "eof");
        // The test's own folder is that of the session's HOME.
        lines.retain(|line| line["event"]["kind"] != "start");
    }
    assert_eq!(first.len(), 14, "{first:?}");
    assert_eq!(first, second);
}
