//! In which phase a session is.

use serde::{Deserialize, Serialize};

/// The phase of a session; as JSON an object with `phase` in kebab case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "kebab-case")]
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
    /// `starting`, `initializing`, `ready`, `closing` or `ended`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Initializing => "initializing",
            Self::Ready => "ready",
            Self::Closing => "closing",
            Self::Ended { .. } => "ended",
        }
    }

    pub fn end(&self) -> Option<&End> {
        match self {
            Self::Ended { how } => Some(how),
            _ => None,
        }
    }
}

impl Phase {
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Starting => 0,
            Self::Initializing => 1,
            Self::Ready => 2,
            Self::Closing => 3,
            Self::Ended { .. } => 4,
        }
    }
}
