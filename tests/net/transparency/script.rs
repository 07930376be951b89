//! Scripts that dice make: what a client and a server write, in which pieces, for what each waits before, and
//! how the connection ends.

use crate::support::dice::Dice;
use crate::support::pieces::Pieces;
use std::io::Write as _;

const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";

/// What a side does, in order. Then it waits for the other's end, and closes.
#[derive(Clone, Debug)]
pub enum Step {
    Write(Pieces),
    /// Until so many bytes have come in all.
    Await(usize),
    AwaitEnd,
    /// Until both sides have come so far.
    Meet,
    /// Writes no more.
    Shut,
    Reset,
}

/// What a side has to receive of what the other writes.
#[derive(Clone, Debug, Default)]
pub struct Way {
    pub sent: Vec<u8>,
    pub passed: Vec<u8>,
    /// Where in both of them each part of a script ends.
    parts: Vec<[usize; 2]>,
}

impl Way {
    fn push(&mut self, text: &str) {
        self.change(text, text);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.sent.extend(bytes);
        self.passed.extend(bytes);
        self.parts.push([self.sent.len(), self.passed.len()]);
    }

    fn change(&mut self, sent: &str, passed: &str) {
        self.sent.extend(sent.bytes());
        self.passed.extend(passed.bytes());
        self.parts.push([self.sent.len(), self.passed.len()]);
    }

    /// The most that can have been passed on of the first `recorded` bytes.
    pub fn passed_of(&self, recorded: usize) -> usize {
        let is_whole = |part: &&[usize; 2]| part[0] <= recorded;
        let [sent, passed] = self
            .parts
            .iter()
            .rev()
            .find(is_whole)
            .copied()
            .unwrap_or_default();
        let mut behind = self.parts.iter().map(|part| part[1]);
        let most = behind.find(|end| *end > passed).unwrap_or(passed);
        most.min(passed + recorded - sent)
    }
}

/// Who ends a connection first, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client or the server (0, 1) says that it writes no more.
    Whole(usize),
    /// One of them resets the connection when each has received all that the other wrote.
    Reset(usize),
    /// One of them resets it while bytes are on their way.
    Sudden(usize),
}

/// A script that is being made.
pub struct Script {
    dice: Dice,
    /// Our authorities, and the server's.
    ours: [String; 2],
    /// The one that the last request was sent to.
    dialled: String,
    theirs: String,
    pub up: Way,
    pub down: Way,
    pub client: Vec<Step>,
    pub server: Vec<Step>,
    /// What is written already of `up` and `down`.
    written: [usize; 2],
    pub ended: Ended,
    /// Nobody looks for heads any more.
    is_upgraded: bool,
}

impl Script {
    pub fn of(dice: Dice, ours: [String; 2], theirs: String) -> Self {
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
            ended: Ended::Whole(0),
            is_upgraded: false,
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
            .bytes(&framed.map(|(_, body)| body).unwrap_or_default());
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

    /// A body with the lines that say what it is, and how long.
    fn body(&mut self) -> (String, Vec<u8>) {
        let most = [0, 20, 3000, 200_000][self.dice.length_below(4)];
        if self.one_in(3) {
            let coding = ["gzip", "br", "zstd", "deflate, gzip"][self.dice.length_below(4)];
            // Any bytes, since nobody on the way unpacks them.
            let length = self.dice.below(most + 1);
            let content: Vec<_> = (0..length)
                .map(|_| self.dice.below(256).to_le_bytes()[0])
                .collect();
            let (line, body) = self.framed(&content);
            return (format!("Content-Encoding: {coding}\r\n{line}"), body);
        }
        let mut content = self.fill(most + 1);
        if self.one_in(4) {
            // What looks like a head is none.
            content += "\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
        }
        self.framed(content.as_bytes())
    }

    /// The line that says how long `content` is, and the body.
    fn framed(&mut self, content: &[u8]) -> (String, Vec<u8>) {
        if self.one_in(2) {
            let line = format!("Content-Length: {}\r\n", content.len());
            return (line, content.to_vec());
        }
        (
            "Transfer-Encoding: chunked\r\n".into(),
            self.chunked(content),
        )
    }

    fn chunked(&mut self, content: &[u8]) -> Vec<u8> {
        let (mut chunked, mut rest) = (Vec::new(), content);
        while !rest.is_empty() {
            let (chunk, behind) = rest.split_at(1 + self.dice.length_below(rest.len()));
            let extension = if self.one_in(4) { ";a=\"b\"" } else { "" };
            write!(chunked, "{:x}{extension}\r\n", chunk.len()).unwrap();
            chunked.extend(chunk);
            chunked.extend(b"\r\n");
            rest = behind;
        }
        let trailer = if self.one_in(4) { "X-Sum: 1\r\n" } else { "" };
        write!(chunked, "0\r\n{trailer}\r\n").unwrap();
        chunked
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
            self.down.bytes(&body);
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
        self.is_upgraded = true;
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
                self.ended = Ended::Whole(0);
            }
            // A client that goes on when the server has said all.
            1 => {
                self.server.push(Step::Shut);
                self.client.push(Step::AwaitEnd);
                self.up.push("GET /");
                self.say_up();
                self.ended = Ended::Whole(1);
            }
            side @ (2 | 3) => {
                let side = usize::from(side == 2);
                self.side(side).push(Step::Shut);
                self.ended = Ended::Whole(side);
            }
            side => self.reset(usize::from(side == 5)),
        }
    }

    fn side(&mut self, side: usize) -> &mut Vec<Step> {
        if side == 0 {
            &mut self.client
        } else {
            &mut self.server
        }
    }

    /// One side resets the connection, in the middle of bodies or between them.
    fn reset(&mut self, side: usize) {
        if !self.is_upgraded && self.one_in(2) {
            self.break_off();
        }
        self.ended = Ended::Sudden(side);
        if self.one_in(2) {
            self.ended = Ended::Reset(side);
            self.hear_up();
            self.hear_down();
            self.client.push(Step::Meet);
            self.server.push(Step::Meet);
        }
        self.side(side).push(Step::Reset);
    }

    /// A request and its response, both with a body that lacks its end.
    fn break_off(&mut self) {
        self.up.push("POST /mcp HTTP/1.1\r\n");
        let host = self.host();
        let (sent, passed) = host.split_once('\0').expect("it has both");
        self.up.change(sent, passed);
        let body = self.fill(100_000);
        self.up.push("Content-Length: 200000\r\n\r\n");
        self.up.push(&body);
        self.say_up();
        self.down
            .push("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n");
        self.down.push(&body);
        self.say_down();
    }
}
