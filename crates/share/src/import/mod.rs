//! Sessions in the logs of other programs.
//!
//! ```text
//!  file ─▶ line ─▶ a format ─▶ Said, Said, …   (in which session, when, what)
//! ```
//!
//! * `snoop`: the session logs of mcpsnoop, JSON Lines with an envelope around each message;
//!   `crossed` puts answers behind their questions where the log has them before;
//! * `claude`: the `mcp*.log` files of Claude Desktop, lines of text with messages in them; `ends`
//!   is what it says of how a session began and ended, `inspected` the objects that it prints;
//! * `messages`: JSON Lines of messages, bare or in an object that says when and which way;
//!   `sides` finds out which way a message went where nobody says it.
//!
//! Which of them a file is, is seen from its beginning: [`Format::of`]. A line that means nothing
//! is told with its number and passed over; nothing in a file can make it fail. What a log does not
//! say (how a line ended, the process, the time within a thousandth of a second) stays unknown.

mod claude;
mod crossed;
mod ends;
mod inspected;
mod messages;
mod sides;
mod snoop;
mod when;

use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;

/// A longer line is passed over, and told.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// Bytes of a file that are looked at to tell which format it is.
pub const LOOKED_AT: usize = 64 * 1024;

/// Lines of the beginning that are looked at: a log may begin in the middle of something.
const LINES_LOOKED_AT: usize = 50;

/// Times from here on are wall clocks: the year 2001. Whatever is less counts from somewhere else.
pub const DATED_NS: u64 = 1_000_000_000_000_000_000;

/// What some programs write before a text in UTF-8. It is no part of the first line.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Snoop,
    Claude,
    Messages,
}

impl Format {
    /// The format of a file that begins with `beginning`; `None` if it is none of them.
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let text = beginning.strip_prefix(BYTE_ORDER_MARK);
        let text = text.unwrap_or(beginning);
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let mut lines = lines.filter(|line| !line.is_empty()).take(LINES_LOOKED_AT);
        let by_line = lines.find_map(|line| {
            [
                (Self::Snoop, snoop::is_line(line)),
                (Self::Claude, claude::is_line(line)),
                (Self::Messages, messages::is_line(line)),
            ]
            .into_iter()
            .find_map(|(format, is_it)| is_it.then_some(format))
        });
        // A message may be printed over several lines.
        by_line.or_else(|| {
            let is_over_lines =
                text.trim_ascii_start().starts_with(b"{") && messages::is_line(text);
            is_over_lines.then_some(Self::Messages)
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Snoop => "a session log of mcpsnoop",
            Self::Claude => "a log of Claude Desktop",
            Self::Messages => "messages, one per line",
        }
    }

    pub fn reader(self) -> Box<dyn Lines> {
        match self {
            Self::Snoop => Box::new(snoop::Snoop::default()),
            Self::Claude => Box::new(claude::Claude::default()),
            Self::Messages => Box::new(messages::Messages::default()),
        }
    }
}

/// What a file is that is no text in UTF-8, and what makes it one; `None` if it looks like it.
pub fn not_utf8(beginning: &[u8]) -> Option<(&'static str, &'static str)> {
    match beginning {
        [0x1f, 0x8b, ..] => Some(("compressed with gzip", "gunzip -c FILE | mcpreel import -")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Some(("compressed with zstd", "zstd -dc FILE | mcpreel import -"))
        }
        [0xff, 0xfe, ..]
        | [0xfe, 0xff, ..]
        | [b'{' | b'[' | b'2', 0, ..]
        | [0, b'{' | b'[' | b'2', ..] => Some((
            "text in UTF-16",
            "iconv -f UTF-16 -t UTF-8 FILE | mcpreel import -",
        )),
        _ => None,
    }
}

/// What reads the lines of a file, one after the other.
pub trait Lines {
    /// Gives what `line` says to `tell`; the line comes without its terminator.
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>));

    /// Gives what is still held back: no line follows.
    fn finish(&mut self, _tell: &mut dyn FnMut(Said<'_>)) {}
}

#[derive(Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// Of which session, in the file's own words; empty where it does not tell them apart.
    pub session: &'a str,
    /// Wall clock, nanoseconds since the Unix epoch, or, of less than [`DATED_NS`], since a moment
    /// that the file does not tell; `None` where the line has no time.
    pub wall_ns: Option<u64>,
    pub what: What<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// The session begins; one of that name before it is over.
    Begin(About),
    /// A line on a stream, without its terminator.
    Line {
        stream: StreamId,
        bytes: &'a [u8],
        /// Whether which way it went is a guess.
        is_guess: bool,
    },
    Event(EventKind),
    /// How the session was started, as far as that is told after its beginning.
    Started(About),
    /// A time that stands there and could not be read: its text.
    Unread(String),
    /// Nothing that is understood: why.
    Nothing(&'static str),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub name: String,
    pub argv: Vec<String>,
    pub cwd: Option<String>,
    pub path: Option<String>,
    /// The transport, where it is not stdio.
    pub transport: Option<String>,
}

#[cfg(test)]
mod tests;
