//! How a command ends: the exit codes of mcpreel, in one place.

use std::io;
use std::process::ExitCode;

/// The exit codes, as the help shows them.
pub const HELP: &str = "\
Exit codes:
  0  fine
  1  what was asked for was found (differences, findings)
  2  wrong arguments, selector or configuration
  3  a recording that cannot be read, or was refused
  `run` ends like the server: with its exit code, or by the same signal;
  127 if the server was not found, 126 if it cannot be executed, 125 if
  mcpreel itself failed before the start.";

/// A command that did what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Nothing else to say.
    Fine,
    /// What was asked for was found.
    Found,
    /// Done, but something was unreadable or refused, and that was said.
    Refused,
    /// The code of a process that we stand for.
    Of(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Fine => 0,
            Exit::Found => 1,
            Exit::Refused => 3,
            Exit::Of(code) => code,
        })
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub enum Failure {
    /// Wrong arguments, selector or configuration: exit code 2.
    Usage(String),
    /// Unreadable or refused: exit code 3.
    Refused(anyhow::Error),
    /// Whoever read our output has closed it, and has all that it wanted: success.
    Closed,
}

/// What a command returns.
pub type Outcome = Result<Exit, Failure>;

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Refused(error.into()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Refused(error)
    }
}

/// The exit code of the whole program, with what is to be said on stderr.
#[must_use]
pub fn code(outcome: Outcome) -> (ExitCode, Option<String>) {
    match outcome {
        Ok(exit) => (exit.into(), None),
        Err(Failure::Closed) => (ExitCode::SUCCESS, None),
        Err(Failure::Usage(message)) => (ExitCode::from(2), Some(message)),
        Err(Failure::Refused(error)) => (ExitCode::from(3), Some(format!("{error:#}"))),
    }
}
