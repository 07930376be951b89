//! What is changed, that it is on record, and who is refused.

use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, recording, upstream};
use crate::support::{Library, text};
use mcpreel_capture::net::MAX_RECORDED_EDITS;
use mcpreel_wire::message::Direction;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;

/// A server for one connection: reads to the end, then answers; returns what it read.
pub fn answer(listener: TcpListener, answer: impl Into<Vec<u8>>) -> JoinHandle<String> {
    answer_in(listener, Pieces(vec![answer.into()]))
}

/// The same, answered in pieces.
pub fn answer_in(listener: TcpListener, answer: Pieces) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut read = Vec::new();
        client.read_to_end(&mut read).unwrap();
        // Whoever was refused has no server any more.
        let _ = answer.write_to(&client);
        let _ = client.shutdown(Shutdown::Write);
        String::from_utf8(read).unwrap()
    })
}

/// Old and new of each change on record.
fn edits(library: &Library) -> Vec<[String; 3]> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let edits = library.events("edited").into_iter();
    let edits = edits.map(|edit| {
        let detail = &edit["detail"];
        let detail = if detail.is_object() { detail } else { &edit };
        ["what", "old", "new"].map(|name| text(&detail[name]))
    });
    edits.collect()
}

#[test]
fn who_is_where_is_changed_and_each_change_is_on_record() {
    let library = Library::new();
    let (listener, url) = upstream();
    let theirs = listener.local_addr().unwrap();
    let added = ["--header", "X-Team: a b", "--header", "X-Other:c"];
    let proxy = Proxy::start(&library, &format!("{url}/mcp"), &added);
    let ours = proxy.authority();
    let event = format!("event: endpoint\r\ndata: {url}/messages?id=1\r\n\r\n");
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nLocation: {url}/x\r\n\
         Transfer-Encoding: chunked\r\n\r\n"
    );
    let sent = format!("{head}{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
    let server = answer(listener, sent.clone());
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {ours}\r\nOrigin: http://{ours}\r\nReferer: http://{ours}/a\r\n\r\n"
    );
    let answered = proxy.ask(&*request);
    assert_eq!(
        server.join().unwrap(),
        format!(
            "GET /mcp HTTP/1.1\r\nHost: {theirs}\r\nOrigin: {url}\r\nReferer: {url}/a\r\n\
             X-Team: a b\r\nX-Other: c\r\n\r\n"
        )
    );
    let event = event.replace(&url, &format!("http://{ours}"));
    let head = head.replace(&url, &format!("http://{ours}"));
    assert_eq!(
        answered,
        format!("{head}{:x}\r\n{event}\r\n0\r\n\r\n", event.len())
    );
    proxy.end();
    let (at_ours, theirs) = (format!("http://{ours}"), theirs.to_string());
    let expected = [
        ["Host", &ours, &theirs],
        ["Origin", &at_ours, &url],
        ["Referer", &format!("{at_ours}/a"), &format!("{url}/a")],
        // The values that the user adds are credentials.
        ["header", "", "X-Team: ‹cred:1"],
        ["header", "", "X-Other: ‹cred:2"],
        ["Location", &format!("{url}/x"), &format!("{at_ours}/x")],
        [
            "endpoint",
            &format!("{url}/messages?id=1"),
            &format!("{at_ours}/messages?id=1"),
        ],
    ];
    let mut found = edits(&library);
    for [what, _, new] in &mut found {
        if what == "header" {
            // The fingerprint is another in each recording.
            new.truncate(new.rfind(' ').unwrap());
        }
    }
    assert_eq!(found, expected.map(|edit| edit.map(str::to_owned)));
    // What was read is on record as it was read.
    let recording = recording(&library);
    for (direction, bytes) in [
        (Direction::ClientToServer, request),
        (Direction::ServerToClient, sent),
    ] {
        let recorded = recording.wire(1, direction).unwrap();
        assert_eq!(String::from_utf8(recorded).unwrap(), bytes);
    }
}

/// The proxy puts a change on record once. Once nothing said which requests it was made in.
#[test]
fn each_request_says_what_was_changed_in_it() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &["--header", "X-Team: a"]);
    let theirs = listener.local_addr().unwrap().to_string();
    // One is the beginning of another.
    let dialled = [
        proxy.authority(),
        "127.0.0.1".to_owned(),
        format!("localhost:{}", proxy.port),
    ];
    let answered = format!("HTTP/1.1 307 Elsewhere\r\nLocation: {url}/x\r\n\r\n");
    for _ in 0..5 {
        for host in &dialled {
            let server = answer(listener.try_clone().unwrap(), &*answered);
            proxy.ask(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            server.join().unwrap();
        }
    }
    // What the proxy refuses goes nowhere.
    proxy.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    proxy.end();
    let https = recording(&library).https(0, 20).unwrap();
    assert_eq!(https.len(), 16);
    for (at, http) in https.iter().enumerate() {
        let place = format!("@#{}", http.request.0);
        let shown = library.mcpreel("show").arg(place).output().unwrap();
        let shown = text(&shown);
        for (own, host) in dialled.iter().enumerate() {
            let is_own = at < 15 && at % 3 == own;
            for change in [
                format!("Host was changed from {host} to {theirs}"),
                format!("Location was changed from {url}/x to http://{host}/x"),
            ] {
                assert_eq!(shown.contains(&change), is_own, "{at}: {change}\n{shown}");
            }
        }
        let is_added = shown.contains("header was added: X-Team: ");
        assert_eq!(is_added, at < 15, "{at}:\n{shown}");
    }
}

/// Servers that know no chunks end a stream by closing, some repeat in the URL what they were asked with,
/// and some write no space behind a colon.
#[test]
fn an_endpoint_without_chunks_is_changed_too_and_its_credentials_are_not_on_record() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &format!("{url}/sse"), &[]);
    let ours = proxy.authority();
    let secret = "a-token-that-is-long-enough-for-a-mark";
    let url = url.replace("http:", "HTTP:");
    let sent = format!(
        "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n\
         event:endpoint\ndata:{url}/messages?id=1&token={secret}\n\n: more\n\n"
    );
    let (head, event) = sent.split_at(sent.find("event:").unwrap());
    let pieces = [head, "", "", event].map(|piece| piece.as_bytes().to_vec());
    let server = answer_in(listener, Pieces(pieces.to_vec()));
    let answered = proxy.ask(format!("GET /sse HTTP/1.1\r\nHost: {ours}\r\n\r\n"));
    server.join().unwrap();
    assert_eq!(answered, sent.replace(&url, &format!("http://{ours}")));
    proxy.end();
    let recording = recording(&library);
    let recorded = recording.wire(1, Direction::ServerToClient).unwrap();
    let recorded = String::from_utf8(recorded).unwrap();
    assert_eq!(recorded.len(), sent.len());
    assert!(
        recorded.contains(&format!("data:{url}/messages?id=1&token=‹cred:1+")),
        "{recorded}"
    );
    assert!(
        !edits(&library)
            .iter()
            .flatten()
            .any(|it| it.contains(secret))
    );
}

/// An id of the event, or what keeps the stream open, may stand before its name.
#[test]
fn an_endpoint_is_changed_also_behind_its_id_and_behind_comments() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &format!("{url}/sse"), &[]);
    let request = format!("GET /sse HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let event =
        |origin: &str| format!("event: endpoint\ndata: {origin}/messages\n\ndata: {{}}\n\n");
    let (sent, passed) = (event(&url), event(&format!("http://{}", proxy.authority())));
    let stream = |parts: &[String]| {
        let chunk = |part: &String| format!("{:x}\r\n{part}\r\n", part.len());
        format!(
            "{head}{}0\r\n\r\n",
            parts.iter().map(chunk).collect::<String>()
        )
    };
    for start in [
        ": still here\n\n",
        ": one\r\n\r\n: two\r\n\r\n",
        "id: 7\nretry: 5\n",
    ] {
        let in_one = |event: &str| stream(&[format!("{start}{event}")]);
        let in_two = |event: &str| stream(&[start.to_owned(), event.to_owned()]);
        for (sent, passed) in [
            (in_one(&sent), in_one(&passed)),
            (in_two(&sent), in_two(&passed)),
        ] {
            for length in [1, 9, 1000] {
                let pieces = Pieces::of_length(length, sent.as_bytes());
                let server = answer_in(listener.try_clone().unwrap(), pieces);
                let answered = proxy.ask(&*request);
                server.join().unwrap();
                assert_eq!(answered, passed, "{start:?} {length}");
            }
        }
    }
}

/// Once an event that came in two reads, or in two chunks, led the client past the proxy.
#[test]
fn an_endpoint_is_changed_however_it_is_cut() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &format!("{url}/sse"), &[]);
    let ours = format!("http://{}", proxy.authority());
    let before = "event: endpoint\r\ndata: ";
    let path = "/messages?token=FIRST-HALF-AND-SECOND-HALF&id=1";
    let (at_theirs, at_ours) = (format!("{url}{path}"), format!("{ours}{path}"));
    let rest = "\r\n\r\ndata: {}\n\n";
    let chunks = |parts: &[&str]| {
        let chunk = |part: &&str| format!("{:x}\r\n{part}\r\n", part.len());
        parts.iter().map(chunk).collect::<String>() + "0\r\n\r\n"
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    let request = format!("GET /sse HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
    let in_token = at_theirs.find("-AND-").unwrap();
    let mut sent = Vec::new();
    // Where the URL is cut. All of it stands in the chunk in which it began then, and a chunk that has
    // nothing else is left out.
    for cuts in [&[][..], &[10], &[in_token], &[10, in_token]] {
        let places: Vec<_> = [&[0], cuts, &[at_theirs.len()]].concat();
        let mut parts: Vec<_> = places
            .windows(2)
            .map(|it| &at_theirs[it[0]..it[1]])
            .collect();
        let first = format!("{before}{}", parts[0]);
        parts[0] = &first;
        parts.push(rest);
        let changed = format!("{before}{at_ours}");
        for length in [1, 7, 1000] {
            sent.push(format!("{head}{}", chunks(&parts)));
            let pieces = Pieces::of_length(length, sent[sent.len() - 1].as_bytes());
            let server = answer_in(listener.try_clone().unwrap(), pieces);
            let answered = proxy.ask(&*request);
            server.join().unwrap();
            let expected = format!("{head}{}", chunks(&[&changed, rest]));
            assert_eq!(answered, expected, "{length}");
        }
    }
    for id in 0..=MAX_RECORDED_EDITS {
        let event = format!("{head}{before}{url}/messages?id={id}\r\n\r\n");
        let event = event.replace("Transfer-Encoding: chunked", "Content-Encoding: identity");
        let server = answer(listener.try_clone().unwrap(), event);
        proxy.ask(&*request);
        server.join().unwrap();
    }
    proxy.end();
    let recording = recording(&library);
    for (connection, sent) in (1..).zip(&sent) {
        let recorded = recording.wire(connection, Direction::ServerToClient);
        let recorded = recorded.unwrap();
        assert_eq!(recorded.len(), sent.len());
        let recorded = String::from_utf8_lossy(&recorded);
        assert!(!recorded.contains("HALF"), "{recorded}");
        // Beside the token it is what was sent.
        let around = |text: &str| {
            let (before, after) = (text.split("token=").next(), text.rsplit(rest).next());
            (before.unwrap().to_owned(), after.unwrap().to_owned())
        };
        assert_eq!(around(&recorded), around(sent));
    }
    // A change is on record once, where it was made first, as long as there are few; it is a change of each of
    // these requests.
    let https = recording.https(0, 100).unwrap();
    let of_last = format!("messages?id={MAX_RECORDED_EDITS}");
    let of_each = https.iter().take(sent.len());
    let of_each = of_each.map(|http| (http, "messages?token=‹cred:1+"));
    for (http, path) in of_each.chain([(&https[https.len() - 1], &*of_last)]) {
        let place = format!("@#{}", http.request.0);
        let shown = text(&library.mcpreel("show").arg(place).output().unwrap());
        let change = format!("endpoint was changed from {url}/{path}");
        assert!(shown.contains(&change), "{shown}");
        assert!(shown.contains(&format!(" to {ours}/{path}")), "{shown}");
    }
}

/// Nothing is held but what could be the beginning of that event.
#[test]
fn any_other_beginning_of_a_stream_passes_at_once() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    for beginning in [
        "data: {",
        "event: message",
        "e\n",
        ": keep\n",
        "id: 1\n\n",
        "retry: 5\r\n\r\n",
        "id: 1\ndata",
    ] {
        let (mut client, mut server) = (proxy.connect(), listener.accept().unwrap().0);
        let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
        client.write_all(request.as_bytes()).unwrap();
        let passed = request.replace(&proxy.authority(), &url["http://".len()..]);
        server.read_exact(&mut vec![0; passed.len()]).unwrap();
        let sent = format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n{beginning}");
        server.write_all(sent.as_bytes()).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut read = vec![0; sent.len()];
        client.read_exact(&mut read).unwrap();
        assert_eq!(String::from_utf8(read).unwrap(), sent);
    }
    proxy.end();
}

/// A web page that was led here by a name of its own, or that calls from elsewhere, gets nothing.
#[test]
fn a_foreign_host_or_origin_reaches_no_server() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let ours = proxy.authority();
    for (lines, is_refused) in [
        ("Host: evil.example".to_owned(), true),
        (format!("Host: {ours}\r\nOrigin: http://evil.example"), true),
        (
            format!("Host: {ours}\r\nOrigin: https://localhost.evil.example"),
            true,
        ),
        (
            format!("Host: {ours}\r\nOrigin: http://localhost:6274"),
            false,
        ),
        (format!("Host: {ours}\r\nOrigin: null"), true),
        // An image in a page has no origin.
        (format!("Host: {ours}\r\nSec-Fetch-Site: cross-site"), true),
        (
            format!("Host: {ours}\r\nSec-Fetch-Site: same-origin"),
            false,
        ),
        (
            format!("Host: {ours}\r\nOrigin: vscode-file://vscode-app"),
            false,
        ),
        (format!("Host: {ours}\r\nOrigin: http://[::1]:6274"), false),
        (format!("Host: LOCALHOST:{}", proxy.port), false),
        // An address of this machine in a network, where it is exposed.
        (format!("Host: 192.168.0.7:{}", proxy.port), false),
        (format!("Host: [fd00::7]:{}", proxy.port), false),
        ("Host: 1.2.3.4.evil.example".to_owned(), true),
        // Servers may take what cannot be followed, or have patience.
        ("Host: evil.example\r\nContent-Length: 5".to_owned(), true),
        (format!("X-Fill: {}", "x".repeat(1 << 20)), true),
    ] {
        let server = answer(
            listener.try_clone().unwrap(),
            "HTTP/1.1 204 No Content\r\n\r\n",
        );
        let answered = proxy.ask(format!(
            "POST / HTTP/1.1\r\n{lines}\r\nContent-Length: 4\r\n\r\nbody"
        ));
        let status = if is_refused {
            "HTTP/1.1 403 "
        } else {
            "HTTP/1.1 204 "
        };
        let what = &lines[..lines.len().min(60)];
        assert!(answered.starts_with(status), "{what}: {answered}");
        assert_eq!(server.join().unwrap().is_empty(), is_refused, "{what}");
    }
    proxy.end();
    assert_eq!(library.events("refused").len(), 8);
}

#[test]
fn with_keep_host_nothing_is_asked_or_changed() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &["--keep-host"]);
    let server = answer(listener, "HTTP/1.1 204 No Content\r\n\r\n");
    let request = "GET / HTTP/1.1\r\nHost: mcp.example\r\nOrigin: http://page.example\r\n\r\n";
    proxy.ask(request);
    assert_eq!(server.join().unwrap(), request);
    proxy.end();
    assert_eq!(library.events("edited").len(), 0);
}

/// Once clients on other machines were sent to 0.0.0.0, where nobody is.
#[test]
fn a_client_is_sent_to_where_it_reached_the_proxy() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let dialled = "10.0.0.7:7339";
    for (line, origin) in [
        (format!("Host: {dialled}\r\n"), format!("http://{dialled}")),
        (String::new(), String::new()),
    ] {
        let server = answer(
            listener.try_clone().unwrap(),
            format!("HTTP/1.1 307 Elsewhere\r\nLocation: {url}/x\r\n\r\n"),
        );
        let answered = proxy.ask(format!("GET / HTTP/1.0\r\n{line}\r\n"));
        server.join().unwrap();
        assert!(
            answered.contains(&format!("\r\nLocation: {origin}/x\r\n")),
            "{answered}"
        );
    }
    proxy.end();
}
