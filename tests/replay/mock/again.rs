//! Clients that were recorded, run again against the mock of their own session: they see the same.

use crate::support::rmcp_client::{conversation, modes};
use crate::support::{self, Library, MCPREEL, peer, wait_for};
use serde_json::Value;
use std::process::Stdio;

/// Pauses of the demo are divided by this.
const SPEED: &str = "40";

/// The id of the newest recording, once its recorder has gone.
fn newest(library: &Library) -> String {
    wait_for("the end of the recorder", || {
        let recordings = library.json(&["ls"]);
        let over = recordings.iter().all(|it| it["state"] != "live");
        over.then(|| {
            recordings[0]["id"]
                .as_str()
                .expect("it has an id")
                .to_owned()
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rust_sdk_sees_the_same_of_its_recorded_session() {
    for (era, lifecycle) in modes() {
        let library = Library::new();
        let mut run = library.mcpreel("run");
        run.arg(peer()).arg("rmcp-server");
        let recorded = conversation(run.into(), lifecycle.clone()).await;
        assert_eq!(
            recorded["sums"].as_array().map(Vec::len),
            Some(40),
            "{recorded:#}"
        );
        let id = newest(&library);
        let mut mock = library.mcpreel("mock");
        mock.args([&id, "--assert-all-used", "--assert-no-miss"]);
        let mocked = conversation(mock.into(), lifecycle).await;
        assert_eq!(mocked, recorded, "{era}");
        assert_ne!(newest(&library), id);
        let ended = library.events("exit");
        assert_eq!(ended[0]["code"], 0, "{era}: {}", support_lines(&library));
    }
}

/// What the newest mock said.
fn support_lines(library: &Library) -> String {
    String::from_utf8_lossy(&library.stream("stderr")).into_owned()
}

/// The demo's host with a server that `command` starts.
fn demo(library: &Library, command: &[&str]) -> std::process::Output {
    let mut host = library.mcpreel("demo-host");
    host.args(["--speed", SPEED, "--", MCPREEL]).args(command);
    host.stdin(Stdio::null()).output().expect("the host starts")
}

#[test]
fn the_host_of_the_demo_plays_its_whole_story_with_the_mock() {
    let library = Library::new();
    let server = [MCPREEL, "demo-server", "--speed", SPEED];
    let run = [
        &["run", "--demo", "--name", "weather-server", "--"][..],
        &server,
    ]
    .concat();
    let recorded = demo(&library, &run);
    assert!(recorded.status.success(), "{}", support::text(&recorded));
    let id = newest(&library);
    let asserted = [
        "mock",
        &id,
        "--assert-all-used",
        "--assert-no-miss",
        "--assert-order",
    ];
    let mocked = demo(&library, &asserted);
    assert!(mocked.status.success(), "{}", support::text(&mocked));
    let told = story(&library, &newest(&library));
    assert_eq!(told, story(&library, &id));
    assert!(told.len() >= 20, "{told:#?}");
}

/// What was asked and how it ended, by request; a progress may come a moment after its call.
fn story(library: &Library, id: &str) -> Vec<String> {
    let exchanges = library.json(&["show", id, "--exchanges"]);
    let line = |it: &Value| format!("{} {} {}", it["direction"], it["summary"], it["progress"]);
    exchanges.iter().map(line).collect()
}

#[test]
fn the_same_input_gives_the_same_output() {
    let library = Library::new();
    let recording = crate::mock::record(library.path(), &crate::mock::CALLS);
    let lines = [
        r#"request "x" tools/call {"name":"a","arguments":{"q":2}}"#,
        r#"request 1 tools/call {"name":"a","arguments":{"q":3}}"#,
        "no JSON",
        "request 2 tools/list",
    ];
    let run = || crate::mock::hears(&mut crate::mock::mock(&library, &recording, &[]), &lines);
    let (first, second) = (run(), run());
    assert_eq!(crate::mock::text(&first.out).lines().count(), 4);
    assert_eq!((first.out, first.err), (second.out, second.err));
}
