//! mcpreel: a flight recorder and live inspector for the Model Context Protocol.
//!
//! ```text
//!  host ──stdin──▶ ┌───────────── mcpreel run ─────────────┐ ──stdin──▶ server
//!  host ◀─stdout── │ capture: a plain thread per stream    │ ◀─stdout──
//!  host ◀─stderr── │   read → append to spool → write      │ ◀─stderr──
//!                  │ store::indexer (nice 19)              │
//!                  │   spool → protocol → trace → SQLite   │
//!                  └──────────────────┬────────────────────┘
//!                                     ▼ one .reel file per session
//!     open (the viewer) · ls · show · tail · stats · why · lint · search · diff · replay ·
//!     minimise · mock · export · report · import · redact ·
//!     prune · reindex
//! ```
//!
//! | module | question that it answers |
//! |---|---|
//! | [`protocol`] | what is on the wire: frames, JSON, JSON-RPC, MCP. Pure |
//! | [`trace`] | what it means: exchanges, sessions, statistics. Pure |
//! | [`query`] | which rows are meant: the filter language. Pure |
//! | [`lint`] | what is wrong. Pure |
//! | [`redact`] | what may leave. Pure |
//! | [`capture`] | how bytes get from one side to the other, and on record. It moves bytes |
//! | [`store`] | where recordings live, how they are indexed, read and recovered |
//! | [`record`] | one session being recorded: capture and store put together |
//! | [`formats`] | what leaves a recording and comes in: the cassette; the page, transcripts, reports, traces; logs of other programs |
//! | [`outgoing`] | how it leaves: as a file that is whole or not there, without secrets |
//! | [`replay`] | recordings used again: a client played again, the fewest messages with which it fails, a server that answers from one, answers beside answers |
//! | [`demo`] | the built-in host and server |
//! | [`tui`] | the viewer: how sessions look in a terminal |
//! | [`words`] | what is on record in words for people |
//! | [`text`] | how hostile text, sizes and times are written for people |
//! | [`config`] | what a user may set, and where |
//! | [`cli`] | the commands |
//!
//! Who may import whom is enforced by `tests/layering.rs`.

pub mod capture;
pub mod cli;
pub mod config;
pub mod demo;
pub mod formats;
pub mod lint;
pub mod outgoing;
pub mod protocol;
pub mod query;
pub mod record;
pub mod redact;
pub mod replay;
pub mod store;
pub mod text;
pub mod trace;
pub mod tui;
pub mod words;

/// The tests share files with those that see this library from outside.
#[cfg(test)]
extern crate self as mcpreel;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../tests/support/written.rs"]
mod written;
