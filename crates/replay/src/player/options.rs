//! What a user chooses about a replay.

use super::guard::Guard;
use crate::bind::Binder;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// Each message after what the recorded client had seen before it.
    #[default]
    Causal,
    /// The same, and one request at a time.
    Serial,
    /// Causal, and with the recorded gaps between the client's messages.
    Timed {
        speed: f64,
        /// The longest gap, before it is divided.
        max_gap: Duration,
    },
}

/// What the server gets where it asks for something that the recorded client was not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// An error: the method is not found.
    #[default]
    Fail,
    /// What a client says that has nothing to offer: no roots, a cancelled form.
    Stub,
}

/// Everything that a user chooses.
#[derive(Debug, Default)]
pub struct Options {
    pub order: Order,
    pub timeout: Option<Duration>,
    pub asked: Policy,
    pub guard: Guard,
    /// What becomes of the values that are sent.
    pub binder: Binder,
    /// Wall clock of the recording's t = 0, nanoseconds since the Unix epoch.
    pub recorded_wall_ns: u64,
    pub wall_ns: u64,
    /// How the recorded server ended, where that is known.
    pub recorded_end: Option<mcpreel_trace::session::End>,
}
