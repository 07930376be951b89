//! Requests and responses of HTTP: a fold over the frames of connections.
//!
//! ```text
//!  head, body, event, end ──▶ HttpLog ──take()──▶ HttpExchange rows
//!  (frames)                      └─▶ whether the response is over with that, whatever it held
//! ```
//!
//! A call is paired by what is here first, by its id second: clients that look alike count from 1, each
//! for itself.

use crate::clock::Moment;
use crate::event::{Closer, EventKind, Party};
use crate::frame::{FrameHead, Seq};
use compact_str::CompactString;
use mcpreel_wire::http::body::BodyLength;
use mcpreel_wire::http::{Ended, Head, Part, coding, head};
use mcpreel_wire::message::{Body, Content, Direction};
use mcpreel_wire::text::{plural, size};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The header with the id of a session (streamable HTTP, 2025-03-26 to 2025-11-25).
pub const SESSION: &str = "Mcp-Session-Id";

/// A request of HTTP with its response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about one response; none excludes another"
)]
pub struct HttpExchange {
    /// The number in the recording, from 1, in the order of the requests.
    pub id: u32,
    pub connection: u32,
    /// The conversation that it belongs to; 0: none.
    pub conversation: u32,
    pub method: CompactString,
    /// The target of the request as it was sent: path and query.
    pub target: CompactString,
    /// The status of the final response.
    pub status: Option<u16>,
    /// The media type of the response, without parameters.
    pub content_type: Option<CompactString>,
    /// The id of the session, as either side said it.
    pub session: Option<CompactString>,
    /// The frames of the two heads.
    pub request: Seq,
    pub response: Option<Seq>,
    /// The first byte of the request came.
    pub t_request: Moment,
    /// The last byte of the request came, as far as it was a body.
    pub t_sent: Moment,
    /// The first byte of the final response came.
    pub t_head: Option<Moment>,
    /// The last byte of the first event, or of the body.
    pub t_first: Option<Moment>,
    /// The last byte of the response, or of what there was of it.
    pub t_last: Option<Moment>,
    pub ended: Option<End>,
    /// Events that its response had.
    pub events: u64,
    /// Whether messages are rows beside it: it is shown with them.
    pub has_messages: bool,
    /// An event of it named the endpoint to which the client sends (2024-11-05). On no row.
    pub has_endpoint: bool,
    /// What the messages in its request are. On no row.
    pub asked: Asked,
    /// The two heads. On no row: their frames have them.
    pub request_head: Option<Arc<Head>>,
    pub response_head: Option<Arc<Head>>,
    /// An event of it had an id: the client can ask for the rest.
    pub is_resumable: bool,
    /// Decoded bytes of the body of its response. On no row.
    pub body_bytes: u64,
    /// Only the beginning of a part of its response is kept, or it is in an unknown coding: nobody knows what
    /// the rest says. On no row.
    pub is_shortened: bool,
    /// The parts behind which the chunks of a body could not be followed, by direction. On no row: findings
    /// tell them.
    pub broken_chunks: Vec<(Direction, Seq)>,
    /// The client that sent it, in its own words. On no row: the head has it.
    pub user_agent: Option<CompactString>,
}

/// What the messages in a request of HTTP are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub requests: u32,
    /// Notifications and responses.
    pub others: u32,
    /// Of the first of them.
    pub method: Option<CompactString>,
    /// The tool, prompt or URI that it names.
    pub name: Option<CompactString>,
    /// The version that it says itself (2026-07-28).
    pub version: Option<CompactString>,
    pub is_initialize: bool,
}

impl Asked {
    fn new(content: &Content) -> Self {
        let mut asked = Self::default();
        for message in &content.messages {
            match &message.body {
                Body::Request(request) => {
                    asked.requests += 1;
                    asked.is_initialize |= &*request.method == "initialize";
                    asked.method.get_or_insert_with(|| request.method.clone());
                    let is_named = matches!(
                        &*request.method,
                        "tools/call" | "prompts/get" | "resources/read"
                    );
                    let name = request.name.clone().filter(|_| is_named);
                    asked.name = asked.name.or(name);
                }
                Body::Notification(notification) => {
                    asked.others += 1;
                    asked
                        .method
                        .get_or_insert_with(|| notification.method.clone());
                }
                Body::Response(_) => asked.others += 1,
                Body::Invalid => {}
            }
            let identity = message.meta.identity.as_ref();
            let version = identity.and_then(|it| it.protocol_version.clone());
            asked.version = asked.version.or(version);
        }
        asked
    }

    /// How many messages there are.
    pub fn count(&self) -> u32 {
        self.requests + self.others
    }
}

/// Nanoseconds that each part of an HTTP exchange took; `None` where that was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// The name of the server was resolved. This and the next two for the first exchange of a connection:
    /// those after it find it made.
    pub name: Option<u64>,
    /// The TCP connection to the server was made.
    pub connect: Option<u64>,
    pub tls: Option<u64>,
    /// From the first byte of the request to the last.
    pub send: Option<u64>,
    /// From the last byte of the request to the first of the response.
    pub wait: Option<u64>,
    /// From the first byte of the response to the last, or as far as it has come.
    pub stream: Option<u64>,
}

impl Timing {
    /// The parts that took any time, in their order.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let parts = [
            ("name", self.name),
            ("connect", self.connect),
            ("TLS", self.tls),
            ("send", self.send),
            ("wait", self.wait),
            ("stream", self.stream),
        ];
        let measured = parts.into_iter().filter_map(|(part, ns)| Some((part, ns?)));
        measured.filter(|(_, ns)| *ns > 0)
    }
}

words! {
    /// How the response to a request of HTTP ended.
    End {
        Whole = "whole", "it came to its end";
        Closed = "closed", "it was as long as the connection";
        Cut = "cut", "the server, or what is between, broke it off";
        Left = "left", "the client left it";
        Unfinished = "unfinished", "the recording ended before it was complete";
    }
}

/// A client that follows a redirect does it at once: the same request later than this, nanoseconds, is another
/// one.
pub const FOLLOWED_WITHIN_NS: u64 = 500_000_000;

impl HttpExchange {
    /// Whether its response was a success and came to its end, so that nothing more of it can come. A
    /// stream that is as long as its connection may have been broken off.
    pub fn is_fulfilled(&self) -> bool {
        let is_whole = match self.ended {
            Some(End::Whole) => true,
            Some(End::Closed) => !self.is_stream(),
            _ => false,
        };
        is_whole && matches!(self.status, Some(200..300))
    }

    /// Its status, and the recorder where that answered: `502 Bad Gateway from mcpreel`.
    pub fn status_line(&self) -> String {
        let line = self.status.map(head::status_line).unwrap_or_default();
        let is_ours = self.response_head.as_deref();
        let is_ours = is_ours.is_some_and(Head::is_from_recorder);
        line + if is_ours { " from mcpreel" } else { "" }
    }

    /// What came as its response, not escaped: `200 OK with text/html, 1.2 kB`.
    pub fn received(&self) -> String {
        let status = self.status_line();
        let amount = match self.body_bytes {
            _ if self.is_stream() => plural(self.events, "event"),
            0 => return format!("{status} with no body"),
            bytes => size(bytes),
        };
        match &self.content_type {
            Some(kind) => format!("{status} with {kind}, {amount}"),
            None => format!("{status} with {amount}"),
        }
    }

    /// Whether its response is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.content_type.as_deref() == Some("text/event-stream")
    }

    /// Whether its response goes on with an earlier stream of events.
    pub fn is_resumption(&self) -> bool {
        let request = self.request_head.as_ref();
        let asks = request.is_some_and(|head| head.get("Last-Event-ID").is_some());
        asks && self.status == Some(200) && self.is_stream()
    }

    /// Whether the client has to send the same request elsewhere (RFC 9110 sections 15.4.8 and 15.4.9).
    pub fn is_redirected(&self) -> bool {
        matches!(self.status, Some(307 | 308))
    }

    /// Nanoseconds from the last byte of the request to the first of the response.
    pub fn waited_ns(&self) -> Option<u64> {
        Some(self.t_head?.ns_since(self.t_sent))
    }

    /// What took how long; `made`: how its connection was made, if that was for this exchange.
    pub fn timing(&self, made: Option<&EventKind>) -> Timing {
        let (name, connect, tls) = match made {
            Some(EventKind::Connected {
                name_ns,
                tcp_ns,
                tls_ns,
                ..
            }) => (Some(*name_ns), Some(*tcp_ns), *tls_ns),
            _ => (None, None, None),
        };
        let streamed = self.t_head.zip(self.t_last);
        Timing {
            name,
            connect,
            tls,
            send: Some(self.t_sent.ns_since(self.t_request)),
            wait: self.waited_ns(),
            stream: streamed.map(|(head, last)| last.ns_since(head)),
        }
    }
}

/// Follows the HTTP exchanges of all connections.
#[derive(Debug, Default)]
pub struct HttpLog {
    /// Those that may change yet.
    open: BTreeMap<u32, HttpExchange>,
    changed: BTreeSet<u32>,
    /// Whole ones that were not handed over.
    ready: Vec<HttpExchange>,
    /// Connections whose client sends no more.
    left: BTreeSet<u32>,
}

impl HttpLog {
    /// Takes in the next frame of a connection, and returns whether a response is over with it.
    pub fn frame(&mut self, head: &FrameHead, raw: &[u8]) -> bool {
        let http = head.carried.http;
        let Some(connection) = head.stream.connection().filter(|_| http > 0) else {
            return false;
        };
        self.changed.insert(http);
        let end = match head.carried.part {
            Part::RequestHead => {
                self.retire(connection, http);
                self.open.insert(http, begun(head, connection, raw));
                None
            }
            Part::ResponseHead => self.response_head(head, raw),
            _ => self.content(head, connection),
        };
        if let Some(exchange) = self.open.get_mut(&http).filter(|_| end.is_some()) {
            exchange.ended = end;
        }
        end.is_some()
    }

    /// Takes in a part of a message behind its head, and returns how a response ended with it.
    fn content(&mut self, head: &FrameHead, connection: u32) -> Option<End> {
        let exchange = self.open.get_mut(&head.carried.http)?;
        let direction = head.stream.messages()?;
        if head.carried.ended == Some(Ended::Misframed) {
            exchange.broken_chunks.push((direction, head.seq));
        }
        if direction == Direction::ClientToServer {
            exchange.t_sent = exchange.t_sent.max(head.t_last);
            return None;
        }
        exchange.t_last = Some(head.t_last);
        if head.carried.part != Part::End {
            exchange.t_first.get_or_insert(head.t_last);
        }
        exchange.is_shortened |= head.carried.is_cut;
        match head.carried.part {
            Part::Event => {
                exchange.events += 1;
                exchange.has_endpoint |= head.carried.is_endpoint;
                exchange.is_resumable |= head.carried.has_id;
            }
            Part::Body => exchange.body_bytes += head.size,
            _ => {}
        }
        let is_left = self.left.contains(&connection);
        Some(match head.carried.ended? {
            Ended::Whole => End::Whole,
            Ended::Closed if is_left && exchange.is_stream() => End::Left,
            Ended::Closed => End::Closed,
            Ended::Cut | Ended::Misframed if is_left => End::Left,
            Ended::Cut | Ended::Misframed => End::Cut,
            Ended::Unfinished => End::Unfinished,
        })
    }

    /// Takes in the head of a response, and returns how that ended where no body follows.
    fn response_head(&mut self, head: &FrameHead, raw: &[u8]) -> Option<End> {
        let parsed = Arc::new(Head::parse(raw)?);
        let status = parsed.status()?;
        // The request could not be read.
        let unread = || HttpExchange {
            id: head.carried.http,
            connection: head.stream.connection().unwrap_or_default(),
            request: head.seq,
            t_request: head.t_first,
            t_sent: head.t_first,
            ..HttpExchange::default()
        };
        let exchange = self.open.entry(head.carried.http).or_insert_with(unread);
        if (100..200).contains(&status) && status != 101 {
            return None;
        }
        exchange.status = Some(status);
        exchange.response = Some(head.seq);
        exchange.t_head = Some(head.t_first);
        exchange.t_last = Some(head.t_last);
        exchange.content_type = parsed
            .content_type()
            .map(|kind| kind.to_ascii_lowercase().into());
        if let Some(session) = parsed.get(SESSION) {
            exchange.session = Some(session.into());
        }
        exchange.is_shortened |= coding::unknown(&parsed).is_some();
        let length = BodyLength::of(&parsed, Some(&exchange.method));
        exchange.response_head = Some(parsed);
        (length == BodyLength::Known(0)).then_some(End::Whole)
    }

    pub fn event(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Eof {
                stream,
                by: Closer::Writer,
            } if stream.messages() == Some(Direction::ClientToServer) => {
                self.left.extend(stream.connection());
            }
            EventKind::Disconnected { connection, by, .. } => {
                if *by != Party::Client {
                    self.left.remove(connection);
                }
                self.retire(*connection, u32::MAX);
                self.left.remove(connection);
            }
            _ => {}
        }
    }

    /// An exchange that may change yet.
    pub fn get(&self, http: u32) -> Option<&HttpExchange> {
        self.open.get(&http)
    }

    /// The exchange belongs to a conversation.
    pub fn belongs(&mut self, http: u32, conversation: u32) {
        if let Some(exchange) = self.open.get_mut(&http) {
            exchange.conversation = conversation;
            self.changed.insert(http);
        }
    }

    /// These messages were in its request.
    pub fn asks(&mut self, http: u32, content: &Content) {
        if let Some(exchange) = self.open.get_mut(&http) {
            exchange.asked = Asked::new(content);
            exchange.has_messages = true;
            self.changed.insert(http);
        }
    }

    /// The exchanges that are new or changed, by number.
    pub fn take(&mut self) -> Vec<HttpExchange> {
        let mut taken = std::mem::take(&mut self.ready);
        let changed = std::mem::take(&mut self.changed).into_iter();
        taken.extend(changed.filter_map(|http| self.open.get(&http).cloned()));
        taken.sort_by_key(|exchange| exchange.id);
        taken
    }

    /// What came before `http` on the connection, and has its whole response, will not change.
    fn retire(&mut self, connection: u32, http: u32) {
        let is_whole = |id: &u32, one: &mut HttpExchange| {
            let is_over = one.ended.is_some() || http == u32::MAX;
            one.connection == connection && *id < http && is_over
        };
        self.ready
            .extend(self.open.extract_if(.., is_whole).map(|(_, one)| one));
    }
}

fn begun(head: &FrameHead, connection: u32, raw: &[u8]) -> HttpExchange {
    let head_of = Head::parse(raw).map(Arc::new);
    let parsed = head_of.as_deref();
    let header = |name| parsed.and_then(|it| it.get(name)).map(Into::into);
    HttpExchange {
        id: head.carried.http,
        connection,
        method: parsed.and_then(Head::method).unwrap_or_default().into(),
        target: parsed.and_then(Head::target).unwrap_or_default().into(),
        session: header(SESSION),
        user_agent: header("User-Agent"),
        request: head.seq,
        t_request: head.t_first,
        t_sent: head.t_last,
        request_head: head_of.clone(),
        ..HttpExchange::default()
    }
}
