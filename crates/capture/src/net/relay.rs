//! One client connection and the connection to the server that belongs to it alone.
//!
//! ```text
//!  client ──read──▶ editor ──▶ on record ──▶ write──▶ server
//!  client ◀─write── on record ◀── editor ◀──read── server
//! ```
//!
//! Both ways are polled by one task, each with nothing but what the other side has not taken yet. What
//! ends one connection ends the other alike: the end of one way is passed on as that, a reset as a
//! reset.

use super::edits::{Editor, Passed};
use super::settings::Settings;
use super::upstream::Link;
use crate::spool::MAX_CHUNK;
use crate::tap::Tap;
use mcpreel_trace::event::{Closer, EventKind, Party};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::http::head::RECORDER;
use mcpreel_wire::message::Direction;
use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::io;
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

thread_local! {
    /// Where every connection reads: none of them holds it from one poll to the next.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; MAX_CHUNK].into());
}

/// Reads of one way before the other has its turn, and then other connections: those that want to be
/// accepted wait for as many reads as there are busy ones.
const TURNS: u32 = 4;

/// How long a client may go on after an answer of ours.
const LINGER: Duration = Duration::from_secs(5);

/// How long a client that we answer ourselves may take for the rest of its request.
const REST: Duration = Duration::from_secs(2);

/// One way.
struct Flow {
    stream: StreamId,
    editor: Editor,
    /// Bytes of it that are on record.
    recorded: u64,
    /// What the other side has not taken yet, from `written` on.
    pending: Vec<u8>,
    written: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Its writer has ended it; the other side is to learn that.
    Ending,
    Over,
}

/// What is wrong with a connection.
enum Broken {
    /// Reading failed: whoever writes has reset it, or is gone.
    Reading,
    /// Writing failed: whoever reads takes no more.
    Writing,
    /// A request was refused by us, with this answer.
    Refused(String),
}

/// A connection that is relayed.
pub struct Relay<'c> {
    pub number: u32,
    pub peer: String,
    pub tap: &'c Arc<Tap>,
    up: Flow,
    down: Flow,
    first: Option<Party>,
}

impl<'c> Relay<'c> {
    pub fn new(number: u32, peer: String, tap: &'c Arc<Tap>, settings: &Arc<Settings>) -> Self {
        let ways = [Direction::ClientToServer, Direction::ServerToClient];
        let [up, down] = Editor::pair(settings);
        let flow = |editor, direction| Flow {
            stream: StreamId::of_connection(number, direction),
            editor,
            recorded: 0,
            pending: Vec::new(),
            written: 0,
            state: State::Open,
        };
        Self {
            number,
            peer,
            tap,
            up: flow(up, ways[0]),
            down: flow(down, ways[1]),
            first: None,
        }
    }

    /// Moves bytes both ways until both have ended.
    pub async fn run(mut self, mut client: TcpStream, mut server: Link) {
        let mut reset = None;
        let broken = poll_fn(|cx| {
            let moved = self.poll(cx, &mut client, &mut server);
            if moved.is_pending() && !self.up.is_reading() {
                // Nobody reads what the client sends, and so nobody would see that it has gone.
                let reset = reset.get_or_insert_with(|| Box::pin(reset_of(&client)));
                ready!(reset.as_mut().poll(cx));
                return Poll::Ready(Err((Direction::ClientToServer, Broken::Reading)));
            }
            moved
        });
        let broken = broken.await;
        let mut is_reset = false;
        let mut by = self.first.unwrap_or(Party::Recorder);
        match broken {
            Ok(()) => {}
            Err((_, Broken::Refused(why))) => {
                by = Party::Recorder;
                self.refuse(&mut client, &why).await;
            }
            Err((direction, broken)) => {
                is_reset = true;
                let is_up = direction == Direction::ClientToServer;
                by = match (is_up, &broken) {
                    (true, Broken::Reading) | (false, Broken::Writing) => Party::Client,
                    _ => Party::Server,
                };
                self.stream_over(direction, &broken);
                let _ = client.set_zero_linger();
                server.reset();
            }
        }
        self.tap.event(EventKind::Disconnected {
            connection: self.number,
            by,
            reset: is_reset,
            bytes: [self.up.recorded, self.down.recorded],
        });
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut TcpStream,
        server: &mut Link,
    ) -> Poll<Result<(), (Direction, Broken)>> {
        let down = self.down.poll(cx, self.tap, server, client);
        if let Poll::Ready(Err(broken)) = down {
            return Poll::Ready(Err((Direction::ServerToClient, broken)));
        }
        if self.down.editor.is_tunnel() && self.up.editor.follows() {
            self.up.give_up(self.tap);
        }
        let up = self.up.poll(cx, self.tap, client, server);
        if let Poll::Ready(Err(broken)) = up {
            return Poll::Ready(Err((Direction::ClientToServer, broken)));
        }
        let ended = [(&self.up, Party::Client), (&self.down, Party::Server)];
        let ended = ended
            .into_iter()
            .find(|(flow, _)| flow.state != State::Open);
        self.first = self.first.or(ended.map(|(_, party)| party));
        match (up, down) {
            (Poll::Ready(_), Poll::Ready(_)) => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        }
    }

    /// Puts on record that one way broke.
    fn stream_over(&mut self, direction: Direction, broken: &Broken) {
        self.leave_behind();
        let stream = match direction {
            Direction::ClientToServer => self.up.stream,
            Direction::ServerToClient => self.down.stream,
        };
        let by = match broken {
            Broken::Reading => Closer::Writer,
            _ => Closer::Reader,
        };
        self.tap.event(EventKind::Eof { stream, by });
    }

    /// Puts on record what was held, and how much of either way does not reach the other side any more.
    fn leave_behind(&mut self) {
        for flow in [&mut self.up, &mut self.down] {
            flow.give_up(self.tap);
            let (stream, bytes) = (flow.stream, (flow.pending.len() - flow.written) as u64);
            if bytes > 0 {
                self.tap.event(EventKind::Undelivered { stream, bytes });
            }
        }
    }

    /// Resets the client's connection, as the server has reset its own before anything was said.
    pub fn pass_reset(self, client: &TcpStream) {
        let _ = client.set_zero_linger();
        self.tap.event(EventKind::Disconnected {
            connection: self.number,
            by: Party::Server,
            reset: true,
            bytes: [0, 0],
        });
    }

    /// Answers in place of a server that cannot be reached, after the client's request, or as much of it as comes
    /// soon: it tells what failed.
    pub async fn answer_unreachable(mut self, mut client: TcpStream, message: &str) {
        // Without HTTP nobody has to ask first, and there is no way to answer.
        if self.up.editor.is_tcp() {
            let _ = client.set_zero_linger();
        } else {
            let mut asked = poll_fn(|cx| self.up.poll_read(cx, self.tap, &mut client)).await;
            let rest = async {
                while matches!(asked, Ok(true)) && self.up.editor.is_in_message() {
                    self.up.pending.clear();
                    match poll_fn(|cx| self.up.poll_read(cx, self.tap, &mut client)).await {
                        Err(Broken::Refused(why)) => asked = Err(Broken::Refused(why)),
                        Ok(true) => {}
                        _ => break,
                    }
                }
            };
            let _ = tokio::time::timeout(REST, rest).await;
            let is_http = self.up.editor.follows();
            self.up.give_up(self.tap);
            match asked {
                Ok(true) if is_http => self.answer(&mut client, "502 Bad Gateway", message).await,
                Err(Broken::Refused(why)) => self.refuse(&mut client, &why).await,
                _ => {}
            }
        }
        self.tap.event(EventKind::Disconnected {
            connection: self.number,
            by: Party::Recorder,
            reset: false,
            bytes: [self.up.recorded, self.down.recorded],
        });
    }

    async fn refuse(&mut self, client: &mut TcpStream, why: &str) {
        self.tap.event(EventKind::Refused {
            connection: self.number,
            client: self.peer.clone(),
            message: why.to_owned(),
        });
        self.leave_behind();
        self.answer(client, "403 Forbidden", why).await;
    }

    /// An answer of our own, which is on record as any other.
    async fn answer(&mut self, client: &mut TcpStream, status: &str, message: &str) {
        use tokio::io::AsyncWriteExt as _;
        let body = format!("mcpreel: {message}\n");
        let answer = format!(
            "HTTP/1.1 {status}\r\nServer: {RECORDER}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        self.down.record(self.tap, answer.as_bytes());
        // Whoever has left does not read it.
        let _ = client.write_all(answer.as_bytes()).await;
        let _ = client.shutdown().await;
        // Closing while bytes are unread would reset the connection, and the client, in the middle of
        // its request, would not come to read the answer.
        let mut nowhere = tokio::io::sink();
        let rest = tokio::io::copy(client, &mut nowhere);
        let _ = tokio::time::timeout(LINGER, rest).await;
    }
}

/// Waits until the other side of a socket has reset it, whatever there is to read and to write. A socket can
/// be waited for by one kind of readiness at a time; a copy of it has its own.
fn reset_of(socket: &TcpStream) -> impl Future<Output = ()> + use<> {
    let copy = socket.as_fd().try_clone_to_owned();
    async move {
        match copy.and_then(|copy| TcpStream::from_std(copy.into())) {
            Ok(copy) => drop(copy.ready(Interest::ERROR).await),
            // Without a descriptor for it, it is seen when somebody reads again.
            Err(_) => pending().await,
        }
    }
}

impl Flow {
    /// Whether its reader is waited for, and nothing else.
    fn is_reading(&self) -> bool {
        self.state == State::Open && self.pending.is_empty()
    }

    /// Goes on until one of the two sides has to be waited for. `Ready`: the way has ended.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        tap: &Tap,
        reader: &mut (impl AsyncRead + Unpin),
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<Result<(), Broken>> {
        for _ in 0..TURNS {
            ready!(self.poll_write(cx, writer)).map_err(|_| Broken::Writing)?;
            match self.state {
                State::Over => return Poll::Ready(Ok(())),
                State::Ending => {
                    // Who has gone already has no need to be told.
                    let _ = ready!(Pin::new(&mut *writer).poll_shutdown(cx));
                    self.state = State::Over;
                    return Poll::Ready(Ok(()));
                }
                State::Open => {}
            }
            let Poll::Ready(read) = self.poll_read(cx, tap, reader) else {
                // What TLS holds back goes out before anybody waits.
                let _ = Pin::new(&mut *writer).poll_flush(cx);
                return Poll::Pending;
            };
            if !read? {
                self.end(tap);
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<()>> {
        while self.written < self.pending.len() {
            let rest = &self.pending[self.written..];
            self.written += ready!(Pin::new(&mut *writer).poll_write(cx, rest))?;
        }
        self.written = 0;
        if self.pending.capacity() > 4096 {
            self.pending = Vec::new();
        } else {
            self.pending.clear();
        }
        Poll::Ready(Ok(()))
    }

    /// Reads once, and puts on record what came. `false`: nothing more comes.
    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        tap: &Tap,
        reader: &mut (impl AsyncRead + Unpin),
    ) -> Poll<Result<bool, Broken>> {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut buffer = ReadBuf::new(scratch);
            let read = ready!(Pin::new(reader).poll_read(cx, &mut buffer));
            let bytes = buffer.filled();
            if read.is_err() {
                return Poll::Ready(Err(Broken::Reading));
            }
            if bytes.is_empty() {
                return Poll::Ready(Ok(false));
            }
            let Some(passed) = self.editor.pass(bytes) else {
                self.record(tap, bytes);
                self.pending.extend_from_slice(bytes);
                return Poll::Ready(Ok(true));
            };
            self.put_on_record(tap, &passed);
            self.pending.extend_from_slice(&passed.forwarded);
            match passed.refused {
                Some(why) => Poll::Ready(Err(Broken::Refused(why))),
                None => Poll::Ready(Ok(true)),
            }
        })
    }

    /// Follows no more; what was held goes on.
    fn give_up(&mut self, tap: &Tap) {
        let passed = self.editor.give_up();
        self.put_on_record(tap, &passed);
        self.pending.extend_from_slice(&passed.forwarded);
    }

    fn put_on_record(&mut self, tap: &Tap, passed: &Passed) {
        let start = self.recorded;
        self.record(tap, &passed.recorded);
        for edit in passed
            .edits
            .iter()
            .filter(|it| !self.editor.remember_edit(it))
        {
            tap.event(EventKind::Edited {
                stream: self.stream,
                offset: start + edit.at as u64,
                what: edit.what.to_owned(),
                old: edit.old.clone(),
                new: edit.new.clone(),
            });
        }
    }

    fn record(&mut self, tap: &Tap, bytes: &[u8]) {
        let t = tap.clock().now();
        for part in bytes.chunks(MAX_CHUNK) {
            tap.chunk_at(self.stream, t, self.recorded, part);
            self.recorded += part.len() as u64;
        }
    }

    /// Its writer has ended it.
    fn end(&mut self, tap: &Tap) {
        self.give_up(tap);
        let (stream, by) = (self.stream, Closer::Writer);
        tap.event(EventKind::Eof { stream, by });
        self.state = State::Ending;
    }
}
