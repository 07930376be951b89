//! A server that answers from a recording. The host starts `mcpreel mock RECORDING` in its place.
//!
//! ```text
//!  recording ──▶ index (keys and places, no bodies)
//!                  │
//!  host ──line──▶ server ◀──▶ matcher (tiers, cursor, repeats)
//!        ◀─write──  │  ▲
//!                   │  └── reel: the bytes of a message, read when it is served
//!                   ▼
//!                 report (used, unused, missed, asserted)
//! ```
//!
//! * [`index`]: what the recorded client asked, and what came from the server before, within and
//!   after each answer. Of 100,000 exchanges it takes a few megabytes;
//! * [`matcher`]: which recorded request a live one stands for;
//! * [`nearest`]: of one that stands for none, what comes nearest and where it differs;
//! * [`server`]: live messages and time in, actions out. It knows neither pipes nor a clock;
//! * [`reel`]: the recorded bytes, with bound secrets in place of redacted values;
//! * [`faults`], [`latency`]: what goes wrong on purpose, and when answers come; [`unfit`]: faults
//!   that are meant for nothing on record;
//! * [`serve`]: pipes, threads, signals, and the recording of the session that is had with us.
//!
//! # What it promises
//!
//! * The recorded client, run again, gets the same bytes, except: ids, progress tokens,
//!   `subscriptionId` and `requestId` are those of the live session, `requestState` is our own
//!   token, and a batch is answered by one array if it was on record. The same input gives the same
//!   output, to the byte; only the latencies that are asked for depend on time.
//! * **Matching.** Params without `_meta` (but for what a rule keeps), in canonical form: first
//!   `exact`, then `normalised` (what no two runs share is reduced to its shape, rules are applied;
//!   what the server hands out counts as it is); with `--on-miss nearest` also `name`. In each
//!   tier: the earliest that was not used yet at or after the cursor (the place after the last one
//!   that was served), then earlier ones, then the last one again (with `--once`: no more).
//!   `initialize` (whatever its params), `server/discover`, `ping` and lists with the same cursor
//!   can always be repeated, and do not move the cursor. With `--sequence strict` everything else
//!   must come in recorded order.
//! * **A miss** is an error −32000 whose `data` has `reason`, `phase`, `candidates` and up to three
//!   `nearest` with distance and differing paths; or what `--on-miss` says.
//! * **What belongs to an exchange** comes within it in recorded order: progress if the live
//!   request has a token; log messages if the live client wants that level (modern: the request
//!   says so; legacy: unless `logging/setLevel` said otherwise); requests of the server with ids of
//!   our own, if the client declared the capability: where the recorded server waited for the
//!   answer, so do we, for 30 s; then we cancel and go on. The host's answers are compared, never
//!   required to match.
//! * **What belongs to none** (`list_changed`, `resources/updated`, log messages, noise, with
//!   `--stderr` lines of stderr) comes after the same anchor as recorded: the start, a request, an
//!   answer, a notification, an answer to a request of the server, or the end of input; once,
//!   however often the anchor is repeated. Where the recorded client had subscribed, only live
//!   subscribers get it.
//! * **Silence is on record too**: what was cancelled or never answered gets no answer, an answer
//!   that came after its cancel comes after ours (or after as long as it took), and where the
//!   server died over a request we end in the same way.
//! * **Input rounds**: a retry with our token goes on to the next recorded round of that chain, a
//!   token that we did not give is an error −32602.
//! * **The other era** gets an error that names the versions of the recording; one of another
//!   modern version `UnsupportedProtocolVersion`, as recorded where it was.
//! * A redacted recording needs a value for each placeholder (`--bind secret:1=env:NAME`): those
//!   are expected in requests and filled in into answers. Without it nothing is served.
//!
//! Not served again: responses that answered nothing on record. What the host asks for is hostile
//! like everything off a wire: work and memory per request are bounded.

pub mod faults;
pub mod index;
pub mod latency;
pub mod matcher;
pub mod nearest;
pub mod reel;
pub mod report;
pub mod secrets;
pub mod serve;

pub mod server;
pub mod unfit;
pub mod wanted;

pub use faults::Fault;
pub use index::Index;
pub use latency::Latency;
pub use report::Report;
pub use secrets::Secrets;
pub use server::{Action, Server};

use super::rules::Rules;
use std::ffi::OsString;

#[derive(Debug, Default)]
pub struct Options {
    /// What a request gets that is not on record.
    pub on_miss: OnMiss,
    /// Nothing is served twice but what can always be repeated.
    pub once: bool,
    /// Requests must come in recorded order.
    pub strict: bool,
    pub latency: Latency,
    /// What goes wrong on purpose; the first that fits a request counts.
    pub faults: Vec<Fault>,
    /// Whether recorded lines of stderr are written again.
    pub stderr: bool,
    /// What is passed over where requests are matched.
    pub rules: Rules,
}

/// What a request gets that is not on record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// An error that names what comes nearest.
    #[default]
    Error,
    /// The answer to what comes nearest, marked.
    Nearest,
    Hang,
    /// The error, and the end of the mock.
    Exit,
    /// The answer of the server that this command starts.
    Pass(Vec<OsString>),
}
