//! HTTP/1.1 on one socket, read piece by piece.

use mcpreel_wire::http::body::{BodyLength, Eaten, Follower};
use mcpreel_wire::http::head::HeadEnd;
use mcpreel_wire::http::{Decoder, Head, LIMIT, Part, Piece, Protocol};
use mcpreel_wire::message::Direction;
use std::collections::VecDeque;
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Bytes that are read at once.
const AT_ONCE: usize = 64 * 1024;

/// What comes of a message, in order: a head, its body or its events, its end.
#[derive(Debug)]
pub enum Item {
    Head(Head),
    /// A body that is no stream of events; none comes where it is empty.
    Body(Vec<u8>),
    /// A body or an event that is longer than is kept.
    TooLong,
    Event(Event),
    /// The message is over; whether all of it came.
    End {
        is_whole: bool,
    },
}

/// A server-sent event.
#[derive(Debug, Default)]
pub struct Event {
    pub name: Option<String>,
    pub id: Option<String>,
    /// Milliseconds to wait before connecting again.
    pub retry: Option<u64>,
    pub data: Vec<u8>,
}

/// A socket of which requests are read, or responses.
pub struct Connection {
    socket: TcpStream,
    reads: Direction,
    decoder: Decoder,
    /// Follows the framing beside the decoder, which gives nothing where a message with an empty body ends.
    state: State,
    ready: VecDeque<Item>,
    buffer: Box<[u8]>,
    /// Bytes that were read since a piece was whole.
    fruitless: usize,
    has_ended: bool,
}

enum State {
    Head(HeadEnd),
    Body(Follower),
}

impl Connection {
    /// Reads what comes in the direction `reads`, and writes the other.
    pub fn new(socket: TcpStream, reads: Direction) -> Self {
        let _ = socket.set_nodelay(true);
        Self {
            socket,
            reads,
            decoder: Decoder::new(Protocol::Http),
            state: State::Head(HeadEnd::default()),
            ready: VecDeque::new(),
            buffer: vec![0; AT_ONCE].into(),
            fruitless: 0,
            has_ended: false,
        }
    }

    /// What comes next; `None` once the other side has ended.
    pub async fn next(&mut self) -> io::Result<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            if self.has_ended {
                return Ok(None);
            }
            let read = self.socket.read(&mut self.buffer).await?;
            self.fruitless += read;
            self.take(read);
            if self.fruitless > LIMIT + AT_ONCE {
                // It may go on for ever, and nobody keeps all of it.
                self.has_ended = true;
                self.ready.push_back(Item::TooLong);
            }
        }
    }

    /// Writes all of `bytes`.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let reverse = self.reads.reverse();
        // The decoder knows by it which requests have their response.
        self.decoder.push(reverse, 0, bytes, &mut |_| ());
        self.socket.write_all(bytes).await
    }

    /// Waits until the other side has gone, or closed its way, or sends what nobody expects now.
    pub async fn gone(&self) {
        let mut byte = [0];
        let _ = self.socket.peek(&mut byte).await;
    }

    /// Whether a message may be sent on it, which was used before.
    pub fn is_idle(&self) -> bool {
        let is_silent = self.socket.try_read(&mut [0]);
        let is_silent = is_silent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        is_silent && self.ready.is_empty() && matches!(self.state, State::Head(_))
    }

    fn take(&mut self, read: usize) {
        if read == 0 {
            self.has_ended = true;
            let ready = &mut self.ready;
            self.decoder.end(self.reads, 0, &mut |piece| {
                ready.extend(item(piece));
            });
            if let State::Body(follower) = &self.state {
                let is_whole = follower.is_until_close();
                self.ready.push_back(Item::End { is_whole });
            }
            return;
        }
        let mut at = 0;
        while at < read {
            let rest = &self.buffer[at..read];
            let length = match &mut self.state {
                State::Head(end) => end.push(rest).unwrap_or(rest.len()),
                State::Body(follower) => match follower.eat(rest) {
                    Eaten::Content(length) | Eaten::Framing(length) | Eaten::Trailers(length) => {
                        length
                    }
                    Eaten::Broken => rest.len(),
                },
            };
            let (mut head, ready, fruitless) = (None, &mut self.ready, &mut self.fruitless);
            let part = &rest[..length];
            self.decoder.push(self.reads, 0, part, &mut |piece| {
                *fruitless = 0;
                let item = item(piece);
                if let Some(Item::Head(found)) = &item {
                    head = Some(BodyLength::of(found, None));
                    // An interim response announces the one that counts.
                    let status = found.status();
                    if status.is_some_and(|status| status < 200) {
                        head = None;
                        return;
                    }
                }
                ready.extend(item);
            });
            at += length;
            self.advance(head);
        }
    }

    /// Goes on behind a head, or behind the end of a message.
    fn advance(&mut self, head: Option<BodyLength>) {
        if let Some(length) = head {
            self.state = State::Body(Follower::new(length));
        }
        if let State::Body(follower) = &self.state
            && follower.is_done()
        {
            self.ready.push_back(Item::End { is_whole: true });
            self.state = State::Head(HeadEnd::default());
        }
    }
}

/// What a piece is to whoever reads messages.
fn item(piece: Piece<'_>) -> Option<Item> {
    let is_too_long = piece.total > piece.bytes.len() as u64;
    match piece.part {
        Part::RequestHead | Part::ResponseHead => Head::parse(piece.bytes).map(Item::Head),
        Part::Body | Part::Event if is_too_long => Some(Item::TooLong),
        Part::Body => Some(Item::Body(piece.bytes.to_vec())),
        Part::Event => {
            let fields = piece.event.unwrap_or_default();
            Some(Item::Event(Event {
                name: fields.event.map(String::from),
                id: fields.id.map(String::from),
                retry: fields.retry,
                data: piece.bytes.to_vec(),
            }))
        }
        _ => None,
    }
}
