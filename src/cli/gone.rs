//! Flags, values of flags and commands of earlier versions that no longer exist, each with what to
//! do instead. Using one prints that line and ends with exit code 2.

use clap::error::{ContextKind, ContextValue};
use std::ffi::OsString;

/// A line per thing that is gone: the command, the flag (`--flag` or `--flag VALUE`; empty if the
/// whole command is gone), and what to do instead.
const GONE: &str = "\
diff | --strict-logs | log messages are counted, not compared: leave it out
export | --format csv | `mcpreel stats RECORDING --json` has the same numbers
minimise | --frozen-rules | no rules are written any more: leave it out
mock | --on-miss pass | record the real server with `mcpreel run` and serve that recording
mock | --sequence | requests may come in any order; --assert-order fails the session if they came in another one
open | --redact | write a copy with `mcpreel redact RECORDING -o COPY.reel` and open that
replay | --frozen-rules | no rules are written any more: leave it out
replay | --noise-runs | compare two replays with `mcpreel diff`, and write rules for what differs
replay | --strict-logs | log messages are counted, not compared: leave it out
";

/// The command, the flag and the advice of each line.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    GONE.lines().filter_map(|line| {
        let (command, rest) = line.split_once(" | ")?;
        let (flag, instead) = rest.split_once(" | ")?;
        Some((command, flag, instead))
    })
}

/// The line to print for a command line that clap has refused with `error`, if the reason is
/// something that is gone.
pub fn line(error: &clap::Error, words: impl IntoIterator<Item = OsString>) -> Option<String> {
    let command = words.into_iter().nth(1)?.into_string().ok()?;
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.as_str(),
        _ => "",
    };
    // clap names a flag with its value's placeholder: `--format <FORMAT>`.
    let flag = context(ContextKind::InvalidArg).split([' ', '=']).next()?;
    let value = context(ContextKind::InvalidValue);
    let with_value = format!("{flag} {value}");
    rows()
        .filter(|(of, _, _)| *of == command)
        .find(|(_, what, _)| what.is_empty() || *what == flag || *what == with_value)
        .map(|(of, what, instead)| {
            format!("`{}` is gone: {instead}", format!("{of} {what}").trim_end())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser as _;

    /// A flag of the table that the parser takes again would never reach the table.
    #[test]
    fn whatever_is_gone_is_refused_with_what_to_do_instead() {
        for (command, what, instead) in rows() {
            let words = format!("mcpreel {command} {what}");
            let words: Vec<_> = words.split_whitespace().map(OsString::from).collect();
            let error = Cli::try_parse_from(&words).expect_err(what);
            let line = line(&error, words).unwrap_or_else(|| panic!("{command} {what}: {error}"));
            assert!(line.ends_with(instead), "{line}");
        }
    }
}
