//! Which JSON-RPC messages a frame holds, or why it holds none.
//!
//! Bad traffic is data: every frame has a [`Content`], and what is wrong with it is a list of
//! [`Problem`]s, never an error. Texts of messages stand here in their [brief form](super::brief),
//! but for capabilities, numbers, and the messages of errors.

mod body;
mod classify;
mod cut;
mod meta;
mod problem;

pub use classify::{
    Classifier, Lines, MAX_PARTS, classify, classify_outline, classify_unread, line,
};
pub use cut::classify_cut;
pub use problem::Problem;

use super::id::RequestId;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client (in the host) to the server.
    ClientToServer,
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
        match self {
            Self::ClientToServer => "c2s",
            Self::ServerToClient => "s2c",
        }
    }
}

/// How a request is to be understood: by the handshake of its connection, or by itself.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// `initialize` handshake, revisions up to 2025-11-25.
    Legacy,
    /// Stateless, revision 2026-07-28 and later: version and capabilities in `_meta`.
    Modern,
}

impl Era {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
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
    pub method: Box<str>,
    /// What it is about: tool or prompt name, resource URI, task id, completion reference.
    pub name: Option<Box<str>>,
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
    pub method: Box<str>,
    /// What it says that pairing needs.
    pub subject: Subject,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Progress {
        token: Option<RequestId>,
        /// `progress`, JSON text of the number.
        progress: Option<Box<str>>,
        /// `total`, JSON text of the number.
        total: Option<Box<str>>,
    },
    Cancelled {
        request_id: Option<RequestId>,
    },
    Log {
        level: Option<Box<str>>,
        logger: Option<Box<str>>,
    },
    /// `notifications/tasks/status` and `notifications/tasks`.
    Task {
        id: Option<Box<str>>,
        status: Option<Box<str>>,
        /// What its `result` or `error` says, where the task is over and carries it (tasks
        /// extension).
        outcome: Option<Box<Outcome>>,
    },
    /// Anything else, with what it is about (a resource's URI) where it says so.
    Other {
        name: Option<Box<str>>,
    },
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
        id: Box<str>,
        /// `status`, for example `working`.
        status: Option<Box<str>>,
        /// What its `result` or `error` says, where the task is over and carries it (tasks
        /// extension).
        outcome: Option<Box<Outcome>>,
    },
    Error {
        /// `code` as on the wire: JSON text, a number or (wrongly) a string.
        code: Option<Box<str>>,
        message: Option<Box<str>>,
    },
}

/// One round of a multi round-trip request: what links a retry to the answer that asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputRound {
    pub state: Option<Box<str>>,
    /// Keys of `inputRequests` or `inputResponses`, in order.
    pub keys: Vec<Box<str>>,
}

#[derive(Clone, Debug, Default)]
pub struct Meta {
    pub progress_token: Option<RequestId>,
    /// The trace id inside `traceparent`, 32 hex digits.
    pub trace_id: Option<Box<str>>,
    /// `io.modelcontextprotocol/subscriptionId`.
    pub subscription: Option<RequestId>,
    /// `io.modelcontextprotocol/related-task`'s `taskId`.
    pub related_task: Option<Box<str>>,
    /// `io.modelcontextprotocol/protocolVersion`, with clientInfo or serverInfo and capabilities:
    /// present on messages of the modern era only.
    pub identity: Option<Box<Identity>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `protocolVersion`: asked for by a client, chosen by a server.
    pub protocol_version: Option<Box<str>>,
    /// `supportedVersions` of `server/discover`, the first of them.
    pub supported_versions: Vec<Box<str>>,
    /// How many more of them there are.
    pub more_versions: usize,
    /// `clientInfo.name` or `serverInfo.name`.
    pub name: Option<Box<str>>,
    /// `clientInfo.version` or `serverInfo.version`.
    pub version: Option<Box<str>>,
    /// `capabilities`, JSON text as on the wire.
    pub capabilities: Option<Box<str>>,
}
