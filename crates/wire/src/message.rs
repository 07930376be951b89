//! Which JSON-RPC messages a frame holds, or why it holds none.
//!
//! Bad traffic is data: every frame has a [`Content`], and what is wrong with it is a list of
//! [`Problem`]s, never an error. Texts of messages stand here in their [brief form](super::brief),
//! but for capabilities, numbers, and the messages of errors.

mod body;
mod classify;

use super::brief;
use super::id::RequestId;
use super::json::Value;
use super::mcp::keys;
pub use classify::classify_cut;
pub use classify::{
    Classifier, Lines, MAX_PARTS, classify, classify_outline, classify_unread, line,
};
use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr, EnumString)]
pub enum Direction {
    /// From the client (in the host) to the server.
    #[strum(serialize = "c2s")]
    ClientToServer,
    #[strum(serialize = "s2c")]
    ServerToClient,
}

impl Direction {
    pub fn reverse(self) -> Self {
        match self {
            Self::ClientToServer => Self::ServerToClient,
            Self::ServerToClient => Self::ClientToServer,
        }
    }

    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How a request is to be understood: by the handshake of its connection, or by itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Era {
    /// `initialize` handshake, revisions up to 2025-11-25.
    #[default]
    Legacy,
    /// Stateless, revision 2026-07-28 and later: version and capabilities in `_meta`.
    Modern,
}

impl Era {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What one frame of a protocol stream holds.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The messages, in order: one for an object, several for a batch, none for anything else. Not
    /// every member of a batch need be among them.
    pub messages: Vec<Message>,
    /// Whether the frame is a JSON array.
    pub batch: bool,
    /// What is wrong with the frame as a whole.
    pub problems: Vec<Problem>,
}

#[derive(Clone, Debug)]
pub struct Message {
    /// Position in its batch, 0 where there is none.
    pub part: u32,
    pub span: Range<usize>,
    /// Request, notification, response, or an object that is none of them.
    pub body: Body,
    /// What `params._meta` or `result._meta` says.
    pub meta: Meta,
    /// One line for people, control characters not yet escaped, at most 200 characters. For a
    /// request method and main argument, for a response its outcome. Empty where whoever had the
    /// frame read did not want it ([`Lines`]).
    pub summary: String,
    /// What is wrong with this message.
    pub problems: Vec<Problem>,
}

/// The four things an object on the wire can be.
#[derive(Clone, Debug)]
pub enum Body {
    Request(Request),
    Notification(Notification),
    Response(Response),
    /// None of them; `problems` of the message say why.
    Invalid,
}

#[derive(Clone, Debug)]
pub struct Request {
    /// Its id; may be `null` or of a forbidden type, which is a problem of the message.
    pub id: RequestId,
    pub method: CompactString,
    /// What it is about: tool or prompt name, resource URI, task id, completion reference.
    pub name: Option<CompactString>,
    /// Present where `params` carries `inputResponses` or `requestState` (multi round-trip).
    /// Not for `tasks/update`, which answers a task and repeats nothing.
    pub retry: Option<InputRound>,
    /// Whether `params.task` asks for a task (2025-11-25).
    pub task: bool,
    /// What `initialize` says about the client.
    pub identity: Option<Box<Identity>>,
}

#[derive(Clone, Debug)]
pub struct Notification {
    pub method: CompactString,
    /// What it says that pairing needs.
    pub subject: Subject,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Progress {
        token: Option<RequestId>,
        /// `progress`, JSON text of the number.
        progress: Option<CompactString>,
    },
    Cancelled {
        request_id: Option<RequestId>,
        /// The reason names the user.
        is_by_user: bool,
    },
    Log {
        level: Option<CompactString>,
        logger: Option<CompactString>,
    },
    /// `notifications/tasks/status` and `notifications/tasks`.
    Task {
        id: Option<CompactString>,
        status: Option<CompactString>,
        /// What its `result` or `error` says, where the task is over and carries it (tasks
        /// extension).
        outcome: Option<Box<Outcome>>,
    },
    /// Anything else, with what it is about (a resource's URI) where it says so.
    Other { name: Option<CompactString> },
}

#[derive(Clone, Debug)]
pub struct Response {
    /// Its id; absent or `null` where the request's id could not be read.
    pub id: Option<RequestId>,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A `result` that completes the request.
    Result {
        /// What an `initialize` or `server/discover` result says about the server.
        identity: Option<Box<Identity>>,
    },
    /// A `result` with `isError: true`.
    ToolError,
    /// A `result` with `resultType: "input_required"`: to be retried with a new id.
    InputRequired(InputRound),
    /// A `result` that names a task: `result.task` (2025-11-25), or `resultType: "task"`, or the
    /// flat fields of `tasks/get`.
    Task {
        id: CompactString,
        /// `status`, for example `working`.
        status: Option<CompactString>,
        /// What its `result` or `error` says, where the task is over and carries it (tasks
        /// extension).
        outcome: Option<Box<Outcome>>,
    },
    Error {
        /// `code` as on the wire: JSON text, a number or (wrongly) a string.
        code: Option<CompactString>,
        message: Option<CompactString>,
    },
}

/// One round of a multi round-trip request: what links a retry to the answer that asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputRound {
    pub state: Option<CompactString>,
    /// Keys of `inputRequests` or `inputResponses`, in order.
    pub keys: Vec<CompactString>,
}

#[derive(Clone, Debug, Default)]
pub struct Meta {
    pub progress_token: Option<RequestId>,
    /// The trace id inside `traceparent`, 32 hex digits.
    pub trace_id: Option<CompactString>,
    /// `io.modelcontextprotocol/subscriptionId`.
    pub subscription: Option<RequestId>,
    /// `io.modelcontextprotocol/related-task`'s `taskId`.
    pub related_task: Option<CompactString>,
    /// `io.modelcontextprotocol/protocolVersion`, with clientInfo or serverInfo and capabilities:
    /// present on messages of the modern era only.
    pub identity: Option<Box<Identity>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `protocolVersion`: asked for by a client, chosen by a server.
    pub protocol_version: Option<CompactString>,
    /// `supportedVersions` of `server/discover`, the first of them.
    pub supported_versions: Vec<CompactString>,
    /// How many more of them there are.
    pub more_versions: usize,
    /// `clientInfo.name` or `serverInfo.name`.
    pub name: Option<CompactString>,
    /// `clientInfo.version` or `serverInfo.version`.
    pub version: Option<CompactString>,
    /// `capabilities`, JSON text as on the wire.
    pub capabilities: Option<CompactString>,
}

// What can be wrong with a frame or a message.

/// What is wrong with a frame or a message, seen by itself. `offset` counts bytes from the start
/// of the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    NotJson {
        offset: usize,
        reason: &'static str,
    },
    /// The line is nested deeper than is parsed; only its outline was looked at.
    TooDeep {
        limit: usize,
    },
    /// The line is longer than is parsed whole; only its outline was looked at.
    OutlineOnly,
    /// The stream ended (or a gap began) before the line did.
    Truncated,
    /// Only a part of the line is on record; what else may be wrong with it nobody knows.
    Shortened,
    InvalidUtf8 {
        offset: usize,
    },
    /// The line begins with a byte order mark.
    ByteOrderMark,
    CarriageReturn,
    /// The line is empty or white space.
    Blank,
    /// The JSON value is neither object nor array.
    NotObject {
        /// `null`, `boolean`, `number` or `string`; in a batch also `array`.
        found: &'static str,
    },
    EmptyBatch,
    /// A batch of more messages than are looked at; the rest of them was not.
    BatchTooLong {
        parts: usize,
        limit: usize,
    },
    /// A batch of more members that are no messages than are kept; the rest of them are not.
    BatchOfOther {
        /// How many there are among the members that were looked at.
        invalid: usize,
        limit: usize,
    },
    /// `jsonrpc` is missing or not `"2.0"`.
    Version,
    /// None of `method`, `result`, `error`.
    Unclassifiable,
    /// `method` is no string; taken as a response where there is a `result` or `error`, else as a
    /// request, whose method is the JSON text, where there is an id.
    MethodNotString,
    /// `method` together with `result` or `error`; taken as a request or notification.
    MethodAndResult,
    /// Both `result` and `error`; taken as an error, unless that is `null` and the result is not.
    ResultAndError,
    /// `params` is present and no object.
    ParamsNotObject,
    ResultNotObject,
    /// `error` is no object, or `code` or `message` is missing, or `message` is no string.
    ErrorShape,
    ErrorCode,
    IdNull,
    /// The id is neither string nor integer nor `null`.
    IdType,
    /// A response without an id, or with `null`.
    ResponseWithoutId,
    /// A known notification with an id.
    NotificationWithId,
    RequestWithoutId,
}

impl Problem {
    /// Whether it is one of lines, and none of what comes in another framing.
    pub fn is_of_lines(&self) -> bool {
        matches!(self, Self::Truncated | Self::CarriageReturn | Self::Blank)
    }
}

// What `_meta` says, and who a side says it is.

/// What the `_meta` of `params` or `result` says.
fn meta(holder: Option<Value<'_>>) -> Meta {
    let mut meta = Meta::default();
    let Some(object) = holder.and_then(|holder| holder.get("_meta")) else {
        return meta;
    };
    let mut identity = Identity::default();
    for (key, value) in object.members() {
        match key.as_str().as_deref().unwrap_or_default() {
            keys::PROGRESS_TOKEN => meta.progress_token = id(value),
            keys::TRACEPARENT => meta.trace_id = trace_id(value),
            keys::SUBSCRIPTION_ID => meta.subscription = id(value),
            keys::RELATED_TASK => meta.related_task = text(value.get("taskId")),
            keys::PROTOCOL_VERSION => identity.protocol_version = text(Some(value)),
            keys::CLIENT_CAPABILITIES => identity.capabilities = Some(raw(value)),
            keys::CLIENT_INFO | keys::SERVER_INFO => named(&mut identity, value),
            _ => {}
        }
    }
    meta.identity = some_identity(identity);
    meta
}

/// Versions that a server offers and that are looked at: there are five. A hostile one could offer
/// as many as a line holds.
const VERSIONS: usize = 64;

/// Who the client of an `initialize` request is.
fn client(params: Value<'_>) -> Option<Box<Identity>> {
    let mut identity = Identity {
        protocol_version: text(params.get("protocolVersion")),
        capabilities: params.get("capabilities").map(raw),
        ..Identity::default()
    };
    if let Some(info) = params.get("clientInfo") {
        named(&mut identity, info);
    }
    some_identity(identity)
}

/// Who the server is, if `result` is one of `initialize` or `server/discover`: a response does not
/// say what it answers, its members do.
fn server(result: Value<'_>) -> Option<Box<Identity>> {
    let version = result.get("protocolVersion");
    let supported = result.get("supportedVersions");
    if version.is_none() && supported.is_none() {
        return None;
    }
    let versions = || supported.into_iter().flat_map(|list| list.elements());
    let kept = versions().take(VERSIONS);
    let mut identity = Identity {
        protocol_version: text(version),
        supported_versions: kept.filter_map(|one| text(Some(one))).collect(),
        more_versions: versions().count().saturating_sub(VERSIONS),
        capabilities: result.get("capabilities").map(raw),
        ..Identity::default()
    };
    let info = result.get("serverInfo");
    let in_meta = || result.get("_meta")?.get(keys::SERVER_INFO);
    if let Some(info) = info.or_else(in_meta) {
        named(&mut identity, info);
    }
    some_identity(identity)
}

/// One round of a multi round-trip request, if `object` has the member `keys` or a state.
fn input_round(object: Value<'_>, keys: &str) -> Option<InputRound> {
    let (inputs, state) = (object.get(keys), object.get("requestState"));
    if inputs.is_none() && state.is_none() {
        return None;
    }
    let members = inputs.into_iter().flat_map(|inputs| inputs.members());
    Some(InputRound {
        state: text(state),
        keys: members.filter_map(|(key, _)| text(Some(key))).collect(),
    })
}

/// The value of a string, in [brief] if it is long.
fn text(value: Option<Value<'_>>) -> Option<CompactString> {
    let text = value?.as_str()?;
    Some(brief::text(&text).into())
}

fn raw(value: Value<'_>) -> CompactString {
    value.raw_text().into()
}

/// An id or token, unless it is `null`.
fn id(value: Value<'_>) -> Option<RequestId> {
    (!value.is_null()).then(|| RequestId::from_value(value))
}

fn named(identity: &mut Identity, info: Value<'_>) {
    identity.name = text(info.get("name"));
    identity.version = text(info.get("version"));
}

fn some_identity(identity: Identity) -> Option<Box<Identity>> {
    (identity != Identity::default()).then(|| Box::new(identity))
}

/// The trace id of a `traceparent` (W3C Trace Context, section 3.2), in lower case.
fn trace_id(value: Value<'_>) -> Option<CompactString> {
    let header = value.as_str()?;
    let mut fields = header.split('-');
    let (_version, trace, _parent) = (fields.next()?, fields.next()?, fields.next()?);
    let valid = trace.len() == 32
        && trace.bytes().all(|byte| byte.is_ascii_hexdigit())
        && trace.bytes().any(|byte| byte != b'0');
    valid.then(|| trace.to_ascii_lowercase().into())
}
