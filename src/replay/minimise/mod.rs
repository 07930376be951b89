//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! ```text
//!  recording ─▶ Units ─ sets of them ─▶ ddmin ─ one set ─▶ closed: with all that it needs
//!                                         ▲                    │
//!                                         └── fails, or not ◀──┴─ a replay without the rest
//! ```
//!
//! * [`Units`]: what stays or goes together: a request with its cancel, the rounds of its chain and
//!   what the client tells the server while it answers; a batch; a notification. And which unit
//!   needs which other one. It reads a recording.
//! * [`ddmin`](ddmin()): delta debugging over numbered units. Pure.
//! * [`Tried`]: what is known of sets that were tried, whatever they are closed to. Pure.
//!
//! The handshake is in no unit: it always stays. Nor are answers of the client: they go out where
//! the server asks.

mod ddmin;
mod tried;
mod units;

pub use ddmin::{Minimal, Verdict, ddmin};
pub use tried::Tried;
pub use units::{Unit, Units};
