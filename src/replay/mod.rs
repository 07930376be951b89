//! Answers beside answers: what differs between two exchanges, and whether it matters.
//!
//! * [`compare`]: two messages, structurally. Pure;
//! * [`key`]: what a request is told apart by. Pure;
//! * [`mock`]: a server that answers from a recording.

pub mod compare;
pub mod key;
pub mod mock;
