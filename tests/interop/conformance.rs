//! The official conformance suite comes to the same verdicts through the proxy as without it.

use crate::http_peers::{free_port, proxy, server};
use crate::packages::Packages;
use crate::support::{self, Library};
use mcpreel_store::reader::Recording;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The one check that comes out otherwise where the server has no guard: the proxy refuses who was led to it
/// by a foreign name, whatever the server does.
const REBINDING: &str = "dns-rebinding-protection localhost-host-rebinding-rejected";

/// The verdicts of a suite about the server at `url`: scenario, check, and how that came out.
fn verdicts(suite: &str, era: &[&str], url: &str, results: &Path) -> BTreeSet<String> {
    let modules = Packages::get().folder().join("node_modules");
    let mut command = Command::new(modules.join("node/bin/node"));
    command.arg(modules.join(suite).join("dist/index.js"));
    command.args(["server", "--url", url]).args(era);
    command.arg("-o").arg(results);
    // It fails where a check does.
    let output = command.output().expect("the suite starts");
    let mut found = BTreeSet::new();
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
        found.extend(checks.iter().map(of_check));
    }
    assert!(found.len() > 20, "{suite}: {}", support::text(&output));
    found
}

/// The statuses with which streams of the server were answered.
fn streams(library: &Library) -> Vec<u16> {
    // Whoever reads a recording first completes it.
    library.json(&["show", "@"]);
    let recording = Recording::open(&library.files("reel")[0]).expect("it can be read");
    let https = recording.https(0, 10_000).expect("it can be read");
    let streams = https.iter().filter(|it| it.method == "GET");
    streams.filter_map(|it| it.status).collect()
}

#[test]
fn the_official_suite_comes_to_the_same_verdicts() {
    let official = "@modelcontextprotocol/conformance";
    let modern = ["--requirements", "2026-07-28", "--timeout", "15000"];
    for (suite, era, server_name) in [
        (official, &[][..], "everything:streamableHttp"),
        (official, &[], "conformance:any"),
        ("conformance-alpha", &modern, "conformance:any"),
    ] {
        let library = Library::new();
        let port = free_port();
        let url = format!("http://127.0.0.1:{port}/mcp");
        let results = |of: &str| library.path().join(of);
        let running = server(server_name, port);
        let mut expected = verdicts(suite, era, &url, &results("direct"));
        drop(running);
        let running = server(server_name, port);
        let (recorder, ours) = proxy(&url, &library);
        let found = verdicts(suite, era, &ours, &results("proxied"));
        assert!(recorder.interrupt().success());
        drop(running);
        let passed = found.iter().filter(|it| it.ends_with(" SUCCESS")).count();
        let of = found.len();
        support::note(format_args!(
            "{server_name}: {passed} of {of} checks of {suite} pass"
        ));
        let is_unguarded = server_name.starts_with("everything");
        let was_found = expected.remove(&format!("{REBINDING} FAILURE"));
        assert_eq!(was_found, is_unguarded, "{suite} with {server_name}");
        expected.insert(format!("{REBINDING} SUCCESS"));
        assert_eq!(found, expected, "{suite} with {server_name}");
        // No verdict depends on the streams that clients open in their own time.
        let streams = streams(&library);
        assert_eq!(
            streams.is_empty(),
            !era.is_empty(),
            "{suite} with {server_name}"
        );
        assert!(
            streams.iter().all(|it| *it == 200),
            "{suite} with {server_name}: {streams:?}"
        );
    }
}
