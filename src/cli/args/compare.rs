//! Comparing recordings.

use crate::cli::folder::Folder;
use crate::cli::quantity;
use crate::cli::quantity::words;
use clap::{Args, ValueEnum};
use mcpreel_replay::diff::{Budget, Class, Threshold};
use std::ffi::OsString;
use std::path::PathBuf;

/// Say what differs between two recordings, or two exchanges
///
/// Requests of both are paired by what they ask for, in order; answers are compared by meaning, not
/// by spelling: how they ended, their shape, their values. What two runs never share (ids, times,
/// tokens) is counted, no more. Tools, prompts and resources are compared by name, schemas by what
/// they take and give. With one recording that was made by a replay: it and what was replayed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel diff @2 @                         the newest recording with the one before
  mcpreel diff 7f3a c04d --only tool:search
  mcpreel diff '7f3a#12' 'c04d#14'          two exchanges
  mcpreel diff                              the newest replay with what it replayed
  mcpreel diff old.reel new.reel --fail-on breaking --format junit > diff.xml
  mcpreel diff @2 @ --json | jq -r 'select(.class == \"breaking\") | .open[]'

How bad a difference is:
  breaking  who relied on the left side fails: an error, a missing member, another
            type, a tool that is gone or takes less
  changed   another value
  added     something more
  order     the same in another order, where order should not matter
  latency   later than --latency-budget allows
  noise     what differs between any two runs: ids, times, tokens

Exit code: 0 nothing differs as much as --fail-on says, 1 something does, 2 wrong
arguments or rules, 3 a recording that cannot be read, or nothing to compare.")]
pub struct Diff {
    /// The recording to go by: a path, @, @2, an id or its first four digits or more, or a name;
    /// with #SEQ one exchange of it
    #[arg(value_name = "LEFT[#SEQ]", default_value = "@")]
    pub left: OsString,
    /// The other one [default: LEFT, with the recording that it replays on the left]
    #[arg(value_name = "RIGHT[#SEQ]")]
    pub right: Option<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// Only requests that fit on either side, in the filter language: tool:search, is:failed, ...
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub only: Option<String>,
    /// Take another folder on the right for one on the left, in texts and file:// URIs
    #[arg(long, value_name = "OLD=NEW", value_parser = rewrite)]
    pub rewrite: Vec<(String, String)>,
    #[command(flatten)]
    pub strictness: Strictness,
    #[command(flatten)]
    pub form: Form,
}

/// What counts as a difference, and from where on it is a failure.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "What counts")]
pub struct Strictness {
    /// A file of rules about values that may differ; NAME.rules.toml beside the left recording is
    /// read as well
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
    /// How long an answer may take: 500ms, or 2x for twice as long as on the left
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub latency_budget: Option<Budget>,
    /// Numbers are equal only if written alike: 1 and 1.0 differ
    #[arg(long)]
    pub exact_numbers: bool,
    /// From which class of difference on the exit code is 1
    #[arg(long, value_name = "CLASS", default_value = "changed", value_parser = threshold())]
    pub fail_on: Threshold,
}

/// As what a report is written.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "How it is written")]
pub struct Form {
    /// For whom
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: ReportFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// What a report is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: the verdict first, then what the server offers, then call by call
    #[default]
    Text,
    /// For programs: one JSON object per difference and line, a summary first
    Json,
    /// For test reports: a case per method and tool
    Junit,
    /// For GitHub Actions: annotations
    Github,
}

impl Form {
    /// What is asked for.
    pub fn format(self) -> ReportFormat {
        if self.json {
            ReportFormat::Json
        } else {
            self.format
        }
    }
}

/// A class, or `never`.
fn threshold() -> impl clap::builder::TypedValueParser<Value = Threshold> {
    let mut all = Class::ALL.map(Class::as_str).to_vec();
    all.push(Threshold::Never.as_str());
    words(&all, Threshold::parse)
}

/// `500ms`, or `2x`.
fn budget(text: &str) -> Result<Budget, String> {
    let Some(times) = text.strip_suffix(['x', '×']) else {
        let nanos = quantity::nanoseconds(text).map(Budget::Absolute);
        return nanos.map_err(|_| {
            format!("`{text}` is no budget; write for example 500ms, or 2x for twice as long")
        });
    };
    let times = times.parse::<f64>().ok();
    let usable = times.filter(|times| times.is_finite() && *times >= 1.0);
    usable
        .map(Budget::Times)
        .ok_or_else(|| format!("`{text}` is no budget; it is at least 1x, as long as on the left"))
}

/// `OLD=NEW`.
pub fn rewrite(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(old, _)| !old.is_empty());
    let (old, new) = parts.ok_or_else(|| {
        format!("`{text}` rewrites nothing; write for example /home/ada/work=/tmp/copy")
    })?;
    Ok((old.to_owned(), new.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_or_a_factor() {
        assert_eq!(budget("500ms"), Ok(Budget::Absolute(500_000_000)));
        assert_eq!(budget("1.5x"), Ok(Budget::Times(1.5)));
        for wrong in ["2", "x", "0.5x", "-1x", "NaNx", "infx", "2 days"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
