//! What a recording promises, shown on spools made by hand.

mod annotating;
mod following;
mod indexing;
mod listing;
mod opening;
mod recovering;
mod searching;
mod selecting;
mod session;
mod telling;
mod traffic;

/// The integration tests and the benches write sessions with the same file.
#[path = "../../../tests/support/written.rs"]
#[expect(dead_code, reason = "the others use more of it")]
mod written;
