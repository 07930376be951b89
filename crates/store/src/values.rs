//! How the values of a recording stand in its columns.
//!
//! Enumerations are words, so that they read well in `sqlite3`; request ids and error codes are
//! the JSON text from the wire; numbers are `SQLite`'s signed 64-bit integers.

use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_wire::message::{Direction, Era};

/// A count, time or offset as `SQLite` keeps it. Nothing that is recorded comes near 2^63.
pub fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The number that [`to_sql`] wrote; 0 for a negative one, which only a damaged file has.
pub fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Whether `text` has the form of a recording's id: eight hex digits.
pub fn is_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A moment as it stands in a column.
pub fn moment(number: i64) -> Moment {
    Moment(from_sql(number))
}

/// The direction that [`Direction::as_str`] writes so.
pub fn direction(word: &str) -> Option<Direction> {
    [Direction::ClientToServer, Direction::ServerToClient]
        .into_iter()
        .find(|direction| direction.as_str() == word)
}

/// The era that [`Era::as_str`] writes so.
pub fn era(word: &str) -> Option<Era> {
    [Era::Legacy, Era::Modern]
        .into_iter()
        .find(|era| era.as_str() == word)
}

/// The kind that [`MessageKind::as_str`] writes so.
pub fn message_kind(word: &str) -> Option<MessageKind> {
    use MessageKind::{Notification, Other, Request, Response};
    [Request, Notification, Response, Other]
        .into_iter()
        .find(|kind| kind.as_str() == word)
}

/// How a recording stands, as it says itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Its recorder is writing, or was killed.
    Live,
    /// The session ended, and a part of it still stands in the spool.
    Pending,
    /// Whole, written to its end by its recorder or from a spool that was.
    Complete,
    /// Completed from the spool of a recorder that did not come to its end.
    Recovered,
}

impl State {
    pub const ALL: [Self; 4] = [Self::Live, Self::Pending, Self::Complete, Self::Recovered];

    /// The word used in recordings and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Pending => "pending",
            Self::Complete => "complete",
            Self::Recovered => "recovered",
        }
    }

    /// The state that [`Self::as_str`] writes so.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing more will be added from a spool.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Recovered)
    }
}
