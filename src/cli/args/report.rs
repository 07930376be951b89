//! What is handed on with a bug report.

use super::{Folder, Secrets};
use clap::Args;
use mcpreel_redact::LIMITS;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  mcpreel report                     the newest recording, as a folder here
  mcpreel report 7f3a --zip          as one file, to be attached to a bug report
  mcpreel report 7f3a --home --email -o /tmp/for-ada";

/// Write all that a bug report needs, without secrets
///
/// A folder with report.md (what happened and why, to be pasted), report.html (the session, for a
/// browser), session.reel (the session, for mcpreel: to be opened, compared, replayed), and what
/// was replaced, in redaction.txt and redaction.json. All of it is looked through for leaks before
/// it appears; what was removed is told, and what to look at by eye.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{LIMITS}"))]
pub struct Report {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// The folder, or the file [default: mcpreel-report-NAME-ID here]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Write one ZIP file
    #[arg(long)]
    pub zip: bool,
    /// Replace a report that is there
    #[arg(long)]
    pub force: bool,
    /// Say as JSON what was written, what was removed, and what to look at by eye
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub what: Secrets,
}
