//! What was found, and where findings are collected.

use crate::{Rule, Severity};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use std::collections::HashMap;
use std::ops::Deref;

/// Other frames that a finding names. Without a limit a finding about a flood would name each of
/// its frames.
const RELATED: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub severity: Severity,
    /// The revision by which it is judged, where it is known better than by its exchange.
    pub revision: Option<Revision>,
    pub frame: Option<Seq>,
    pub exchange: Option<ExchangeId>,
    /// Where in the message: the path of members from its top, `params.arguments.q` or
    /// `result.tools[3].inputSchema`. Text off the wire in it is escaped.
    pub path: Option<Box<str>>,
    /// Other frames that it is about, a few at most.
    pub related: Vec<Seq>,
    /// One line that says what was found; text off the wire in it is escaped.
    pub detail: String,
}

/// Findings of one rule that are kept of one frame, no fewer than any family tells of one. Without
/// a limit a batch of one line takes many times its size, in memory and in a recording.
const OF_A_FRAME: u64 = 20;

/// Where the findings of one moment are collected: of one rule in one frame a few, the rest is only
/// counted, which the last of them says.
#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: HashMap<(&'static str, Option<Seq>), Count>,
}

/// Findings of one rule in one frame.
#[derive(Debug, Default)]
struct Count {
    found: u64,
    /// Where the last one that is kept stands.
    last: usize,
}

impl Finding {
    /// The same finding, about an exchange.
    pub fn about(mut self, exchange: Option<ExchangeId>) -> Self {
        self.exchange = exchange;
        self
    }

    /// The same finding, judged by this revision.
    pub fn judged_by(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// The same finding with another severity.
    pub fn as_bad_as(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same finding, at a place of the message.
    pub fn path(mut self, path: impl Into<Box<str>>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same finding, about another frame as well.
    pub fn and(mut self, frame: Seq) -> Self {
        if self.related.len() < RELATED {
            self.related.push(frame);
        }
        self
    }
}

impl Findings {
    /// Puts a finding in, unless there were too many before it.
    pub fn push(&mut self, finding: Finding) {
        let key = (finding.rule.id, finding.frame);
        let count = self.counts.entry(key).or_default();
        count.found += 1;
        if count.found <= OF_A_FRAME {
            count.last = self.kept.len();
            self.kept.push(finding);
        }
    }

    /// Takes everything out, for the next moment to begin with nothing.
    pub fn take(&mut self) -> Vec<Finding> {
        for (_, Count { found, last }) in self.counts.drain() {
            let more = found.saturating_sub(OF_A_FRAME);
            if let Some(finding) = self.kept.get_mut(last).filter(|_| more > 0) {
                finding.detail = format!("{}; and {more} more in this frame", finding.detail);
            }
        }
        std::mem::take(&mut self.kept)
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.kept
    }
}

impl Extend<Finding> for Findings {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ANY: Rule = Rule::note("any", "any");
    static OTHER: Rule = Rule::note("other", "other");

    #[test]
    fn a_frame_has_a_few_findings_of_a_rule_and_says_how_many_more() {
        let mut findings = Findings::default();
        findings.push(ANY.at(Seq(1), "before"));
        for n in 0..32 {
            findings.push(ANY.at(Seq(2), n.to_string()));
            // What is too much is not held until somebody counts it.
            assert!(findings.len() <= 1 + 20);
        }
        findings.push(OTHER.at(Seq(2), "once"));
        let all = findings.take();
        assert_eq!(all.len(), 1 + 20 + 1);
        assert_eq!(all[0].detail, "before");
        assert_eq!(all[20].detail, "19; and 12 more in this frame");
        assert_eq!(all[21].detail, "once");
        findings.push(ANY.at(Seq(2), "anew"));
        assert_eq!(findings.take()[0].detail, "anew");
    }
}
