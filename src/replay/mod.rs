//! Answers beside answers: what differs between two exchanges, and whether it matters.
//!
//! ```text
//!  a rules file ──▶ rules ─┐
//!                          ▼
//!  two exchanges ──────▶ judge ──▶ report ──▶ an exit code, and what the commands write
//!                          ▲
//!                       compare
//! ```
//!
//! * [`compare`]: two messages, structurally;
//! * [`rules`]: what a user says about values that may differ;
//! * [`judge`]: two exchanges, or one that has no other: what differs, and how much it matters;
//! * [`report`]: what came of a comparison;
//! * [`mod@key`]: which request is which;
//! * [`rewrite`]: paths that stand for others.
//!
//! All of it is pure.

pub mod bind;
pub mod client;
pub mod compare;
pub mod judge;
pub mod key;
mod noise;
pub mod report;
pub mod rewrite;
pub mod rules;
pub mod script;
