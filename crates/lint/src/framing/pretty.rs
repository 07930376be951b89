//! Messages that were printed over several lines.
//!
//! ```text
//!  {                      opens: no JSON text by itself, and more brackets open than close
//!    "jsonrpc": "2.0",    kept while brackets stay open and no line is a message
//!    …
//!  }                      closes: the lines together are one message, or nothing is said
//! ```

use super::rules::EMBEDDED_NEWLINE;
use crate::finding::Finding;
use crate::rpc::describe;
use crate::seen::Seen;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::{Body, Content, Problem, classify};

/// Bytes of lines that are kept to be read together. Without a limit an opening bracket that is
/// never closed would keep the rest of the session in memory.
const KEPT: usize = 256 << 10;

/// The frames that a finding names are a few; of more it says how many.
const NAMED: usize = 8;

/// The lines of one direction since one that opened brackets, none of them a message.
#[derive(Debug, Default)]
pub(super) struct Pretty {
    text: Vec<u8>,
    depth: usize,
    lines: usize,
    first: Vec<Seq>,
}

#[derive(Debug)]
pub(super) enum Taken {
    /// No part of what may be one message.
    Alone,
    /// The first line of what may be one.
    Begun,
    Continued,
    /// The last line of it: that it is one message, or nothing if it is none.
    Ended(Option<Finding>),
}

impl Pretty {
    pub(super) fn look(&mut self, seen: &Seen<'_>) -> Taken {
        if is_message(seen.content) {
            self.clear();
            return Taken::Alone;
        }
        let begins = opens(seen);
        let is_last = seen.content.problems.contains(&Problem::Truncated);
        if begins && is_last {
            self.clear();
            return Taken::Alone;
        }
        if begins {
            self.clear();
        } else if self.lines == 0 {
            return Taken::Alone;
        }
        self.add(seen);
        if self.depth == 0 {
            let finding = self.finding(seen);
            self.clear();
            return Taken::Ended(finding);
        }
        if is_last || self.text.len() > KEPT {
            self.clear();
            return Taken::Ended(None);
        }
        if begins {
            Taken::Begun
        } else {
            Taken::Continued
        }
    }

    /// Forgets what may be one message.
    pub(super) fn clear(&mut self) {
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

#[cfg(test)]
impl Pretty {
    pub(super) fn kept(&self) -> usize {
        self.text.len()
    }
}

/// Whether some part of the line is a request, a notification or a response.
pub(super) fn is_message(content: &Content) -> bool {
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
