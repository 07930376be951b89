//! Findings, and their collection at one moment.

use crate::{Rule, Severity};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use std::cell::RefCell;

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
    /// The place in the message: the path of members from its top, `params.arguments.q` or
    /// `result.tools[3].inputSchema`. Text off the wire in it is escaped.
    pub path: Option<Box<str>>,
    /// Other frames that it is about, a few at most.
    pub related: Vec<Seq>,
    /// The detail in one line; text off the wire in it is escaped.
    pub detail: String,
}

/// Findings of one rule that are kept of one frame. Without a limit a batch of one line takes many
/// times its size, in memory and in a recording.
const OF_A_FRAME: usize = 20;

/// The findings of one moment. Of one rule in one frame a few are kept, the rest is only counted,
/// and the last one says how many.
#[derive(Debug, Default)]
pub struct Findings(RefCell<Kept>);

#[derive(Debug, Default)]
struct Kept {
    findings: Vec<Finding>,
    counts: Vec<Count>,
}

/// Findings of one rule in one frame: their number, how many are kept, and the index of the last.
#[derive(Debug)]
struct Count {
    of: (&'static str, Option<Seq>),
    found: usize,
    kept: usize,
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
    pub fn push(&self, finding: Finding) {
        let (rule, frame) = (finding.rule, finding.frame);
        self.push_up_to(OF_A_FRAME, rule, frame, || finding);
    }

    /// Adds a finding of `rule` in `frame`, which is only made if there are fewer than `limit`.
    pub fn push_up_to(
        &self,
        limit: usize,
        rule: &'static Rule,
        frame: Option<Seq>,
        finding: impl FnOnce() -> Finding,
    ) {
        let Kept { findings, counts } = &mut *self.0.borrow_mut();
        let of = (rule.id, frame);
        let at = counts.iter().position(|count| count.of == of);
        let at = at.unwrap_or_else(|| {
            let (found, kept, last) = (0, 0, 0);
            counts.push(Count {
                of,
                found,
                kept,
                last,
            });
            counts.len() - 1
        });
        let count = &mut counts[at];
        count.found += 1;
        if count.kept < limit {
            count.kept += 1;
            count.last = findings.len();
            findings.push(finding());
        }
    }

    pub fn extend(&self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Takes all findings out.
    pub fn take(&self) -> Vec<Finding> {
        let Kept {
            mut findings,
            counts,
        } = self.0.take();
        for count in counts.iter().filter(|count| count.found > count.kept) {
            let more = format!("; and {} more in this frame", count.found - count.kept);
            findings[count.last].detail.push_str(&more);
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ANY: Rule = Rule::note("any");
    static OTHER: Rule = Rule::note("other");

    #[test]
    fn a_frame_has_a_few_findings_of_a_rule_and_says_how_many_more() {
        let findings = Findings::default();
        findings.push(ANY.at(Seq(1), "before"));
        for n in 0..32 {
            findings.push(ANY.at(Seq(2), n.to_string()));
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
