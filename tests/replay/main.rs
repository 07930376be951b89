//! Replay: a recorded client, played to a server again.
//!
//! * [`director`]: what is sent when and what is found, told in `scenarios/*.toml`, without
//!   processes;
//! * [`play`]: how a scenario is played.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod director;
mod play;
#[path = "../support/told.rs"]
mod told;
