//! Calls whose streams break: lost at that moment, unless the answer comes on another stream.

use crate::bridge::{INITIALIZE, PING, handshake};
use crate::copies::run;
use crate::http_server::{HttpServer, events};
use crate::support::host_session::Collected;
use crate::support::proxy::Proxy;
use crate::support::{Library, wait_for};
use crate::wire;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::http::End;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::process::Stdio;

const MS: u64 = 1_000_000;

const BEGUN: &str = r#"
> POST /mcp
> Accept: application/json, text/event-stream
>
> request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
< 200
< Mcp-Session-Id: s1
< Content-Type: application/json
<
< result 0 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}
> POST /mcp
> Accept: application/json, text/event-stream
> Mcp-Session-Id: s1
> MCP-Protocol-Version: 2025-11-25
>
> notify notifications/initialized
< 202
> POST /mcp
> Accept: application/json, text/event-stream
> Mcp-Session-Id: s1
> MCP-Protocol-Version: 2025-11-25
>
> request 1 tools/call {"name":"work"}
< 200
< Content-Type: text/event-stream
<
"#;

/// A client that takes up a stream, on another connection.
const RESUMED: &str = "
2> GET /mcp
2> Accept: text/event-stream
2> Mcp-Session-Id: s1
2> MCP-Protocol-Version: 2025-11-25
2> Last-Event-ID: 7
2< 200
2< Content-Type: text/event-stream
2<
";

const ANSWER: &str = r#"2< result 1 {"content":[]}"#;

/// The recording of a call whose stream goes on like this, and the call.
fn told(dir: &std::path::Path, case: &str) -> (Recording, Exchange) {
    let recording = wire::told(dir, &format!("{BEGUN}{case}"));
    let mut calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    let call = calls.remove(1);
    assert_eq!(call.name.as_deref(), Some("work"));
    (recording, call)
}

fn rules(recording: &Recording) -> Vec<String> {
    let findings = recording.findings(0).unwrap().into_iter();
    findings.map(|finding| finding.rule.to_string()).collect()
}

/// Once it was waited for until the recording ended.
#[test]
fn a_call_is_lost_when_its_stream_breaks() {
    let dir = tempfile::tempdir().unwrap();
    let rest = "after 5000\n2> POST /mcp\n2> Mcp-Session-Id: s1\n2>\n2> request 2 ping\n2< 202\n";
    let broken = format!("after 400\nclose server\n{rest}");
    let resumable = format!("< id 7\nafter 400\nclose server\n{rest}");
    for case in [broken, resumable] {
        let (recording, call) = told(dir.path(), &case);
        assert_eq!(call.status, Status::Lost, "{case}");
        let end = mcpreel_trace::clock::Moment(recording.summary().unwrap().t_last_ns);
        let waited = call.unanswered_ns(end).unwrap();
        assert!((400 * MS..420 * MS).contains(&waited), "{waited}: {case}");
        let reel = dir.path().join("a.reel").display().to_string();
        let shown = run(&["show", &format!("{reel}#{}", call.request.0.0)]);
        assert!(shown.contains("without an answer"), "{shown}");
        assert!(!shown.contains(" 5."), "{shown}");
        std::fs::remove_file(dir.path().join("a.reel")).unwrap();
    }
}

/// Once it was open until the recording ended, though nobody came back for the rest.
#[test]
fn a_live_call_is_lost_while_no_stream_goes_on_with_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let broken = format!("{BEGUN}< id 7\nafter 400\nclose server\n");
    let resumed = format!("{broken}{RESUMED}");
    for (case, status) in [(broken, Status::Lost), (resumed, Status::Open)] {
        let session = wire::tell(dir.path(), &case);
        let calls = wire::indexed_live(&session).exchanges(ExchangeId(0), 10);
        assert_eq!(calls.unwrap()[1].status, status, "{case}");
        std::fs::remove_file(dir.path().join("a.reel")).unwrap();
    }
}

/// Once `tail` forgot a call that was lost, and never printed its answer.
#[test]
fn tail_prints_the_answer_of_a_call_that_was_lost() {
    let library = Library::new();
    let server = HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        if request.line.starts_with("GET ") {
            events(
                client,
                "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
            );
        } else {
            // It breaks long before its length.
            let head = "Content-Type: text/event-stream\r\nContent-Length: 9999";
            let begun = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\nid: 7\ndata:\n\n");
            client.write_all(begun.as_bytes()).unwrap();
        }
        false
    });
    let proxy = Proxy::start(&library, &server.url, &[]);
    let ask = |line: &str, body: &str| {
        let length = body.len();
        let head = "Host: 127.0.0.1\r\nMcp-Session-Id: s1\r\nContent-Type: application/json";
        let request = format!("{line}\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        let mut client = proxy.connect();
        client.write_all(request.as_bytes()).unwrap();
        // The client stays until the server has answered or gone.
        assert!(client.read(&mut [0; 9999]).unwrap() > 0);
        client
    };
    let _first = ask("POST /mcp HTTP/1.1", INITIALIZE);
    let mut tail = library.mcpreel("tail");
    let tail = tail.args(["@", "--json", "-q", "method:ping"]);
    let mut tail = tail.stdout(Stdio::piped()).spawn().unwrap();
    let told = Collected::from(tail.stdout.take().unwrap());
    let statuses = || {
        let told = String::from_utf8(told.so_far()).unwrap();
        let rows = told.lines().map(|row| serde_json::from_str(row).unwrap());
        let statuses = rows.map(|row: Value| row["status"].as_str().unwrap().to_owned());
        statuses.collect::<Vec<_>>()
    };
    let _broken = ask("POST /mcp HTTP/1.1", PING);
    wait_for("the call is lost", || {
        (statuses() == ["lost"]).then_some(())
    });
    let _resumed = ask("GET /mcp HTTP/1.1\r\nLast-Event-ID: 7", "");
    wait_for("it is answered", || {
        (statuses() == ["lost", "ok"]).then_some(())
    });
    proxy.end();
    assert!(tail.wait().unwrap().success());
}

#[test]
fn a_call_that_a_resumed_stream_answers_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let reset = "< id 7\nafter 400\nclose server\n";
    let ended = "< id 7\n< end\nafter 400\n";
    // The server gave no id, and answers all the same.
    let nameless = "after 400\nclose server\n";
    for broken in [reset, ended, nameless] {
        let (recording, call) = told(dir.path(), &format!("{broken}{RESUMED}{ANSWER}"));
        assert_eq!(call.status, Status::Ok, "{broken}");
        assert!(call.latency_ns() > Some(400 * MS));
        assert_eq!(rules(&recording), [""; 0], "{broken}");
        std::fs::remove_file(dir.path().join("a.reel")).unwrap();
    }
}

/// Once the answer kept the status of HTTP as its code.
#[test]
fn an_answer_that_comes_after_all_has_no_status_for_a_code() {
    let dir = tempfile::tempdir().unwrap();
    let case = format!("< end\nafter 400\n{RESUMED}{ANSWER}");
    let (_, call) = told(dir.path(), &case);
    assert_eq!((call.status, call.code), (Status::Ok, None));
}

/// To close the stream is how a client of the newer era cancels.
#[test]
fn a_stream_in_an_unknown_coding_is_left_or_cut_as_any_other() {
    let post = r#"
> POST /mcp
> MCP-Protocol-Version: 2026-07-28
>
> request 1 tools/call {"name":"work","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
< 200
< Content-Type: text/event-stream
< Content-Encoding: compress
<
"#;
    for (end, status) in [
        ("close client", Status::Cancelled),
        ("close server", Status::Lost),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let recording = wire::told(dir.path(), &format!("{post}{end}\nafter 400\n"));
        let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
        assert_eq!(calls[0].status, status, "{end}");
    }
}

/// Nobody knows whether a stream that was taken up would have brought the answer.
#[test]
fn a_call_whose_stream_was_taken_up_again_is_open_until_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let case = format!("< id 7\nclose server\n{RESUMED}after 400");
    let (recording, call) = told(dir.path(), &case);
    assert_eq!(call.status, Status::Unanswered);
    assert_eq!(rules(&recording), ["request-unanswered"]);
}

/// Once such a call was lost, as if the server had broken off.
#[test]
fn who_leaves_a_stream_that_is_as_long_as_its_connection_has_left_it() {
    let dir = tempfile::tempdir().unwrap();
    let begun = BEGUN.trim_end().strip_suffix('<').unwrap();
    let case = format!("{begun}< Connection: close\n<\nafter 400\nclose client");
    let recording = wire::told(dir.path(), &case);
    let https = recording.https(0, 10).unwrap();
    assert_eq!(https[2].ended, Some(End::Left));
    let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    assert_eq!(calls[1].status, Status::Unanswered);
}
