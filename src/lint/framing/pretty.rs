//! Messages that were printed over several lines.
//!
//! ```text
//!  {                      opens: no JSON text by itself, and more brackets open than close
//!    "jsonrpc": "2.0",    kept while brackets stay open and no line is a message
//!    …
//!  }                      closes: the lines together are one message, or nothing is said
//! ```

use super::rules::EMBEDDED_NEWLINE;
use crate::lint::finding::{Finding, Findings};
use crate::lint::rpc::describe;
use crate::lint::seen::Seen;
use crate::protocol::message::{Body, Content, Direction, Problem, classify};
use crate::trace::frame::Seq;

/// Bytes of lines that are kept to be read together. Without a limit an opening bracket that is
/// never closed would keep the rest of the session in memory.
const KEPT: usize = 256 << 10;

/// The frames that a finding names are a few; of more it says how many.
const NAMED: usize = 8;

/// Lines of both directions that may be one message.
#[derive(Debug, Default)]
pub(super) struct Pretty {
    c2s: Open,
    s2c: Open,
}

/// Lines since one that opened brackets, none of them a message.
#[derive(Debug, Default)]
struct Open {
    text: Vec<u8>,
    depth: usize,
    lines: usize,
    first: Vec<Seq>,
}

impl Pretty {
    pub(super) fn look(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let open = match seen.head.stream.messages() {
            Some(Direction::ClientToServer) => &mut self.c2s,
            Some(Direction::ServerToClient) => &mut self.s2c,
            None => return,
        };
        if is_message(seen.content) {
            open.clear();
            return;
        }
        if opens(seen) {
            open.clear();
        } else if open.lines == 0 {
            return;
        }
        open.add(seen);
        if open.depth == 0 {
            findings.extend(open.finding(seen));
            open.clear();
        } else if open.text.len() > KEPT {
            open.clear();
        }
    }
}

#[cfg(test)]
impl Pretty {
    /// How many bytes are kept.
    pub(super) fn kept(&self) -> usize {
        self.c2s.text.len() + self.s2c.text.len()
    }
}

/// Whether some part of the line is a request, a notification or a response.
fn is_message(content: &Content) -> bool {
    let mut messages = content.messages.iter();
    messages.any(|message| !matches!(message.body, Body::Invalid))
}

/// Whether the line opens an object at its very beginning that it does not close.
fn opens(seen: &Seen<'_>) -> bool {
    let problems = &seen.content.problems;
    let broken = problems
        .iter()
        .any(|it| matches!(it, Problem::NotJson { .. }));
    broken && seen.raw.first() == Some(&b'{') && depth(seen.raw, 0) > 0
}

/// How many brackets are open after `line`, where `before` were open before it. No string goes
/// on over the end of a line.
fn depth(line: &[u8], before: usize) -> usize {
    let (mut depth, mut in_string, mut escaped) = (before, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth
}

impl Open {
    fn clear(&mut self) {
        *self = Self::default();
    }

    fn add(&mut self, seen: &Seen<'_>) {
        let room = (KEPT + 1).saturating_sub(self.text.len());
        let kept = seen.raw.get(..room).unwrap_or(seen.raw);
        self.text.extend_from_slice(kept);
        self.depth = depth(kept, self.depth);
        self.lines += 1;
        if self.first.len() < NAMED {
            self.first.push(seen.head.seq);
        }
    }

    /// That the lines are one message, if they are.
    fn finding(&self, seen: &Seen<'_>) -> Option<Finding> {
        let content = classify(&self.text);
        let message = content.messages.first().filter(|_| is_message(&content))?;
        let what = describe(message, content.batch);
        let detail = format!("{} lines together are one: {what}", self.lines);
        let finding = EMBEDDED_NEWLINE.at(seen.head.seq, detail);
        let others = self.first.iter().filter(|seq| **seq != seen.head.seq);
        Some(others.fold(finding, |finding, seq| finding.and(*seq)))
    }
}
