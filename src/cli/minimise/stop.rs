//! What ends a search before it is done.

use std::process::ExitCode;

/// Why it stopped before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The user.
    Signal(i32),
    /// `--max-runs`.
    Runs,
    /// `--timeout`.
    Time,
}

impl Stop {
    /// Why, in words.
    pub fn why(self) -> String {
        match self {
            Self::Signal(signal) => format!("stopped by signal {signal}"),
            Self::Runs => "--max-runs is reached".to_owned(),
            Self::Time => "the time of --timeout is up".to_owned(),
        }
    }

    /// How it ends where not even the whole was played often enough.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Signal(signal) => ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)),
            // The time was up before anything was known.
            Self::Runs | Self::Time => ExitCode::from(5),
        }
    }
}
