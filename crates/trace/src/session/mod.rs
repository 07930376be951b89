//! The two sides of a session, their versions and capabilities, and the phase of the session.
//!
//! A fold over the same frames and events that the correlator gets. Texts are kept as on the wire
//! and have to be escaped by whoever shows them.

use super::clock::Moment;
use super::event::{Closer, Event, EventKind};
use super::frame::{FrameHead, StreamId};
use compact_str::CompactString;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::{
    Body, Content, Direction, Era, Identity, Message, Notification, Outcome, Request, Response,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use strum::{IntoStaticStr, VariantNames};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The phase, and how the session ended.
    #[serde(flatten)]
    pub phase: Phase,
    pub client: Peer,
    pub server: Peer,
    /// The version that the client asked for last.
    pub version_asked: Option<CompactString>,
    /// The version of the server's answer to `initialize`, or of a modern request that it served.
    pub version_agreed: Option<CompactString>,
    /// Versions that `server/discover` offered, the first of them.
    pub versions_offered: Vec<CompactString>,
    /// Number of versions offered beyond these.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_versions_offered: usize,
    /// Eras of the client's requests, in the order in which they were first met.
    pub eras: Vec<Era>,
    #[serde(rename = "spawned_ns")]
    pub spawned: Option<Moment>,
    #[serde(rename = "first_byte_ns")]
    pub first_byte: FirstByte,
    /// Nanoseconds from `initialize` (or `server/discover`) to its answer, for the last of them
    /// that was answered with a result.
    pub handshake_ns: Option<u64>,
    /// The side that closed first, as far as the end of a stream is on record.
    pub closed_first: Option<Closed>,
    /// The side that closed each stream, as far as it is on record.
    #[serde(default)]
    pub ends: Ends,
    /// Memory and time that the server used, known at its end.
    pub usage: Option<Usage>,
    /// The requests of the client that wait for their answer, while that matters.
    #[serde(skip)]
    pending: VecDeque<Pending>,
    /// Whether a request of each era was served, the legacy one first: what else is asked in it says
    /// nothing new.
    #[serde(skip)]
    served: [bool; 2],
    #[serde(skip)]
    is_untimed: bool,
    #[serde(skip)]
    exited: Option<Moment>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl Session {
    /// The version that both sides have agreed on.
    pub fn version(&self) -> Option<&str> {
        self.version_agreed.as_deref()
    }

    /// Takes the next frame in, of any stream.
    pub fn frame(&mut self, head: &FrameHead, content: &Content) {
        let first = match head.stream.messages() {
            Some(Direction::ClientToServer) => &mut self.first_byte.c2s,
            Some(Direction::ServerToClient) => &mut self.first_byte.s2c,
            None => &mut self.first_byte.stderr,
        };
        first.get_or_insert(head.t_first);
        let Some(direction) = head.stream.messages() else {
            return;
        };
        for message in &content.messages {
            match (&message.body, direction) {
                (Body::Request(request), Direction::ClientToServer) => {
                    self.request(head, message, request);
                }
                (Body::Notification(notification), Direction::ClientToServer) => {
                    self.notification(notification);
                }
                (Body::Response(response), Direction::ServerToClient) => {
                    self.response(head, message, response);
                }
                _ => {}
            }
        }
    }

    pub fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Spawned { .. } => self.spawned = Some(event.t),
            EventKind::SpawnFailed {
                exit_code, message, ..
            } => {
                self.end(End::NotStarted {
                    exit_code: *exit_code,
                    message: message.clone(),
                });
            }
            EventKind::Untimed { .. } => self.is_untimed = true,
            EventKind::Eof { stream, by } => self.closed(*stream, *by, event.t),
            EventKind::Exit {
                code,
                signal,
                max_rss_bytes,
                user_ns,
                system_ns,
            } => {
                let is_measured = *max_rss_bytes > 0 || *user_ns > 0 || *system_ns > 0;
                self.usage = is_measured.then_some(Usage {
                    max_rss_bytes: *max_rss_bytes,
                    user_ns: *user_ns,
                    system_ns: *system_ns,
                });
                // The ends of its streams may be missing on record, also one that came before.
                self.exited = self.closed_first.is_none().then_some(event.t);
                self.end(match (signal, code) {
                    (Some(signal), _) => End::Killed {
                        signal: signal.clone(),
                    },
                    (None, Some(code)) => End::Exited { code: *code },
                    (None, None) => End::Unknown,
                });
            }
            _ => {}
        }
    }

    /// The recording is over, whether or not the end of the server is on it.
    pub fn finish(&mut self) {
        if self.phase.end().is_none() {
            self.end(End::Unknown);
        }
    }

    fn request(&mut self, head: &FrameHead, message: &Message, request: &Request) {
        let modern = message.meta.identity.as_deref();
        let modern = modern.filter(|identity| identity.protocol_version.is_some());
        let era = modern.map_or(Era::Legacy, |_| Era::Modern);
        if !self.eras.contains(&era) {
            self.eras.push(era);
        }
        if let Some(identity) = modern.or(request.identity.as_deref()) {
            self.client.learn(identity);
            if identity.protocol_version.is_some() {
                self.version_asked.clone_from(&identity.protocol_version);
            }
        }
        let asked = match &*request.method {
            "initialize" => Asked::Initialize,
            "server/discover" => Asked::Discover,
            _ => Asked::Other,
        };
        let is_full = self.pending.len() == REMEMBERED;
        if asked != Asked::Other {
            self.advance(Phase::Initializing);
            self.pending.truncate(REMEMBERED - 1);
        } else if is_full || self.served[usize::from(modern.is_some())] {
            return;
        }
        self.pending.push_back(Pending {
            asked,
            id: request.id.clone(),
            version: modern.and_then(|identity| identity.protocol_version.clone()),
            t: head.t_last,
        });
    }

    fn notification(&mut self, notification: &Notification) {
        if methods::canonical(&notification.method) == "notifications/initialized" {
            self.advance(Phase::Ready);
        }
    }

    fn response(&mut self, head: &FrameHead, message: &Message, response: &Response) {
        let is_asked = |pending: &Pending| Some(&pending.id) == response.id.as_ref();
        let at = self.pending.iter().position(is_asked);
        let Some(pending) = at.and_then(|at| self.pending.remove(at)) else {
            return;
        };
        let identity = match &response.outcome {
            Outcome::Error { .. } => return,
            Outcome::Result { identity } => identity.as_deref(),
            _ => None,
        };
        let said = identity.or(message.meta.identity.as_deref());
        if let Some(identity) = said {
            self.server.learn(identity);
        }
        match pending.asked {
            Asked::Initialize => {
                self.version_agreed = said.and_then(|it| it.protocol_version.clone());
            }
            Asked::Discover => {
                let offered = said.map(|it| (it.supported_versions.clone(), it.more_versions));
                (self.versions_offered, self.more_versions_offered) = offered.unwrap_or_default();
                if let Some(version) = pending.version
                    && self.versions_offered.contains(&version)
                {
                    self.version_agreed = Some(version);
                }
                self.advance(Phase::Ready);
            }
            Asked::Other => {
                self.served[usize::from(pending.version.is_some())] = true;
                if pending.version.is_some() {
                    self.version_agreed = pending.version;
                }
                return self.advance(Phase::Ready);
            }
        }
        self.handshake_ns = (!self.is_untimed).then(|| head.t_first.ns_since(pending.t));
    }

    fn closed(&mut self, stream: StreamId, by: Closer, t: Moment) {
        let by = match (stream, by) {
            (StreamId::C2S, Closer::Writer) | (StreamId::S2C, Closer::Reader) => Side::Host,
            (StreamId::C2S, Closer::Reader) | (StreamId::S2C, Closer::Writer) => Side::Server,
            _ => return,
        };
        let end = match stream {
            StreamId::C2S => &mut self.ends.c2s,
            _ => &mut self.ends.s2c,
        };
        end.get_or_insert(Closed { by, t });
        // Processes that the server left behind may hold its pipes for longer.
        let after_exit = self.exited.take().map(|t| (Side::Server, t));
        let (by, t) = after_exit.unwrap_or((by, t));
        self.closed_first.get_or_insert(Closed { by, t });
        self.advance(Phase::Closing);
    }

    fn end(&mut self, how: End) {
        self.advance(Phase::Ended { how });
    }

    fn advance(&mut self, to: Phase) {
        let rank = |phase: &Phase| {
            Phase::VARIANTS
                .iter()
                .position(|word| *word == phase.as_str())
        };
        if rank(&to) > rank(&self.phase) {
            self.phase = to;
        }
    }
}

// What is known of the two sides, and of the streams between them.

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// `name` of `clientInfo` or `serverInfo`.
    pub name: Option<CompactString>,
    pub version: Option<CompactString>,
    /// `capabilities`, JSON text as on the wire.
    pub capabilities: Option<CompactString>,
}

/// When the first byte of each stream was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstByte {
    pub c2s: Option<Moment>,
    pub s2c: Option<Moment>,
    pub stderr: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Host,
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    pub by: Side,
    #[serde(rename = "t_ns")]
    pub t: Moment,
}

/// The ends of the two streams of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    pub c2s: Option<Closed>,
    pub s2c: Option<Closed>,
}

impl Ends {
    /// Whether the server had already closed its output at `t`: no answer can come to what is sent
    /// then.
    pub fn has_server_closed(&self, t: Moment) -> bool {
        self.s2c
            .is_some_and(|end| end.by == Side::Server && end.t < t)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub max_rss_bytes: u64,
    /// CPU time in user mode, nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, nanoseconds.
    pub system_ns: u64,
}

impl Peer {
    /// Takes over each member that `identity` has; the others stay.
    fn learn(&mut self, identity: &Identity) {
        let pairs = [
            (&mut self.name, &identity.name),
            (&mut self.version, &identity.version),
            (&mut self.capabilities, &identity.capabilities),
        ];
        for (known, said) in pairs {
            if said.is_some() && known != said {
                known.clone_from(said);
            }
        }
    }
}

// In which phase a session is.

/// The phase of a session; as JSON an object with `phase` in kebab case.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames,
)]
#[serde(tag = "phase", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    #[default]
    Starting,
    /// `initialize` or `server/discover` was sent.
    Initializing,
    /// The client said `initialized`, or a request other than these was answered.
    Ready,
    /// The host closed its side, or the server closed its own; the process has not ended.
    Closing,
    Ended {
        how: End,
    },
}

/// How a session ended; as JSON an object with `kind` in kebab case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum End {
    Exited {
        code: i32,
    },
    Killed {
        signal: String,
    },
    /// The server could not be started.
    NotStarted {
        /// The exit code that mcpreel ended with.
        exit_code: u8,
        message: String,
    },
    /// The recording ends without the end of the server.
    Unknown,
}

impl Phase {
    pub fn as_str(&self) -> &'static str {
        self.into()
    }

    pub fn end(&self) -> Option<&End> {
        match self {
            Self::Ended { how } => Some(how),
            _ => None,
        }
    }
}

// The requests of the client whose answers say something about the session.

/// Requests that are remembered until their answer. Only the beginning of a session is looked at:
/// without a limit a client that is never answered would make us grow.
const REMEMBERED: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Initialize,
    Discover,
    Other,
}

/// A request that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    asked: Asked,
    id: RequestId,
    version: Option<CompactString>,
    t: Moment,
}

#[cfg(test)]
mod session_tests;
