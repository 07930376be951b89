//! Messages with headers before them, as the Language Server Protocol frames them.
//!
//! ```text
//!  Content-Length: 120⏎      a header line
//!  ⏎                         the end of the headers
//!  {…}Content-Length: 58⏎    the message has no end of its own: the next header is on its line
//!  ⏎
//!  {…}                       and the last one never ends
//! ```

use super::pretty::is_message;
use super::rules::CONTENT_LENGTH;
use crate::finding::Finding;
use crate::quote;
use crate::seen::Seen;
use mcpreel_wire::message::Problem;

/// What a line with the size of a message begins with, in any case.
const NAME: &[u8] = b"content-length:";

/// The longest header, bytes: its name, a number and some white space. It is looked for at the end
/// of lines that may be a gigabyte long.
const LONGEST: usize = NAME.len() + 32;

/// How far the lines of one direction are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Where a message, or headers, may begin.
    #[default]
    Start,
    /// Behind a line that is neither: a header there is one that somebody logs.
    Noise,
    Header,
    /// Behind the empty line after the headers.
    Body,
}

#[derive(Debug, Default)]
pub(super) struct Headers {
    at: At,
    is_told: bool,
}

impl Headers {
    /// What is found in a line that belongs to messages with headers: only the first that does is
    /// told. `None` if it does not.
    pub(super) fn look(&mut self, seen: &Seen<'_>) -> Option<Vec<Finding>> {
        let line = seen.raw.trim_ascii();
        let next = match header(seen.raw) {
            Some((0, _)) if self.at != At::Noise => Some(At::Header),
            Some((1.., _)) if line.starts_with(b"{") => Some(At::Header),
            _ if self.at == At::Header && line.is_empty() => Some(At::Body),
            _ if self.at == At::Header && is_field(line) => Some(At::Header),
            _ if self.at == At::Body && is_cut(seen) => Some(At::Start),
            _ => None,
        };
        self.at = match next {
            Some(next) => next,
            None if line.is_empty() || is_message(seen.content) => At::Start,
            None => At::Noise,
        };
        next.map(|_| self.finding(seen).into_iter().collect())
    }

    fn finding(&mut self, seen: &Seen<'_>) -> Option<Finding> {
        let (_, header) = header(seen.raw).filter(|_| !self.is_told)?;
        self.is_told = true;
        Some(CONTENT_LENGTH.at(seen.head.seq, quote::bytes(header)))
    }
}

/// Where in the line its header begins, and the header.
fn header(raw: &[u8]) -> Option<(usize, &[u8])> {
    let line = raw.trim_ascii_end();
    // Most lines are messages, which end with a bracket: they are not looked through.
    if !line.last()?.is_ascii_digit() {
        return None;
    }
    let from = line.len().saturating_sub(LONGEST);
    let mut starts = line[from..].windows(NAME.len());
    let at = from + starts.rposition(|start| start.eq_ignore_ascii_case(NAME))?;
    let size = line[at + NAME.len()..].trim_ascii();
    let is_size = !size.is_empty() && size.iter().all(u8::is_ascii_digit);
    // A message ends before the header that stands behind it.
    let is_behind = at == 0 || line[at - 1] == b'}';
    (is_size && is_behind).then_some((at, &line[at..]))
}

/// `Content-Type: application/vscode-jsonrpc; charset=utf-8`
fn is_field(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    name.len() < line.len() && !name.is_empty() && name.iter().all(is_of_name)
}

/// Whether the stream ends with it before the line does.
fn is_cut(seen: &Seen<'_>) -> bool {
    seen.content.problems.contains(&Problem::Truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_stands_alone_or_behind_a_message() {
        let at = |line: &str| header(line.as_bytes()).map(|(at, _)| at);
        assert_eq!(at("Content-Length: 42\r\n"), Some(0));
        assert_eq!(at("content-length:42"), Some(0));
        assert_eq!(at("{\"id\":1}Content-Length: 7\r\n"), Some(8));
        assert_eq!(at("GET /x: no Content-Length: 7"), None);
        assert_eq!(at("Content-Length: many\r\n"), None);
        assert_eq!(at("Content-Length:\r\n"), None);
        assert_eq!(
            at(&format!("{{{}}}Content-Length: 7\n", "x".repeat(999))),
            Some(1001)
        );
        assert!(is_field(b"Content-Type: application/json"));
        assert!(!is_field(b"{\"a\": 1}") && !is_field(b"word") && !is_field(b": x"));
    }
}
