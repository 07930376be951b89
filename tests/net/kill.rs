//! `kill -9` of the proxy, or its end, with streams open: what either side had received is on record.

use crate::support::dice::Dice;
use crate::support::proxy::{Proxy, recording, upstream};
use crate::support::{Library, note, send, wait_for};
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::http::End;
use mcpreel_wire::message::Direction;
use nix::sys::signal::Signal;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ROUNDS: u32 = if cfg!(feature = "long-tests") { 30 } else { 3 };
const STREAMS: u32 = 64;

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Reads until nothing more comes.
fn received(mut socket: &TcpStream, count: &AtomicUsize) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(n @ 1..) = socket.read(&mut buffer) {
        bytes.extend(&buffer[..n]);
        count.fetch_add(n, Ordering::Relaxed);
    }
    bytes
}

/// Writes messages without end, until nobody reads them.
fn write(mut socket: &TcpStream, start: &str, mut dice: Dice) {
    let mut is_read = socket.write_all(start.as_bytes()).is_ok();
    for number in 0.. {
        let event = format!("data: {number} {}\n\n", "x".repeat(dice.length_below(300)));
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        let (first, second) = chunk.split_at(dice.length_below(chunk.len()));
        is_read = is_read && socket.write_all(first.as_bytes()).is_ok();
        if !is_read || socket.write_all(second.as_bytes()).is_err() {
            return;
        }
    }
}

/// A call that is answered, and one that is not any more.
fn talk(proxy: &Proxy, listener: &TcpListener) -> (TcpStream, TcpStream) {
    let (client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
    let pass = |mut from: &TcpStream, mut to: &TcpStream, sent: String, passed: String| {
        from.write_all(sent.as_bytes()).unwrap();
        to.read_exact(&mut vec![0; passed.len()]).unwrap();
    };
    let theirs = listener.local_addr().unwrap().to_string();
    for (id, method) in [(1, "tools/list"), (2, "tools/call")] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
        let length = body.len();
        let request = |host: &str| {
            format!("POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}")
        };
        pass(
            &client,
            &server,
            request(&proxy.authority()),
            request(&theirs),
        );
        if id == 1 {
            let body = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            pass(&server, &client, answer.clone(), answer);
        }
    }
    (client, server)
}

/// What is derived from what was received: `by_client` from each connection, in order.
fn assert_told(recording: &Recording, by_client: &[Vec<u8>]) {
    let mut https = recording.https(0, 2 * STREAMS).unwrap();
    https.retain(|http| http.connection <= STREAMS);
    assert_eq!(https.len(), STREAMS as usize);
    for http in https {
        let received = &by_client[http.connection as usize - 1];
        let is_answered = received.starts_with(ANSWER.as_bytes());
        let events = received.windows(4).filter(|it| it == b"\n\n\r\n").count();
        assert!(!is_answered || http.status == Some(200), "{http:?}");
        assert!(http.events >= events as u64, "{events} events: {http:?}");
        let is_open = matches!(http.ended, None | Some(End::Unfinished));
        assert!(is_open, "{http:?}");
    }
    let calls = recording.exchanges(ExchangeId(0), 10).unwrap();
    let calls: Vec<_> = calls.iter().map(|it| (&*it.method, it.status)).collect();
    assert_eq!(
        calls,
        [
            ("tools/list", Status::Ok),
            ("tools/call", Status::Unanswered)
        ]
    );
}

#[test]
fn kill_nine_at_any_moment_loses_nothing_that_either_side_had_received() {
    for round in 0..ROUNDS {
        play(round, Signal::SIGKILL, "recovered");
    }
}

#[test]
fn nor_does_the_end_of_the_proxy() {
    // The terminal that it runs in may be closed.
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        play(0, signal, "complete");
    }
}

/// Ends a proxy with streams open by this signal, and looks at the recording, which is in this state
/// then.
fn play(round: u32, signal: Signal, state: &str) {
    let mut dice = Dice::shaken();
    note(format_args!("round {round}, seed {:#x}", dice.0));
    let library = Library::new();
    let (listener, url) = upstream();
    let mut proxy = Proxy::start(&library, &url, &[]);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        proxy.authority()
    );
    let passed = request.replace(&proxy.authority(), &url["http://".len()..]);
    let count = AtomicUsize::new(0);
    let enough = usize::try_from(200_000 + dice.below(2_000_000)).unwrap();
    // All of them stand before the first writes: traffic without end leaves a proxy little time.
    let pair = |_| {
        let (mut client, (mut server, _)) = (proxy.connect(), listener.accept().unwrap());
        client.write_all(request.as_bytes()).unwrap();
        server.read_exact(&mut vec![0; passed.len()]).unwrap();
        (client, server)
    };
    let pairs: Vec<_> = (0..STREAMS).map(pair).collect();
    let talking = talk(&proxy, &listener);
    let all = thread::scope(|scope| {
        let count = &count;
        for (client, server) in &pairs {
            for (socket, start) in [(client, ""), (server, ANSWER)] {
                let dice = Dice(dice.below(u64::MAX));
                scope.spawn(move || write(socket, start, dice));
            }
        }
        let mut streams = Vec::new();
        for (client, server) in &pairs {
            streams.push([server, client].map(|it| scope.spawn(|| received(it, count))));
        }
        wait_for("enough traffic", || {
            (count.load(Ordering::Relaxed) >= enough).then_some(())
        });
        send(signal, proxy.child.id());
        proxy.child.wait().unwrap();
        let ended = |stream: [thread::ScopedJoinHandle<'_, Vec<u8>>; 2]| {
            stream.map(|way| way.join().unwrap())
        };
        streams.into_iter().map(ended).collect::<Vec<_>>()
    });
    drop((pairs, talking));
    let recording = recording(&library);
    let by_client: Vec<_> = all.iter().map(|[_, by_client]| by_client.clone()).collect();
    assert_told(&recording, &by_client);
    let mut total = 0;
    for (number, [by_server, by_client]) in (1..).zip(all) {
        let up = recording.wire(number, Direction::ClientToServer).unwrap();
        let down = recording.wire(number, Direction::ServerToClient).unwrap();
        let up = up.strip_prefix(request.as_bytes()).unwrap_or_default();
        assert!(
            up.starts_with(&by_server),
            "stream {number}: what the server received"
        );
        assert!(
            down.starts_with(&by_client),
            "stream {number}: what the client received"
        );
        total += by_server.len() + by_client.len();
    }
    assert!(total > enough / 2, "there was traffic");
    assert_eq!(library.events("gap").len(), 0);
    assert_eq!(library.json(&["show", "@"])[0]["state"], state);
}
