//! Which findings are kept: those of rules that apply, and not too many. Hostile traffic may break a
//! rule with every byte.

use super::family::Family;
use super::finding::Finding;
use super::part;
use super::rule::Rule;
use mcpreel_trace::part::SelectionNote;
use mcpreel_wire::mcp::Revision;
use std::collections::HashMap;

static FINDINGS_LEFT_OUT: Rule = Rule::note(
    "findings-left-out",
    "a rule found so much that the rest is only counted",
)
.why("Whoever counts the findings of that rule counts too few.")
.fix("Mend what the rule found first, and record again.");

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
    /// What is selected of the session, where it is not all of it.
    pub part: Option<SelectionNote>,
    found: HashMap<&'static str, u64>,
}

impl Bounds {
    /// Puts `found` into `findings`: each as bad as the `revision` by which it is judged says, but
    /// for those of rules that do not apply to it, and those that are too many.
    pub fn settle(
        &mut self,
        found: Vec<Finding>,
        revision: impl Fn(&Finding) -> Revision,
        findings: &mut Vec<Finding>,
    ) {
        for mut finding in found {
            let revision = revision(&finding);
            let is_told = |part: &SelectionNote| part::applies(finding.rule, part);
            let is_told = self.part.as_ref().is_none_or(is_told);
            if is_told && finding.rule.revisions.contains(revision) {
                let worst = finding.rule.severity_in(revision);
                finding.severity = finding.severity.min(worst);
                self.keep(finding, findings);
            }
        }
    }

    fn keep(&mut self, finding: Finding, findings: &mut Vec<Finding>) {
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
    pub fn finish(&self, findings: &mut Vec<Finding>) {
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
    use crate::rule::{Revisions, Severity};
    use mcpreel_trace::frame::Seq;

    static MODERN: Rule = Rule::error("modern", "modern").only(Revisions::MODERN);
    static MILD: Rule = Rule::error("mild", "mild").milder_in(Severity::Note, Revisions::LEGACY);

    #[test]
    fn a_finding_is_as_bad_as_its_revision_says_and_none_where_its_rule_does_not_apply() {
        let settled = |revision| {
            let found = vec![
                MODERN.at(Seq(1), "x"),
                MILD.at(Seq(2), "y"),
                MILD.at(Seq(3), "z").as_bad_as(Severity::Warning),
            ];
            let mut findings = Vec::new();
            Bounds::default().settle(found, |_| revision, &mut findings);
            let pair = |finding: Finding| (finding.rule.id, finding.severity.as_str());
            findings.into_iter().map(pair).collect::<Vec<_>>()
        };
        let modern = [("modern", "error"), ("mild", "error"), ("mild", "warning")];
        assert_eq!(settled(Revision::V2026_07_28), modern);
        assert_eq!(
            settled(Revision::V2024_11_05),
            [("mild", "note"), ("mild", "note")]
        );
    }
}
