//! The exit codes of mcpreel, and which failure has which.

use super::output;
use mcpreel_share::outgoing;
use mcpreel_share::outgoing::file::WholeError;
use mcpreel_share::phrases::sentence;
use mcpreel_wire::text::escape;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// The exit codes, as the help shows them.
pub const HELP: &str = "\
Exit codes:
  0  fine
  1  `lint`, `diff` or `replay` found something as bad as `--fail-on` says,
     `redact --scan` found a leak; `search` found nothing
  2  wrong arguments, selector, rules or configuration
  3  a recording that cannot be read, or was refused; nothing to compare;
     `redact --scan` could not look through all, and found nothing elsewhere
  `replay`, `minimise` and `mock` have others: see their help.
  `run` ends like the server: with its exit code, or by the same signal; 127 if
  the server was not found, 126 if it cannot be executed, 125 if mcpreel failed.";

/// A command that did what it was asked for.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    Fine,
    /// Done, and what was asked for was found.
    Found,
    /// Done, but something was unreadable or refused, and that was said.
    Refused,
    /// The exit code of a process that mcpreel stands for.
    Process(ExitCode),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Found => Self::from(1),
            Exit::Refused => Self::from(3),
            Exit::Process(code) => code,
        }
    }
}

/// Why a command did not do what it was asked for.
#[derive(Debug)]
pub enum Failure {
    /// Wrong arguments, selector or configuration: exit code 2.
    Usage(String),
    /// Unreadable or refused: exit code 3.
    Refused(anyhow::Error),
    /// Refused by a safety guard: exit code 7.
    Unsafe(String),
    /// The reader of stdout has closed it, and has all that it wanted: success.
    Closed,
}

pub type Outcome = Result<Exit, Failure>;

/// A reader that has closed our stdout has all that it wanted; any other error is a refusal.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = match error.into().downcast() {
            Ok(outgoing::ExportError::Whole(whole)) => return unfinished(whole),
            Ok(error) => error.into(),
            Err(error) => error,
        };
        // Of an error with context, only the context is looked at: that is no write of ours.
        let outermost = error.chain().next();
        let written = match outermost.and_then(|error| error.downcast_ref()) {
            Some(outgoing::ExportError::Write(error)) => Some(error),
            _ => outermost.and_then(|error| error.downcast_ref::<io::Error>()),
        };
        match written.map(io::Error::kind) {
            Some(io::ErrorKind::BrokenPipe) => Self::Closed,
            _ => Self::Refused(error),
        }
    }
}

impl Failure {
    /// Says why one recording of several is skipped, and what the command goes on to return.
    /// The caller's mistakes, and a reader that has gone, end the command instead.
    pub fn skipped(self, what: &str) -> Outcome {
        if matches!(self, Self::Closed | Self::Usage(_)) {
            return Err(self);
        }
        let (_, why) = code(Err(self));
        output::say(&format!("{what}: {}", escape(&why.unwrap_or_default())));
        Ok(Exit::Refused)
    }
}

/// Wrong arguments.
pub fn usage(message: &str) -> Failure {
    Failure::Usage(message.to_owned())
}

/// The file at `path` could not be written. A reader that has closed a pipe has all that it wanted.
pub fn unwritten(path: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::Closed;
    }
    let path = path.display().to_string();
    let context = format!("could not write {}", escape(&path));
    Failure::Refused(anyhow::Error::from(error).context(context))
}

/// Why a file that appears whole or not at all has not appeared.
fn unfinished(error: WholeError) -> Failure {
    match error {
        WholeError::IsThere(path) => {
            let path = path.display().to_string();
            let path = escape(&path);
            Failure::Usage(format!("{path} exists already; --force replaces it"))
        }
        WholeError::IsRecording => {
            let why = "-o names the recording itself; name another file";
            Failure::Usage(why.to_owned())
        }
        WholeError::Write(path, error) => unwritten(&path, error),
    }
}

/// The exit code of the whole program, with what is to be said on stderr.
pub fn code(outcome: Outcome) -> (ExitCode, Option<String>) {
    match outcome {
        Ok(exit) => (exit.into(), None),
        Err(Failure::Closed) => (ExitCode::SUCCESS, None),
        Err(Failure::Usage(message)) => (ExitCode::from(2), Some(message)),
        Err(Failure::Unsafe(message)) => (ExitCode::from(7), Some(message)),
        Err(Failure::Refused(error)) => (ExitCode::from(3), Some(sentence(error.as_ref()))),
    }
}
