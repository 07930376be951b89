//! A server that cannot be reached: a 502 that says which step failed, and what to do.

use crate::edits;
use crate::support::proxy::{Proxy, later_upstream, recording, upstream, why_unreachable};
use crate::support::{Library, wait_for};
use mcpreel_wire::message::Direction;
use serde_json::Value;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n";

/// The answer of a proxy for `url`, the step on record, and why it failed.
fn answer(url: &str, more: &[&str]) -> (String, String, String) {
    let library = Library::new();
    let proxy = Proxy::start(&library, url, more);
    let answer = proxy.ask(REQUEST.replace("PORT", &proxy.port.to_string()));
    assert!(proxy.end().0.success());
    let event = library.events("unreachable").remove(0);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let step = match &event["detail"] {
        Value::Object(detail) => text(&detail["step"]),
        _ => text(&event["step"]),
    };
    (answer, step, why_unreachable(&library))
}

#[test]
fn each_step_that_fails_has_its_sentence() {
    let (_, refused) = later_upstream();
    let (plain, _) = upstream();
    let port = plain.local_addr().unwrap().port();
    let speaks_http = std::thread::spawn(move || {
        let (client, _) = plain.accept().unwrap();
        std::io::Write::write_all(&mut &client, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        std::io::copy(&mut &client, &mut std::io::sink()).ok();
    });
    for (url, step, words) in [
        ("http://no-such-host.invalid/", "name", "has no address"),
        (&*refused, "tcp", "is the server running?"),
        (&format!("https://127.0.0.1:{port}/"), "tls", "not with TLS"),
    ] {
        let (answer, at, why) = answer(url, &[]);
        assert!(
            answer.starts_with("HTTP/1.1 502 Bad Gateway\r\nServer: mcpreel\r\n"),
            "{answer}"
        );
        assert!(answer.contains(words), "{answer}");
        assert!(why.contains(words), "{why}");
        assert_eq!(at, step, "{url}");
    }
    speaks_http.join().unwrap();
}

/// A client that tries again and again fills no terminal.
#[test]
fn the_terminal_says_once_that_the_server_is_out_of_reach_and_once_that_it_is_back() {
    let (address, url) = later_upstream();
    let library = Library::new();
    let proxy = Proxy::start(&library, &url, &[]);
    let request = REQUEST.replace("PORT", &proxy.port.to_string());
    for _ in 0..3 {
        assert!(proxy.ask(&*request).starts_with("HTTP/1.1 502 "));
    }
    let server = edits::answer(
        TcpListener::bind(address).unwrap(),
        "HTTP/1.1 204 No\r\n\r\n",
    );
    proxy.ask(&*request);
    server.join().unwrap();
    wait_for("the proxy to say that it is back", || {
        proxy.said().contains("reached again").then_some(())
    });
    let (_, said) = proxy.end();
    assert_eq!(said.matches("could not be reached").count(), 1, "{said}");
    assert_eq!(said.matches("reached again").count(), 1, "{said}");
}

/// A client that still writes when the answer comes has it all the same: closing would reset the
/// connection, and take the answer with it.
#[test]
fn a_large_request_gets_its_502() {
    let (_, url) = later_upstream();
    let library = Library::new();
    let proxy = Proxy::start(&library, &url, &[]);
    let head = REQUEST.replace("PORT", &proxy.port.to_string());
    // What came of a head is on record before the answer.
    assert!(proxy.ask(&head[..20]).starts_with("HTTP/1.1 502 "));
    let head = head.replace("\r\n\r\n", "\r\nContent-Length: 9000000\r\n\r\n");
    for _ in 0..5 {
        let answer = proxy.ask([head.as_bytes(), &vec![b'x'; 9_000_000]].concat());
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    }
    proxy.end();
    let recorded = recording(&library).wire(1, Direction::ClientToServer);
    assert_eq!(String::from_utf8(recorded.unwrap()).unwrap(), REQUEST[..20]);
}

/// Clients send the body with a packet of its own; once only the head was on record, and nothing had failed.
#[test]
fn the_body_of_a_request_is_on_record_before_its_502() {
    let (_, url) = later_upstream();
    let library = Library::new();
    let proxy = Proxy::start(&library, &url, &[]);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let length = format!("\r\nContent-Length: {}\r\n\r\n", body.len());
    let head = REQUEST.replace("PORT", &proxy.port.to_string());
    let head = head.replace("GET", "POST").replace("\r\n\r\n", &length);
    let mut client = proxy.connect();
    client.set_nodelay(true).unwrap();
    client.write_all(head.as_bytes()).unwrap();
    wait_for("the proxy to be asked", || {
        proxy.said().contains("could not be reached").then_some(())
    });
    client.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    proxy.end();
    let recorded = recording(&library).wire(1, Direction::ClientToServer);
    let recorded = String::from_utf8(recorded.unwrap()).unwrap();
    assert!(recorded.ends_with(body), "{recorded}");
    assert_eq!(library.json(&["ls"])[0]["failed"], 1);
}

/// There is no way to answer without HTTP, and a client may wait for the server's first word.
#[test]
fn a_connection_without_http_is_reset() {
    let (_, url) = later_upstream();
    let library = Library::new();
    let proxy = Proxy::start(&library, &url.replace("http", "tcp"), &[]);
    let error = proxy.connect().read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    proxy.end();
    assert_eq!(library.events("unreachable").len(), 1);
}
