//! How an exchange stands or ended.

/// With this method a client asks whether the server speaks the newer era. A server of the older
/// one refuses it, whatever the error, and the client falls back to `initialize`: nothing has
/// failed.
pub const PROBE: &str = "server/discover";

/// How an exchange stands or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No answer yet, the recording is live.
    Open,
    Ok,
    ToolError,
    Error,
    /// The server asked for input; the retry is the next exchange of the chain.
    InputRequired,
    /// Answered by a task whose outcome is not known yet.
    Task,
    Cancelled,
    /// Answered after it had been cancelled.
    Late,
    /// The answering side ended while its input was still open, or by a signal or non-zero code.
    Lost,
    /// The recording ended otherwise with it open.
    Unanswered,
    /// An open `subscriptions/listen`; it has no latency.
    Listening,
    /// Too many requests were open: nobody knows whether there was an answer.
    GivenUp,
}

impl Status {
    /// All statuses, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Open,
        Self::Ok,
        Self::ToolError,
        Self::Error,
        Self::InputRequired,
        Self::Task,
        Self::Cancelled,
        Self::Late,
        Self::Lost,
        Self::Unanswered,
        Self::Listening,
        Self::GivenUp,
    ];

    /// The word used in recordings, output and filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::Error => "error",
            Self::InputRequired => "input-required",
            Self::Task => "task",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
            Self::Lost => "lost",
            Self::Unanswered => "unanswered",
            Self::Listening => "listening",
            Self::GivenUp => "given-up",
        }
    }

    pub fn help(self) -> &'static str {
        match self {
            Self::Open => "no answer yet, and the recording is live",
            Self::Ok => "answered with a result",
            Self::ToolError => "answered with a result that has isError",
            Self::Error => "answered with an error",
            Self::InputRequired => "the server asked for input first; joined to the retry",
            Self::Task => "answered with a task; joined to its outcome",
            Self::Cancelled => "cancelled, and never answered",
            Self::Late => "answered after it was cancelled",
            Self::Lost => "the answering side ended, or went wrong, before it answered",
            Self::Unanswered => "the recording ended otherwise before there was an answer",
            Self::Listening => "a subscription that stays open; it has no latency",
            Self::GivenUp => "not followed any longer, because too many were open",
        }
    }

    /// The status that [`Self::as_str`] writes so.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether an exchange of this method counts as failed with it: `error`, `tool-error`, `lost`,
    /// `unanswered`. But a [`PROBE`] that is refused says only that the server is of the older era.
    pub fn is_failure_of(self, method: &str) -> bool {
        match self {
            Self::Error => method != PROBE,
            Self::ToolError | Self::Lost | Self::Unanswered => true,
            _ => false,
        }
    }
}
