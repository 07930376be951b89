//! What may leave.

use super::Folder;
use clap::Args;
use mcpreel_redact::LIMITS;
use std::ffi::OsString;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  mcpreel redact 7f3a                      what would be replaced, where, by which rule
  mcpreel redact 7f3a -o shared.reel       a recording without it
  mcpreel redact @ --email --home -o shared.reel
  mcpreel redact --scan bug-report/        looks for leaks; exit code 1 if there is one
  mcpreel redact --list                    the rules";

const KINDS: &str = "\
What is secret: values of keys, variables, options and headers with names such as
password, apiKey, GITHUB_TOKEN, --token, Authorization; tokens of clouds, of code
hosting and of other services; JSON Web Tokens, private keys, passwords in URLs;
and whatever is one of these in one place, wherever it appears again: in both
directions, on stderr, in the command line, in keys, in JSON in strings, as base64,
in hex digits and percent-encoded. [redact] in the configuration adds names,
patterns and paths.

`‹secret:1›` stands in place of a value, wherever it stood; another value has
another number. So what belongs together still does: a redacted recording is
compared and replayed like any other, with --bind secret:1=env:TOKEN.";

/// Take secrets out of a recording, or look for leaks
///
/// Without -o nothing is written: the report says what would be replaced where, and by which rule,
/// never what it is. With -o a recording is made that has the same frames, times and marks, and
/// everything in it is derived from what was redacted; its id is its own, and it says which
/// recording it was made of. `mcpreel export` does the same on its way.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{LIMITS}"))]
#[command(after_long_help = format!("{EXAMPLES}\n\n{KINDS}\n\n{LIMITS}"))]
pub struct Redact {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    /// The recording that is made
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there already
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub what: Secrets,
    /// The report as one JSON object; of --scan one for each place
    #[arg(long)]
    pub json: bool,
    /// Look for secrets in files of any kind and in folders, and say where
    #[arg(
        long,
        value_name = "PATH",
        num_args = 1..,
        conflicts_with_all = ["recording", "output", "list"]
    )]
    pub scan: Vec<PathBuf>,
    /// Say which rules there are
    #[arg(long)]
    pub list: bool,
}

/// What is taken for a secret besides what always is.
#[derive(Debug, Default, Args)]
pub struct Secrets {
    /// Replace addresses of e-mail as well
    #[arg(long)]
    pub email: bool,
    /// Replace the names of home folders as well
    #[arg(long)]
    pub home: bool,
    /// Do without a rule
    #[arg(long, value_name = "RULE")]
    pub without: Vec<String>,
}
