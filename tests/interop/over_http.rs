//! A client sees the same through the proxy as without it, and the recording says of each of its requests
//! what its own log says.

use crate::exported::{exported, read};
use crate::http_peers::{converse, free_port, proxy, server};
use crate::interop_session::converse as converse_over_pipes;
use crate::peers::{EVERYTHING, PYTHON_SDK, TYPESCRIPT_V2};
use crate::same::difference;
use crate::support::{Library, MCPREEL};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery::bring_up_to_date;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::http::HttpExchange;
use mcpreel_wire::message::Direction;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
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
    let (recorder, ours) = proxy(&url, &library);
    let (proxied, log) = converse(client, &ours, library.path());
    assert_eq!(proxied, direct, "{what}");
    assert!(recorder.interrupt().success());
    let reel = &library.recordings()[0];
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
    let with = |key: &str| {
        log.iter()
            .filter(|one| !one[key].is_null())
            .collect::<Vec<_>>()
    };
    requests_agree(recording, &exchanges, &with("n"), what);
    calls_agree(recording, &exchanges, &with("call"), what);
    questions_agree(recording, &exchanges, &with("asked"), what);
    for finding in recording.findings(0).expect("they can be read") {
        assert_ne!(&*finding.severity, "error", "{what}: {finding:?}");
    }
}

/// The recording has each request of the client's log, with its status, its message, and the wait that
/// the client saw.
fn requests_agree(recording: &Recording, exchanges: &[Exchange], log: &[&Value], what: &str) {
    let mut https = recording.https(0, 1000).expect("it can be read");
    let mut short = Vec::new();
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
        // A client that goes away at once sees none, and the Rust SDK hides some.
        if asked["status"].is_string() {
            continue;
        }
        if !asked["status"].is_null() {
            assert_eq!(json!(http.status), asked["status"], "{what}: {asked}");
        }
        let waited = http.waited_ns();
        let waited = waited.unwrap_or_else(|| panic!("{what}: no time of {asked}"));
        short.push(waited_as_long(waited, asked, what));
    }
    are_not_short(short, what);
    assert!(https.is_empty(), "{what}: {https:#?} are in no log");
}

/// A message on record.
fn said(recording: &Recording, (seq, _): (Seq, u32)) -> Value {
    let raw = recording.raw(seq).expect("it can be read");
    serde_json::from_slice(&raw).expect("it is JSON")
}

/// The recording has each call of the client's log, with the answer that the client got, and the time
/// that it took the client.
fn calls_agree(recording: &Recording, exchanges: &[Exchange], log: &[&Value], what: &str) {
    let mut short = Vec::new();
    for asked in log {
        let is_it = |one: &&Exchange| {
            one.name.as_deref() == asked["call"].as_str()
                && said(recording, one.request)["params"]["arguments"] == asked["arguments"]
        };
        let first = exchanges.iter().find(is_it);
        let first = first.unwrap_or_else(|| panic!("{what}: no {asked}"));
        // To the client the rounds of a chain are one call.
        let is_of_it = |one: &&Exchange| one.id == first.id || one.chain == Some(first.id);
        let last = exchanges.iter().rfind(is_of_it).unwrap_or(first);
        assert_eq!(last.status.as_str(), asked["outcome"], "{what}: {asked}");
        let answer = said(recording, last.response.expect("it has an answer"));
        let of_client = asked["text"].as_str().unwrap_or_default();
        if let Some(message) = answer["error"]["message"].as_str() {
            // SDKs put words of their own before it.
            assert!(of_client.ends_with(message), "{what}: {message}, {asked}");
        } else {
            assert_eq!(text(&answer["result"]["content"][0]), of_client, "{what}");
        }
        let came = last.t_response_last.expect("it has an answer");
        let took = came.ns_since(first.t_request);
        short.push(waited_as_long(took, asked, what));
    }
    are_not_short(short, what);
}

/// A part of an answer as the clients write it down: a long text by its hash, a picture by its type.
fn text(part: &Value) -> String {
    match part["text"].as_str() {
        Some(text) if text.len() < 400 => text.to_owned(),
        Some(text) => {
            let digest = Sha256::digest(text);
            let first = digest.first_chunk().copied().unwrap_or_default();
            format!(
                "{} {:016x}",
                text.chars().count(),
                u64::from_be_bytes(first)
            )
        }
        None => format!("<{}>", part["type"].as_str().unwrap_or_default()),
    }
}

/// The recording has each question that the client was asked, in either era, and its answer.
fn questions_agree(recording: &Recording, exchanges: &[Exchange], log: &[&Value], what: &str) {
    let mut asked = Vec::new();
    let mut answered = Vec::new();
    for exchange in exchanges {
        let request = &said(recording, exchange.request)["params"];
        let answer = exchange.response.map(|at| said(recording, at));
        let answer = answer.unwrap_or_default();
        if exchange.method == "elicitation/create" {
            asked.push(request["message"].clone());
            answered.push(answer["result"]["content"].clone());
        }
        let of_call = answer["result"]["inputRequests"].as_object();
        let of_call = of_call.into_iter().flat_map(|all| all.values());
        asked.extend(of_call.map(|one| one["params"]["message"].clone()));
        let by_retry = request["inputResponses"].as_object();
        let by_retry = by_retry.into_iter().flat_map(|all| all.values());
        answered.extend(by_retry.map(|one| one["content"].clone()));
    }
    let of_client = |key| log.iter().map(|one| one[key].clone()).collect::<Vec<_>>();
    assert_eq!(asked, of_client("asked"), "{what}");
    assert_eq!(answered, of_client("answered"), "{what}");
}

/// What was measured in the middle is no longer than what the client measured, which is rounded to tenths,
/// and no shorter than what the tool takes at least, but for the coarseness of timers. How much of the
/// client's time it is short of.
fn waited_as_long(ns: u64, asked: &Value, what: &str) -> f64 {
    let ms = std::time::Duration::from_nanos(ns).as_secs_f64() * 1e3;
    let of_client = asked["ms"].as_f64().unwrap_or_default();
    let of_tool = match (asked["call"].as_str(), &asked["arguments"]) {
        (Some("slow"), arguments) => arguments["pause_ms"].as_f64().unwrap_or(50.0) * 3.0,
        (Some("trigger-long-running-operation"), _) => 300.0,
        _ => 0.0,
    };
    assert!(
        (of_tool * 0.9..=of_client + 1.0).contains(&ms),
        "{what}: {ms} ms, {asked}"
    );
    of_client * 0.7 - ms
}

/// At least half of what was measured is short of the client's time by 60 ms and 30 % at most: a client measures
/// until its code runs, which takes 20 ms where machines are busy, and now and then 200.
fn are_not_short(mut short: Vec<f64>, what: &str) {
    short.sort_by(f64::total_cmp);
    assert!(short[short.len() / 2] <= 60.0, "{what}: {short:?} ms");
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
