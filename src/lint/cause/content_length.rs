//! Messages with headers before them, as the Language Server Protocol frames them.

use super::facts::{Facts, Line};
use super::{Cause, Kind, words};
use crate::trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("content-length-framing", find);

const HEADER: &[u8] = b"content-length:";

fn find(facts: &Facts) -> Option<Cause> {
    let framed: Vec<_> = facts.noise.iter().filter(|line| is_framed(line)).collect();
    let first = framed.first()?;
    let (writer, other) = match first.stream {
        StreamId::C2S => ("host", "server"),
        _ => ("server", "host"),
    };
    let sentence = format!(
        "the {writer} puts Content-Length headers before its messages, as language servers do; over \
         stdio MCP has one message per line and no headers, so the {other} cannot read them"
    );
    let cause = Cause::certain(KIND.id, sentence).advise(format!(
        "Let the {writer} write each message as one line that ends with a newline; an SDK of MCP \
         does that, a library for JSON-RPC of language servers does not."
    ));
    Some(cause.shown(framed.into_iter().map(words::line)))
}

/// Whether a header stands at its beginning, or behind a message that has no end of line.
fn is_framed(line: &Line) -> bool {
    let text = line.text();
    let begins = |part: &[u8]| {
        part.get(..HEADER.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(HEADER))
    };
    let behind = || text.starts_with(b"{") && text.windows(HEADER.len()).any(begins);
    begins(text) || behind()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::clock::Moment;
    use crate::trace::frame::Seq;

    #[test]
    fn a_header_stands_before_or_behind_a_message_not_in_a_log_line() {
        let framed = |text: &str| {
            is_framed(&Line {
                seq: Seq(1),
                stream: StreamId::S2C,
                t: Moment(0),
                bytes: text.as_bytes().into(),
            })
        };
        assert!(framed("Content-Length: 42\r\n"));
        assert!(framed("content-length:42"));
        assert!(framed("{\"jsonrpc\":\"2.0\"}Content-Length: 7\r\n"));
        assert!(!framed("GET /x: no Content-Length: header"));
    }
}
