//! Servers and hosts that misbehave on purpose: `peer MODE ARGUMENT…`.
//!
//! A file per family of modes, each with a `run(mode, arguments)` that answers `None` for a mode
//! that is not its own.

#![expect(
    clippy::print_stderr,
    reason = "it is not the program: what it writes is what the tests look at"
)]

mod chatter;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../dice.rs"]
mod dice;
#[path = "../byte_pattern.rs"]
mod pattern;
mod peer_bytes;
mod peer_signals;
#[expect(dead_code, reason = "the tests use the rest")]
#[path = "../pieces.rs"]
mod pieces;
mod recall;
mod rmcp_http_client;
mod rmcp_server;
mod script;
mod sleeper;
#[expect(
    clippy::unwrap_used,
    dead_code,
    reason = "the tests use the rest, and what cannot go on has failed"
)]
#[path = "../told.rs"]
mod told;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().unwrap_or_default();
    let arguments: Vec<String> = arguments.collect();
    let families = [
        peer_bytes::run,
        chatter::run,
        recall::run,
        rmcp_http_client::run,
        rmcp_server::run,
        script::run,
        peer_signals::run,
        sleeper::run,
    ];
    let ended = families.iter().find_map(|run| run(&mode, &arguments));
    // Not a code that any mode ends with on purpose.
    ended.unwrap_or(ExitCode::from(99))
}
