//! Peers that flood, dawdle and lie: memory stays bounded, the other connections go on, and bytes pass as
//! they are.

use crate::edits::answer;
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, recording, upstream};
use crate::support::{Library, note, peak_memory, wait_for, wait_for_work};
use flate2::Compression;
use flate2::write::GzEncoder;
use mcpreel_capture::spool::SpoolReader;
use mcpreel_wire::message::Direction;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Bytes of a flood. More goes by than is recorded, so that it does not fill the disk.
const FLOOD: u64 = if cfg!(feature = "long-tests") {
    1 << 30
} else {
    64 << 20
};
const MAX_SIZE: &str = "200MB";

/// What may be unpacked from a bomb.
const BOMB: u64 = if cfg!(feature = "long-tests") {
    4 << 30
} else {
    400 << 20
};

/// What the recorder and its indexer may take. A message of 16 MiB is still looked at.
const PROXY: u64 = 48 << 20;
const INDEXER: u64 = 80 << 20;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// What a server answers to who asks for `/flood`.
#[derive(Clone)]
struct Flood {
    head: String,
    /// What comes behind it, so often.
    block: Arc<Vec<u8>>,
    times: u64,
}

impl Flood {
    /// One of [`FLOOD`] bytes without a newline.
    fn of_letters(head: &str) -> Self {
        let block = vec![b'x'; 1 << 16];
        let times = FLOOD / block.len() as u64;
        Self {
            head: head.to_owned(),
            block: Arc::new(block),
            times,
        }
    }

    fn length(&self) -> u64 {
        self.head.len() as u64 + self.times * self.block.len() as u64
    }

    fn write_to(&self, mut socket: &TcpStream) {
        let mut is_read = socket.write_all(self.head.as_bytes()).is_ok();
        for _ in 0..self.times {
            is_read = is_read && socket.write_all(&self.block).is_ok();
        }
    }
}

/// Answers whoever connects, until the test is over.
fn serve(listener: TcpListener, flood: Flood) {
    thread::spawn(move || {
        while let Ok((socket, _)) = listener.accept() {
            let flood = flood.clone();
            thread::spawn(move || drop(serve_one(&socket, &flood)));
        }
    });
}

fn serve_one(mut socket: &TcpStream, flood: &Flood) -> std::io::Result<()> {
    let mut input = BufReader::new(socket);
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        if line.contains("/swallow") {
            std::io::copy(&mut input, &mut std::io::sink())?;
        } else if line.contains("/flood") {
            flood.write_to(socket);
            return Ok(());
        } else if line == "\r\n" {
            socket.write_all(OK.as_bytes())?;
        }
        line.clear();
    }
    Ok(())
}

/// A proxy whose memory is watched, and a client that asks all the time.
struct Watched {
    library: Library,
    proxy: Proxy,
    indexer: u32,
}

impl Watched {
    fn start(scheme: &str, flood: Flood) -> Self {
        let library = Library::new();
        let (listener, url) = upstream();
        serve(listener, flood);
        // Over TCP a client is refused that speaks HTTP, as these do.
        let more = ["--max-size", MAX_SIZE, "--keep-host"];
        let more = &more[..if scheme == "tcp" { 3 } else { 2 }];
        let proxy = Proxy::start(&library, &url.replace("http", scheme), more);
        let indexer = wait_for("an indexer", || {
            let spool = SpoolReader::open(library.files("spool").first()?).ok()?;
            u32::try_from(spool.progress().indexer)
                .ok()
                .filter(|it| *it > 0)
        });
        Self {
            library,
            proxy,
            indexer,
        }
    }

    fn request(&self, target: &str) -> String {
        let host = self.proxy.authority();
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
    }

    /// Asks on a connection that is kept.
    fn ask(&self, mut socket: &TcpStream) {
        socket.write_all(self.request("/").as_bytes()).unwrap();
        let mut answer = vec![0; OK.len()];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(answer, OK.as_bytes());
    }

    /// Bytes that a client receives for `request`, to the end; another client asks meanwhile.
    fn received_beside(&self, request: impl Fn(&TcpStream) + Sync) -> u64 {
        let other = self.proxy.connect();
        thread::scope(|scope| {
            let flooded = scope.spawn(|| {
                let mut socket = self.proxy.connect();
                request(&socket);
                std::io::copy(&mut socket, &mut std::io::sink()).unwrap()
            });
            self.ask(&other);
            while !flooded.is_finished() {
                self.ask(&other);
            }
            flooded.join().unwrap()
        })
    }

    /// Asks for the flood: all of it comes, and costs little.
    fn asks_for(self, flood: &Flood, what: &str) {
        let request = self.request("/flood");
        let received = self.received_beside(|mut socket| {
            socket.write_all(request.as_bytes()).unwrap();
        });
        assert_eq!(received, flood.length(), "{what}");
        self.assert_bounded(what);
    }

    /// Waits until the indexer has seen the end of a connection; then neither may have taken too much.
    fn assert_bounded(self, what: &str) {
        wait_for_work(self.indexer, "the end of it on record", || {
            let ended = self.library.events("disconnected");
            (!ended.is_empty()).then_some(())
        });
        let peaks = [self.proxy.child.id(), self.indexer].map(peak_memory);
        let [Some(proxy), Some(indexer)] = peaks else {
            panic!("{what}: the indexer lives");
        };
        note(format_args!(
            "{what}: {} and {} MiB",
            proxy >> 20,
            indexer >> 20
        ));
        assert!(
            proxy < PROXY && indexer < INDEXER,
            "{what}: {proxy} {indexer}"
        );
        let (status, said) = self.proxy.end();
        assert!(status.success() && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn what_never_ends_costs_no_memory_and_the_others_go_on() {
    let body = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {FLOOD}\r\n\r\n"
    );
    for (what, scheme, head) in [
        ("a line", "tcp", ""),
        ("a body", "http", &*body),
        (
            "an event",
            "http",
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ",
        ),
        (
            "a comment",
            "http",
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n:",
        ),
        ("a head", "http", "HTTP/1.1 200 OK\r\nX-Fill: "),
    ] {
        let flood = Flood::of_letters(head);
        let watched = Watched::start(scheme, flood.clone());
        watched.asks_for(&flood, what);
    }
}

#[test]
fn nor_does_a_request_that_never_ends() {
    let watched = Watched::start("http", Flood::of_letters(""));
    let host = watched.proxy.authority();
    let head = format!("POST /swallow HTTP/1.1\r\nHost: {host}\r\nContent-Length: {FLOOD}\r\n\r\n");
    let flood = Flood::of_letters(&head);
    watched.received_beside(|socket| {
        flood.write_to(socket);
        socket.shutdown(std::net::Shutdown::Write).unwrap();
    });
    watched.assert_bounded("the body of a request");
}

/// Bits, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, value: u32, length: usize) {
        for at in 0..length {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = u8::from(value >> at & 1 == 1);
            *self.bytes.last_mut().unwrap() |= bit << (self.count % 8);
            self.count += 1;
        }
    }
}

/// Blocks of 16 MiB: a literal, and a copy of it to the end of the block (RFC 7932 section 9).
fn brotli_bomb() -> Vec<u8> {
    const BLOCK: u32 = 1 << 24;
    let mut bits = Bits::default();
    // The window.
    bits.push(0, 1);
    for _ in 0..BOMB / u64::from(BLOCK) {
        // Not the last block, six nibbles of length, compressed.
        bits.push(0b100, 3);
        bits.push(BLOCK - 1, 24);
        // One type of block each, plain distances, one tree each.
        bits.push(0, 1 + 3 + 6 + 2 + 2);
        // Codes of one symbol, which takes no bits: `0`, one literal and a long copy, the distance 1.
        for (symbol, length) in [(u32::from(b'0'), 8), (399, 10), (16, 6)] {
            bits.push(0b0001, 4);
            bits.push(symbol, length);
        }
        bits.push(BLOCK - 1 - 2118, 24);
        bits.push(0, 1);
    }
    // The last block, which is empty.
    bits.push(0b11, 2);
    bits.bytes
}

/// Bombs are packed once more for each of two codings.
#[test]
fn a_bomb_is_passed_on_and_not_unpacked_to_its_end() {
    let pack = |mut plain: &mut dyn Read| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        std::io::copy(&mut plain, &mut packed).unwrap();
        packed.finish().unwrap()
    };
    let bomb = pack(&mut std::io::repeat(b'0').take(BOMB));
    let twice = pack(&mut &*bomb);
    let brotli = brotli_bomb();
    for (what, kind, coding, body) in [
        ("a bomb", "application/json", "gzip", &bomb),
        ("a bomb of brotli", "application/json", "br", &brotli),
        ("a bomb of two", "application/json", "gzip, gzip", &twice),
        ("a bomb of events", "text/event-stream", "gzip", &bomb),
    ] {
        let flood = Flood {
            head: format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: {coding}\r\n\
                 Content-Length: {}\r\n\r\n",
                body.len()
            ),
            block: Arc::new(body.clone()),
            times: 1,
        };
        let watched = Watched::start("http", flood.clone());
        watched.asks_for(&flood, what);
    }
}

/// Each sends a byte of its head, then waits for its turn.
#[test]
fn clients_that_dawdle_keep_nobody_waiting() {
    let watched = Watched::start("http", Flood::of_letters(""));
    let request = watched.request("/slow");
    let dawdling: Vec<_> = (0..100).map(|_| watched.proxy.connect()).collect();
    let other = watched.proxy.connect();
    for byte in request.bytes() {
        for mut socket in &dawdling {
            socket.write_all(&[byte]).unwrap();
        }
        watched.ask(&other);
    }
    for mut socket in dawdling {
        let mut answer = vec![0; OK.len()];
        socket.read_exact(&mut answer).unwrap();
        assert_eq!(answer, OK.as_bytes());
    }
    watched.assert_bounded("100 that dawdle");
}

/// Two sides that disagree about where a message ends are what smuggling needs. Nothing is made of it here:
/// each gets what the other sent.
#[test]
fn what_says_two_things_passes_as_it_is_and_is_on_record() {
    let many = "X-Fill: y\r\n".repeat(20_000);
    let hidden = "GET /hidden HTTP/1.1\r\n\r\n";
    // Where the head cannot be read, the rows alone tell of it.
    for (lines, told) in [
        ("Content-Length: 3\r\nContent-Length: 30\r\n", "is 3 and 30"),
        ("Content-Length: 3, 30\r\n", "is 3 and 30"),
        (
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
            "is 3 and Transfer-Encoding is chunked",
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "is chunked, identity in HTTP/1.1",
        ),
        ("Transfer-Encoding : chunked\r\n", ""),
        ("Content-Length: -3\r\n", "is -3, no number"),
        ("Content-Length: 99999999999999999999999\r\n", "too large"),
        (
            "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
            "the request: a chunk of its body is broken",
        ),
        (
            "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
            "the response: a chunk of its body is broken",
        ),
        (&many, ""),
    ] {
        let library = Library::new();
        let (listener, url) = upstream();
        let proxy = Proxy::start(&library, &url, &[]);
        let theirs = listener.local_addr().unwrap().to_string();
        let sent = format!("HTTP/1.1 200 OK\r\n{lines}\r\nabc{hidden}");
        let server = answer(listener, &*sent);
        let ours = proxy.authority();
        let request = format!("POST / HTTP/1.1\r\nHost: {ours}\r\n{lines}\r\nabc{hidden}");
        let answered = proxy.ask(&*request);
        let asked = server.join().unwrap();
        assert!(
            asked == request.replace(&ours, &theirs) || asked == request,
            "{asked}"
        );
        assert_eq!(answered, sent);
        let (_, said) = proxy.end();
        assert!(!said.contains("panicked"), "{said}");
        let recording = recording(&library);
        // A reader learns that there was something, and what contradicts what.
        let rows = recording.https(0, 10).unwrap();
        let findings = recording.findings(0).unwrap();
        assert!(rows.len() + findings.len() > 0, "{lines}");
        let tells = |detail: &str| detail.contains(told);
        assert!(
            told.is_empty() || findings.iter().any(|found| tells(&found.detail)),
            "{lines}: {findings:?}"
        );
        for (direction, bytes) in [
            (Direction::ClientToServer, &request),
            (Direction::ServerToClient, &sent),
        ] {
            let recorded = recording.wire(1, direction).unwrap();
            assert_eq!(String::from_utf8(recorded).unwrap(), *bytes);
        }
    }
}

/// Once the proxy was ended by a URL that is no text.
#[test]
fn an_endpoint_that_is_no_text_passes_as_it_is() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let event = b"event: endpoint\ndata: http://a/\xff\xff\xff?x\n\n";
    let sent = [&head[..], event].concat();
    let server = answer(listener, sent.clone());
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", proxy.authority());
    let answered = proxy.answer_to(&Pieces(vec![request.into()]));
    server.join().unwrap();
    assert_eq!(answered, sent);
    proxy.end();
    let recorded = recording(&library).wire(1, Direction::ServerToClient);
    assert_eq!(recorded.unwrap(), sent);
}
