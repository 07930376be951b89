//! What is read of recordings: their rows, a live one as it grows, figures, text.

use super::Folder;
use clap::Args;
use std::ffi::OsString;

/// Which rows.
#[derive(Debug, Default, Args)]
pub struct Filter {
    /// Only rows that fit, in the filter language of the viewer: is:failed,
    /// `tool:search latency>500ms`, params.arguments.path~"^/etc/", ...
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    pub query: Option<String>,
}

const SHOW_EXAMPLES: &str = "\
Examples:
  mcpreel show                   the newest recording
  mcpreel show 7f3a              by the beginning of its id
  mcpreel show '7f3a#1187'       one frame and its exchange (7f3a:1187 is the same)
  mcpreel show -q 'is:failed OR latency>2s'
  mcpreel show @2 --frames --json | jq -r 'select(.stream == \"stderr\") | .text'";

/// What the words and signs mean that recordings are shown with.
const LEGEND: &str = "\
How to read it:
  #            the number of a frame: one line of a stream as it was read, counted
               over all streams; exchanges have the number of their request
  →  ←         from the client to the server, from the server to the client
  legacy       the era of the protocol with a handshake (initialize)
  modern       the era without one: every request says its version

STATE of a recording:
  live         it is being recorded
  pending      the session is over, the rest of it is not indexed yet
  interrupted  the recorder was killed; the rest is in the spool
  recovered    it was interrupted, and completed from its spool
  cut          a copy of a live recording, which may be short
  complete     all of it is there

STATUS of an exchange:
  open            no answer yet, and the recording is live
  ok              answered with a result
  tool-error      answered with a result that has isError
  error           answered with an error
  input-required  the server asked for input first; joined to the retry
  task            answered with a task; joined to its outcome
  cancelled       cancelled, and never answered
  late            answered after it was cancelled
  lost            the answering side ended before it answered: while its input was
                  open, by a signal, or with an exit code other than 0
  unanswered      the recording ended otherwise before there was an answer
  listening       a subscription that was open until the end; it has no latency
  given-up        no longer followed, because too many requests were open at once";

/// Show a recording, or one frame of it with its exchange
///
/// Without options: who spoke, what they agreed on, how it ended, then a line per exchange. With
/// `#SEQ` after the recording: that frame, and the whole exchange that it belongs to.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES, after_long_help = format!("{SHOW_EXAMPLES}\n\n{LEGEND}"))]
pub struct Show {
    /// A path, @, @2, an id or its first four digits or more, or a name; with #SEQ one frame
    #[arg(value_name = "RECORDING[#SEQ]", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub what: What,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per line; without another option the summary in one object
    #[arg(long)]
    pub json: bool,
}

/// Which rows to show.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one flag each on the command line, of which at most one is set"
)]
pub struct What {
    /// Every line of every stream, as it was read
    #[arg(long)]
    pub frames: bool,
    /// Requests with their responses
    #[arg(long)]
    pub exchanges: bool,
    /// What happened to the process and to the recording
    #[arg(long)]
    pub events: bool,
    /// What is wrong or remarkable
    #[arg(long)]
    pub findings: bool,
}

/// Follow a recording while it is made
///
/// Prints a line when an exchange ends, one per notification, stderr line and event, and one for
/// any exchange that has been open for over a second. Ends when the recording does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel tail                   the newest live recording, or the next one
  mcpreel tail -q '-kind:stderr -method:notifications/progress'
  mcpreel tail weather-server --json")]
pub struct Tail {
    /// A path, @, @2, an id or its first four digits or more, or a name [default: the newest live
    /// one, or the next]
    #[arg(value_name = "RECORDING")]
    pub recording: Option<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Latencies and failures per method and per tool
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats
  mcpreel stats -q 'tool:search time>-10m'
  mcpreel stats weather-server --json | jq 'select(.p99_ns > 1e9)'")]
pub struct Stats {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per method or tool and line
    #[arg(long)]
    pub json: bool,
}

/// Say why a session went wrong
///
/// The most likely cause in one sentence, how sure it is, the frames, stderr lines and events that
/// show it, and what to do; below it whatever else may have played a part. Of a live recording, why
/// it hangs now. Where nothing is wrong it says so, and what that rests on.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel why                    the newest recording
  mcpreel why 7f3a               by the beginning of its id
  mcpreel why weather-server --json | jq -r '\"\\(.certainty): \\(.sentence)\"'

How sure it is:
  certain    the recording shows it
  likely     it fits what happened
  possible   it is there, but nothing shows that it did harm")]
pub struct Why {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// One JSON object per cause and line, the best first
    #[arg(long)]
    pub json: bool,
}

/// Find a text in recordings
///
/// Looks in every byte on record and in the summaries, the newest recording and frame first.
/// Without a capital letter in TEXT case is ignored; text is also found where JSON has escaped it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel search 'quota exceeded'
  mcpreel search --regex 'E[0-9]{4}' weather-server
  mcpreel search timeout --json | jq -r '\"\\(.id)#\\(.seq)\"'")]
pub struct Search {
    /// What is looked for
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Paths, @, @2, ids or their first four digits or more, or names [default: all recordings]
    #[arg(value_name = "RECORDING")]
    pub recordings: Vec<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// TEXT is a regular expression over the bytes as they were on the wire
    #[arg(long)]
    pub regex: bool,
    /// One JSON object per frame and line
    #[arg(long)]
    pub json: bool,
}

/// The rows of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Frames,
    Exchanges,
    Events,
    Findings,
}

impl What {
    /// The rows that were asked for; `None` without any of the options.
    pub fn rows(&self) -> Option<Rows> {
        let options = [
            (self.frames, Rows::Frames),
            (self.exchanges, Rows::Exchanges),
            (self.events, Rows::Events),
            (self.findings, Rows::Findings),
        ];
        let asked = options.into_iter().find(|(is_set, _)| *is_set);
        asked.map(|(_, rows)| rows)
    }
}
