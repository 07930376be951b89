//! What the Model Context Protocol says, as tables: one place per question, all revisions.
//!
//! * [`Revision`]: the published revisions, their order and era, and which one judges an unknown
//!   version string;
//! * [`methods`]: kind, direction, revisions and capability of every method. A method without an
//!   entry is legal traffic, it is only not known here;
//! * [`errors`]: what error codes mean;
//! * [`capabilities`]: what sides can declare;
//! * [`keys`]: the reserved keys of `_meta`;
//! * [`levels`]: the levels of log messages;
//! * [`TaskStatus`]: how far a task has come;
//! * [`target`]: which tool, prompt, resource or task a call is about;
//! * [`summary`]: messages and exchanges in one line.

pub mod capabilities;
pub mod errors;
mod mcp_line;
pub mod methods;
pub mod summary;

use super::json::Value;
use super::message::Era;
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray};

// How far a task has come.

/// `status` of a task, in the core of 2025-11-25 and in the extension that came after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum TaskStatus {
    Working,
    /// `input_required`: somebody has to answer before it goes on.
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl TaskStatus {
    /// The status that a task names; `None` where it names none, or one that nobody knows.
    pub fn of(task: Value<'_>) -> Option<Self> {
        let status = task.get("status")?;
        let mut all = Self::VARIANTS.iter().copied();
        all.find(|known| status.is_str(known.as_str()))
    }

    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether nothing comes after it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

// The published revisions of the protocol.

/// A published revision, in order of age.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, EnumString, VariantArray,
)]
pub enum Revision {
    /// The first public one.
    #[strum(serialize = "2024-11-05")]
    V2024_11_05,
    /// The only one with batches.
    #[strum(serialize = "2025-03-26")]
    V2025_03_26,
    #[strum(serialize = "2025-06-18")]
    V2025_06_18,
    /// The last one with a handshake.
    #[strum(serialize = "2025-11-25")]
    V2025_11_25,
    /// The first of the modern era.
    #[strum(serialize = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// All of them, the oldest first.
    pub const ALL: &[Self] = Self::VARIANTS;

    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The revision by which a peer with this version string is judged: the newest known one that
    /// is not younger, or the oldest if all are. `None` if the string does not begin with a date.
    pub fn judging(version: &str) -> Option<Self> {
        let date = version.get(..10).filter(|date| is_date(date))?;
        let mut newest_first = Self::ALL.iter().rev().copied();
        let found = newest_first.find(|revision| revision.as_str() <= date);
        Some(found.unwrap_or(Self::V2024_11_05))
    }

    pub fn era(self) -> Era {
        if self < Self::V2026_07_28 {
            Era::Legacy
        } else {
            Era::Modern
        }
    }
}

/// Whether `text` looks like `2025-11-25`.
fn is_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reserved keys of `_meta` (Base protocol, General fields).
pub mod keys {
    /// Ties progress notifications to the request that carried it.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    pub const TRACEPARENT: &str = "traceparent";
    /// The version that a request of the modern era speaks; required there.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// What the client can do, in every request of the modern era; required there.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Who the client is, in requests of the modern era.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Who the server is, in results of the modern era.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// From which level on a modern request wants log messages.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The listen stream that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The task that a message belongs to (2025-11-25).
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
}

/// How urgent a log message is (Logging, Log Levels; RFC 5424).
pub mod levels {
    /// The levels, the least urgent first.
    pub const LEVELS: [&str; 8] = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];
}

/// Which tool, prompt, resource or task a call is about.
pub mod target {
    use crate::json::{Kind, Value};

    /// The string in `params` that says what a call of `method` is about: a tool's or prompt's name, a
    /// resource's URI, a task's id, a completion's reference. Methods not known here are asked for
    /// the same members in turn.
    pub fn target<'d>(method: &str, params: Value<'d>) -> Option<Value<'d>> {
        let members: &[&str] = match method {
            "initialize" | "logging/setLevel" | "sampling/createMessage" => &[],
            "tools/call" | "prompts/get" => &["name"],
            "completion/complete" => return reference(params),
            _ => &["uri", "name", "taskId", "elicitationId"],
        };
        let mut strings = members
            .iter()
            .filter_map(|member| params.get(member))
            .filter(|value| value.kind() == Kind::String);
        strings.next()
    }

    /// What a completion is asked for: the name of a prompt or the URI of a resource template.
    fn reference(params: Value<'_>) -> Option<Value<'_>> {
        let reference = params.get("ref")?;
        reference.get("name").or_else(|| reference.get("uri"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_judged_by_the_newest_that_is_not_younger() {
        for (version, revision) in [
            ("2024-10-07", Some(Revision::V2024_11_05)),
            ("2025-11-24", Some(Revision::V2025_06_18)),
            ("2026-07-28-rc1", Some(Revision::V2026_07_28)),
            ("2031-01-01", Some(Revision::V2026_07_28)),
            ("latest", None),
            ("2025/11/25", None),
            ("", None),
        ] {
            assert_eq!(Revision::judging(version), revision, "{version}");
        }
    }
}
