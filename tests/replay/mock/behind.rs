//! The real server that requests are passed to.

use crate::mock::{CALLS, hears, mock, record, tell, text};
use crate::support::session::{Received, Session};
use crate::support::{Library, peer, wait_for};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

const LIST: &str = "request 3 tools/list";
const HANDSHAKE: &str = r#"request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}"#;
const ADD: &str = r#"request "sum" tools/call {"name":"add","arguments":{"a":3,"b":4}}"#;

/// What a host hears that asks for two things that are not on record, of a mock with a server
/// behind.
fn passed(library: &Library) -> Received {
    let recording = record(library.path(), &CALLS);
    let peer = peer();
    let peer = peer.to_str().expect("the path is text");
    let options = ["--on-miss", "pass", "--", peer, "rmcp-server"];
    let lines = [HANDSHAKE, "notify notifications/initialized", LIST, ADD];
    hears(&mut mock(library, &recording, &options), &lines)
}

#[test]
fn what_is_not_on_record_is_answered_by_the_server_behind() {
    let library = Library::new();
    let received = passed(&library);
    let (out, err) = (text(&received.out), text(&received.err));
    assert_eq!(received.status.code(), Some(0), "{out}\n{err}");
    let answers: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    assert_eq!(answers.len(), 3, "{out}");
    let answer = |id: serde_json::Value| {
        answers
            .iter()
            .find(|it| it["id"] == id)
            .expect("it is answered")
    };
    assert_eq!(
        answer(3.into())["result"]["tools"],
        serde_json::json!([]),
        "{out}"
    );
    assert_eq!(
        answer("sum".into())["result"]["content"][0]["text"],
        "7",
        "{out}"
    );
    assert!(err.contains(", 2 passed on and answered\n"), "{err}");
    let told = "answered by the server behind: tools/call add: ";
    assert!(err.contains(told), "{err}");
    // The host's own handshake went there as well: it is not on record either.
    assert_eq!(
        answer(0.into())["result"]["serverInfo"]["name"],
        "peer",
        "{out}"
    );
}

#[test]
fn the_start_and_the_end_of_the_server_behind_are_on_record_and_shown() {
    let library = Library::new();
    passed(&library);
    let started = library.events("behind-spawned");
    assert_eq!(started.len(), 1);
    assert!(started[0]["pid"].as_u64().is_some_and(|pid| pid > 1));
    assert_eq!(
        started[0]["argv"],
        serde_json::json!([peer(), "rmcp-server"])
    );
    let ended = library.events("behind-exit");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["code"], 0);
    assert_eq!(ended[0]["passed"], 2);
    // It is not how the mock itself ended.
    assert_eq!(library.events("exit").len(), 1);
    let shown = library.mcpreel("show").args(["@", "--events"]).output();
    let shown = text(&shown.expect("mcpreel starts").stdout);
    let words = [
        "the server behind the mock was started, pid ",
        "the server behind the mock ended with exit code 0; 2 requests passed to it",
    ];
    assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
}

#[test]
fn how_a_server_behind_ended_by_itself_is_on_record() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let dies = ["sh", "-c", "read line; kill -KILL $$"];
    let options = [&["--on-miss", "pass", "--"][..], &dies].concat();
    hears(&mut mock(&library, &recording, &options), &[ADD]);
    let ended = library.events("behind-exit");
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["signal"], "SIGKILL");
    assert_eq!(ended[0]["passed"], 1);
}

/// Once it was asked for its end only when its output had ended, and then again by the mock's own
/// end.
#[test]
fn the_end_of_a_server_behind_is_on_record_while_the_mock_goes_on() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let go = library.path().join("go");
    mkfifo(&go, Mode::S_IRWXU).expect("a FIFO can be made");
    let script = format!("read line; exec >&-; read go < '{}'; exit 3", go.display());
    let options = ["--on-miss", "pass", "--", "sh", "-c", &script];
    let session = Session::start(&mut mock(&library, &recording, &options));
    tell(&session, ADD);
    let answered = || {
        session
            .out
            .contains(b"could not be passed on")
            .then_some(())
    };
    wait_for("its output is known to have ended", answered);
    assert_eq!(library.events("behind-exit").len(), 0);
    std::fs::write(&go, "go\n").expect("it reads");
    let ended = wait_for("its end is on record", || {
        library.events("behind-exit").pop()
    });
    assert_eq!(ended["code"], 3);
    assert_eq!(library.events("exit").len(), 0, "the mock goes on");
    session.end();
    assert_eq!(library.events("behind-exit"), [ended]);
}

#[test]
fn a_server_behind_that_could_not_be_started_is_on_record() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    let options = ["--on-miss", "pass", "--", "/nonexistent/server"];
    hears(&mut mock(&library, &recording, &options), &[ADD]);
    let failed = library.events("behind-failed");
    assert_eq!(failed.len(), 1);
    let message = failed[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains("/nonexistent/server"), "{message}");
    assert_eq!(library.events("behind-exit").len(), 0);
}

#[test]
fn a_server_behind_that_cannot_be_started_is_exit_code_4() {
    let library = Library::new();
    let recording = record(library.path(), &CALLS);
    for command in [&["/nonexistent/server"][..], &["sh", "-c", "exit 1"]] {
        let options = [&["--on-miss", "pass", "--"][..], command].concat();
        let received = hears(&mut mock(&library, &recording, &options), &[LIST, ADD]);
        let (out, err) = (text(&received.out), text(&received.err));
        assert_eq!(received.status.code(), Some(4), "{command:?}: {err}");
        assert!(
            out.contains("\"tools\":[]") && out.contains("could not be passed on"),
            "{out}"
        );
        assert!(err.contains("the server behind the mock"), "{err}");
        // Once they were counted as passed on.
        let told = [", 1 not passed on\n", "  not passed on: tools/call add: "];
        assert!(told.iter().all(|told| err.contains(told)), "{err}");
        assert!(!err.contains("answered"), "{err}");
    }
}
