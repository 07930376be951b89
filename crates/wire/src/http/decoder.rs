//! Both directions of one connection, taken apart into pieces.

use super::body::BodyLength;
use super::content::Content;
use super::head::{Head, HeadEnd, MAX_HEAD, Start};
use super::piece::{Emit, Ended, Open, Out, Part, Raw, Read, give_end};
use super::websocket::WebSocket;
use crate::framing::Framer;
use crate::message::Direction;
use std::collections::VecDeque;

/// How many requests may wait for their responses. Nobody pipelines as many but to do harm.
const MAX_WAITING: usize = 4096;

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1, and WebSocket where the two sides switch to it.
    Http,
    Lines,
}

/// Takes the bytes of one connection and gives its pieces.
pub struct Decoder {
    client: Side,
    server: Side,
    exchanges: Exchanges,
}

/// One direction of the connection.
struct Side {
    direction: Direction,
    /// How far the stream has come.
    at: u64,
    state: State,
    ended: bool,
}

enum State {
    /// In front of a head or in it.
    Head {
        /// Empty lines in front of it.
        empty: Raw,
        head: Open,
        end: HeadEnd,
    },
    Content(u32, Box<Content>),
    WebSocket(u32, Box<WebSocket>),
    Lines(Framer, Open),
    /// What follows is not understood; with the exchange that it belongs to.
    Raw(u32, Raw),
}

/// The exchanges of a connection: what both directions know of each other.
#[derive(Default)]
struct Exchanges {
    count: u32,
    /// Requests without their final response, in order.
    waiting: VecDeque<Waiting>,
    /// The switch of protocols, once the server has agreed to one.
    switch: Option<Switch>,
}

#[derive(Clone, Copy)]
struct Waiting {
    exchange: u32,
    /// Set where the method says how long the response is.
    method: Option<&'static str>,
}

struct Switch {
    exchange: u32,
    head: Head,
}

impl Decoder {
    pub fn new(protocol: Protocol) -> Self {
        Self {
            client: Side::new(Direction::ClientToServer, protocol),
            server: Side::new(Direction::ServerToClient, protocol),
            exchanges: Exchanges::default(),
        }
    }

    /// Takes the next bytes of `direction`, read at `t` (nanoseconds), and gives the pieces that
    /// are whole with them.
    pub fn push(&mut self, direction: Direction, t: u64, bytes: &[u8], emit: Emit) {
        let (side, exchanges) = self.side(direction);
        side.push(t, bytes, exchanges, emit);
        self.client.follow_switch(&mut self.exchanges, emit);
    }

    /// Leaves out `bytes` that are missing in the stream: what is open ends as cut. Behind them
    /// nothing is understood, unless they are part of lines or of a body of known length.
    pub fn skip(&mut self, direction: Direction, t: u64, bytes: u64, emit: Emit) {
        if bytes > 0 {
            let (side, exchanges) = self.side(direction);
            side.skip(t, bytes, exchanges, emit);
        }
    }

    /// The direction has ended. Requests whose responses cannot come any more end as cut.
    pub fn end(&mut self, direction: Direction, t: u64, emit: Emit) {
        let (side, exchanges) = self.side(direction);
        side.end(t, exchanges, emit);
        let server = &self.server;
        if server.ended {
            for waiting in self.exchanges.waiting.drain(..) {
                let mut out = out(server.direction, waiting.exchange, emit);
                give_end(server.at, t, Ended::Cut, &mut out);
            }
        }
    }

    fn side(&mut self, direction: Direction) -> (&mut Side, &mut Exchanges) {
        let side = match direction {
            Direction::ClientToServer => &mut self.client,
            Direction::ServerToClient => &mut self.server,
        };
        (side, &mut self.exchanges)
    }
}

/// Where pieces of an exchange go.
fn out(direction: Direction, exchange: u32, emit: Emit<'_>) -> Out<'_> {
    Out {
        direction,
        exchange,
        emit,
    }
}

impl Side {
    fn new(direction: Direction, protocol: Protocol) -> Self {
        Self {
            direction,
            at: 0,
            state: match protocol {
                Protocol::Http => State::head(),
                Protocol::Lines => State::Lines(Framer::new(), Open::default()),
            },
            ended: false,
        }
    }

    fn push(&mut self, t: u64, bytes: &[u8], exchanges: &mut Exchanges, emit: Emit) {
        let at = self.at;
        self.at += bytes.len() as u64;
        let mut rest = Read { at, t, bytes };
        while !rest.bytes.is_empty() {
            rest = self.take(rest, exchanges, emit);
        }
    }

    /// Takes some of what was read, at least a byte or a change of state, and returns the rest.
    fn take<'a>(&mut self, read: Read<'a>, exchanges: &mut Exchanges, emit: Emit) -> Read<'a> {
        let direction = self.direction;
        let (_, nothing) = read.split_at(read.bytes.len());
        match &mut self.state {
            State::Head { .. } => return self.take_head(read, exchanges, emit),
            State::Content(exchange, content) => {
                let taken = content.push(read, &mut out(direction, *exchange, emit));
                if taken.is_err() {
                    self.state = State::raw(0);
                } else if content.is_done() {
                    self.state = exchanges.next_state(direction);
                }
                let (Ok(rest) | Err(rest)) = taken;
                return rest;
            }
            State::WebSocket(exchange, socket) => {
                socket.push(read, &mut out(direction, *exchange, emit));
            }
            State::Lines(framer, line) => {
                for piece in framer.push(read.bytes) {
                    let (_, from) = read.split_at(piece.bytes.start);
                    line.take(from.split_at(piece.bytes.len()).0);
                    if piece.ends_frame {
                        line.give(Part::Line, &mut out(direction, 0, emit));
                    }
                }
            }
            State::Raw(exchange, raw) => raw.push(read, &mut out(direction, *exchange, emit)),
        }
        nothing
    }

    fn take_head<'a>(&mut self, read: Read<'a>, exchanges: &mut Exchanges, emit: Emit) -> Read<'a> {
        let State::Head { empty, head, end } = &mut self.state else {
            return read;
        };
        if !head.is_begun() {
            let mut out = out(self.direction, 0, emit);
            let line_end = |byte: &&u8| matches!(byte, b'\r' | b'\n');
            let (before, rest) = read.split_at(read.bytes.iter().take_while(line_end).count());
            empty.push(before, &mut out);
            if rest.bytes.is_empty() || !before.bytes.is_empty() {
                return rest;
            }
            empty.end(&mut out);
        }
        let found = end.push(read.bytes);
        let (now, rest) = read.split_at(found.unwrap_or(read.bytes.len()));
        let fits = head.bytes.len() + now.bytes.len() <= MAX_HEAD;
        head.take(now);
        if !fits || (found.is_some() && !self.begin_message(exchanges, emit)) {
            self.leave_head(State::raw(0), exchanges, emit);
        }
        rest
    }

    /// Begins the message whose head is there. Returns whether it is one.
    fn begin_message(&mut self, exchanges: &mut Exchanges, emit: Emit) -> bool {
        let State::Head { head: open, .. } = &mut self.state else {
            return false;
        };
        let Some(head) = Head::parse(&open.bytes) else {
            return false;
        };
        let (waiting, part) = match (self.direction, &head.start) {
            (Direction::ClientToServer, Start::Request { method, .. }) => {
                (exchanges.request(method), Part::RequestHead)
            }
            (Direction::ServerToClient, Start::Response { status, .. }) => {
                (Some(exchanges.response(*status)), Part::ResponseHead)
            }
            _ => return false,
        };
        let Some(Waiting { exchange, method }) = waiting else {
            return false;
        };
        open.give(part, &mut out(self.direction, exchange, emit));
        self.state = match BodyLength::of(&head, method) {
            BodyLength::Known(0) => exchanges.next_state(self.direction),
            BodyLength::Unclear => State::raw(0),
            BodyLength::Tunnel => {
                exchanges.switch = Some(Switch { exchange, head });
                exchanges.next_state(self.direction)
            }
            length => State::Content(exchange, Box::new(Content::new(&head, length))),
        };
        true
    }

    /// Goes on in another state, with what was taken for the beginning of a head.
    fn leave_head(&mut self, state: State, exchanges: &mut Exchanges, emit: Emit) {
        let before = std::mem::replace(&mut self.state, state);
        let State::Head {
            mut empty, head, ..
        } = before
        else {
            return;
        };
        empty.end(&mut out(self.direction, 0, emit));
        if let Some(read) = head.as_read() {
            self.take(read, exchanges, emit);
        }
    }

    /// Switches protocols with the other side, once all of a request before is there.
    fn follow_switch(&mut self, exchanges: &mut Exchanges, emit: Emit) {
        if exchanges.switch.is_some() && matches!(self.state, State::Head { .. }) {
            self.leave_head(exchanges.next_state(self.direction), exchanges, emit);
        }
    }

    fn skip(&mut self, t: u64, bytes: u64, exchanges: &mut Exchanges, emit: Emit) {
        let at = self.at;
        self.at += bytes;
        match &mut self.state {
            State::Content(exchange, content) => {
                let mut out = out(self.direction, *exchange, emit);
                if !content.skip(at, t, bytes, &mut out) {
                    self.state = State::raw(0);
                } else if content.is_done() {
                    self.state = exchanges.next_state(self.direction);
                }
            }
            State::Lines(framer, line) => {
                framer.reset();
                line.give(Part::Line, &mut out(self.direction, 0, emit));
            }
            State::Raw(exchange, raw) => raw.end(&mut out(self.direction, *exchange, emit)),
            State::WebSocket(exchange, socket) => {
                socket.end(&mut out(self.direction, *exchange, emit));
                self.state = State::raw(*exchange);
            }
            State::Head { .. } => {
                self.give_open(at, t, exchanges, emit);
                self.state = State::raw(0);
            }
        }
    }

    fn end(&mut self, t: u64, exchanges: &mut Exchanges, emit: Emit) {
        self.give_open(self.at, t, exchanges, emit);
        self.state = State::raw(0);
        self.ended = true;
    }

    /// Gives what is there of pieces that will not be whole.
    fn give_open(&mut self, at: u64, t: u64, exchanges: &Exchanges, emit: Emit) {
        let direction = self.direction;
        match &mut self.state {
            State::Head { empty, head, .. } => {
                empty.end(&mut out(direction, 0, emit));
                let answered = exchanges.waiting.front().map(|waiting| waiting.exchange);
                let exchange = match direction {
                    Direction::ClientToServer => 0,
                    Direction::ServerToClient => answered.unwrap_or(0),
                };
                head.give(Part::Other, &mut out(direction, exchange, emit));
            }
            State::Content(exchange, content) => {
                content.end(at, t, &mut out(direction, *exchange, emit));
            }
            State::WebSocket(exchange, socket) => socket.end(&mut out(direction, *exchange, emit)),
            State::Lines(_, line) => line.give(Part::Line, &mut out(direction, 0, emit)),
            State::Raw(exchange, raw) => raw.end(&mut out(direction, *exchange, emit)),
        }
    }
}

impl State {
    fn head() -> Self {
        Self::Head {
            empty: Raw::default(),
            head: Open::default(),
            end: HeadEnd::default(),
        }
    }

    fn raw(exchange: u32) -> Self {
        Self::Raw(exchange, Raw::default())
    }
}

impl Exchanges {
    /// Numbers a request; `None` where too many wait already.
    fn request(&mut self, method: &str) -> Option<Waiting> {
        let method = ["HEAD", "CONNECT"].into_iter().find(|one| *one == method);
        (self.waiting.len() < MAX_WAITING).then(|| self.wait(method))
    }

    /// The request that a response with this `status` belongs to. A response to none (a server
    /// gives one before it closes an idle connection) is an exchange of its own.
    fn response(&mut self, status: u16) -> Waiting {
        let waiting = match self.waiting.front() {
            Some(waiting) => *waiting,
            None => self.wait(None),
        };
        let interim = (100..200).contains(&status) && status != 101;
        if !interim {
            self.waiting.pop_front();
        }
        waiting
    }

    fn wait(&mut self, method: Option<&'static str>) -> Waiting {
        self.count += 1;
        let waiting = Waiting {
            exchange: self.count,
            method,
        };
        self.waiting.push_back(waiting);
        waiting
    }

    /// What comes behind a message: another one, or another protocol.
    fn next_state(&self, direction: Direction) -> State {
        match &self.switch {
            None => State::head(),
            Some(Switch { exchange, head }) => {
                let websocket = |name: &str| name.eq_ignore_ascii_case("websocket");
                if head.list("upgrade").any(websocket) {
                    State::WebSocket(*exchange, Box::new(WebSocket::new(head, direction)))
                } else {
                    State::raw(*exchange)
                }
            }
        }
    }
}
