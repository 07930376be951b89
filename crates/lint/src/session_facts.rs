//! Facts of a session up to a message: the revision by which a message is judged, capabilities, and
//! open requests.

use compact_str::CompactString;
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::methods::{self, List};
use mcpreel_wire::message::{Body, Direction, Era, Identity, Message, Outcome, Request};

#[derive(Clone, Debug, Default)]
pub struct SessionFacts {
    agreed: Option<Revision>,
    /// The client's capabilities in `initialize`.
    pub client: Declared,
    /// The server's capabilities in its answer to `initialize`; `None` until that has come.
    pub server: Option<Declared>,
    /// The server's capabilities in its answer to `server/discover`; `None` if nobody asked.
    pub discovered: Option<Declared>,
    pub handshake: Handshake,
    /// Whether the server has shown that it knows the modern era: by an answer that only that era
    /// has. A legacy server may answer modern requests as if they were its own.
    pub knows_modern: bool,
    open: BoundedMap<ExchangeId, OpenRequest, OPEN>,
}

/// The progress of the handshake of the legacy era.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Handshake {
    #[default]
    None,
    /// `initialize` was sent in this frame.
    Asked(Seq),
    Refused(Seq),
    /// `initialize` was answered with a result in this frame.
    Answered(Seq),
    /// The client has said `initialized`.
    Done,
}

impl SessionFacts {
    /// The revision of the handshake; the newest one that has a handshake where none was agreed
    /// on, or one that is not known.
    pub fn legacy(&self) -> Revision {
        self.agreed.unwrap_or(Revision::V2025_11_25)
    }

    /// The revision that the handshake agreed on, or that its request asks for.
    pub fn agreed(&self) -> Option<Revision> {
        self.agreed
    }

    /// Whether the connection is of the modern era and of no other: the server knows that era, and
    /// there was no handshake.
    pub fn is_modern(&self) -> bool {
        self.knows_modern && matches!(self.handshake, Handshake::None | Handshake::Refused(_))
    }

    /// The revision by which a message of no particular request is judged.
    pub fn revision(&self, era: Era) -> Revision {
        match era {
            Era::Legacy => self.legacy(),
            Era::Modern => Revision::V2026_07_28,
        }
    }

    /// The request of an exchange, while it is open and in the frame that answers it.
    pub fn open_request(&self, exchange: ExchangeId) -> Option<&OpenRequest> {
        self.open.get(&exchange)
    }

    pub fn open(&self) -> impl Iterator<Item = (ExchangeId, &OpenRequest)> {
        self.open.iter().map(|(id, asked)| (*id, asked))
    }

    /// Whether more requests may be open than are remembered.
    pub fn has_forgotten(&self) -> bool {
        self.open.has_forgotten()
    }

    /// Takes a message in, before rules look at it.
    pub(super) fn learn(
        &mut self,
        head: &FrameHead,
        message: &Message,
        record: &MessageRecord,
        value: Option<Value<'_>>,
    ) {
        match &message.body {
            Body::Request(request) => {
                let list = value.and_then(|value| ListRequest::of(&request.method, value));
                self.request(head, message, request, record, list);
            }
            Body::Response(response) => {
                self.knows_modern |= is_of_modern_server(message, &response.outcome, record);
                if let Outcome::Result { identity } = &response.outcome {
                    let identity = identity.as_deref();
                    self.result(head, record, identity.or(message.meta.identity.as_deref()));
                } else if record.method.as_deref() == Some("initialize") {
                    self.handshake = Handshake::Refused(head.seq);
                }
            }
            Body::Notification(_) | Body::Invalid => {}
        }
    }

    /// Takes a message in, after rules have looked at it.
    pub(super) fn forget(&mut self, message: &Message, record: &MessageRecord) {
        match (&message.body, record.exchange) {
            (Body::Response(_), Some(exchange)) => {
                self.open.remove(&exchange);
            }
            (Body::Notification(_), _) if record.direction == Direction::ClientToServer => {
                let method = record.method.as_deref().map(methods::canonical);
                let is_initialized = method == Some("notifications/initialized");
                if is_initialized && self.handshake != Handshake::None {
                    self.handshake = Handshake::Done;
                }
            }
            _ => {}
        }
    }

    fn request(
        &mut self,
        head: &FrameHead,
        message: &Message,
        request: &Request,
        record: &MessageRecord,
        list: Option<ListRequest>,
    ) {
        let to_server = record.direction == Direction::ClientToServer;
        if to_server && &*request.method == "initialize" {
            // A redirect has the same one sent again.
            let open = record.exchange.and_then(|id| self.open.get(&id));
            if open.is_some() || matches!(self.handshake, Handshake::None | Handshake::Refused(_)) {
                self.handshake = Handshake::Asked(head.seq);
            }
            if let Some(identity) = &request.identity {
                self.agreed = with_handshake(identity).or(self.agreed);
                self.client = Declared::read(identity.capabilities.as_deref());
            }
        }
        let Some(exchange) = record.exchange else {
            return;
        };
        let identity = message.meta.identity.as_deref();
        let modern = identity.filter(|_| record.era == Era::Modern);
        let asked = OpenRequest {
            frame: head.seq,
            t: head.t_last,
            direction: record.direction,
            method: methods::canonical(&request.method).into(),
            name: request.name.clone(),
            revision: match modern {
                Some(identity) => version(identity),
                None => self.revision_without_version(message, &request.method, to_server),
            },
            token: message.meta.progress_token.clone(),
            capabilities: Capabilities::new(
                modern.and_then(|identity| identity.capabilities.as_deref()),
            ),
            task: request.task,
            list,
        };
        self.open.insert(exchange, asked);
    }

    /// The revision of a request that does not say it: a modern one that forgot to, where there can
    /// be no handshake that it belongs to.
    fn revision_without_version(
        &self,
        message: &Message,
        method: &str,
        to_server: bool,
    ) -> Revision {
        let only_modern = methods::find(method)
            .is_some_and(|known| known.uses().all(|usage| usage.from.era() == Era::Modern));
        let says_so = to_server && (message.meta.identity.is_some() || only_modern);
        let forgot = self.is_modern() || self.handshake == Handshake::None && says_so;
        if forgot && method != "initialize" {
            return Revision::V2026_07_28;
        }
        self.legacy()
    }

    fn result(&mut self, head: &FrameHead, record: &MessageRecord, identity: Option<&Identity>) {
        // What a server without the member declares is unknown: the missing member is reported once.
        let declared = identity.map(|identity| match identity.capabilities.as_deref() {
            Some(json) => Declared::read(Some(json)),
            None => Declared::unknown(),
        });
        match record.method.as_deref() {
            Some("initialize") => {
                self.agreed = identity.and_then(with_handshake).or(self.agreed);
                self.server = Some(declared.unwrap_or_default());
                if matches!(self.handshake, Handshake::Asked(_) | Handshake::Refused(_)) {
                    self.handshake = Handshake::Answered(head.seq);
                }
            }
            Some("server/discover") => self.discovered = declared,
            _ => {}
        }
    }
}

/// Whether the answer to a modern request shows that the server knows that era.
fn is_of_modern_server(message: &Message, outcome: &Outcome, record: &MessageRecord) -> bool {
    let shows = match outcome {
        Outcome::Result { identity } => identity
            .as_ref()
            .is_some_and(|server| !server.supported_versions.is_empty()),
        Outcome::InputRequired(_) => true,
        Outcome::Error { code, .. } => {
            matches!(code.as_deref(), Some("-32020" | "-32021" | "-32022"))
        }
        Outcome::ToolError | Outcome::Task { .. } => false,
    };
    record.era == Era::Modern && (shows || message.meta.identity.is_some())
}

/// The revision that the version of a handshake is judged by.
fn with_handshake(identity: &Identity) -> Option<Revision> {
    let version = identity.protocol_version.as_deref()?;
    Some(Revision::judging(version)?.min(Revision::V2025_11_25))
}

/// The revision that the version of a modern request is judged by.
fn version(identity: &Identity) -> Revision {
    let version = identity.protocol_version.as_deref();
    let judging = version.and_then(Revision::judging);
    judging.map_or(Revision::V2026_07_28, |one| one.max(Revision::V2026_07_28))
}

/// Open requests that are remembered. Whoever has more of them open is told less about them.
const OPEN: usize = 1024;

/// Bytes of capabilities that are kept with a request; its other texts are brief. Honest ones have a
/// few hundred.
const CAPABILITY_BYTES: usize = 4 << 10;

/// A request that a later message belongs to.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    pub frame: Seq,
    pub t: Moment,
    pub direction: Direction,
    /// The method by its name in the protocol.
    pub method: CompactString,
    /// Tool or prompt name, resource URI, and the like.
    pub name: Option<CompactString>,
    /// By which revision it and its answer are judged.
    pub revision: Revision,
    /// The progress token that it gave.
    pub token: Option<RequestId>,
    /// The capabilities that a modern request declares.
    pub capabilities: Capabilities,
    /// Whether it asks for a task (2025-11-25).
    pub task: bool,
    /// The page that it asks for, where that is known.
    pub list: Option<ListRequest>,
}

/// A request for a page of a list.
#[derive(Clone, Copy, Debug)]
pub struct ListRequest {
    pub list: &'static List,
    /// A digest of the cursor; `None` for the first page.
    pub cursor: Option<u64>,
}

impl ListRequest {
    fn of(method: &str, request: Value<'_>) -> Option<Self> {
        let list = methods::list_of(method)?;
        let cursor = request
            .get("params")
            .and_then(|params| params.get("cursor"));
        let cursor = cursor.filter(|cursor| !cursor.is_null());
        Some(Self {
            list,
            cursor: cursor.map(|cursor| digest(cursor.str_bytes())),
        })
    }

    /// The same number for all requests for one page.
    pub fn page(&self) -> u64 {
        digest((self.list.method, self.cursor))
    }
}

/// The capabilities that a request declares, as JSON text: `None` where there are none, empty where
/// they have too many bytes to be kept.
#[derive(Clone, Debug)]
pub struct Capabilities(Option<Box<str>>);

impl Capabilities {
    fn new(json: Option<&str>) -> Self {
        let is_kept = |json: &str| json.len() <= CAPABILITY_BYTES;
        Self(json.map(|json| if is_kept(json) { json } else { "" }.into()))
    }

    pub fn declared(&self) -> Option<Declared> {
        Some(match self.0.as_deref()? {
            "" => Declared::unknown(),
            json => Declared::read(Some(json)),
        })
    }
}
