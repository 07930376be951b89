//! Recordings used again: played to a server, served to a host, compared with each other.
//!
//! ```text
//!  a recording ─▶ player ◀─▶ a server      bind: recorded values → live values
//!  a recording ─▶ mock ◀───▶ a host        rules: what may differ
//!  two recordings, or a replay ─▶ diff ─▶ a report
//! ```
//!
//! * [`diff`]: what differs, and how much it matters;
//! * [`rules`]: what a user says about values that may differ; [`rewrite`]: paths that stand for
//!   others;
//! * [`player`]: a recorded client, played to a server again; [`bind`]: recorded values and their
//!   live ones; [`arguments`]: those of a request, to be edited;
//! * [`mock`]: a server that answers from a recording;
//! * [`minimise`]: the fewest messages of a client with which it still fails;
//! * [`called`]: the names under which recordings are found again.

pub mod arguments;
pub mod bind;
pub mod called;
pub mod diff;
mod lines;
pub mod minimise;
pub mod mock;
pub mod player;
pub mod rewrite;
pub mod rules;
mod signals;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../../../tests/support/written.rs"]
#[expect(clippy::missing_panics_doc, reason = "only tests call it")]
pub mod written;
