//! A client sees the same through the proxy as without it, and the recording says of each of its requests
//! what its own log says.

use crate::exported::{exported, read};
use crate::interop_session::converse as converse_over_pipes;
use crate::packages::Packages;
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
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program that ends with this value.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The servers: their names, and how they are started on a port.
pub fn server(name: &str, port: u16) -> Running {
    let folder = Packages::get().folder();
    let (kind, mode) = name.split_once(':').expect("a server has a mode");
    let mut command = if kind == "everything" {
        let mut command = Command::new("node");
        let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
        command
            .arg(folder.join(script))
            .arg(mode)
            .env("PORT", port.to_string());
        command
    } else {
        let mut command = Command::new(folder.join("python/bin/python"));
        let script = match kind {
            "conformance" => script("servers/conformance.py"),
            _ => script("servers/http_fastmcp.py"),
        };
        command.args(["-Wignore", &script, &port.to_string(), mode]);
        command
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let running = Running(command.spawn().expect("the server starts"));
    support::wait_for("the server listens", || {
        TcpStream::connect(("127.0.0.1", port)).ok()
    });
    running
}

pub fn free_port() -> u16 {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
    address.expect("there is a free port").port()
}

fn script(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    folder.join(name).display().to_string()
}

/// What a client prints, and its log.
fn converse(client: &str, url: &str, dir: &Path) -> (String, Vec<Value>) {
    let folder = Packages::get().folder();
    let (kind, mode) = client.split_once(':').expect("a client has a mode");
    let log = dir.join("log");
    let (program, script) = match kind {
        "python" => (
            folder.join("python/bin/python"),
            script("clients/http_python.py"),
        ),
        v => (
            "node".into(),
            self::script(&format!("clients/http_{v}.cjs")),
        ),
    };
    let mut command = Command::new(program);
    let output = command
        .args([&script, url])
        .arg(&log)
        .arg(mode)
        .env("PACKAGES", folder)
        .output()
        .expect("the client starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("\"closed\""),
        "{client}: {said} {}",
        support::text(&output)
    );
    let log = std::fs::read_to_string(log).expect("it keeps a log");
    let log = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"));
    (said, log.collect())
}

/// The recorder before the server at `url`, and its own URL.
pub fn proxy(url: &str, library: &Library) -> (Running, String) {
    let mut command = Command::new(MCPREEL);
    let at = library.path().display().to_string();
    command.args(["proxy", url, "--listen", "127.0.0.1:0", "--dir", &at]);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr)
        .read_line(&mut line)
        .expect("it says its URL");
    let url = line
        .split(": put ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    (
        Running(child),
        url.unwrap_or_else(|| panic!("{line}")).to_owned(),
    )
}

#[test]
fn clients_see_the_same_and_the_recording_says_what_they_saw() {
    for (client, server_name) in [
        ("v1:auto", "everything:streamableHttp"),
        ("v1:sse", "everything:sse"),
        ("v2:auto", "fastmcp:stateful"),
        ("v2:2026-07-28", "fastmcp:stateful"),
        ("python:auto", "fastmcp:stateful"),
        ("python:legacy", "everything:streamableHttp"),
        ("python:2026-07-28", "fastmcp:stateless"),
        ("python:sse", "fastmcp:sse"),
        ("v2:2026-07-28", "fastmcp:json"),
    ] {
        let what = format!("{client} with {server_name}");
        let library = Library::new();
        let port = free_port();
        let path = if server_name.ends_with(":sse") {
            "sse"
        } else {
            "mcp"
        };
        let url = format!("http://127.0.0.1:{port}/{path}");
        let running = server(server_name, port);
        let (direct, _) = converse(client, &url, library.path());
        drop(running);
        let running = server(server_name, port);
        let (mut recorder, ours) = proxy(&url, &library);
        let (proxied, log) = converse(client, &ours, library.path());
        assert_eq!(proxied, direct, "{what}");
        support::send(Signal::SIGINT, recorder.0.id());
        assert!(recorder.0.wait().expect("it ends").success());
        drop(running);
        let reel = &library.files("reel")[0];
        bring_up_to_date(reel, Clock::start(), &mut |_| ()).expect("it can be completed");
        let recording = Recording::open(reel).expect("it can be read");
        agrees(&recording, &log, &what);
        let archive = read("har.mjs", &exported(&library, reel, "har"));
        assert_eq!(archive["errors"], serde_json::json!([]), "{what}");
        let https = recording.https(0, 1000).expect("it can be read");
        assert_eq!(archive["entries"], https.len(), "{what}");
    }
}

/// The recording has all that the client's log has, and no findings of severity error.
fn agrees(recording: &Recording, log: &[Value], what: &str) {
    let exchanges = recording
        .exchanges(ExchangeId(0), 1000)
        .expect("they can be read");
    let (calls, requests): (Vec<_>, Vec<_>) = log.iter().partition(|one| one["call"].is_string());
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
        assert_eq!(
            http.status.map(Into::into),
            asked["status"].as_u64(),
            "{what}: {asked}"
        );
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
