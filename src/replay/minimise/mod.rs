//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! * [`ddmin`](ddmin()): delta debugging over numbered units. Pure.

mod ddmin;

pub use ddmin::{Minimal, Verdict, ddmin};
