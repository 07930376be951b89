//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! ```text
//!  recording ─▶ Units ─▶ ddmin ─ a set of them, with all that it needs ─▶ a replay without the rest
//!                          ▲                                                 │
//!                          └─────────────── fails, or not ◀──────────────────┘
//! ```
//!
//! * [`Units`]: what stays or goes together: a request with its cancel, the rounds of its chain and
//!   what the client tells the server while it answers; a batch; a notification. And which unit
//!   needs which other one. It reads a recording.
//! * [`ddmin`](ddmin()): delta debugging over units of which some need others. Pure.
//!
//! The handshake is in no unit: it always stays. Nor are answers of the client: they go out where
//! the server asks.

mod ddmin;
mod units;

pub use ddmin::{Minimal, Verdict, ddmin};
pub use units::{Unit, Units};
