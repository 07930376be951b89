//! Both ways of one connection, in pieces.

use super::body::{Body, BodyLength, Malformed};
use super::coding::Coding;
use super::events::{Block, Events};
use super::head::Head;
use super::{Ended, EventFields, Part, Piece};
use crate::message::Direction;
use std::collections::VecDeque;

/// A longer head is none.
const LONGEST_HEAD: usize = 256 * 1024;

/// Bytes of a body or line that are kept; of a longer one [`BEGINNING`].
const KEPT: usize = 16 << 20;
const BEGINNING: usize = 1 << 20;

/// Bytes that belong to nothing are given in pieces of this size.
const OTHER: usize = 64 * 1024;

/// Whoever takes pieces.
type Emit<'e> = &'e mut dyn FnMut(Piece<'_>);

/// What a connection speaks at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Http,
    Lines,
}

/// Cuts what one connection carries into pieces.
pub struct Decoder {
    client: Way,
    server: Way,
    /// Requests that wait for their response: number and method.
    waiting: VecDeque<(u32, String)>,
    last: u32,
}

/// One way of a connection.
struct Way {
    direction: Direction,
    /// Bytes of the stream before the next.
    at: u64,
    state: State,
    /// The exchange that is under way.
    exchange: u32,
    /// What came of something whose end did not, and where its first byte stands and when it came.
    held: Vec<u8>,
    begun: Option<(u64, u64)>,
}

enum State {
    Head,
    Body(Box<Carried>),
    Lines,
    /// Bytes that belong to nothing.
    Other,
    /// The way has ended.
    Over,
}

/// A body that comes.
struct Carried {
    body: Body,
    coding: Coding,
    /// Of a stream of events.
    events: Option<Events>,
    content: Vec<u8>,
    total: u64,
    /// What came cannot be unpacked, or bytes are missing.
    is_broken: bool,
}

impl Decoder {
    pub fn new(protocol: Protocol) -> Self {
        let way = |direction| Way {
            direction,
            at: 0,
            state: match protocol {
                Protocol::Http => State::Head,
                Protocol::Lines => State::Lines,
            },
            exchange: 0,
            held: Vec::new(),
            begun: None,
        };
        Self {
            client: way(Direction::ClientToServer),
            server: way(Direction::ServerToClient),
            waiting: VecDeque::new(),
            last: 0,
        }
    }

    /// Takes bytes that went this way and were read at `t`.
    pub fn push(&mut self, direction: Direction, t: u64, bytes: &[u8], emit: Emit<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match direction {
                Direction::ClientToServer => self.client_sent(t, rest, emit),
                Direction::ServerToClient => self.server_sent(t, rest, emit),
            };
            rest = &rest[taken..];
        }
    }

    /// So many bytes are missing here.
    pub fn skip(&mut self, direction: Direction, t: u64, missing: u64, emit: Emit<'_>) {
        let way = self.way(direction);
        let is_known = match &mut way.state {
            State::Body(carried) => {
                carried.is_broken = true;
                carried.body.skip(missing)
            }
            State::Lines => {
                way.give_held(Part::Line, t, emit);
                true
            }
            State::Head | State::Other | State::Over => false,
        };
        if !is_known {
            way.lose(t, emit);
        }
        way.at += missing;
        if matches!(&way.state, State::Body(carried) if carried.body.is_over()) {
            self.body_over(direction, t, emit);
        }
    }

    /// This way has ended.
    pub fn end(&mut self, direction: Direction, t: u64, emit: Emit<'_>) {
        let way = self.way(direction);
        match &mut way.state {
            State::Over => return,
            State::Body(carried) => {
                let ended = if carried.body.is_until_close() {
                    Ended::Closed
                } else {
                    Ended::Cut
                };
                way.give_body(t, ended, emit);
                if direction == Direction::ServerToClient {
                    self.waiting.pop_front();
                }
            }
            State::Lines => way.give_held(Part::Line, t, emit),
            State::Head | State::Other => way.give_held(Part::Other, t, emit),
        }
        self.way(direction).state = State::Over;
        if direction == Direction::ServerToClient {
            for (exchange, _) in std::mem::take(&mut self.waiting) {
                self.server.exchange = exchange;
                self.server
                    .give(Part::End, (t, t), &[], Some(Ended::Cut), emit);
            }
        }
    }

    fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::ClientToServer => &mut self.client,
            Direction::ServerToClient => &mut self.server,
        }
    }

    fn client_sent(&mut self, t: u64, bytes: &[u8], emit: Emit<'_>) -> usize {
        let way = &mut self.client;
        let State::Head = way.state else {
            return self.sent(Direction::ClientToServer, t, bytes, emit);
        };
        // Empty lines before a request are nobody's (RFC 9112 section 2.2).
        if way.held.is_empty() && matches!(bytes[0], b'\r' | b'\n') {
            way.at += 1;
            way.give(Part::Other, (t, t), &bytes[..1], None, emit);
            return 1;
        }
        let Some((taken, head)) = way.head(t, bytes, emit) else {
            return bytes.len();
        };
        let parsed = Head::parse(&head).filter(|head| head.method().is_some());
        let length = parsed
            .as_ref()
            .ok_or(Malformed)
            .and_then(BodyLength::of_request);
        let (Some(parsed), Ok(length)) = (parsed, length) else {
            way.give(Part::Other, (way.began(t), t), &head, None, emit);
            way.lose(t, emit);
            return taken;
        };
        self.last += 1;
        way.exchange = self.last;
        let method = parsed.method().unwrap_or_default().to_owned();
        self.waiting.push_back((self.last, method));
        way.give(Part::RequestHead, (way.began(t), t), &head, None, emit);
        way.body(length, &parsed, false);
        taken
    }

    fn server_sent(&mut self, t: u64, bytes: &[u8], emit: Emit<'_>) -> usize {
        let way = &mut self.server;
        let State::Head = way.state else {
            return self.sent(Direction::ServerToClient, t, bytes, emit);
        };
        let Some((taken, head)) = way.head(t, bytes, emit) else {
            return bytes.len();
        };
        let (exchange, method) = self.waiting.front().cloned().unwrap_or_default();
        way.exchange = exchange;
        let parsed = Head::parse(&head).filter(|head| head.status().is_some());
        let length = parsed.as_ref().ok_or(Malformed);
        let length = length.and_then(|head| BodyLength::of_response(head, &method));
        let (Some(parsed), Ok(length)) = (parsed, length) else {
            way.give(Part::Other, (way.began(t), t), &head, None, emit);
            way.lose(t, emit);
            return taken;
        };
        let status = parsed.status().unwrap_or_default();
        way.give(Part::ResponseHead, (way.began(t), t), &head, None, emit);
        if status == 101 || method == "CONNECT" && status < 300 {
            self.upgraded(t, emit);
            return taken;
        }
        if status < 200 {
            return taken;
        }
        let is_stream = parsed.content_type().as_deref() == Some("text/event-stream");
        way.body(length, &parsed, is_stream);
        if !matches!(&way.state, State::Body(_)) {
            self.waiting.pop_front();
        }
        taken
    }

    /// What comes from now on, both ways, is no HTTP.
    fn upgraded(&mut self, t: u64, emit: Emit<'_>) {
        self.waiting.pop_front();
        self.client.exchange = self.server.exchange;
        for way in [&mut self.client, &mut self.server] {
            way.give_held(Part::Other, t, emit);
            way.state = State::Other;
        }
    }

    /// Bytes of a way that are not of a head.
    fn sent(&mut self, direction: Direction, t: u64, bytes: &[u8], emit: Emit<'_>) -> usize {
        let way = self.way(direction);
        match &mut way.state {
            State::Body(_) => {
                let taken = way.carried(t, bytes, emit);
                let is_over = matches!(&way.state, State::Body(it) if it.body.is_over());
                if is_over {
                    self.body_over(direction, t, emit);
                }
                taken
            }
            State::Lines => way.line(t, bytes, emit),
            State::Head | State::Other | State::Over => {
                let part = &bytes[..bytes.len().min(OTHER)];
                way.at += part.len() as u64;
                way.begun = None;
                way.give(Part::Other, (t, t), part, None, emit);
                part.len()
            }
        }
    }

    fn body_over(&mut self, direction: Direction, t: u64, emit: Emit<'_>) {
        let way = self.way(direction);
        way.give_body(t, Ended::Whole, emit);
        way.state = State::Head;
        if direction == Direction::ServerToClient {
            self.waiting.pop_front();
        }
    }
}

impl Way {
    /// The head whose end is in `bytes`, and how much of them it took.
    fn head(&mut self, t: u64, bytes: &[u8], emit: Emit<'_>) -> Option<(usize, Vec<u8>)> {
        let before = self.held.len();
        if before == 0
            && let Some(length) = Head::length(bytes, 0)
        {
            self.begun = Some((self.at, t));
            self.at += length as u64;
            return Some((length, bytes[..length].to_vec()));
        }
        self.begun.get_or_insert((self.at, t));
        self.held.extend_from_slice(bytes);
        if let Some(length) = Head::length(&self.held, before) {
            let taken = length - before;
            self.at += taken as u64;
            let mut head = std::mem::take(&mut self.held);
            head.truncate(length);
            return Some((taken, head));
        }
        self.at += bytes.len() as u64;
        if self.held.len() > LONGEST_HEAD {
            self.lose(t, emit);
        }
        None
    }

    /// A body of this length follows.
    fn body(&mut self, length: BodyLength, head: &Head, is_stream: bool) {
        let body = Body::new(length);
        self.begun = None;
        if body.is_over() {
            return;
        }
        self.state = State::Body(Box::new(Carried {
            body,
            coding: Coding::of(head),
            events: is_stream.then(Events::default),
            content: Vec::new(),
            total: 0,
            is_broken: false,
        }));
    }

    /// Takes bytes of the body that comes.
    fn carried(&mut self, t: u64, bytes: &[u8], emit: Emit<'_>) -> usize {
        let State::Body(carried) = &mut self.state else {
            return 0;
        };
        let Ok((taken, content)) = carried.body.take(bytes) else {
            self.give_body(t, Ended::Cut, emit);
            self.lose(t, emit);
            return 0;
        };
        let start = self.at;
        self.at += taken as u64;
        if content.is_empty() {
            // What frames it belongs to the piece that comes.
            return taken;
        }
        self.begun.get_or_insert((start, t));
        let unpacked;
        let is_plain = carried.coding.is_plain();
        let content = if is_plain {
            content
        } else {
            unpacked = match carried.coding.push(content) {
                Ok(unpacked) => unpacked,
                Err(_) => {
                    carried.is_broken = true;
                    Vec::new()
                }
            };
            &unpacked[..]
        };
        if carried.events.is_some() {
            let end = self.at;
            self.events(t, end, content, is_plain, emit);
        } else {
            carried.total += content.len() as u64;
            let room = KEPT.saturating_sub(carried.content.len());
            if carried.total <= KEPT as u64 {
                carried
                    .content
                    .extend_from_slice(&content[..content.len().min(room)]);
            } else {
                carried.content.truncate(BEGINNING);
                carried.content.shrink_to_fit();
            }
        }
        taken
    }

    /// Cuts content of a stream that ends at the byte `end` into events.
    fn events(&mut self, t: u64, end: u64, content: &[u8], is_plain: bool, emit: Emit<'_>) {
        let mut rest = content;
        while !rest.is_empty() {
            let State::Body(carried) = &mut self.state else {
                return;
            };
            let Some(events) = &mut carried.events else {
                return;
            };
            let (taken, block) = events.take(rest);
            rest = &rest[taken..];
            let Some(block) = block else {
                return;
            };
            // Where it ends on the wire is known as far as nothing was unpacked.
            let at = if is_plain {
                end - rest.len() as u64
            } else {
                end
            };
            let after = std::mem::replace(&mut self.at, at);
            self.give_block(&block, t, emit);
            self.at = after;
            self.begun = (!rest.is_empty()).then_some((at, t));
        }
    }

    fn give_block(&mut self, block: &Block, t: u64, emit: Emit<'_>) {
        let fields = EventFields {
            id: block.id.as_deref(),
            name: block.name.as_deref(),
            retry: block.retry,
        };
        let (start, t_first) = self.begun.unwrap_or((self.at, t));
        emit(Piece {
            direction: self.direction,
            exchange: self.exchange,
            part: if block.is_event {
                Part::Event
            } else {
                Part::Comment
            },
            wire: start..self.at,
            t_first,
            t_last: t,
            bytes: &block.bytes,
            total: block.total.max(block.bytes.len() as u64),
            event: Some(fields).filter(|_| block.is_event),
            ended: None,
        });
        self.begun = None;
    }

    /// The body that came is over.
    fn give_body(&mut self, t: u64, ended: Ended, emit: Emit<'_>) {
        let State::Body(mut carried) = std::mem::replace(&mut self.state, State::Head) else {
            return;
        };
        let ended = if carried.is_broken { Ended::Cut } else { ended };
        let times = (self.began(t), t);
        if let Some(mut events) = carried.events.take() {
            if let Some(rest) = events.rest() {
                self.give(Part::Other, times, &rest.bytes, None, emit);
            }
            self.give(Part::End, (t, t), &[], Some(ended), emit);
        } else if carried.total > 0 {
            let (start, _) = self.begun.take().unwrap_or((self.at, t));
            emit(Piece {
                direction: self.direction,
                exchange: self.exchange,
                part: Part::Body,
                wire: start..self.at,
                t_first: times.0,
                t_last: t,
                bytes: &carried.content,
                total: carried.total,
                event: None,
                ended: Some(ended),
            });
        } else if ended != Ended::Whole {
            self.give(Part::End, (t, t), &[], Some(ended), emit);
        }
        self.begun = None;
    }

    fn line(&mut self, t: u64, bytes: &[u8], emit: Emit<'_>) -> usize {
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        self.begun.get_or_insert((self.at, t));
        self.at += part.len() as u64;
        self.held.extend_from_slice(part);
        if end.is_some() || self.held.len() > KEPT {
            self.give_held(Part::Line, t, emit);
        }
        part.len()
    }

    /// When what ends now began.
    fn began(&self, t: u64) -> u64 {
        self.begun.map_or(t, |(_, began)| began)
    }

    /// What was held, as it is.
    fn give_held(&mut self, part: Part, t: u64, emit: Emit<'_>) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.give(part, (self.began(t), t), &held, None, emit);
        }
    }

    /// From here on nothing is known of this way.
    fn lose(&mut self, t: u64, emit: Emit<'_>) {
        self.give_held(Part::Other, t, emit);
        self.state = State::Other;
    }

    /// Gives what ends here.
    fn give(
        &mut self,
        part: Part,
        (t_first, t_last): (u64, u64),
        bytes: &[u8],
        ended: Option<Ended>,
        emit: Emit<'_>,
    ) {
        let start = self.begun.take().map(|(at, _)| at);
        let start = start.unwrap_or(self.at.saturating_sub(bytes.len() as u64));
        emit(Piece {
            direction: self.direction,
            exchange: self.exchange,
            part,
            wire: start..self.at,
            t_first,
            t_last,
            bytes,
            total: bytes.len() as u64,
            event: None,
            ended,
        });
    }
}
