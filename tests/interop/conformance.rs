//! The official conformance suite comes to the same verdicts through the proxy as without it.

use crate::http_peers::{free_port, listening, server};
use crate::packages::Packages;
use crate::support::{self, Library};
use mcpreel_store::reader::Recording;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// The verdicts of a suite about the server at `url`: scenario, check, how that came out, and how often.
fn verdicts(suite: &str, era: &[&str], url: &str, results: &Path) -> BTreeMap<String, u32> {
    let modules = Packages::get().folder().join("node_modules");
    let mut command = Command::new(modules.join("node/bin/node"));
    command.arg(modules.join(suite).join("dist/index.js"));
    command.args(["server", "--url", url]).args(era);
    command.arg("-o").arg(results);
    // It fails where a check does.
    let output = command.output().expect("the suite starts");
    let mut found = BTreeMap::new();
    for scenario in std::fs::read_dir(results).into_iter().flatten().flatten() {
        let name = scenario.file_name().into_string().expect("it is text");
        // Behind it stands when it was run.
        let name = name.split("-20").next().unwrap_or_default();
        let name = name.trim_start_matches("server-");
        let checks = std::fs::read(scenario.path().join("checks.json"));
        let checks: Vec<Value> =
            serde_json::from_slice(&checks.expect("it has checks")).expect("it is JSON");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let of_check = |it: &Value| format!("{name} {} {}", text(&it["id"]), text(&it["status"]));
        for check in checks.iter().map(of_check) {
            *found.entry(check).or_default() += 1;
        }
    }
    assert!(found.len() > 20, "{suite}: {}", support::text(&output));
    found
}

/// The statuses with which streams of the server were answered.
fn streams(library: &Library) -> Vec<u16> {
    // Whoever reads a recording first completes it.
    library.json(&["show", "@"]);
    let recording = Recording::open(&library.recordings()[0]).expect("it can be read");
    let https = recording.https(0, 10_000).expect("it can be read");
    let streams = https.iter().filter(|it| it.method == "GET");
    streams.filter_map(|it| it.status).collect()
}

#[test]
fn the_official_suite_comes_to_the_same_verdicts() {
    let official = "@modelcontextprotocol/conformance";
    let legacy = ["--suite", "all"];
    let modern = ["--requirements", "2026-07-28", "--timeout", "15000"];
    for (suite, era, server_name, options) in [
        // This server does not look at names. The proxy does, and would pass a check that the server fails.
        (
            official,
            &legacy[..],
            "everything:streamableHttp",
            &["--keep-host"][..],
        ),
        (official, &legacy, "conformance:any", &[]),
        ("conformance-alpha", &modern, "conformance:any", &[]),
    ] {
        let library = Library::new();
        let port = free_port();
        let url = format!("http://127.0.0.1:{port}/mcp");
        let results = |of: &str| library.path().join(of);
        let running = server(server_name, port);
        let expected = verdicts(suite, era, &url, &results("direct"));
        drop(running);
        let running = server(server_name, port);
        let (recorder, ours) = listening(&library, &[&["proxy", &*url], options].concat());
        let found = verdicts(suite, era, &ours, &results("proxied"));
        assert!(recorder.interrupt().success());
        drop(running);
        let passed = found.iter().filter(|(it, _)| it.ends_with(" SUCCESS"));
        let (passed, of): (u32, u32) = (passed.map(|it| it.1).sum(), found.values().sum());
        support::note(format_args!(
            "{server_name}: {passed} of {of} checks of {suite} pass"
        ));
        assert_eq!(found, expected, "{suite} with {server_name}");
        // No verdict depends on the streams that clients open in their own time.
        let streams = streams(&library);
        assert_eq!(
            streams.is_empty(),
            suite != official,
            "{suite} with {server_name}"
        );
        assert!(
            streams.iter().all(|it| *it == 200),
            "{suite} with {server_name}: {streams:?}"
        );
    }
}
