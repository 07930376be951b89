//! mcpreel: a flight recorder and live inspector for the Model Context Protocol.
//!
//! ```text
//!  host ──stdin──▶ ┌───────────── mcpreel run ─────────────┐ ──stdin──▶ server
//!  host ◀─stdout── │ capture: a plain thread per stream    │ ◀─stdout──
//!  host ◀─stderr── │   read → append to spool → write      │ ◀─stderr──
//!                  └──────────────────┬────────────────────┘
//!                  ┌───────────────────────────────────────┐
//!                  │ store::indexer, a process (nice 19)   │
//!                  │   spool → wire →     trace → SQLite   │
//!                  └──────────────────┬────────────────────┘
//!                                     ▼ one .reel file per session
//!     open (the viewer) · ls · show · tail · stats · why · lint · search · diff · replay ·
//!     minimise · mock · export · report · import · redact ·
//!     prune · reindex
//! ```
//!
//! | crate | question that it answers |
//! |---|---|
//! | `mcpreel-wire` | what is on the wire: frames, JSON, JSON-RPC, MCP; hostile text made safe. Pure |
//! | `mcpreel-trace` | what it means: exchanges, sessions, statistics, the filter language. Pure |
//! | `mcpreel-lint` | what is wrong: rules and causes. Pure |
//! | `mcpreel-redact` | what may leave. Pure |
//! | `mcpreel-capture` | how bytes get from one side to the other, and on record |
//! | `mcpreel-bridge` | how MCP gets from pipes to HTTP, and back |
//! | `mcpreel-store` | where recordings live, how they are recorded, indexed, read and recovered |
//! | `mcpreel-share` | what leaves a recording and comes in: cassettes, pages, reports, traces, logs |
//! | `mcpreel-replay` | recordings used again: replay, mock, comparison |
//! | `mcpreel-tui` | the viewer |
//! | `mcpreel-config` | what a user may set, and where |
//! | [`cli`] | the commands |
//! | [`demo`] | the built-in host and server |

pub mod cli;
pub mod demo;

/// The unit tests write sessions with the same file as the integration tests and the benches.
#[cfg(test)]
#[path = "../tests/support/written.rs"]
#[expect(clippy::missing_panics_doc, reason = "only tests call it")]
pub mod written;
