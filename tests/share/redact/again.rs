//! A redacted recording is replayed, and served, with the secrets that are supplied.

use crate::redact::redact_made::{self, ran, redacted};
use crate::support::{Library, peer, text};
use mcpreel_trace::frame::StreamId;
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
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
    let reel = redact_made::frames(library.path(), &SESSION);
    let copy = redacted(&library, &reel);
    let copy = copy.to_str().unwrap();
    let unbound = replayed(&library, copy, &[], &[r#"< "id":1"#, "> result 1"]);
    assert_eq!(unbound.status.code(), Some(3), "{}", text(&unbound));
    // At once: what is the matter, which are missing, what to do.
    let first = text(&unbound).lines().nth(1).unwrap_or_default().to_owned();
    let told = "secrets are missing: the recording is redacted, and nothing stands for secret:1; \
                supply each with --bind secret:1=env:NAME";
    assert!(first.contains(told), "{}", text(&unbound));
    assert!(
        text(&unbound).contains("was not tried: nothing stands for secret:1"),
        "{}",
        text(&unbound)
    );
    let answer = r#"> {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello hunter2-hunter2"}]}}"#;
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< {"password":"hunter2-hunter2"}"#,
        answer,
    ];
    let bound = replayed(&library, copy, &["--bind", "secret:1=env:TOKEN"], &script);
    assert_eq!(bound.status.code(), Some(0), "{}", text(&bound));
    let err = String::from_utf8(bound.stderr).unwrap();
    assert!(!err.contains("no such placeholder"), "{err}");
}

/// What a mock of a redacted recording says to these lines, where `TOKEN` is that.
fn mocked(library: &Library, reel: &str, token: &str, said: &[&str]) -> Output {
    let mut command = library.mcpreel("mock");
    command
        .args([reel, "--bind", "secret:1=env:TOKEN"])
        .args(["--assert-all-used", "--assert-no-miss"])
        .env("TOKEN", token)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in said {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    child.wait_with_output().unwrap()
}

#[test]
fn a_mock_knows_requests_by_the_secrets_that_are_supplied_and_answers_with_them() {
    let library = Library::new();
    let reel = redact_made::frames(library.path(), &SESSION);
    let copy = redacted(&library, &reel);
    assert!(!has(&copy, "hunter2-hunter2"), "it is redacted");
    let copy = copy.to_str().unwrap();
    // That of the recording, and another one: whatever is supplied is what is said.
    for token in ["hunter2-hunter2", "swordfish-\"7\""] {
        let password = serde_json::to_string(token).unwrap();
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{{"name":"b","arguments":{{"password":{password}}}}}}}"#
        );
        let said = [r#"{"jsonrpc":"2.0","id":41,"method":"a"}"#, &call];
        let output = mocked(&library, copy, token, &said);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let lines = String::from_utf8(output.stdout).unwrap();
        let answer: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
        assert_eq!(answer["id"], 42);
        let welcome = answer["result"]["content"][0]["text"].as_str();
        assert_eq!(welcome, Some(&*format!("hello {token}")));
    }
    // Whoever says something else is not taken for the client on record.
    let call = SESSION[2].1.replace("hunter2-hunter2", "hunter3-hunter3");
    let output = mocked(&library, copy, "hunter2-hunter2", &[SESSION[0].1, &call]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let answer: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32000, "{lines}");
}

fn has(path: &Path, what: &str) -> bool {
    memchr::memmem::find(&std::fs::read(path).unwrap(), what.as_bytes()).is_some()
}

/// Once each placeholder was a difference, and what was asked under a redacted name had no counterpart.
#[test]
fn a_redacted_copy_differs_in_nothing_from_its_original() {
    let library = Library::new();
    let mut session = SESSION.to_vec();
    for (stream, message) in [
        (
            StreamId::C2S,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
        ),
        (
            StreamId::S2C,
            r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b","description":"key ghp_16C7e42F292c6912E7710c838347Ae178B4a","inputSchema":{"type":"object","properties":{"pin":{"type":"integer","default":"hunter2-hunter2"}}}}]}}"#,
        ),
        (
            StreamId::C2S,
            r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"file:///home/ada/a.txt"}}"#,
        ),
        (StreamId::S2C, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#),
        (
            StreamId::C2S,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"b","arguments":{"password":47114711}}}"#,
        ),
        (StreamId::S2C, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#),
        (
            StreamId::S2C,
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///home/ada/a.txt"}}"#,
        ),
    ] {
        session.push((stream, message));
    }
    let reel = redact_made::frames(library.path(), &session);
    let copy = library.path().join("copy.reel");
    let [reel, copy] = [&reel, &copy].map(|path| path.to_str().unwrap());
    let options = ["--home", "--email", "-o", copy];
    let made = ran(&library, &[&["redact", reel], &options[..]].concat());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    for sides in [[reel, copy], [copy, reel]] {
        let found = ran(&library, &[&["diff"], &sides[..]].concat());
        assert_eq!(found.status.code(), Some(0), "{}", text(&found));
        let told = text(&found);
        assert!(
            told.contains(": 5 exchanges compared") && told.contains("\n  7 values redacted "),
            "{told}"
        );
        let found = ran(&library, &[&["diff", "--json"], &sides[..]].concat());
        let lines = String::from_utf8(found.stdout).unwrap();
        let mut lines = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let summary = lines.find(|line| line.get("redacted").is_some()).unwrap();
        assert_eq!(summary["redacted"], 7);
        assert_eq!(summary["same"], 5);
    }
}
