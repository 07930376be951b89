//! Streams of events, as a host on pipes sees them through `run --url`: the answer to a request, what the
//! server says by itself, HTTP+SSE of 2024-11-05.

use crate::bridge::{
    INITIALIZE, INITIALIZE_RESULT, INITIALIZED, PING, handshake, lines, say, start,
};
use crate::http_server::{HttpServer, events, respond};
use crate::support::pieces::Pieces;
use crate::support::{Library, wait_for};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// As the SDKs do: servers may refuse it before.
#[test]
fn the_stream_of_what_the_server_says_is_asked_for_once_the_handshake_is_accepted() {
    let (asks, asked) = mpsc::sync_channel(8);
    let (asks, asked) = (Mutex::new(asks), Mutex::new(asked));
    let is_early = Arc::new(AtomicUsize::new(0));
    let early = Arc::clone(&is_early);
    let server = HttpServer::start("/mcp", move |request, client| {
        if request.calls("notifications/initialized") {
            let asked = asked.lock().unwrap();
            let asked = asked.recv_timeout(Duration::from_millis(200));
            early.fetch_add(usize::from(asked.is_ok()), Ordering::SeqCst);
        } else if request.line == "GET /mcp" {
            let _ = asks.lock().unwrap().try_send(());
            let message = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
            events(client, &format!("data: {message}\n\n"));
            // Until the client leaves.
            let _ = client.read(&mut [0]);
            return false;
        }
        handshake(request, client, "s1").unwrap_or(false)
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    wait_for("the message", || (host.out.lines() == 2).then_some(()));
    host.end();
    assert_eq!(is_early.load(Ordering::SeqCst), 0);
}

#[test]
fn a_stream_that_breaks_is_taken_up_again_where_it_ended() {
    let server = HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        match request.header("last-event-id").as_deref() {
            None => events(client, "id: e1\nretry: 10\ndata:\n\n"),
            Some("e1") => events(
                client,
                "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n",
            ),
            Some(other) => panic!("{other}"),
        }
        false
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    let told = lines(&host.end());
    assert_eq!(
        (told.len(), &told[1]["result"]),
        (2, &serde_json::json!({})),
        "{told:?}"
    );
}

#[test]
fn a_server_that_has_only_http_and_sse_is_found_and_its_end_is_ours() {
    let stream: Arc<Mutex<Option<TcpStream>>> = Arc::default();
    let server = HttpServer::start("/sse", move |request, client| {
        let mut stream = stream.lock().unwrap();
        match (&*request.line, &mut *stream) {
            ("POST /sse", _) => return respond(client, "405 Method Not Allowed", "", ""),
            ("GET /sse", stream) => {
                events(client, "event: endpoint\ndata: /messages?id=7\n\n");
                *stream = Some(client.try_clone().unwrap());
            }
            ("POST /messages?id=7", Some(stream)) => {
                if request.calls("initialize") {
                    let event = format!("event: message\ndata: {INITIALIZE_RESULT}\n\n");
                    stream.write_all(event.as_bytes()).unwrap();
                } else if request.calls("ping") {
                    stream.shutdown(std::net::Shutdown::Both).unwrap();
                }
                return respond(client, "202 Accepted", "", "Accepted");
            }
            (line, _) => panic!("{line}"),
        }
        true
    });
    let library = Library::new();
    let host = start(&library, &server.url, &["--name", "a"]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    wait_for("the handshake", || (host.out.lines() == 1).then_some(()));
    say(&host, &[PING]);
    // The stream's end is the end, though the host has not closed its side.
    let received = host.wait();
    let told = lines(&received);
    assert_eq!(received.status.code(), Some(1));
    assert_eq!((&told[1]["id"], told.len()), (&1.into(), 2), "{told:?}");
    assert!(told[1]["error"]["message"].is_string(), "{told:?}");
    let causes = library.json(&["why", "a-http"]);
    let causes: Vec<_> = causes.iter().map(|it| it["cause"].as_str()).collect();
    // That the first request was refused is how a client finds such a server.
    assert!(!causes.contains(&Some("http-refused")), "{causes:?}");
}

/// Once calls were sent side by side, cancels overtook them, and the end waited for answers to cancelled ones.
#[test]
fn over_http_and_sse_messages_keep_their_order_and_nobody_waits_for_a_cancelled_call() {
    let stream: Arc<Mutex<Option<TcpStream>>> = Arc::default();
    let came: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&came);
    let (tell, told) = mpsc::sync_channel::<()>(0);
    let others = Arc::new((Mutex::new(tell), Mutex::new(told)));
    let server = HttpServer::start("/sse", move |request, client| {
        match &*request.line {
            "POST /sse" => return respond(client, "405 Method Not Allowed", "", ""),
            "GET /sse" => {
                events(client, "event: endpoint\ndata: /messages\n\n");
                *stream.lock().unwrap() = Some(client.try_clone().unwrap());
            }
            _ if request.calls("initialize") => {
                let event = format!("event: message\ndata: {INITIALIZE_RESULT}\n\n");
                let mut stream = stream.lock().unwrap();
                let stream = stream.as_mut().unwrap();
                stream.write_all(event.as_bytes()).unwrap();
                return respond(client, "202 Accepted", "", "Accepted");
            }
            _ => {
                let (tell, told) = &*others;
                if request.calls("tools/call") {
                    // Whatever comes meanwhile has overtaken it.
                    let told = told.lock().unwrap();
                    let overtaken = told.recv_timeout(Duration::from_millis(50)).is_ok();
                    assert!(!overtaken, "{}", request.body);
                } else {
                    let _ = tell.lock().unwrap().try_send(());
                }
                seen.lock().unwrap().push(request.body.clone());
                return respond(client, "202 Accepted", "", "Accepted");
            }
        }
        true
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED]);
    let sent = (1..=8).flat_map(|id| {
        let call = r#""method":"tools/call","params":{"name":"slow"}"#;
        let cancel = r#""method":"notifications/cancelled","params":{"requestId":"#;
        [
            format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#),
            format!(r#"{{"jsonrpc":"2.0",{cancel}{id}}}}}"#),
        ]
    });
    let sent: Vec<_> = sent.collect();
    let modern = r#"{"jsonrpc":"2.0","id":99,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let lines_sent: Vec<_> = sent.iter().map(String::as_str).chain([modern]).collect();
    say(&host, &lines_sent);
    wait_for("the last message", || (host.out.lines() == 2).then_some(()));
    let told = lines(&host.end());
    assert_eq!(came.lock().unwrap()[1..], sent);
    // A revision that this transport does not have is not offered to the server.
    assert_eq!(told[1]["error"]["code"], -32601, "{told:?}");
    assert_eq!(told.len(), 2, "{told:?}");
}

/// Once a server's own URL was taken for another's, unless the event was written as the SDKs write it and
/// read at once.
#[test]
fn an_endpoint_may_be_named_in_every_way_that_events_and_urls_can_be_written() {
    for event in [
        ["event:endpoint\ndata:HTTP://{host}/a/messages?s=1\n\n", ""],
        [
            "event: endpoint\n",
            "data: HTTP://{host}/a/messages?s=1\n\n",
        ],
        ["event: endpoint\ndata: messages?s=1\n\n", ""],
    ] {
        let stream: Mutex<Option<TcpStream>> = Mutex::default();
        let server = HttpServer::start("/a/sse?k=/v", move |request, client| {
            let mut stream = stream.lock().unwrap();
            match (&*request.line, &mut *stream) {
                ("GET /a/sse?k=/v", stream) => {
                    let host = request.header("host").unwrap();
                    let [first, second] = event.map(|it| it.replace("{host}", &host));
                    events(client, "");
                    let pieces = ["", &first, "", &second].map(|it| it.as_bytes().to_vec());
                    Pieces(pieces.to_vec()).write_to(&*client).unwrap();
                    *stream = Some(client.try_clone().unwrap());
                }
                ("POST /a/messages?s=1", Some(stream)) => {
                    let answer = format!("data: {INITIALIZE_RESULT}\n\n");
                    stream.write_all(answer.as_bytes()).unwrap();
                    return respond(client, "202 Accepted", "", "");
                }
                _ => return respond(client, "405 Method Not Allowed", "", ""),
            }
            true
        });
        let library = Library::new();
        let host = start(&library, &server.url, &["--name", "a"]);
        say(&host, &[INITIALIZE]);
        let told = lines(&host.end());
        assert!(told[0]["result"].is_object(), "{event:?}: {told:?}");
        // The recorder saw that the request at the endpoint got its answer on the stream.
        let shown = library.json(&["show", "a-http", "-q", "method:initialize"]);
        assert_eq!(
            shown.last().unwrap()["status"],
            "ok",
            "{event:?}: {shown:?}"
        );
    }
}

/// Once messages went to the same path of the first server.
#[test]
fn an_endpoint_of_another_server_is_refused_and_told() {
    let server = HttpServer::start("/sse", move |request, client| {
        if request.line != "GET /sse" {
            return respond(client, "405 Method Not Allowed", "", "");
        }
        events(
            client,
            "event: endpoint\ndata: http://other.example/messages?key=hunter2\n\n",
        );
        true
    });
    let library = Library::new();
    let host = start(&library, &server.url, &[]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    let received = host.end();
    let told = lines(&received);
    for answer in &told {
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("http://other.example/messages"),
            "{message}"
        );
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert_eq!(told.len(), 2, "{told:?}");
    let said = String::from_utf8(received.err).unwrap();
    assert_eq!(said.matches("other.example").count(), 1, "{said}");
    let asked = server.requests();
    assert!(
        asked.iter().all(|it| !it.line.contains("/messages")),
        "{asked:?}"
    );
    let streams = asked.iter().filter(|it| it.line == "GET /sse");
    assert_eq!(streams.count(), 1, "{asked:?}");
}

#[test]
fn an_event_without_end_is_an_error_and_ends_the_stream() {
    let server = HttpServer::start("/mcp", |request, client| {
        if let Some(answered) = handshake(request, client, "s1") {
            return answered;
        }
        events(client, "data: ");
        let megabyte = vec![b'x'; 1 << 20];
        // Until nobody takes any more.
        while client.write_all(&megabyte).is_ok() {}
        false
    });
    let library = Library::new();
    let host = start(&library, &server.url, &["--max-size", "1MB"]);
    say(&host, &[INITIALIZE, INITIALIZED, PING]);
    wait_for("the error", || (host.out.lines() == 2).then_some(()));
    let told = lines(&host.end());
    let message = told[1]["error"]["message"].as_str().unwrap();
    assert!(message.contains("16 MiB"), "{message}");
}
