//! Messages with headers before them, as the Language Server Protocol frames them.

use super::facts::{Facts, Line};
use super::{Cause, Kind, named, words};
use mcpreel_trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("content-length-framing", find);

fn find(facts: &Facts) -> Option<Cause> {
    let found = facts.found(named::FRAME_CONTENT_LENGTH)?;
    let is_header = |line: &&Line| {
        let mut found = found.first.iter();
        found.any(|found| found.frame == Some(line.seq))
    };
    let headers: Vec<_> = facts.misframed.iter().filter(is_header).collect();
    let (writer, other) = match headers.first()?.stream {
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
    Some(cause.shown(headers.into_iter().map(words::line)))
}
