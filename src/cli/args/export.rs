//! What leaves a recording.

use super::{Folder, Secrets};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a recording is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A cassette: JSON Lines, a line per frame or event; mcpreel reads it like a recording
    Jsonl,
    /// A transcript for reading: what was said, in order, laid out and escaped
    Text,
    /// A bug report: what happened and why, with a diagram and the messages that matter
    Markdown,
    /// A trace for OpenTelemetry, in OTLP/JSON: a span per request
    Otlp,
    /// A trace for Perfetto or Chrome: exchanges, notifications, stderr and events over time
    Perfetto,
    /// A page for a browser: one file with all that it needs, which loads and sends nothing
    Html,
    /// One recording file: a copy or a part, also of a recording that is being made or of a cassette
    Recording,
}

const EXAMPLES: &str = "\
Examples:
  mcpreel export -o session.jsonl                the newest recording, all of it
  mcpreel export 7f3a -q 'is:failed' -o failed.jsonl
  mcpreel export 7f3a --from 100 --to 180 | jq -c 'select(.k == \"req\") | .raw'
  mcpreel export @ --format markdown -o report.md
                                                 a bug report: what happened, why, a diagram
  mcpreel export @ --format text | less          what was said, laid out for reading
  mcpreel export @ --format perfetto -o trace.json
                                                 to be opened in ui.perfetto.dev
  mcpreel export @ --format otlp -q 'is:slow' -o spans.jsonl
  mcpreel export @ -q 'is:marked' -o marked.jsonl
  mcpreel export @ --format html -o session.html
                                                 a page for a browser
  mcpreel export @ --raw --format recording -o copy.reel
                                                 a copy, also while it is recorded
  mcpreel show session.jsonl                     a cassette is taken wherever a recording is";

const CASSETTE: &str = "\
A cassette (--format jsonl) has a header, then a line per frame or event, in the
order in which they were recorded:
  n         the number of the frame
  t, t0     when its last byte came and, if that was another one, its first:
            microseconds since the start
  d         where it went: c2s (to the server), s2c (to the client), stderr
  k         req, res, note (a notification), text (stderr), other (no message);
            event, and end, which says that the file is whole
  m         the method
  re        of a response: the frame of its request
  in        the request that it belongs to: of progress, log messages, cancels,
            of what the server asked during a call, of a retry the first round
  raw       the bytes of the frame, verbatim, where they are one JSON text and a
            newline; else b64: all of them as base64; text: a line of stderr
  event     what happened to the process or to the recording

It has no date, no id and no process number of its own in its header, so that it
can be kept beside the code. What a hand has changed or damaged is told by line,
and the rest is read.";

/// Write a recording as a file that can be handed on
///
/// --format jsonl, the default, writes a cassette. With a filter, the rows of the viewer that fit,
/// an exchange with all that belongs to it: progress, cancel, what the server asked meanwhile,
/// other rounds. --format html writes the same as a page for a browser: one file that loads and
/// sends nothing, with list, waterfall, filter, trees and findings. The other formats are for
/// reading (text, markdown) and for other people's programs (otlp, perfetto); with a filter they have
/// the same rows. --format recording copies a recording, also while it is being made, or
/// makes one of a cassette. The file appears when it is whole, readable by you alone.
///
/// What is secret is replaced on the way, as `mcpreel redact` does; --raw writes everything as it
/// was on the wire.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{CASSETTE}"))]
pub struct Export {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// As what
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: ExportFormat,
    /// Write everything as it was said, with whatever secrets stand in it
    #[arg(long, conflicts_with_all = ["email", "home", "without"])]
    pub raw: bool,
    /// In a trace (--format otlp), arguments, results and texts too
    #[arg(long)]
    pub with_bodies: bool,
    #[command(flatten)]
    pub what: Secrets,
    /// The file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there already
    #[arg(long)]
    pub force: bool,
    /// Only what fits, in the filter language, exchanges whole: is:failed, tool:search, ...
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    pub query: Option<String>,
    /// Only from this frame on
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub from: Option<u64>,
    /// Only up to this frame
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(u64).range(1..))]
    pub to: Option<u64>,
}
