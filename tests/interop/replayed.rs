//! A recorded client, played to the same server again: nothing differs. Played to one of which
//! something was altered: exactly that differs.

use crate::http_peers::{free_port, server};
use crate::interop_session::{Session, record};
use crate::packages::Packages;
use crate::peers::{
    Client, EVERYTHING, HAD_AGAIN, NOTES_PYTHON, PYTHON_SDK, Server, TYPESCRIPT_V1,
};
use crate::support::{self, MCPREEL};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_same_server_answers_a_replay_as_it_answered_the_client() {
    let mut complaints = Vec::new();
    for (client, mode, servers) in HAD_AGAIN {
        complaints.extend(round_trips(client, mode, servers));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What differs where nothing should.
fn round_trips(
    client: &'static Client,
    mode: &'static str,
    servers: &[&'static Server],
) -> Vec<String> {
    let mut complaints = Vec::new();
    for session in record(client, mode, servers) {
        for recording in &session.recordings {
            session.restore();
            let replayed = replay(&session, recording, &[], "none=");
            support::note(format_args!("{}: {:?}", session.name(), replayed.found));
            if replayed.code != Some(0) || !replayed.found.is_empty() {
                complaints.push(format!("{}: {replayed:?}", session.name()));
            }
        }
    }
    complaints
}

/// What the server does otherwise over HTTP: it was started with other variables and tells them, it tells the
/// id of its session, and it tells of its tools before the client can have its stream.
const OVER_HTTP: [&str; 4] = [
    " : changed",
    "tools/call get-env: added",
    "tools/call toggle-simulated-logging: changed",
    "tools/call toggle-subscriber-updates: changed",
];

/// A recording made over pipes, played to the same server behind a URL.
#[test]
fn the_same_server_over_http_answers_a_replay_as_it_answered_over_pipes() {
    for (client, mode) in [(&PYTHON_SDK, "legacy"), (&TYPESCRIPT_V1, "legacy")] {
        let session = record(client, mode, &[&EVERYTHING]).swap_remove(0);
        let recording = session.recordings.last().expect("it is on record");
        let port = free_port();
        let _running = server("everything:streamableHttp", port);
        let url = format!("http://127.0.0.1:{port}/mcp");
        let mut replayed = replay(&session, recording, &["--url", &url], "none=");
        replayed.found.retain(|it| !OVER_HTTP.contains(&&**it));
        replayed.is(1, &[]);
        let mut remarks = replayed.lines.iter().filter(|it| it["method"] == "");
        let of_tools = |it: &Value| {
            it["text"]
                .to_string()
                .contains("tools/list_changed did not")
        };
        assert!(remarks.all(of_tools), "{:#?}", replayed.lines);
        let same = replayed.lines[0]["same"].as_u64();
        assert!(same > Some(50), "{:#?}", replayed.lines[0]);
    }
}

#[test]
fn exactly_what_was_altered_is_reported() {
    for session in record(&PYTHON_SDK, "legacy", &[&NOTES_PYTHON]) {
        let recording = session.recordings.last().expect("it is on record");
        let found = |options: &[&str], alteration: &str| {
            let replayed = replay(&session, recording, options, alteration);
            support::note(format_args!("{alteration}: {replayed:?}"));
            replayed
        };
        found(&[], "none=").is(0, &[]);
        found(&[], "answer=weather").is(1, &["tools/call weather: changed"]);
        found(&[], "drop=weather").is(
            1,
            &["tools weather: breaking", "tools/call weather: breaking"],
        );
        found(&[], "narrow=weather").is(1, &["tools weather: breaking"]);
        let late = [
            "--latency-budget",
            "20x",
            "--fail-on",
            "latency",
            "--only",
            "tool:weather",
        ];
        found(&late, "late=weather").is(1, &["tools/call weather: latency"]);
        let crashed = found(&[], "crash=5");
        assert_eq!(crashed.code, Some(4), "{crashed:?}");
        let said = crashed.troubles.join(" ");
        for part in ["exit code 3", "after tools/call", "crashing as told"] {
            assert!(said.contains(part), "no {part}: {said}");
        }
    }
}

/// What came of a replay.
#[derive(Debug)]
struct Replayed {
    code: Option<i32>,
    /// `tools/call weather: changed`, `tools weather: breaking`; without noise.
    found: BTreeSet<String>,
    troubles: Vec<String>,
    lines: Vec<Value>,
}

impl Replayed {
    #[track_caller]
    fn is(&self, code: i32, found: &[&str]) {
        let expected: BTreeSet<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            (self.code, &self.found),
            (Some(code), &expected),
            "{:#?}",
            self.lines
        );
    }
}

fn replay(session: &Session, recording: &Path, options: &[&str], alteration: &str) -> Replayed {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/servers/altered.py");
    let mut replay = Command::new(MCPREEL);
    replay.env_clear().envs(environment(session, recording));
    let library = session.library.path();
    replay.arg("replay").arg("--dir").arg(library);
    replay
        .args(["--allow-side-effects", "--format", "json"])
        .args(options);
    replay.arg(recording);
    if !options.contains(&"--url") {
        replay.arg("--");
        if alteration != "none=" {
            let python = Packages::get().folder().join("python/bin/python");
            replay.arg(python).arg(here).arg(alteration);
        }
        replay.args(session.command());
    }
    let output = replay.stdin(Stdio::null()).output();
    let output = output.expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |kind: &'static str| lines.iter().filter(move |line| line["kind"] == kind);
    let word = |line: &Value, key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let differs = of("difference").chain(of("offer")).chain(of("exchange"));
    let found = differs.filter(|line| line["class"] != "noise").map(|line| {
        let list = if line["list"].is_null() {
            "method"
        } else {
            "list"
        };
        format!(
            "{} {}: {}",
            word(line, list),
            word(line, "name"),
            word(line, "class")
        )
    });
    Replayed {
        code: output.status.code(),
        found: found.collect(),
        troubles: of("trouble").map(|line| word(line, "text")).collect(),
        lines: lines
            .iter()
            .filter(|line| line["class"] != "noise")
            .cloned()
            .collect(),
    }
}

/// The variables that the client gave its server: some servers tell them. On record are the names;
/// the client had the values from us.
fn environment(session: &Session, recording: &Path) -> Vec<(String, OsString)> {
    let recording = recording.to_string_lossy();
    let events = session.library.json(&["show", &recording, "--events"]);
    let start = events.iter().find(|event| event["kind"] == "start");
    let names = start.and_then(|start| start["env_names"].as_array());
    let names = names.expect("the start is on record").iter();
    let given = names.filter_map(|name| {
        let name = name.as_str()?.to_owned();
        let value = std::env::var_os(&name)?;
        Some((name, value))
    });
    given.collect()
}
