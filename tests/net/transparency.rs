//! Both sides receive what the other sent, but for the named edits, and see the same end.
//!
//! A client and a server play a script that is made by dice. The proxy stands between, one for all scripts.

mod pressure;
mod script;
mod side;

use crate::edits::answer_in;
use crate::support::dice::Dice;
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, close_by_reset, recording, upstream, upstream_at};
use crate::support::{Library, note, peak_memory};
use flate2::Compression;
use flate2::write::GzEncoder;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_wire::message::Direction;
use script::{Ended, Script, Way};
use serde_json::Value;
use side::{DEADLINE, End, Received, play};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::AtomicUsize;

/// Scripts for each version of IP.
const SCRIPTS: u32 = if cfg!(feature = "long-tests") {
    1500
} else {
    100
};

/// What the proxy may take, whatever goes through it.
const MEMORY: u64 = 48 << 20;

/// A script that was played, and what each side received, the server first.
struct Played {
    script: Script,
    received: [Received; 2],
    what: String,
}

impl Played {
    /// Plays a script on a connection of its own.
    fn new(number: u32, proxy: &Proxy, listener: &TcpListener) -> Self {
        let theirs = listener.local_addr().unwrap().to_string();
        let ours = [proxy.authority(), format!("localhost:{}", proxy.port)];
        let dice = Dice::shaken();
        let what = format!("script {number}, seed {:#x}", dice.0);
        let script = Script::of(dice, ours, theirs);
        let (client, (server, _)) = (proxy.connect(), listener.accept().unwrap());
        let sides = [
            (server, script.server.clone(), format!("server, {what}")),
            (client, script.client.clone(), format!("client, {what}")),
        ];
        let met = AtomicUsize::new(0);
        let received = std::thread::scope(|scope| {
            let sides = sides.map(|(socket, steps, what)| {
                let met = &met;
                scope.spawn(move || play(socket, steps, met, &what))
            });
            sides.map(|side| side.join().unwrap())
        });
        Self {
            script,
            received,
            what,
        }
    }

    fn assert_received(&self) {
        let Self {
            script,
            received,
            what,
        } = self;
        for (way, received) in [&script.up, &script.down].into_iter().zip(received) {
            if let Ended::Sudden(_) = script.ended {
                assert!(way.passed.starts_with(&received.bytes), "{what}");
            } else {
                assert_same(&received.bytes, &way.passed, what);
            }
        }
        let [server, client] = received.each_ref().map(|it| it.end);
        match script.ended {
            Ended::Whole(_) => assert_eq!([server, client], [Some(End::Whole); 2], "{what}"),
            Ended::Reset(by) | Ended::Sudden(by) => {
                // Whoever resets sees no end of the other's.
                let other = [server, client][by];
                assert_eq!(other, Some(End::Reset), "{what}: {:?}", script.ended);
            }
        }
    }

    /// `ended`: who ended the connection, and whether by a reset, as the recording has it.
    fn assert_recorded(&self, number: u32, recording: &Recording, ended: &(String, bool)) {
        let Self { script, what, .. } = self;
        let ways = [Direction::ClientToServer, Direction::ServerToClient];
        let both = [&script.up, &script.down].into_iter().zip(ways);
        for ((way, direction), received) in both.zip(&self.received) {
            let recorded = recording.wire(number, direction).unwrap();
            if let Ended::Sudden(_) = script.ended {
                assert!(way.sent.starts_with(&recorded), "{what}");
                assert_all_received_is_recorded(way, &recorded, received, what);
            } else {
                assert_same(&recorded, &way.sent, what);
            }
        }
        let (Ended::Whole(by) | Ended::Reset(by) | Ended::Sudden(by)) = script.ended;
        let is_reset = !matches!(script.ended, Ended::Whole(_));
        let by = ["client", "server"][by].to_owned();
        assert_eq!(*ended, (by, is_reset), "{what}");
    }
}

fn assert_all_received_is_recorded(way: &Way, recorded: &[u8], received: &Received, what: &str) {
    let (recorded, received) = (way.passed_of(recorded.len()), received.bytes.len());
    assert!(received <= recorded, "{what}: {received} of {recorded}");
}

/// Who ended each connection, and whether by a reset, in the order of their numbers.
fn ends(library: &Library) -> Vec<(String, bool)> {
    let end = |event: &Value| {
        let by = event["by"].as_str().unwrap().to_owned();
        let is_reset = event["reset"].as_bool().unwrap();
        (event["connection"].as_u64(), (by, is_reset))
    };
    let mut ends: Vec<_> = library.events("disconnected").iter().map(end).collect();
    ends.sort();
    ends.into_iter().map(|(_, end)| end).collect()
}

fn play_scripts(address: &str) {
    let library = Library::new();
    let (listener, url) = upstream_at(address);
    let proxy = Proxy::run(Proxy::command_at(address, &library, &url, &[]));
    let mut all = Vec::new();
    for number in 1..=SCRIPTS {
        let played = Played::new(number, &proxy, &listener);
        played.assert_received();
        all.push(played);
    }
    let memory = peak_memory(proxy.child.id()).unwrap_or_default();
    assert!(memory < MEMORY, "{memory} bytes");
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    let (recording, ends) = (recording(&library), ends(&library));
    assert_eq!(ends.len(), all.len());
    for ((number, played), ended) in (1..).zip(all).zip(ends) {
        played.assert_recorded(number, &recording, &ended);
    }
    note(format_args!("{SCRIPTS} scripts at {address}"));
}

#[test]
fn both_sides_receive_what_the_other_sent_and_see_the_same_end() {
    play_scripts("127.0.0.1:0");
}

#[test]
fn and_over_ipv6() {
    play_scripts("[::1]:0");
}

/// Once a client waited forever for such a server: the proxy took it for one that cannot be reached,
/// and wanted to be asked before it said so.
#[test]
fn a_server_that_resets_at_once_resets_the_client() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    for _ in 0..100 {
        let mut client = proxy.connect();
        client.set_read_timeout(Some(DEADLINE)).unwrap();
        close_by_reset(&listener.accept().unwrap().0);
        let error = client.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    proxy.end();
}

/// What is no head is not held until it could be one: both would wait for each other.
#[test]
fn what_is_no_http_passes_at_once() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    for (from_client, bytes) in [(true, &b"\x16\x03\x01\x02"[..]), (false, b"220 a server")] {
        let (mut client, mut server) = (proxy.connect(), listener.accept().unwrap().0);
        let (writer, reader) = if from_client {
            (&mut client, &mut server)
        } else {
            (&mut server, &mut client)
        };
        writer.write_all(bytes).unwrap();
        let mut read = vec![0; bytes.len()];
        reader.read_exact(&mut read).unwrap();
        assert_eq!(read, bytes);
    }
    proxy.end();
}

/// Packed by gzip, and by brotli as a block that is not compressed (RFC 7932 section 9.2).
fn packed(plain: &[u8], coding: &str) -> Vec<u8> {
    if coding == "gzip" {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(plain).unwrap();
        return packed.finish().unwrap();
    }
    let length = u32::try_from(plain.len() - 1).unwrap();
    let head = (length << 4 | 1 << 20).to_le_bytes();
    [&head[..3], plain, &[0b11]].concat()
}

#[test]
fn packed_answers_pass_as_they_are_and_are_read() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let json = "application/json";
    let stream = "text/event-stream";
    let kinds = [
        (json, "gzip"),
        (json, "br"),
        (stream, "gzip"),
        (stream, "br"),
    ];
    for (id, (kind, coding)) in (1..).zip(kinds) {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[]}}}}"#);
        let plain = match kind {
            "text/event-stream" => format!("data: {message}\n\n"),
            _ => message,
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {coding}\r\n\r\n"
        );
        let sent = [head.as_bytes(), &packed(plain.as_bytes(), coding)].concat();
        let server = answer_in(listener.try_clone().unwrap(), Pieces::of_length(7, &sent));
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: {json}\r\nContent-Length: {}\r\n\r\n{body}",
            proxy.authority(),
            body.len()
        );
        let received = proxy.answer_to(&Pieces(vec![request.into()]));
        server.join().unwrap();
        assert!(received == sent, "{kind}, {coding}");
    }
    proxy.end();
    let calls = recording(&library).exchanges(ExchangeId(0), 10).unwrap();
    let told: Vec<_> = calls
        .iter()
        .map(|call| (&*call.method, call.status))
        .collect();
    assert_eq!(told, [("tools/list", Status::Ok); 4]);
}

fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    let at = found.iter().zip(expected).position(|(a, b)| a != b);
    let at = at.unwrap_or(found.len().min(expected.len()));
    let around = |bytes: &[u8]| {
        let from = at.saturating_sub(60);
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 60)]).into_owned()
    };
    assert!(
        found == expected,
        "{what}: differs at {at}:\n{:?}\n{:?}",
        around(found),
        around(expected)
    );
}
