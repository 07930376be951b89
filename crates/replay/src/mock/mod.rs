//! A server that answers from a recording. The host starts `mcpreel mock RECORDING` in its place.
//!
//! ```text
//!  recording ──▶ index (requests and steps, no bodies)
//!                  │
//!  host ──line──▶ server ◀──▶ matcher (exact, then normalised; nearest on a miss)
//!        ◀─write──  │  ▲
//!                   │  └── Source: a line, read when it is served
//!                   ▼
//!                 report (used, unused, missed)
//! ```
//!
//! * [`index`]: what the recorded client asked, and what the server sent before, within and after
//!   each answer;
//! * [`matcher`]: the texts by which requests are told apart, which recorded request a live one
//!   stands for, and what comes nearest to one that stands for none;
//! * `server`: time and messages in, actions out; it plays what belongs to an exchange, with live
//!   ids; `answering`: what a line of the host gets, and what the host may be asked;
//! * [`faults`]: failures on purpose;
//! * [`on_stdio`]: pipes, threads, signals, and the recording of the session with the host.
//!
//! # What it promises
//!
//! * The recorded client, run again, gets the same bytes, except that ids, progress tokens,
//!   `subscriptionId` and `requestId` are those of the live session and `requestState` is our own
//!   token. The same input gives the same output, to the byte; only latencies depend on time.
//! * **Matching.** By params without `_meta` (but for what a rule keeps) in canonical form: first
//!   `exact`, then `normalised` (values that no two runs share are reduced to their shape, rules
//!   apply, values that the server handed out count as they are). Of equal requests the earliest
//!   unused one at or after the cursor (the place after the last one served) answers, then earlier
//!   ones, then the last one again (with `--once`: a miss). `initialize` (whatever its params),
//!   `server/discover`, `ping` and lists with the same cursor can always be repeated and do not
//!   move the cursor.
//! * **A miss** is an error −32000 whose `data` has `reason` and up to three `nearest` with
//!   distance and differing paths; or what `--on-miss` says.
//! * **Messages of an exchange** come within it in recorded order: progress if the live request has
//!   a token; log messages, in the modern era if the live request asks for them; requests of the
//!   server with ids of our own, if the client declared the capability. Where the recorded server
//!   waited for an answer, the mock does, for 30 s; then it cancels its request and goes on.
//! * **Messages of no exchange** (`list_changed`, `resources/updated`, log messages, lines that are
//!   no messages, with `--stderr` lines of stderr) come after the same anchor as recorded: the start,
//!   a request, an answer, a notification, or the end of input; once, however often the anchor is
//!   repeated.
//! * **Silence is recorded too**: a request that was cancelled or never answered gets no answer, and
//!   where the server died over a request the mock ends in the same way: at once if it is the last
//!   that was lost, else as long after it as the server did, if the last does not come before.
//! * **Input rounds**: a retry with our token goes on to the next recorded round of its chain;
//!   a token that we did not give is an error −32602.
//! * Values of redacted placeholders (`--bind secret:1=env:NAME`) are expected in requests and filled
//!   into answers. A placeholder without a value is expected and served as it stands.

mod answering;
pub mod faults;
pub mod index;
pub mod matcher;
pub mod mock_report;
pub mod on_stdio;
mod server;

use crate::rules::Rules;
pub use faults::Fault;
pub use index::Index;
use mcpreel_redact::token::spellings;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::framing::as_line;
use mcpreel_wire::json::quoted;
pub use mock_report::Report;
pub use server::{Action, Ended, Server};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug, Default)]
pub struct Options {
    pub on_miss: OnMiss,
    /// Serve nothing twice but what can always be repeated.
    pub once: bool,
    pub latency: Latency,
    /// The first fault that fits a request counts.
    pub faults: Vec<Fault>,
    /// Write recorded lines of stderr again.
    pub stderr: bool,
    /// Differences in params that do not matter.
    pub rules: Rules,
}

/// The answer to a request that is not on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMiss {
    /// An error that names what comes nearest.
    #[default]
    Error,
    /// The answer to what comes nearest, marked.
    Nearest,
    Hang,
    /// The error, and the end of the mock.
    Exit,
}

/// When answers come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Latency {
    #[default]
    None,
    /// Each message comes as long after its cause as in the recording.
    Recorded,
    /// An answer comes this long after the request; messages that belong to it come at once.
    Fixed(Duration),
}

/// A recording, with secrets filled in.
#[derive(Debug)]
pub struct Source {
    pub recording: Recording,
    pub secrets: Secrets,
}

impl Source {
    /// The line of a frame, with its end.
    pub fn line(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        let head = self.recording.head(seq)?;
        let is_carried = head.is_some_and(|head| head.stream.connection().is_some());
        let mut line = self.recording.raw(seq)?;
        if is_carried {
            line = as_line(&line);
        }
        let mut line = self.secrets.fill(line);
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        Ok(line)
    }
}

/// The values of redacted placeholders, by name: `secret:1`.
#[derive(Clone, Debug, Default)]
pub struct Secrets(pub BTreeMap<String, String>);

impl Secrets {
    /// JSON text with the values in place of their placeholders; bytes that are not UTF-8 stay.
    pub fn fill(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return bytes;
        }
        let mut text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return error.into_bytes(),
        };
        for (name, value) in &self.0 {
            let json = quoted(value);
            for (open, close) in spellings() {
                let placeholder = format!("{open}{name}{close}");
                text = text.replace(&placeholder, &json[1..json.len() - 1]);
            }
        }
        text.into_bytes()
    }
}
