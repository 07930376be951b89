//! Looking for the fewest messages with which a session still fails.

use super::args_replay::{Driving, time};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Find the fewest messages of a client with which its server still fails
///
/// Replays a recording again and again, each time without some of the client's messages, until none
/// can be left out without losing the failure. What belongs together stays together: a request with
/// its cancel, its rounds of input and what the client answers meanwhile; and whoever gives a
/// handle, a cursor or a task back needs the call that it came from. The handshake always stays.
/// The result is a recording like any other: the shortest replay that failed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel minimise @ --fails is:failed
  mcpreel minimise 7f3a --fails 'tool:search status:tool-error' -- ./target/debug/my-server
  mcpreel minimise @ --fails 'status:lost' --allow-tool write_file --rewrite /home/ada/work=/tmp/copy
  mcpreel minimise @ --fails 'code:-32603' --runs 5 --max-runs 200 --timeout 10m

FILTER is of the filter language, and judged on each replay: the failure is there when any
row fits. Say it as narrowly as you can: a call that fails only because the one before it
is left out fits `is:failed` as well.

Calls of tools go out as in `replay`, only where the server lists the tool with
readOnlyHint, unless they are allowed; but what is allowed is called in every run, which
may be hundreds of times. Let it work on a copy of what it changes. A stranger's command is
started as in `replay`: not unseen.

A failure that comes only sometimes needs --runs: messages are left out where any of so
many runs fails without them, so each step was seen to fail; in the end the result is
played again, and you are told how often it failed.

Exit code: 0 the fewest messages were found, or as few as the limits allowed; 1 it does not
fail; 2 wrong arguments; 3 a recording that cannot be read or used; 7 a stranger's command;
where it does not fail also 4 the server failed, 5 it hangs, 7 calls were refused; 130 and 143 interrupted, with
the best so far.")]
pub struct Minimise {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING")]
    pub recording: OsString,
    /// What shows that it failed, in the filter language: is:failed, tool:search status:error, ...
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub fails: String,
    /// A file of rules that bind values; NAME.rules.toml beside the recording is read as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// The result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub driving: Driving,
    #[command(flatten)]
    pub search: Search,
}

/// How long is looked.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often it is run")]
pub struct Search {
    /// How often messages are tried before they count as not failing
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub runs: u16,
    /// How many runs there are at most, in all
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: u32,
    /// How long one run may take; --timeout is for all of them
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub run_timeout: Option<Duration>,
}
