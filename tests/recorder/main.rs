//! The promises of the recorder, kept by real processes: bytes, signals, kills, full disks.
//!
//! | part | promise |
//! |---|---|
//! | `transparency` | each side receives exactly the bytes that the other side sent |
//! | `kill` | `kill -9` at any moment loses no byte that either side had received |
//! | `lifecycle` | signals, ends and exit codes pass through |
//! | `fail_open`, `unwritable` | a recording that fails never stops the session |
//! | `latency` | what is measured is when bytes came, not when they were parsed |
//! | `one_plain_file` | a finished recording is one ordinary SQLite file |

#[path = "../support/mod.rs"]
mod support;

mod fail_open;
mod kill;
mod latency;
mod lifecycle;
mod one_plain_file;
mod transparency;
mod unwritable;
