//! Recordings played again, and answers beside answers: what differs between two exchanges, and
//! whether it matters.
//!
//! ```text
//!  a rules file ──▶ rules ─┐
//!                          ▼
//!  two exchanges ──────▶ judge ──▶ report ──▶ an exit code, and what the commands write
//!                          ▲
//!                       compare
//!
//!  a recording ─ script ─▶ client ◀─▶ a server      bind: recorded values → live values
//!  a recording ─ index ──▶ mock ◀──▶ a host
//! ```
//!
//! * [`compare`]: two messages, structurally;
//! * [`rules`]: what a user says about values that may differ;
//! * [`judge`]: two exchanges, or one that has no other: what differs, and how much it matters;
//! * [`report`]: what came of a comparison;
//! * [`mod@align`]: which exchange of one recording stands for which of another;
//! * [`recorded`]: two recordings, exchange beside exchange;
//! * [`mod@key`]: which request is which;
//! * [`arguments`]: those of a request, to be edited by a person;
//! * [`rewrite`]: paths that stand for others;
//! * [`script`]: a recording as steps; [`bind`]: recorded values and what stands for them now;
//!   [`client`]: a recorded client, played to a server again;
//! * [`called`]: what recordings are called where somebody is to find them again;
//! * [`minimise`]: the fewest messages of a client with which it still fails;
//! * [`mod@renew`]: a session that was had again, as the one before;
//! * [`mock`]: a server that answers from a recording.
//!
//! All of it is pure, but for [`recorded`], [`script`], [`mod@renew`] and the units of
//! [`minimise`], which read recordings, and [`client::target`], which drives a process, and
//! [`mock::serve`], which is one.

pub mod align;
pub mod arguments;
pub mod bind;
pub mod called;
pub mod compare;
pub mod judge;
pub mod key;
mod lines;
pub mod minimise;
pub mod mock;
mod noise;
pub mod player;
pub mod recorded;
pub mod renew;
pub mod report;
pub mod rewrite;
pub mod rules;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
pub mod written;
