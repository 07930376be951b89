//! Answers beside answers: what differs between two exchanges, and whether it matters.
//!
//! * [`compare`]: two messages, structurally. Pure.
//! * [`minimise`]: the fewest units with which it still fails.

pub mod compare;
pub mod minimise;
