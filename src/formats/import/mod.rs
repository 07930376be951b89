//! Sessions in the logs of other programs.
//!
//! ```text
//!  file ─▶ line ─▶ a format ─▶ Said, Said, …   (in which session, when, what)
//! ```
//!
//! * `snoop`: the session logs of mcpsnoop, JSON Lines with an envelope around each message;
//!   `crossed` puts answers behind their questions where the log has them before;
//! * `claude`: the `mcp*.log` files of Claude Desktop, lines of text with messages in them;
//! * `messages`: JSON Lines of messages, bare or in an object that says when and which way;
//!   `sides` finds out which way a message went where nobody says it.
//!
//! Which of them a file is, is seen from its beginning: [`Format::of`]. A line that means nothing
//! is told with its number and passed over; nothing in a file can make it fail. What a log does not
//! say (how a line ended, the process, the time within a thousandth of a second) stays unknown.

mod claude;
mod crossed;
mod messages;
mod sides;
mod snoop;
mod when;

use crate::trace::event::EventKind;
use crate::trace::frame::StreamId;

/// A longer line is passed over, and told.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// Bytes of a file that are looked at to tell which format it is.
pub const LOOKED_AT: usize = 64 * 1024;

/// Lines of the beginning that are looked at: a log may begin in the middle of something.
const LINES_LOOKED_AT: usize = 50;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A session log of mcpsnoop.
    Snoop,
    /// A log of Claude Desktop.
    Claude,
    /// Messages, one per line.
    Messages,
}

impl Format {
    /// The format of a file that begins with `beginning`; `None` if it is none of them.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let lines = beginning
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::trim_ascii);
        let mut lines = lines.filter(|line| !line.is_empty()).take(LINES_LOOKED_AT);
        lines.find_map(|line| {
            [
                (Self::Snoop, snoop::is_line(line)),
                (Self::Claude, claude::is_line(line)),
                (Self::Messages, messages::is_line(line)),
            ]
            .into_iter()
            .find_map(|(format, is_it)| is_it.then_some(format))
        })
    }

    /// What it is, in words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Snoop => "a session log of mcpsnoop",
            Self::Claude => "a log of Claude Desktop",
            Self::Messages => "messages, one per line",
        }
    }

    /// What reads its lines.
    #[must_use]
    pub fn reader(self) -> Box<dyn Lines> {
        match self {
            Self::Snoop => Box::new(snoop::Snoop::default()),
            Self::Claude => Box::new(claude::Claude::default()),
            Self::Messages => Box::new(messages::Messages::default()),
        }
    }
}

/// What reads the lines of a file, one after the other.
pub trait Lines {
    /// Gives what `line` says to `tell`; the line comes without its terminator.
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>));

    /// Gives what is still held back: no line follows.
    fn finish(&mut self, _tell: &mut dyn FnMut(Said<'_>)) {}
}

/// Something that a line says.
#[derive(Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Of which session, in the file's own words; empty where it does not tell them apart.
    pub session: &'a str,
    /// Wall clock, nanoseconds since the Unix epoch; `None` where the line has no time.
    pub wall_ns: Option<u64>,
    /// What.
    pub what: What<'a>,
}

/// What a line says.
#[derive(Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// The session begins; one of that name before it is over.
    Begin(About),
    /// A line on a stream, without its terminator.
    Line {
        /// The stream.
        stream: StreamId,
        /// Its bytes.
        bytes: &'a [u8],
        /// Whether which way it went is a guess.
        is_guess: bool,
    },
    /// Something that happened.
    Event(EventKind),
    /// Nothing that is understood: why.
    Nothing(&'static str),
}

/// What a log knows of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// What it is called.
    pub name: String,
    /// The command that started it.
    pub argv: Vec<String>,
    /// Where.
    pub cwd: Option<String>,
    /// The transport, where it is not stdio.
    pub transport: Option<String>,
}

#[cfg(test)]
mod tests;
