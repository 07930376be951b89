//! Servers that are reached over the network.
//!
//! | part | what is played | promise |
//! |---|---|---|
//! | `recorded` | `wire/*`: what real peers sent, read by read | messages, exchanges and HTTP are told as their client saw them |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/told.rs"]
mod told;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/wire.rs"]
mod wire;

use support::written;

mod copies;
mod recorded;
