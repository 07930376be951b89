//! `kill -9` of the proxy, or its end, with streams open: what either side had received is on record.

use crate::support::dice::Dice;
use crate::support::proxy::{Proxy, recording, upstream};
use crate::support::{Library, note, send, wait_for};
use mcpreel_wire::message::Direction;
use nix::sys::signal::Signal;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
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
    let enough = usize::try_from(200_000 + dice.below(6_000_000)).unwrap();
    // All of them stand before the first writes: traffic without end leaves a proxy little time.
    let pair = |_| (proxy.connect(), listener.accept().unwrap().0);
    let pairs: Vec<_> = (0..STREAMS).map(pair).collect();
    let all = thread::scope(|scope| {
        let count = &count;
        for (client, server) in &pairs {
            for (socket, start) in [(client, &*request), (server, ANSWER)] {
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
    drop(pairs);
    let recording = recording(&library);
    let mut total = 0;
    for (number, [by_server, by_client]) in (1..).zip(all) {
        let up = recording.wire(number, Direction::ClientToServer).unwrap();
        let down = recording.wire(number, Direction::ServerToClient).unwrap();
        let by_server = by_server
            .strip_prefix(passed.as_bytes())
            .unwrap_or_default();
        let up = up.strip_prefix(request.as_bytes()).unwrap_or_default();
        assert!(
            up.starts_with(by_server),
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
