//! What is known of when something was, and what a reader of a trace has to know of that: a span
//! without its times is one of 1970 to whoever reads it.

use mcpreel_store::reader::Summary;

/// What is known of when something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    Known,
    /// How long after the start; the start has no date.
    SinceStart,
    Unknown,
}

impl Times {
    pub fn of(summary: &Summary, is_untimed: bool) -> Self {
        match summary.wall_ns {
            _ if is_untimed => Self::Unknown,
            0 => Self::SinceStart,
            _ => Self::Known,
        }
    }

    /// What a reader has to know about them.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Known => None,
            Self::SinceStart => Some("no date is on record: times count from the start"),
            Self::Unknown => Some("not on record"),
        }
    }
}
