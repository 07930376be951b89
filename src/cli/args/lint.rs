//! What is wrong in recordings, and what the rules say.

use super::Folder;
use clap::{Args, ValueEnum};
use mcpreel_lint::{Severity, catalogue};
use mcpreel_wire::text::escape;
use std::ffi::OsString;

/// Below this likeness a suggestion is a guess that sends people the wrong way.
const ALIKE: f64 = 0.8;

/// Say what is wrong or remarkable in recordings, by rules
///
/// The rules know every revision of the protocol, and what servers and clients do in the wild. They
/// were applied when the recording was made; nothing is sent anywhere.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel lint                          the newest recording
  mcpreel lint 7f3a --fail-on warning
  mcpreel lint recordings/ --format junit > lint.xml
  mcpreel lint @ --allow frame-crlf --json | jq -r .rule | sort | uniq -c
  mcpreel lint --explain tool-args-invalid

Exit code: 0 nothing as bad as --fail-on says, 1 something is, 2 wrong arguments,
3 a recording that cannot be read.")]
pub struct Lint {
    /// Paths, @, @2, ids or their first four digits or more, or names; or folders of recordings
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recordings: Vec<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// One JSON object per finding and line; with --list per rule
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// For whom
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: Format,
    /// From which severity on the exit code is 1
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub fail_on: Level,
    /// Pass over the findings of this rule (also `allow` in the configuration)
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub allow: Vec<String>,
    /// Say what a rule means, why it matters and what to do
    #[arg(long, value_name = "RULE", value_parser = rule)]
    #[arg(conflicts_with_all = ["recordings", "list"])]
    pub explain: Option<String>,
    /// List all rules
    #[arg(long, conflicts_with = "recordings")]
    pub list: bool,
}

/// What findings are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: by rule, the worst first
    Text,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test reports: a suite per recording, a case per rule
    Junit,
    /// For GitHub Actions: annotations
    Github,
}

/// From which severity on something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Something breaks the protocol
    Error,
    /// Something is very likely a mistake
    Warning,
    /// Something is worth knowing
    Note,
    /// Nothing fails
    Never,
}

impl Level {
    /// Whether a finding of this severity fails.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity >= Severity::Error,
            Self::Warning => severity >= Severity::Warning,
            Self::Note => true,
            Self::Never => false,
        }
    }
}

/// The id of a rule, or what is wrong with `text`, with the rule that looks most like it.
pub fn rule(text: &str) -> Result<String, String> {
    if mcpreel_lint::rule(text).is_some() {
        return Ok(text.to_owned());
    }
    let likeness = |id: &str| strsim::jaro_winkler(id, text);
    let rules = catalogue().iter().map(|rule| rule.id);
    let nearest = rules
        .filter(|id| likeness(id) >= ALIKE)
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let hint = nearest.map_or_else(String::new, |id| format!(", did you mean `{id}`?"));
    let text = escape(text);
    Err(format!(
        "there is no rule `{text}`{hint} (`mcpreel lint --list` has them all)"
    ))
}
