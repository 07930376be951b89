//! WebSocket, and lines over TCP: the messages of each connection are a conversation.

use crate::edits::answer;
use crate::support::Library;
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, recording, upstream};
use mcpreel_trace::exchange::{ExchangeId, Status};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// What a client says before each answer.
const ASKED: [&[&str]; 2] = [
    &[
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    ],
    &[
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}}"#,
    ],
];
const ANSWERED: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#,
];

const UPGRADE: &str = "GET /mcp HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
    Sec-WebSocket-Protocol: mcp\r\n\r\n";
const SWITCHING: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";

/// A message in two frames (RFC 6455 section 5), with a ping between them; a client masks what it sends.
fn frames(text: &str, is_client: bool) -> Vec<u8> {
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let frame = |opcode: u8, payload: &[u8]| {
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        let mask: &[u8] = if is_client { &[1, 2, 3, 4] } else { &[] };
        let head = [opcode, 0x7e | if is_client { 0x80 } else { 0 }];
        let masked = payload.iter().enumerate();
        let masked = masked.map(|(at, byte)| byte ^ mask.get(at % 4).unwrap_or(&0));
        [&head[..], &length, mask, &masked.collect::<Vec<_>>()].concat()
    };
    [frame(0x01, first), frame(0x89, b"?"), frame(0x80, second)].concat()
}

fn line(text: &str, _: bool) -> Vec<u8> {
    format!("{text}\n").into()
}

type Form = fn(&str, bool) -> Vec<u8>;

fn said(messages: &[&str], form: Form) -> Vec<u8> {
    let messages = messages.iter().map(|message| form(message, true));
    messages.collect::<Vec<_>>().concat()
}

fn read_exactly(mut socket: &TcpStream, length: usize) {
    socket.read_exact(&mut vec![0; length]).unwrap();
}

/// A server of `connections` that answers as above.
fn serve(listener: TcpListener, connections: u32, form: Form, switches: Option<&'static str>) {
    thread::spawn(move || {
        for _ in 0..connections {
            let (socket, _) = listener.accept().unwrap();
            let authority = listener.local_addr().unwrap().to_string();
            thread::spawn(move || {
                if let Some(switching) = switches {
                    read_exactly(&socket, UPGRADE.replace("HOST", &authority).len());
                    (&socket).write_all(switching.as_bytes()).unwrap();
                }
                for (asked, answered) in ASKED.iter().zip(ANSWERED) {
                    read_exactly(&socket, said(asked, form).len());
                    (&socket).write_all(&form(answered, false)).unwrap();
                }
                std::io::copy(&mut &socket, &mut std::io::sink()).unwrap();
            });
        }
    });
}

/// Two clients at once, with the same ids: what is on record of their calls.
fn assert_is_told(scheme: &str, form: Form, switches: Option<&'static str>) {
    let (listener, url) = upstream();
    serve(listener, 2, form, switches);
    let library = Library::new();
    let proxy = Proxy::start(&library, &url.replace("http", scheme), &[]);
    let clients = [proxy.connect(), proxy.connect()];
    if let Some(switching) = switches {
        for mut client in &clients {
            let upgrade = UPGRADE.replace("HOST", &proxy.authority());
            client.write_all(upgrade.as_bytes()).unwrap();
            read_exactly(client, switching.len());
        }
    }
    for (asked, answered) in ASKED.iter().zip(ANSWERED) {
        for mut client in &clients {
            client.write_all(&said(asked, form)).unwrap();
        }
        for client in &clients {
            read_exactly(client, form(answered, false).len());
        }
    }
    for mut client in clients {
        client.shutdown(Shutdown::Write).unwrap();
        client.read_to_end(&mut Vec::new()).unwrap();
    }
    proxy.end();
    let recording = recording(&library);
    let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    let mut told: Vec<_> = calls
        .iter()
        .map(|it| (it.conversation, &*it.method, it.status))
        .collect();
    told.sort_by_key(|(conversation, method, _)| (*conversation, *method));
    let of = |conversation| {
        ["initialize", "tools/call"].map(|method| (conversation, method, Status::Ok))
    };
    assert_eq!(told, [of(1), of(2)].concat());
    let findings = recording.findings(0).unwrap();
    let errors = findings.iter().filter(|it| &*it.severity == "error");
    assert_eq!(errors.count(), 0, "{findings:?}");
}

#[test]
fn each_websocket_is_a_conversation() {
    assert_is_told("ws", frames, Some(SWITCHING));
}

#[test]
fn each_connection_with_lines_is_a_conversation() {
    assert_is_told("tcp", line, None);
}

/// A web page elsewhere can send a request to any port, with a message as its body, and open a WebSocket.
#[test]
fn a_web_page_reaches_no_server_through_a_socket() {
    let page = "Origin: http://evil.example\r\n\r\n";
    let upgrade = UPGRADE.replace("\r\n\r\n", &format!("\r\n{page}"));
    let request = format!("POST /a HTTP/1.1\r\nHost: HOST\r\n{page}{}\n", ASKED[0][0]);
    let long = format!("POST /{} HTTP/1.1\r\n{page}", "a".repeat(1 << 20));
    for (scheme, said, length, more, is_refused) in [
        ("ws", &*upgrade, 1000, &[][..], true),
        ("tcp", &request, 1000, &[], true),
        ("tcp", &request, 1, &[], true),
        ("tcp", &long, 1 << 16, &[], true),
        ("tcp", &request, 1000, &["--keep-host"], false),
        ("tcp", "GET out of here\n", 1, &[], false),
        ("tcp", "POST", 1, &[], false),
    ] {
        let library = Library::new();
        let (listener, url) = upstream();
        let proxy = Proxy::start(&library, &url.replace("http", scheme), more);
        let server = answer(listener, "answer");
        let said = said.replace("HOST", &proxy.authority());
        let answered = proxy.ask_in(&Pieces::of_length(length, said.as_bytes()));
        let start = if is_refused {
            "HTTP/1.1 403 "
        } else {
            "answer"
        };
        assert!(answered.starts_with(start), "{scheme}: {answered}");
        let reached = server.join().unwrap();
        assert_eq!(reached, if is_refused { "" } else { &said }, "{scheme}");
        proxy.end();
        assert_eq!(library.events("refused").len(), usize::from(is_refused));
    }
}

/// Of lines nothing is held, once they can be no request of HTTP.
#[test]
fn what_is_no_request_of_http_passes_at_once() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url.replace("http", "tcp"), &[]);
    for beginning in ["{", "Co", "HELLO\n", "GE1"] {
        let (mut client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
        client.write_all(beginning.as_bytes()).unwrap();
        let patience = Duration::from_secs(30);
        server.set_read_timeout(Some(patience)).unwrap();
        read_exactly(&server, beginning.len());
    }
    proxy.end();
}
