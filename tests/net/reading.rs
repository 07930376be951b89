//! What is read of the HTTP of a recording: lines, times.

use crate::copies::run;
use crate::http_server::{HttpServer, events};
use crate::support::Library;
use crate::support::proxy::{Proxy, recording, upstream};
use crate::wire;
use mcpreel_lint::authorization::Step;
use mcpreel_share::phrases::phrases_network;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::http::End;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::time::Duration;

/// The rows of JSON that a command prints.
pub fn rows(args: &[&str]) -> Vec<Value> {
    let rows = run(args);
    rows.lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect()
}

#[test]
fn a_call_that_http_refused_says_the_status_unless_a_message_says_more() {
    let line = |file: &str, method: &str| {
        let dir = tempfile::tempdir().unwrap();
        let recording = wire::recording(dir.path(), &wire::file(file));
        let calls = recording.exchanges(ExchangeId(0), 100).unwrap();
        let call = calls.iter().rfind(|call| &*call.method == method).unwrap();
        (call.status, call.summary.to_string())
    };
    let (status, said) = line("unauthorized-py1", "initialize");
    assert_eq!(status, Status::HttpError);
    assert!(said.ends_with(" → 401 Unauthorized"), "{said}");
    let (status, said) = line("lost-session", "tools/call");
    assert_eq!(status, Status::Error);
    assert!(
        said.contains(" → error -32001 ") && !said.contains("404"),
        "{said}"
    );
}

/// A call whose response is empty was never answered, and need not be waited for until the recording ends.
#[test]
fn a_response_without_a_body_is_over_with_its_head() {
    let dir = tempfile::tempdir().unwrap();
    let case = "> POST /mcp\n>\n> request 1 tools/call {\"name\":\"a\"}\n< 200\n> DELETE /mcp\n< 204\n\
                close client";
    let recording = wire::told(dir.path(), case);
    let https = recording.https(0, 10).unwrap();
    let ends: Vec<_> = https.iter().map(|http| http.ended).collect();
    assert_eq!(ends, [Some(End::Whole); 2]);
    let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    assert_eq!(calls[0].status, Status::HttpError);
    assert_eq!(calls[0].answered(), Some("200 OK with no body, no answer"));
    let story = recording.story(calls[0].id).unwrap().unwrap();
    let last = story.entries.iter().map(|entry| entry.key.seq);
    assert_eq!(last.max(), https[0].response);
}

/// Once the second request was a call of its own with an id that is used again, and the first one failed.
#[test]
fn a_request_that_a_redirect_has_sent_again_is_the_same_call() {
    let initialize = r#"request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let result = r#"result 0 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let call = r#"request 1 tools/call {"name":"work"}"#;
    let post = |target: &str, session: &str, message: &str| {
        format!(
            "> POST {target}\n{session}> Accept: application/json, text/event-stream\n>\n> {message}\n"
        )
    };
    let moved = |status: u16| format!("< {status}\n< Location: /mcp/\n");
    let json = |session: &str, message: &str| {
        format!("< 200\n{session}< Content-Type: application/json\n<\n< {message}\n")
    };
    let of_session = "> Mcp-Session-Id: s1\n> MCP-Protocol-Version: 2025-11-25\n";
    let case = [
        post("/mcp", "", initialize),
        moved(307),
        post("/mcp/", "", initialize),
        json("< Mcp-Session-Id: s1\n", result),
        post("/mcp/", of_session, "notify notifications/initialized"),
        "< 202\n".to_owned(),
        post("/mcp", of_session, call),
        moved(308),
        post("/mcp/", of_session, call),
        json("", r#"result 1 {"content":[]}"#),
        post("/mcp", of_session, "request 2 ping"),
        moved(307),
    ];
    let dir = tempfile::tempdir().unwrap();
    let recording = wire::told(dir.path(), &case.concat());
    let exchanges = recording.exchanges(ExchangeId(0), 100).unwrap();
    let told = exchanges
        .iter()
        .map(|it| (it.request.0.0, it.http, it.status, it.code.as_deref()));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (2, 2, Status::Ok, None),
            (12, 5, Status::Ok, None),
            (19, 6, Status::HttpError, Some("307")),
        ]
    );
    assert_eq!(recording.conversations().unwrap().len(), 1);
    let findings = recording.findings(0).unwrap();
    let rules: Vec<_> = findings.iter().map(|it| &*it.rule).collect();
    assert_eq!(rules, [""; 0]);
}

/// A client that does not follow a redirect and is started again says the same again; once both were one call
/// that took as long as lay between them.
#[test]
fn the_same_request_long_after_a_redirect_is_another_call_of_another_client() {
    let initialize = r#"> POST /mcp
        > User-Agent: c
        >
        > request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}
        < 307
        < Location: http://other.example/mcp
        "#;
    let dir = tempfile::tempdir().unwrap();
    let case = [initialize, "after 2000\n", initialize].concat();
    let recording = wire::told(dir.path(), &case);
    let exchanges = recording.exchanges(ExchangeId(0), 100).unwrap();
    let told = exchanges.iter().map(|it| (it.status, it.latency_ns()));
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 2);
    for (status, latency) in told {
        assert_eq!(status, Status::HttpError);
        assert!(latency.unwrap() < 1_000_000_000, "{latency:?}");
    }
    assert_eq!(recording.conversations().unwrap().len(), 2);

    // In the era without sessions it may be followed the next time.
    let call = r#"> POST /mcp
        > User-Agent: c
        >
        > request 1 tools/call {"name":"work","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
        "#;
    let moved = "< 307\n< Location: /mcp\n";
    let answered = "< 200\n< Content-Type: application/json\n<\n< result 1 {\"content\":[]}\n";
    let case = [
        call,
        moved,
        "after 2000\n",
        call,
        moved,
        "after 10\n",
        call,
        answered,
    ]
    .concat();
    let dir = tempfile::tempdir().unwrap();
    let again = wire::told(dir.path(), &case);
    let statuses = again.exchanges(ExchangeId(0), 100).unwrap();
    let statuses: Vec<_> = statuses.iter().map(|it| it.status).collect();
    assert_eq!(statuses, [Status::HttpError, Status::Ok]);

    let findings = recording.findings(0).unwrap();
    let reused = findings.iter().find(|it| it.rule.starts_with("id-"));
    assert!(reused.is_none(), "{reused:?}");
}

/// `show` of one exchange, its JSON and the archive say the same; the connection counts once.
#[test]
fn what_took_how_long_is_told_alike_and_only_as_far_as_it_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let recording = wire::recording(dir.path(), &wire::file("polled"));
    let reel = dir.path().join("a.reel").display().to_string();
    let har = dir.path().join("a.har").display().to_string();
    run(&["export", &reel, "-o", &har]);
    let har: Value = serde_json::from_slice(&std::fs::read(har).unwrap()).unwrap();
    let https = recording.https(0, 100).unwrap();
    let mut connections = Vec::new();
    for (http, entry) in https.iter().zip(har["log"]["entries"].as_array().unwrap()) {
        let frame = format!("{reel}#{}", http.request.0);
        let shown = rows(&["show", &frame, "--json"]);
        let timing = &shown.last().unwrap()["timing_ns"];
        let is_new = !connections.contains(&http.connection);
        connections.push(http.connection);
        let connect = is_new.then_some(100_000);
        assert_eq!(timing["connect"], json!(connect), "{frame}");
        let wait = http.waited_ns().unwrap();
        assert_eq!(timing["wait"], json!(wait));
        let ms = entry["timings"]["wait"].as_f64().unwrap();
        let waited = Duration::from_secs_f64(ms / 1e3).as_nanos();
        assert!(waited.abs_diff(wait.into()) < 2, "{waited}");
        let ms = entry["timings"]["connect"].as_f64();
        assert_eq!(ms, Some(if is_new { 0.1 } else { -1.0 }));
        let text = run(&["show", &frame]);
        assert_eq!(text.contains("connect 100 µs, "), is_new, "{text}");
    }
    assert_eq!(connections, [1, 2, 1, 2, 2]);
}

/// The steps with their frames; 0: not seen.
fn kinds(steps: &[Step]) -> Vec<(&'static str, u64)> {
    let frame = |step: &Step| step.frame.map_or(0, |seq| seq.0);
    let kinds = steps.iter().map(|step| (step.kind.as_str(), frame(step)));
    kinds.collect()
}

#[test]
fn a_login_past_the_recorder_is_seen_by_what_comes_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let recording = wire::told(
        dir.path(),
        r#"> POST /mcp
        > Host: 127.0.0.1:7339
        >
        > request 1 ping
        < 401
        < WWW-Authenticate: Bearer resource_metadata="http://127.0.0.1:3000/.well-known/oauth-protected-resource", scope=read
        > POST /mcp
        > Authorization: Bearer x
        >
        > request 2 ping
        < 200
        < Content-Type: application/json
        <
        < result 2 {}
        > POST /mcp
        > Authorization: Bearer x
        >
        > request 3 ping
        < 403
        < WWW-Authenticate: Bearer error="insufficient_scope", scope="read write"
        "#,
    );
    let steps = recording.authorization().unwrap();
    let kinds = kinds(&steps);
    let expected = [
        ("challenge", 1),
        ("resource-metadata", 0),
        ("token", 0),
        ("accepted", 4),
        ("step-up", 8),
    ];
    assert_eq!(kinds, expected);
    assert!(steps[0].said.ends_with(", scope read"), "{steps:?}");
    assert!(steps[4].said.ends_with(", scope read write"), "{steps:?}");
}

#[test]
fn a_client_that_tries_again_and_again_is_told_once_and_went_nowhere_yet() {
    let dir = tempfile::tempdir().unwrap();
    let refused = r#"> POST /mcp
        > Host: 127.0.0.1:7339
        >
        > request 1 ping
        < 401
        < WWW-Authenticate: Basic realm="x"
        < WWW-Authenticate: Bearer resource_metadata="http://127.0.0.1:3000/x"
        "#;
    let early = "> GET /.well-known/oauth-protected-resource/mcp
        > Host: 127.0.0.1:7339
        < 200
        < Content-Type: application/json
        <
        < {\"resource\":\"http://127.0.0.1:7339/mcp\",\"authorization_servers\":[\"http://127.0.0.1:1\"]}
        ";
    let case = [early, &refused.repeat(3)].concat();
    let recording = wire::told(dir.path(), &case);
    let steps = recording.authorization().unwrap();
    let expected = [
        ("resource-metadata", 1),
        ("challenge", 4),
        ("challenge", 7),
        ("challenge", 10),
        ("resource-metadata", 0),
    ];
    assert_eq!(kinds(&steps), expected);
    assert!(
        steps.iter().all(|step| step.mismatches.is_empty()),
        "{steps:?}"
    );
    let told = phrases_network::authorization(&steps, Some(Seq(7)));
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[1].starts_with("▸    #7 ") && told[1].ends_with(", ×3"),
        "{told:?}"
    );
}

/// The attributes of the span of a call, in the trace of a recording.
fn span(reel: &str, seq: u64) -> serde_json::Map<String, Value> {
    let out = format!("{reel}.otlp");
    run(&["export", reel, "--raw", "--format", "otlp", "-o", &out]);
    let trace: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    let lists = |value: &Value, name: &str| value[name].as_array().unwrap().clone();
    let scopes = lists(&trace, "resourceSpans").into_iter();
    let scopes = scopes.flat_map(|resource| lists(&resource, "scopeSpans"));
    let spans = scopes.flat_map(|scope| lists(&scope, "spans"));
    let attributes = spans.map(|span| {
        let pairs = lists(&span, "attributes").into_iter().map(|one| {
            let value = one["value"].as_object().unwrap().values().next().unwrap();
            let value = value.as_str().unwrap_or_default().to_owned();
            (one["key"].as_str().unwrap().to_owned(), json!(value))
        });
        pairs.collect::<serde_json::Map<_, _>>()
    });
    let is_it =
        |one: &serde_json::Map<_, _>| one.get("mcpreel.seq") == Some(&json!(seq.to_string()));
    attributes.into_iter().find(is_it).unwrap()
}

#[test]
fn a_span_says_how_its_request_came_over_the_network() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("polled")));
    let reel = dir.path().join("a.reel").display().to_string();
    let attributes = span(&reel, 13);
    for (key, value) in [
        ("network.transport", "tcp"),
        ("network.protocol.name", "http"),
        ("network.protocol.version", "1.1"),
        ("server.address", "127.0.0.1"),
        ("server.port", "3000"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "200"),
        ("url.full", "http://127.0.0.1:3000/mcp"),
        ("mcp.session.id", "ca3b16569e8d47f7abc6ee2634829c09"),
    ] {
        assert_eq!(attributes.get(key), Some(&json!(value)), "{key}");
    }
    let modern = r#"> POST /mcp
        > Mcp-Session-Id: left-over
        >
        > request 1 tools/list {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}
        < 200
        < Content-Type: application/json
        <
        < result 1 {"tools":[]}
        "#;
    let dir = tempfile::tempdir().unwrap();
    drop(wire::told(dir.path(), modern));
    let reel = dir.path().join("a.reel").display().to_string();
    assert!(!span(&reel, 2).contains_key("mcp.session.id"));
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("unauthorized-py1")));
    let reel = dir.path().join("a.reel").display().to_string();
    let attributes = span(&reel, 2);
    assert_eq!(attributes["http.response.status_code"], "401");
    assert_eq!(attributes["error.type"], "401");
    assert!(!attributes.contains_key("rpc.response.status_code"));
}

#[test]
fn heads_stand_with_what_they_carried_in_the_page_and_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("unauthorized-py1")));
    let reel = dir.path().join("a.reel").display().to_string();
    let file = |name: &str| dir.path().join(name).display().to_string();
    run(&["export", &reel, "-o", &file("a.md")]);
    let report = std::fs::read_to_string(file("a.md")).unwrap();
    for line in [
        "<summary>HTTP: 401 Unauthorized</summary>",
        "\nPOST /mcp HTTP/1.1\n",
        "\nHTTP/1.1 401 Unauthorized\n",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
    drop(wire::recording(&made(&dir, "b"), &wire::file("polled")));
    let reel = dir.path().join("b/a.reel").display().to_string();
    run(&["export", &reel, "-o", &file("a.html")]);
    let page = std::fs::read_to_string(file("a.html")).unwrap();
    let blocks = page.split("data-kind=\"rows\"").skip(1);
    let texts =
        blocks.map(|block| &block[block.find('>').unwrap() + 1..block.find("</script>").unwrap()]);
    let rows: Vec<Value> = texts
        .flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap())
        .collect();
    let of_kind = |kind: &str| {
        rows.iter()
            .filter(|row| row["k"] == kind)
            .collect::<Vec<_>>()
    };
    let https = of_kind("http");
    assert_eq!(https.len(), 2, "the streams: {https:?}");
    assert_eq!(https[1]["n"], 17);
    assert!(https[1]["h"].as_array().unwrap().len() > 2, "{https:?}");
    let calls = of_kind("request");
    assert_eq!(calls[1]["h"], json!([12, 14]), "{calls:?}");
    assert!(calls[1].get("hs").is_none());
}

fn made(dir: &tempfile::TempDir, name: &str) -> std::path::PathBuf {
    let path = dir.path().join(name);
    std::fs::create_dir(&path).unwrap();
    path
}

#[test]
fn heads_are_on_the_track_of_whoever_sent_them_in_a_trace_of_perfetto() {
    let dir = tempfile::tempdir().unwrap();
    drop(wire::recording(dir.path(), &wire::file("unauthorized-py1")));
    let path = |name: &str| dir.path().join(name).display().to_string();
    run(&[
        "export",
        &path("a.reel"),
        "--format",
        "perfetto",
        "-o",
        &path("a.json"),
    ]);
    let trace: Value = serde_json::from_slice(&std::fs::read(path("a.json")).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    let of_http = events.filter(|event| event["cat"] == "http");
    let told: Vec<_> = of_http
        .map(|event| (&event["pid"], &event["name"]))
        .collect();
    let [head, answer, ..] = &told[..] else {
        panic!("{told:?}");
    };
    assert_eq!(*head, (&json!(1), &json!("POST /mcp HTTP/1.1")));
    assert_eq!(*answer, (&json!(2), &json!("HTTP/1.1 401 Unauthorized")));
}

/// Once the exchange had no number, and the next of its kind took its place.
#[test]
fn a_request_that_cannot_be_read_is_a_row_with_its_response() {
    let dir = tempfile::tempdir().unwrap();
    let broken = "> POST /mcp\n> no colon\n< 400\n";
    let again = "2> POST /mcp\n2> no colon\n2< 431\n";
    drop(wire::told(dir.path(), &format!("{broken}{again}")));
    let reel = dir.path().join("a.reel").display().to_string();
    let https = rows(&["show", &reel, "-q", "http.status>=400", "--json"]);
    let told = https
        .iter()
        .map(|row| (&row["request"], &row["status"], &row["connection"]));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (&json!(1), &json!(400), &json!(1)),
            (&json!(2), &json!(431), &json!(2))
        ],
        "{https:?}"
    );
    let shown = run(&["show", &reel]);
    assert!(
        shown.contains("a request that cannot be read → 400 Bad Request"),
        "{shown}"
    );
}

/// Some clients send the body of a request apart, and a server may refuse what the head says. Such a call was once told
/// as unanswered.
#[test]
fn a_call_that_was_refused_before_it_was_sent_is_refused() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let mut client = proxy.connect();
    let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    let (host, length) = (proxy.authority(), body.len());
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n");
    client.write_all(head.as_bytes()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    let passed = head.replace(&host, &url["http://".len()..]);
    server.read_exact(&mut vec![0; passed.len()]).unwrap();
    let refusal = "HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nbusy";
    server.write_all(refusal.as_bytes()).unwrap();
    client.read_exact(&mut vec![0; refusal.len()]).unwrap();
    client.write_all(body.as_bytes()).unwrap();
    drop(client);
    server.read_to_end(&mut Vec::new()).unwrap();
    proxy.end();
    let calls = recording(&library).exchanges(ExchangeId(0), 9).unwrap();
    let told = calls
        .iter()
        .map(|it| (&*it.method, it.status, it.code.as_deref()));
    let expected = ("tools/list", Status::HttpError, Some("400"));
    assert_eq!(told.collect::<Vec<_>>(), [expected]);
}

#[test]
fn of_several_conversations_show_says_which_one_it_describes() {
    let begin = |name: &str| {
        format!(
            r#"> POST /mcp
>
> request 0 initialize {{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}}}
< 200
< Mcp-Session-Id: {name}
< Content-Type: application/json
<
< result 0 {{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}
"#
        )
    };
    let dir = tempfile::tempdir().unwrap();
    drop(wire::told(
        dir.path(),
        &[begin("one"), begin("two")].concat(),
    ));
    let shown = run(&["show", &dir.path().join("a.reel").display().to_string()]);
    let line = |start: &str| shown.lines().find(|it| it.starts_with(start)).unwrap();
    assert!(line("client").contains("two 1"), "{shown}");
    assert!(line("talk 1").ends_with("on"), "{shown}");
    assert!(line("talk 2").ends_with("; described above"), "{shown}");
}

/// Once the calls were told as lost, and the server as the one that had cut off their answers.
#[test]
fn what_is_open_when_the_proxy_ends_is_nobodys_fault() {
    let server = HttpServer::start("/mcp", |request, client| {
        events(client, ": soon\n\n");
        request.body.contains("work")
    });
    let library = Library::new();
    let proxy = Proxy::start(&library, &server.url, &[]);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}"#;
    let host = proxy.authority();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut client = proxy.connect();
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = [0; 200];
    while !answer.windows(4).any(|four| four == b"soon") {
        assert_ne!(client.read(&mut answer).unwrap(), 0);
    }
    proxy.end();

    let recording = recording(&library);
    let https = recording.https(0, 10).unwrap();
    assert_eq!(https[0].ended, Some(End::Unfinished));
    let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    assert_eq!(calls[0].status, Status::Unanswered);
    let reel = library.recordings().remove(0).display().to_string();
    let why = run(&["why", &reel]);
    assert!(
        why.contains("had no answer when the recording ended"),
        "{why}"
    );
}
