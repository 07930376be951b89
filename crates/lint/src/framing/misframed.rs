//! Messages that are framed wrongly: one fault each, told by one finding.
//!
//! Whoever prints a message over several lines, or with headers before it, breaks a rule with each
//! of these lines: none is JSON, some are empty, some end with CR LF. What was found in such a line
//! is held back until it is known what the line belongs to. If it is a piece of a message, only
//! that is told; if not, everything is.

use super::headers::Headers;
use super::pretty::{Pretty, Taken};
use super::rules;
use crate::finding::Finding;
use crate::rule::Rule;
use crate::seen::Seen;
use mcpreel_wire::message::Direction;

/// Findings that are held back of one message. Beyond that they are told as they come: without a
/// limit a bracket that is never closed would keep those of a whole session in memory.
const HELD: usize = 10_000;

/// Rules whose findings do not follow from how a message is framed.
const ON_THEIR_OWN: [&Rule; 3] = [&rules::INVALID_UTF8, &rules::BOM, &rules::OVERSIZED];

#[derive(Debug, Default)]
pub(crate) struct Misframed {
    c2s: Lines,
    s2c: Lines,
}

#[derive(Debug, Default)]
struct Lines {
    headers: Headers,
    pretty: Pretty,
    held: Vec<Finding>,
}

impl Misframed {
    /// Takes out of the findings of a frame what follows from how a message is framed; adds that,
    /// and what was held back and turned out to be no part of a message.
    pub(crate) fn apply(&mut self, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
        let lines = match seen.head.stream.messages() {
            Some(Direction::ClientToServer) => &mut self.c2s,
            Some(Direction::ServerToClient) => &mut self.s2c,
            None => return,
        };
        lines.look(seen, findings);
    }

    /// Nothing more comes: what is still held back.
    pub(crate) fn finish(&mut self) -> Vec<Finding> {
        let mut held = std::mem::take(&mut self.c2s.held);
        held.append(&mut self.s2c.held);
        held
    }
}

impl Lines {
    fn look(&mut self, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
        if let Some(told) = self.headers.look(seen) {
            self.pretty.clear();
            drop(follows(seen, findings));
            self.tell(findings);
            findings.extend(told);
            return;
        }
        match self.pretty.look(seen) {
            Taken::Alone | Taken::Ended(None) => self.tell(findings),
            Taken::Begun => {
                self.tell(findings);
                self.hold(seen, findings);
            }
            Taken::Continued => self.hold(seen, findings),
            Taken::Ended(Some(finding)) => {
                self.hold(seen, findings);
                self.held.clear();
                findings.push(finding);
            }
        }
    }

    /// Holds back what was found in this line.
    fn hold(&mut self, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
        let follows = follows(seen, findings).into_iter();
        // It is judged by the revision of its line, whenever it is told.
        self.held.extend(follows.map(|finding| {
            let revision = finding.revision.unwrap_or_else(|| seen.revision());
            finding.judged_by(revision)
        }));
        if self.held.len() > HELD {
            findings.append(&mut self.held);
        }
    }

    /// Tells what was held back, before what was found later.
    fn tell(&mut self, findings: &mut Vec<Finding>) {
        findings.splice(0..0, self.held.drain(..));
    }
}

/// Takes out what follows from how a message is framed of which the line is a part.
fn follows(seen: &Seen<'_>, findings: &mut Vec<Finding>) -> Vec<Finding> {
    let is_of_line = |finding: &mut Finding| {
        finding.frame == Some(seen.head.seq) && !ON_THEIR_OWN.contains(&finding.rule)
    };
    findings.extract_if(.., is_of_line).collect()
}

#[cfg(test)]
impl Misframed {
    /// How many bytes are kept, and how many findings are held back.
    pub(super) fn kept(&self) -> (usize, usize) {
        let lines = [&self.c2s, &self.s2c];
        let bytes = lines.iter().map(|lines| lines.pretty.kept()).sum();
        (bytes, lines.iter().map(|lines| lines.held.len()).sum())
    }
}
