//! A client sees the same through the proxy as without it, and the recording says of each of its requests
//! what its own log says.

use crate::exported::{exported, read};
use crate::http_peers::{converse, free_port, proxy, server};
use crate::interop_session::converse as converse_over_pipes;
use crate::peers::{EVERYTHING, PYTHON_SDK, TYPESCRIPT_V2};
use crate::same::difference;
use crate::support::{self, Library, MCPREEL};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery::bring_up_to_date;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::message::Direction;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::sync::Mutex;

/// Clients and servers: each at least twice, in each way in which it speaks HTTP.
const PAIRS: [(&str, &str); 19] = [
    ("v1:auto", "everything:streamableHttp"),
    ("v1:sse", "everything:sse"),
    ("v1:auto", "v2:stateful"),
    ("v2:auto", "fastmcp:stateful"),
    ("v2:2026-07-28", "rmcp:json"),
    ("v2:auto", "python1:stateful"),
    ("python:legacy", "everything:streamableHttp"),
    ("python:2026-07-28", "fastmcp:stateless"),
    ("python:sse", "fastmcp:sse"),
    ("python:auto", "v2:events"),
    ("python1:legacy", "python:stateful"),
    ("python1:legacy", "rmcp:stateful"),
    ("python1:sse", "python1:sse"),
    ("fastmcp:auto", "python:json"),
    ("fastmcp:legacy", "python1:json"),
    ("fastmcp:sse", "python:sse"),
    ("rmcp:auto", "python:stateful"),
    ("rmcp:legacy", "v2:stateful"),
    ("rmcp:2026-07-28", "fastmcp:json"),
];

#[test]
fn clients_see_the_same_and_the_recording_says_what_they_saw() {
    // Programs mostly start and wait: two pairs at a time take little longer than one.
    let left = Mutex::new(PAIRS.iter());
    let next = || left.lock().expect("no thread panics with it").next();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((client, server)) = next() {
                    sees_the_same(client, server);
                }
            });
        }
    });
}

fn sees_the_same(client: &str, server_name: &str) {
    let what = format!("{client} with {server_name}");
    let library = Library::new();
    let port = free_port();
    let path = if server_name.ends_with(":sse") {
        "sse"
    } else {
        "mcp"
    };
    let url = format!("http://127.0.0.1:{port}/{path}");
    let _running = server(server_name, port);
    let (direct, _) = converse(client, &url, library.path());
    let (mut recorder, ours) = proxy(&url, &library);
    let (proxied, log) = converse(client, &ours, library.path());
    assert_eq!(proxied, direct, "{what}");
    support::send(Signal::SIGINT, recorder.0.id());
    assert!(recorder.0.wait().expect("it ends").success());
    let reel = &library.files("reel")[0];
    bring_up_to_date(reel, Clock::start(), &mut |_| ()).expect("it can be completed");
    let recording = Recording::open(reel).expect("it can be read");
    agrees(&recording, &log, &what);
    let archive = read("har.mjs", &exported(&library, reel, "har"));
    assert_eq!(archive["errors"], json!([]), "{what}");
    let https = recording.https(0, 1000).expect("it can be read");
    assert_eq!(archive["entries"], https.len(), "{what}");
}

/// The recording has all that the client's log has, and no findings of severity error.
fn agrees(recording: &Recording, log: &[Value], what: &str) {
    let exchanges = recording
        .exchanges(ExchangeId(0), 1000)
        .expect("they can be read");
    let (requests, others): (Vec<_>, Vec<_>) = log.iter().partition(|one| one["n"].is_u64());
    let (calls, _): (Vec<_>, Vec<_>) = others.iter().partition(|one| one["call"].is_string());
    requests_agree(recording, &exchanges, &requests, what);
    calls_agree(recording, &exchanges, &calls, what);
    for finding in recording.findings(0).expect("they can be read") {
        assert_ne!(&*finding.severity, "error", "{what}: {finding:?}");
    }
}

/// The recording has each request of the client's log, with its status, its message, and no longer wait
/// than the client saw.
fn requests_agree(recording: &Recording, exchanges: &[Exchange], log: &[&Value], what: &str) {
    let mut https = recording.https(0, 1000).expect("it can be read");
    for asked in log {
        let method = asked["method"].as_str().unwrap_or_default();
        let is_it = |http: &HttpExchange| {
            let mut carried = exchanges.iter().filter(|one| one.http == http.id);
            let of_client = |one: &&Exchange| one.direction == Direction::ClientToServer;
            let id = carried
                .find(of_client)
                .map(|one| one.rpc_id.json().to_owned());
            // An answer to the server has the server's id.
            let said = Some(&asked["id"]).filter(|id| !id.is_null() && asked["rpc"] != "answer");
            let said = said.map(Value::to_string);
            *http.method == *method
                && *http.target == *asked["path"].as_str().unwrap_or("")
                && id == said
        };
        let at = https
            .iter()
            .position(is_it)
            .unwrap_or_else(|| panic!("{what}: no {asked}"));
        let http = https.remove(at);
        // The Rust SDK hides some from those who use it.
        if !asked["status"].is_null() {
            assert_eq!(json!(http.status), asked["status"], "{what}: {asked}");
        }
        waited_as_long(http.waited_ns().unwrap_or_default(), asked, what);
    }
    assert!(https.is_empty(), "{what}: {https:#?} are in no log");
}

/// The recording has each call of the client's log, with the answer that the client got, and no longer
/// wait than the client saw.
fn calls_agree(recording: &Recording, exchanges: &[Exchange], log: &[&Value], what: &str) {
    let said = |seq| {
        let raw = recording.raw(seq).expect("it can be read");
        serde_json::from_slice::<Value>(&raw).expect("it is JSON")
    };
    for asked in log {
        let is_it = |one: &&Exchange| {
            one.name.as_deref() == asked["call"].as_str()
                && said(one.request.0)["params"]["arguments"] == asked["arguments"]
        };
        let first = exchanges.iter().find(is_it);
        let first = first.unwrap_or_else(|| panic!("{what}: no {asked}"));
        // To the client the rounds of a chain are one call.
        let is_of_it = |one: &&Exchange| one.id == first.id || one.chain == Some(first.id);
        let last = exchanges.iter().rfind(is_of_it).unwrap_or(first);
        assert_eq!(last.status.as_str(), asked["outcome"], "{what}: {asked}");
        let (answer, _) = last.response.expect("it has an answer");
        let part = &said(answer)["result"]["content"][0];
        // Of long texts the log has a hash, of pictures and errors no text.
        if let Some(text) = part["text"].as_str().filter(|text| text.len() < 400) {
            assert_eq!(text, asked["text"], "{what}: {asked}");
        }
        let came = last.t_response_last.expect("it has an answer");
        waited_as_long(came.ns_since(first.t_request), asked, what);
    }
}

/// What was measured in the middle is no longer than what the client measured, which is rounded to tenths,
/// and no shorter than what the tool takes at least.
fn waited_as_long(ns: u64, asked: &Value, what: &str) {
    let ms = std::time::Duration::from_nanos(ns).as_secs_f64() * 1e3;
    let of_client = asked["ms"].as_f64().unwrap_or_default() + 1.0;
    let of_tool = match asked["call"].as_str() {
        Some("slow" | "trigger-long-running-operation") => 50.0,
        _ => 0.0,
    };
    assert!(
        (of_tool..=of_client).contains(&ms),
        "{what}: {ms} ms, {asked}"
    );
}

/// A client that only starts commands gets `run --url` as its server, and sees what it sees over pipes.
#[test]
fn clients_of_pipes_see_the_same_of_a_server_behind_a_url() {
    for (client, mode) in [(&PYTHON_SDK, "auto"), (&TYPESCRIPT_V2, "auto")] {
        for session in converse_over_pipes(client, mode, &[&EVERYTHING]) {
            for path in ["mcp", "sse"] {
                let port = free_port();
                let kind = if path == "mcp" {
                    "streamableHttp"
                } else {
                    "sse"
                };
                let running = server(&format!("everything:{kind}"), port);
                let url = format!("http://127.0.0.1:{port}/{path}");
                let dir = session.library.path().display().to_string();
                let command = [MCPREEL, "run", "--dir", &dir, "--url", &url];
                let seen = session.again(&command.map(str::to_owned));
                let seen = without_session(&seen);
                drop(running);
                let name = format!("{} at /{path}", session.name());
                assert_eq!(difference(&name, &seen, &session.seen), None);
            }
        }
    }
}

/// Over HTTP tools of this server tell the id of its session.
fn without_session(seen: &Value) -> Value {
    let text = seen.to_string();
    let (before, rest) = text.split_once("for session ").expect("it tells one");
    let (id, _) = rest.split_once(' ').expect("more words follow");
    assert!(!before.is_empty() && id.len() > 8, "{id}");
    serde_json::from_str(&text.replace(id, "undefined")).expect("it stays JSON")
}
