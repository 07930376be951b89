//! How many findings are kept: hostile traffic may break a rule with every byte.

use super::family::Family;
use super::finding::{Finding, Findings};
use super::rule::Rule;
use crate::trace::frame::Seq;
use std::collections::HashMap;

static FINDINGS_LEFT_OUT: Rule = Rule::note(
    "findings-left-out",
    "a rule found so much that the rest is only counted",
)
.why("Whoever counts the findings of that rule counts too few.")
.fix("Mend what the rule found first, and record again.");

/// Findings of one rule that are kept of one frame, no fewer than any family tells of one. Without
/// a limit a batch of one line makes a recording many times its size.
const OF_A_FRAME: u64 = 20;

/// Findings of one rule that are kept of a recording. Without a limit blank lines make a recording
/// a hundred times their size.
const OF_A_RECORDING: u64 = 10_000;

/// The family of this one rule. What it tells is found by [`Bounds`], which looks at what all
/// families found.
#[derive(Debug, Default)]
pub struct Limits;

impl Family for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[&FINDINGS_LEFT_OUT];
        RULES
    }
}

/// Counts what was found, and leaves out what is too much.
#[derive(Debug, Default)]
pub struct Bounds {
    found: HashMap<&'static str, u64>,
}

impl Bounds {
    /// Leaves out what is too much among the findings from `from` on, all of one moment.
    pub fn apply(&mut self, findings: &mut Findings, from: usize) {
        if findings.len() == from {
            return;
        }
        let new = findings.split_off(from);
        let is_few = new.len() as u64 <= OF_A_FRAME;
        let mut in_frame: HashMap<(&'static str, Option<Seq>), (u64, usize)> = HashMap::new();
        for finding in new {
            if !is_few {
                let key = (finding.rule.id, finding.frame);
                let (times, last) = in_frame.entry(key).or_default();
                *times += 1;
                if *times > OF_A_FRAME {
                    continue;
                }
                *last = findings.len();
            }
            self.keep(finding, findings);
        }
        for ((rule, _), (times, last)) in in_frame {
            let more = times.saturating_sub(OF_A_FRAME);
            if let Some(finding) = findings.get_mut(last).filter(|_| more > 0)
                && finding.rule.id == rule
            {
                finding.detail = format!("{}; and {more} more in this frame", finding.detail);
            }
        }
    }

    fn keep(&mut self, finding: Finding, findings: &mut Findings) {
        let found = self.found.entry(finding.rule.id).or_default();
        *found += 1;
        if *found <= OF_A_RECORDING {
            findings.push(finding);
        } else if *found == OF_A_RECORDING + 1 {
            let detail = format!("{}: from here on they are only counted", finding.rule.id);
            findings.push(Finding {
                frame: finding.frame,
                ..FINDINGS_LEFT_OUT.found(detail)
            });
        }
    }

    /// The recording is over: how many were left out.
    pub fn finish(&self, findings: &mut Findings) {
        let mut left_out: Vec<_> = self.found.iter().collect();
        left_out.retain(|(_, found)| **found > OF_A_RECORDING);
        left_out.sort_unstable();
        findings.extend(left_out.into_iter().map(|(rule, found)| {
            let more = found - OF_A_RECORDING;
            FINDINGS_LEFT_OUT.found(format!("{rule}: {more} more than are listed"))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static ANY: Rule = Rule::note("any", "any");
    static OTHER: Rule = Rule::note("other", "other");

    #[test]
    fn a_frame_has_a_few_findings_of_a_rule_and_says_how_many_more() {
        let mut findings = vec![ANY.at(Seq(1), "before")];
        let new = (0..32).map(|n| ANY.at(Seq(2), n.to_string()));
        findings.extend(new);
        findings.push(OTHER.at(Seq(2), "once"));
        Bounds::default().apply(&mut findings, 1);
        assert_eq!(findings.len(), 1 + 20 + 1);
        assert_eq!(findings[20].detail, "19; and 12 more in this frame");
        assert_eq!(findings[21].detail, "once");
    }

    #[test]
    fn findings_about_different_frames_are_not_counted_together() {
        let mut findings: Findings = (0..50).map(|n| ANY.at(Seq(n), "lost")).collect();
        Bounds::default().apply(&mut findings, 0);
        assert_eq!(findings.len(), 50);
    }
}
