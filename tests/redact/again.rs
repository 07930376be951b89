//! A redacted recording is replayed, and served, with the secrets that are supplied.

use crate::made::{self, ran, redacted};
use crate::support::{Library, peer, text};
use mcpreel::trace::frame::StreamId;
use std::process::{Output, Stdio};

const SESSION: [(StreamId, &str); 4] = [
    (StreamId::C2S, r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#),
    (StreamId::S2C, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    (
        StreamId::C2S,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b","arguments":{"password":"hunter2-hunter2"}}}"#,
    ),
    (
        StreamId::S2C,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello hunter2-hunter2"}]}}"#,
    ),
];

/// A replay to a server that takes these steps.
fn replayed(library: &Library, reel: &str, options: &[&str], script: &[&str]) -> Output {
    let mut command = library.mcpreel("replay");
    command
        .args(["--allow-side-effects"])
        .args(options)
        .arg(reel)
        .arg("--");
    command.arg(peer()).arg("script").args(script);
    command.env("TOKEN", "hunter2-hunter2").stdin(Stdio::null());
    command.output().unwrap()
}

#[test]
fn a_replay_needs_the_secrets_and_is_the_same_with_them() {
    let library = Library::new();
    let reel = made::frames(library.path(), &SESSION);
    let copy = redacted(&library, &reel);
    let copy = copy.to_str().unwrap();
    let unbound = replayed(&library, copy, &[], &[r#"< "id":1"#, "> result 1"]);
    assert_eq!(unbound.status.code(), Some(3), "{}", text(&unbound));
    assert!(text(&unbound).contains("secret:1"), "{}", text(&unbound));
    let answer = r#"> {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello hunter2-hunter2"}]}}"#;
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< {"password":"hunter2-hunter2"}"#,
        answer,
    ];
    let bound = replayed(&library, copy, &["--bind", "secret:1=env:TOKEN"], &script);
    assert_eq!(bound.status.code(), Some(0), "{}", text(&bound));
}

#[test]
fn a_mock_needs_the_secrets() {
    let library = Library::new();
    let reel = made::frames(library.path(), &SESSION);
    let copy = redacted(&library, &reel);
    let refused = ran(&library, &["mock", copy.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(3), "{}", text(&refused));
    assert!(
        text(&refused).contains("secret:1=env:"),
        "{}",
        text(&refused)
    );
}
