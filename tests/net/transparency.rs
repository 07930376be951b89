//! Both sides receive what the other sent, but for the named edits, and see the same end.
//!
//! A client and a server play a script that is made by dice: what each writes, in which pieces, for what
//! it waits before, and how it ends. The proxy stands between, one for all scripts.

use crate::support::dice::Dice;
use crate::support::note;
use crate::support::pieces::Pieces;
use crate::support::proxy::{Proxy, close_by_reset, recording, upstream};
use crate::support::{Library, peak_memory, wait_for};
use mcpreel_wire::message::Direction;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const SCRIPTS: u32 = if cfg!(feature = "long-tests") {
    3000
} else {
    200
};

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// No wait takes longer on a busy machine, unless the program is broken.
const DEADLINE: Duration = Duration::from_mins(2);

/// What a side does, in order. Then it waits for the other's end, and closes.
#[derive(Clone, Debug)]
enum Step {
    Write(Pieces),
    /// Until so many bytes have come in all.
    Await(usize),
    AwaitEnd,
    /// Writes no more.
    Shut,
    Reset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    Reset,
}

#[derive(Default)]
struct Received {
    bytes: Vec<u8>,
    end: Option<End>,
}

/// What a side has to receive of what the other writes.
#[derive(Clone, Debug, Default)]
struct Way {
    sent: Vec<u8>,
    passed: Vec<u8>,
}

impl Way {
    fn push(&mut self, text: &str) {
        self.change(text, text);
    }

    fn change(&mut self, sent: &str, passed: &str) {
        self.sent.extend(sent.bytes());
        self.passed.extend(passed.bytes());
    }
}

/// A script that is being made.
struct Script {
    dice: Dice,
    /// Our authorities, and the server's.
    ours: [String; 2],
    /// The one that the last request was sent to.
    dialled: String,
    theirs: String,
    up: Way,
    down: Way,
    client: Vec<Step>,
    server: Vec<Step>,
    /// What is written already of `up` and `down`.
    written: [usize; 2],
    ended: End,
}

impl Script {
    fn of(dice: Dice, ours: [String; 2], theirs: String) -> Self {
        let mut script = Self {
            dice,
            dialled: String::new(),
            ours,
            theirs,
            up: Way::default(),
            down: Way::default(),
            client: Vec::new(),
            server: Vec::new(),
            written: [0; 2],
            ended: End::Whole,
        };
        script.make();
        script
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.dice.below(n) == 0
    }

    fn make(&mut self) {
        let exchanges = self.dice.below(5);
        let is_pipelined = self.one_in(3);
        for _ in 0..exchanges {
            let is_head = self.request(!is_pipelined);
            if !is_pipelined {
                self.say_up();
                self.hear_up();
            }
            self.interim();
            self.response(is_head);
            if !is_pipelined {
                self.say_down();
                self.hear_down();
            }
        }
        if is_pipelined {
            self.say_up();
            self.hear_up();
            self.say_down();
            self.hear_down();
        }
        if self.one_in(4) {
            self.upgrade();
        }
        self.end();
    }

    /// The client writes what is not written yet.
    fn say_up(&mut self) {
        let bytes = self.up.sent[self.written[0]..].to_vec();
        self.written[0] += bytes.len();
        let pieces = self.cut(&bytes);
        self.client.push(Step::Write(pieces));
    }

    fn say_down(&mut self) {
        let bytes = self.down.sent[self.written[1]..].to_vec();
        self.written[1] += bytes.len();
        let pieces = self.cut(&bytes);
        self.server.push(Step::Write(pieces));
    }

    fn hear_up(&mut self) {
        self.server.push(Step::Await(self.up.passed.len()));
    }

    fn hear_down(&mut self) {
        self.client.push(Step::Await(self.down.passed.len()));
    }

    fn cut(&mut self, bytes: &[u8]) -> Pieces {
        let mut pieces = Vec::new();
        let most = [1 << 20, 40, 4][self.dice.length_below(3)];
        let mut rest = bytes;
        // Few pieces, or the rest at once: a pause stands between each two.
        while !rest.is_empty() && pieces.len() < 40 {
            let (piece, behind) = rest.split_at(1 + self.dice.length_below(most.min(rest.len())));
            pieces.push(piece.to_vec());
            if self.one_in(3) {
                pieces.push(Vec::new());
            }
            rest = behind;
        }
        pieces.push(rest.to_vec());
        Pieces(pieces)
    }

    /// A request; returns whether it is one whose response has no body.
    fn request(&mut self, may_expect: bool) -> bool {
        let methods = ["GET", "POST", "HEAD", "DELETE", "OPTIONS", "PUT"];
        let method = methods[self.dice.length_below(methods.len())];
        let target = ["/mcp", "/", "/a/b?c=d", "*"][self.dice.length_below(4)];
        let has_body = matches!(method, "POST" | "PUT");
        self.up.push(&format!("{method} {target} HTTP/1.1\r\n"));
        let mut lines = vec![self.host(), format!("X-Fill: {}\r\n", self.fill(40))];
        if self.one_in(3) {
            lines.push("accept:text/event-stream, application/json\r\n".into());
        }
        let framed = has_body.then(|| self.body());
        lines.extend(framed.iter().map(|(line, _)| line.clone()));
        let expects = has_body && may_expect && self.one_in(3);
        if expects {
            lines.push("Expect: 100-continue\r\n".into());
        }
        for at in (1..lines.len()).rev() {
            let other = self.dice.length_below(at + 1);
            lines.swap(at, other);
        }
        for line in lines {
            // Only the first is one that is changed.
            match line.split_once('\0') {
                Some((sent, passed)) => self.up.change(sent, passed),
                None => self.up.push(&line),
            }
        }
        if self.one_in(4) {
            let (ours, theirs) = (self.ours[0].clone(), self.theirs.clone());
            let line = |authority: &str| format!("Origin: http://{authority}\r\n");
            self.up.change(&line(&ours), &line(&theirs));
            let line = |authority: &str| format!("referer:  http://{authority}/x?y \r\n");
            self.up.change(&line(&ours), &line(&theirs));
        }
        self.up.push("\r\n");
        if expects {
            self.say_up();
            self.hear_up();
            self.down.push("HTTP/1.1 100 Continue\r\n\r\n");
            self.say_down();
            self.hear_down();
        }
        self.up
            .push(&framed.map(|(_, body)| body).unwrap_or_default());
        method == "HEAD"
    }

    /// The line `Host` as it is sent and as it is passed on.
    fn host(&mut self) -> String {
        let name = ["Host: ", "host:", "HOST:   "][self.dice.length_below(3)];
        self.dialled
            .clone_from(&self.ours[self.dice.length_below(2)]);
        format!("{name}{}\r\n\0{name}{}\r\n", self.dialled, self.theirs)
    }

    fn fill(&mut self, most: u64) -> String {
        let length = self.dice.below(most);
        let letters = (0..length).map(|_| char::from(LETTERS[self.dice.length_below(26)]));
        letters.collect()
    }

    /// A body with the line that says how long it is.
    fn body(&mut self) -> (String, String) {
        let most = [0, 20, 3000, 200_000][self.dice.length_below(4)];
        let mut content = self.fill(most + 1);
        if self.one_in(4) {
            // What looks like a head is none.
            content += "\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        }
        if self.one_in(2) {
            return (format!("Content-Length: {}\r\n", content.len()), content);
        }
        (
            "Transfer-Encoding: chunked\r\n".into(),
            self.chunked(&content),
        )
    }

    fn chunked(&mut self, content: &str) -> String {
        let (mut chunked, mut rest) = (String::new(), content);
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(1 + self.dice.length_below(rest.len()));
            let extension = if self.one_in(4) { ";a=\"b\"" } else { "" };
            write!(chunked, "{:x}{extension}\r\n{chunk}\r\n", chunk.len()).unwrap();
            rest = behind;
        }
        let trailer = if self.one_in(4) { "X-Sum: 1\r\n" } else { "" };
        chunked + "0\r\n" + trailer + "\r\n"
    }

    fn interim(&mut self) {
        if self.one_in(5) {
            self.down
                .push("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
        }
    }

    fn response(&mut self, is_head: bool) {
        let status = [200, 202, 204, 304, 404, 307][self.dice.length_below(6)];
        let (line, body) = self.body();
        let has_body = !is_head && !matches!(status, 204 | 304);
        self.down.push(&format!("HTTP/1.1 {status} Some thing\r\n"));
        if status == 307 {
            let line = |authority: &str| format!("location: http://{authority}/else?a=b\r\n");
            let (sent, passed) = (line(&self.theirs), line(&self.dialled));
            self.down.change(&sent, &passed);
            self.down.push("Location: http://else.example/\r\n");
        }
        self.down
            .push("Content-Type: application/json\r\nMcp-Session-Id: s\r\n");
        if has_body || is_head {
            self.down.push(&line);
        }
        self.down.push("\r\n");
        if has_body {
            self.down.push(&body);
        }
    }

    /// A request to go on with another protocol, which is refused or accepted.
    fn upgrade(&mut self) {
        self.up
            .push("GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n");
        let host = self.host();
        let (sent, passed) = host.split_once('\0').expect("it has both");
        self.up.change(sent, passed);
        self.up.push("\r\n");
        self.say_up();
        self.hear_up();
        if self.one_in(2) {
            self.response(false);
            self.say_down();
            self.hear_down();
            return;
        }
        self.down
            .push("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");
        let is_eager = self.one_in(2);
        if !is_eager {
            self.say_down();
            self.hear_down();
        }
        for _ in 0..self.dice.below(4) {
            let fill = self.fill(50);
            let text = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n{fill}", self.ours[0]);
            if is_eager {
                self.down.push(&text);
                continue;
            }
            self.up.push(&text);
            self.say_up();
            self.hear_up();
            self.down.push(&text);
            self.say_down();
            self.hear_down();
        }
        self.say_down();
        self.hear_down();
    }

    fn end(&mut self) {
        match self.dice.below(6) {
            // A server that answers when all is said.
            0 => {
                self.client.push(Step::Shut);
                self.server.push(Step::AwaitEnd);
                self.down.push("HTTP/1.1 200 OK\r\n\r\nuntil the end");
                self.say_down();
            }
            // A client that goes on when the server has said all.
            1 => {
                self.server.push(Step::Shut);
                self.client.push(Step::AwaitEnd);
                self.up.push("GET /");
                self.say_up();
            }
            2 => self.server.push(Step::Shut),
            3 => self.client.push(Step::Shut),
            side => {
                self.ended = End::Reset;
                let side = if side == 4 {
                    &mut self.client
                } else {
                    &mut self.server
                };
                side.push(Step::Reset);
            }
        }
    }
}

/// What a side receives, while it comes.
#[derive(Default)]
struct Inbox {
    received: Mutex<Received>,
    grown: Condvar,
}

impl Inbox {
    fn read(&self, mut socket: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        let mut end = None;
        while end.is_none() {
            let read = socket.read(&mut buffer);
            let mut received = self.received.lock().unwrap();
            match read {
                Ok(0) => end = Some(End::Whole),
                Ok(n) => received.bytes.extend(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => end = Some(End::Reset),
            }
            received.end = end;
            self.grown.notify_all();
        }
    }

    /// Waits for so many bytes, or for the end.
    fn wait(&self, bytes: usize, what: &str) {
        let received = self.received.lock().unwrap();
        let lacks =
            |received: &mut Received| received.end.is_none() && received.bytes.len() < bytes;
        let waited = self.grown.wait_timeout_while(received, DEADLINE, lacks);
        let (received, waited) = waited.unwrap();
        let count = received.bytes.len();
        assert!(
            !waited.timed_out(),
            "{what}: {count} bytes came, then nothing"
        );
    }
}

/// Plays a side to its end; returns what it received, and how that ended.
fn play(socket: TcpStream, steps: Vec<Step>, what: &str) -> Received {
    let inbox = Arc::new(Inbox::default());
    let reader = {
        let (socket, inbox) = (socket.try_clone().unwrap(), Arc::clone(&inbox));
        std::thread::spawn(move || inbox.read(socket))
    };
    for step in steps {
        match step {
            // The other may have reset the connection.
            Step::Write(pieces) => drop(pieces.write_to(&socket)),
            Step::Await(bytes) => inbox.wait(bytes, what),
            Step::AwaitEnd => inbox.wait(usize::MAX, what),
            Step::Shut => drop(socket.shutdown(Shutdown::Write)),
            Step::Reset => {
                close_by_reset(&socket);
                // The reader has a copy, which is to be closed first.
                socket.shutdown(Shutdown::Read).unwrap();
            }
        }
    }
    inbox.wait(usize::MAX, what);
    reader.join().unwrap();
    let received = std::mem::take(&mut *inbox.received.lock().unwrap());
    drop(socket);
    received
}

#[test]
fn both_sides_receive_what_the_other_sent_and_see_the_same_end() {
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &[]);
    let theirs = listener.local_addr().unwrap().to_string();
    let ours = [proxy.authority(), format!("localhost:{}", proxy.port)];
    let mut expected = Vec::new();
    for number in 1..=SCRIPTS {
        let dice = Dice::shaken();
        let seed = dice.0;
        let script = Script::of(dice, ours.clone(), theirs.clone());
        let client = proxy.connect();
        let (server, _) = listener.accept().unwrap();
        let (to_play, steps) = (script.server.clone(), script.client.clone());
        let what = format!("script {number}, seed {seed:#x}");
        let [at_server, at_client] = std::thread::scope(|scope| {
            let at_server = scope.spawn(|| play(server, to_play, &format!("server, {what}")));
            let at_client = scope.spawn(|| play(client, steps, &format!("client, {what}")));
            [at_server, at_client].map(|side| side.join().unwrap())
        });
        assert_way(&script.up, &at_server.bytes, script.ended, &what);
        assert_way(&script.down, &at_client.bytes, script.ended, &what);
        // Whoever resets sees no end of the other's.
        let ends = [at_server.end, at_client.end];
        assert!(ends.contains(&Some(script.ended)), "{what}: {ends:?}");
        if script.ended == End::Whole {
            assert_eq!(ends, [Some(End::Whole); 2], "{what}");
        }
        expected.push((number, script, what));
    }
    let (status, said) = proxy.end();
    assert!(status.success(), "{said}");
    let recording = recording(&library);
    for (number, script, what) in expected {
        let ways = [Direction::ClientToServer, Direction::ServerToClient];
        for (way, direction) in [script.up, script.down].iter().zip(ways) {
            let recorded = recording.wire(number, direction).unwrap();
            if script.ended == End::Whole {
                assert_same(&recorded, &way.sent, &what);
            } else {
                assert!(way.sent.starts_with(&recorded), "{what}");
            }
        }
    }
    note(format_args!("{SCRIPTS} scripts"));
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

/// Back-pressure passes through: what a client does not read is left with the server.
#[test]
fn a_client_that_does_not_read_costs_no_memory_and_gets_all_of_it_later() {
    const LENGTH: usize = 100 << 20;
    let library = Library::new();
    let (listener, url) = upstream();
    let proxy = Proxy::start(&library, &url, &["--max-size", "1MB"]);
    let mut client = proxy.connect();
    let (mut server, _) = listener.accept().unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let writer = {
        let written = Arc::clone(&written);
        std::thread::spawn(move || {
            let block: Vec<u8> = (0..=255).cycle().take(1 << 16).collect();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LENGTH}\r\n\r\n");
            server.write_all(head.as_bytes()).unwrap();
            for _ in 0..LENGTH / block.len() {
                server.write_all(&block).unwrap();
                written.fetch_add(block.len(), Ordering::Relaxed);
            }
            head.len() + LENGTH
        })
    };
    let before = peak_memory(proxy.child.id());
    let mut last = 0;
    wait_for("the server to be held up", || {
        let before = std::mem::replace(&mut last, written.load(Ordering::Relaxed));
        (before > 0 && before == last).then_some(())
    });
    assert!(last < LENGTH, "it waits for its reader");
    let mut received = 0;
    let mut buffer = vec![0; 64 * 1024];
    while let n @ 1.. = client.read(&mut buffer).unwrap() {
        received += n;
    }
    assert_eq!(received, writer.join().unwrap());
    if let (Some(before), Some(after)) = (before, peak_memory(proxy.child.id())) {
        assert!(after - before < 8 << 20, "{before} bytes, then {after}");
    }
    proxy.end();
}

fn assert_way(way: &Way, received: &[u8], ended: End, what: &str) {
    if ended == End::Whole {
        assert_same(received, &way.passed, what);
    } else {
        assert!(way.passed.starts_with(received), "{what}");
    }
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
