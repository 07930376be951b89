//! A server that answers from a recording.

use super::{Bind, bind};
use crate::cli::folder::Folder;
use crate::cli::mock;
use clap::{Args, ValueEnum};
use mcpreel_replay::mock::{Fault, Latency};
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  mcpreel mock 7f3a9c21
  mcpreel mock session.jsonl --latency recorded
  mcpreel mock 7f3a9c21 --fault 'tool:search -> delay 5s' --fault 'tool:pay -> crash'
  mcpreel mock session.reel --assert-no-miss --assert-all-used --format json

In a host's configuration:
  {\"command\": \"mcpreel\", \"args\": [\"mock\", \"/home/ada/session.reel\"]}

Exit code: 0, or 3 a recording that cannot be served (nothing to answer, redacted
values without --bind), 6 an assertion does not hold or --on-miss exit; or as the
recorded server ended, if it died over a request.";

const LEARN: &str = "\
What a request gets:
  A recorded request stands for a live one of the same method if the params are
  the same (but for _meta and the spelling), or else the same but for ids, times,
  durations, ports and temporary files. Of several the next one in recorded order
  answers; when all are used, the last one again. `initialize`, `ping` and lists
  can always be repeated. What came with the answer comes again: progress and log
  messages if the host wants them, requests of the server if it can answer them,
  notifications after the same request or answer as recorded.
  What is not on record gets an error -32000 that names what comes nearest and
  where it differs; the same is said on stderr when the host closes the input.

What is said with --format json:
  Lines on stderr when the session is over, each a JSON object of a `kind`. The
  `summary` has how much is `recorded` and was `used`, the `requests` of the host,
  those that were `served` from the recording, and `counts` of everything below and
  more. Then come, at most twenty of each kind (`left_out` says how many more there
  are), requests that are not on record: `missed`, and `near` (answered by the
  nearest), each with `method`, `name`, `reason`, the frame that is `nearest` and
  the paths at which it `differs`; and by their frames (`seq`) recorded requests
  that are `unused` or `out_of_order`. An `assertion` does not hold. A `remark` is
  said as soon as it is known.

Faults:
  FILTER is in the filter language of `show -q` and sees the live request; the
  first that fits counts. Behind the arrow (-> will do) comes one of
    delay 5s                the answer comes later
    error -32603 [message]  an error in its place
    drop                    no answer
    crash                   the mock dies";

/// Be the server: answer a host from a recording
///
/// Put it in place of the server's command in a host's configuration. It needs nothing but the
/// recording: no server, no network, no credentials. The session with the host is recorded as well,
/// under the recording's name with -mock behind it, so that the viewer shows what the host asked.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{LEARN}"))]
pub struct Mock {
    /// A path (of a cassette, too), @, @2, an id or its first four digits or more, or a name. In a
    /// configuration better a path or an id: the newest recording may soon be another
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// What a request gets that is not on record
    #[arg(long, value_name = "WHAT", default_value = "error")]
    pub on_miss: OnMiss,
    /// Serve nothing twice but `initialize`, `ping` and lists
    #[arg(long)]
    pub once: bool,
    /// When answers come: none (at once), recorded, or for example fixed:50ms
    #[arg(long, value_name = "WHEN", default_value = "none", value_parser = mock::latency)]
    pub latency: Latency,
    /// Something that goes wrong on purpose: 'tool:search -> error -32603'
    #[arg(long, value_name = "FAULT", value_parser = mock::fault, allow_hyphen_values = true)]
    pub fault: Vec<Fault>,
    /// What a redacted value is: `env:NAME` or `file:PATH`, for example secret:1=env:TOKEN
    #[arg(long, value_name = "PLACEHOLDER=SOURCE", value_parser = bind)]
    pub bind: Vec<Bind>,
    /// A file of rules about params that may differ; NAME.rules.toml beside the recording is read
    /// as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// Write the recorded lines of stderr again
    #[arg(long)]
    pub stderr: bool,
    /// How what came of it is said on stderr
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub format: Said,
    #[command(flatten)]
    pub assertions: Assertions,
}

/// What must hold at the end.
#[derive(Debug, Args)]
pub struct Assertions {
    /// Exit code 6 unless everything on record was asked (pings aside)
    #[arg(long)]
    pub assert_all_used: bool,
    /// Exit code 6 if something was asked that is not on record
    #[arg(long)]
    pub assert_no_miss: bool,
    /// Exit code 6 if requests came in another order than on record
    #[arg(long)]
    pub assert_order: bool,
}

/// How what came of it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Said {
    /// For people: what was used in a line, then what was not on record, and what comes nearest
    Text,
    /// For programs: one JSON object per line, a summary first
    Json,
}

/// What a request gets that is not on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnMiss {
    /// An error that names what comes nearest
    Error,
    /// The answer to what comes nearest, marked in its `_meta`
    Nearest,
    /// No answer
    Hang,
    /// The error, and the end of the mock with exit code 6
    Exit,
}
