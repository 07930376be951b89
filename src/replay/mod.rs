//! Answers beside answers: what differs between two exchanges, and whether it matters.
//!
//! * [`compare`]: two messages, structurally. Pure.

pub mod compare;
pub mod key;
pub mod mock;
