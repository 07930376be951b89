//! Replay: a recorded client, played to a server again.
//!
//! * [`director`]: what is sent when and what is found, told in `scenarios/*.toml`, without
//!   processes;
//! * [`play`]: how a scenario is played;
//! * [`cases`]: how the command ends with real servers, and what it says;
//! * [`exit`]: the same on a terminal, with signals, and without a reader;
//! * [`record`]: what a replay leaves on record;
//! * [`replay_minimise`]: the fewest messages with which it still fails;
//! * [`trust`]: whose command is started;
//! * [`replay_update`]: a cassette becomes what the server says now;
//! * [`process`]: how a case is recorded and replayed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod cases;
mod diff;
mod director;
mod exit;
#[path = "../support/cases.rs"]
mod files;
mod mock;
mod play;
mod process;
mod record;
mod replay_minimise;
mod replay_update;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/told.rs"]
mod told;
mod trust;
