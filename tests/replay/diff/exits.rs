//! How the command ends.

use super::made::Story;
use super::{code, diff, recorded, text};

#[test]
fn wrong_arguments_and_rules_are_usage() {
    let library = recorded(&Story::weather(), &Story::weather());
    let file = library.path().join("bad.toml");
    std::fs::write(
        &file,
        "[[ignor]]\npath = 'result.a'\n\n[[match]]\npath = 'x'\nas = 'set'\n",
    )
    .expect("it can be written");
    let file = file.to_str().expect("it is text");
    for (args, why) in [
        (&["--rules", file][..], "did you mean `ignore`?"),
        (&["--rules", file], "bad.toml:1:3"),
        (&["--rules", "/nonexistent.toml"], "cannot be read"),
        (&["--only", "tool:("], "--only, column"),
        (&["--latency-budget", "2"], "500ms"),
        (&["--fail-on", "bad"], "breaking"),
        (&["--rewrite", "x"], "/home/ada/work=/tmp/copy"),
        (&["--format", "xml"], "junit"),
    ] {
        let output = diff(&library, &[&["7f3a", "c04d"], args].concat());
        let said = text(&output.stderr);
        assert_eq!(code(&output), 2, "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    assert_eq!(code(&diff(&library, &["7f3a", "nothing"])), 2);
}

#[test]
fn what_cannot_be_read_is_refused() {
    let library = recorded(&Story::weather(), &Story::weather());
    let broken = library.path().join("broken.reel");
    std::fs::write(&broken, "no recording").expect("it can be written");
    let broken = broken.to_str().expect("it is text");
    assert_eq!(code(&diff(&library, &["7f3a", broken])), 3);
    assert_eq!(code(&diff(&library, &[broken, "7f3a"])), 3);
}
