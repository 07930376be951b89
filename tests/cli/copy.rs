//! `export --format recording`: a copy in one plain file, of whatever it was before.

use super::{live_with_a_frame, mcpreel, refusal, stdout};
use crate::support::{Library, text};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn sample(name: &str) -> String {
    format!("{}/recordings/{name}.reel", env!("CARGO_MANIFEST_DIR"))
}

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
fn a_copy_is_the_recording_for_its_owner_alone() {
    let library = Library::new();
    for name in ["crash", "modern"] {
        let (copy, said) = copied(&library, &sample(name), &format!("{name} %20?.reel"));
        assert!(said.contains(" frames, ") && said.contains("nothing in it is redacted"));
        let mode = copy.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            frames(&library, &copy),
            frames(&library, Path::new(&sample(name)))
        );
        let path = copy.to_str().expect("the path is text");
        stdout(&library, &["reindex", path]);
        std::fs::remove_file(&copy).expect("it can be removed");
    }
    let left = std::fs::read_dir(library.path()).expect("it can be listed");
    assert_eq!(left.count(), 0, "nothing stands beside a copy");
}

#[test]
fn a_cassette_becomes_a_recording_that_stays() {
    let library = Library::new();
    let cassette = library.path().join("a.jsonl");
    let cassette = cassette.to_str().expect("the path is text");
    stdout(
        &library,
        &["export", &sample("modern"), "--raw", "-o", cassette],
    );
    let (copy, _) = copied(&library, cassette, "a.reel");
    let again = copy.to_str().expect("the path is text");
    assert_eq!(
        stdout(&library, &["export", again, "--raw"]),
        std::fs::read_to_string(cassette).expect("it is text")
    );
}

#[test]
fn a_recording_that_grows_is_copied_as_it_is_now() {
    let library = Library::new();
    let (mut server, mut stdin, live) = live_with_a_frame(&library);
    let elsewhere = Library::new();
    let (copy, said) = copied(&elsewhere, &live, "copy.reel");
    assert!(said.contains("1 frame,"), "{said}");
    assert!(said.contains("it is still recorded"), "{said}");
    writeln!(stdin, "{{\"n\":2}}").expect("it reads");
    drop(stdin);
    assert!(server.wait().expect("it ends").success());
    assert_eq!(frames(&elsewhere, &copy).len(), 1);
    assert_eq!(library.json(&["show", "@", "--frames"]).len(), 2);
}

#[test]
fn what_is_no_copy_is_refused() {
    let library = Library::new();
    let path = library.path().join("a.reel");
    let shown = path.to_str().expect("the path is text");
    let crash = sample("crash");
    let cases: [(&[&str], i32, &str); 4] = [
        (&["--raw"], 2, "makes a file: name it"),
        (
            &["--raw", "-o", shown, "-q", "is:failed"],
            2,
            "copies all of it",
        ),
        (&["--raw", "-o", shown, "--to", "5"], 2, "copies all of it"),
        (&["--raw", "-o", "/dev/null"], 3, "it is no regular file"),
    ];
    for (args, exit, why) in cases {
        let command = ["export", &crash, "--format", "recording"];
        let (code, said) = refusal(&library, &[&command[..], args].concat());
        assert_eq!(code, Some(exit), "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
        assert!(!path.exists());
    }
}
