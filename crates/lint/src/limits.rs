//! Limits on findings: of a rule in a recording ([`Bounds`]), once at all ([`Once`]), and none about
//! what a partial recording leaves out. Hostile traffic may break a rule
//! with every byte.

use crate::rule::Missing;
use crate::{Family, Finding, Rule};
use mcpreel_trace::event::SelectionNote;
use mcpreel_wire::mcp::Revision;
use std::collections::HashMap;

rules! {
    FINDINGS_LEFT_OUT = note("findings-left-out")
        .finds("a rule found so much that the rest is only counted")
        .why("Whoever counts the findings of that rule counts too few.")
        .fix("Mend what the rule found first, and record again.");
}

/// Findings of one rule that are kept of a recording. Without a limit blank lines make a recording
/// a hundred times their size.
const OF_A_RECORDING: u64 = 10_000;

/// The family of this one rule. What it tells is found by [`Bounds`], which looks at what all
/// families found.
#[derive(Debug, Default)]
pub struct Limits;

impl Family for Limits {}

/// Counts what was found, and leaves out what is too much.
#[derive(Debug, Default)]
pub struct Bounds {
    /// The part of the session that is selected, unless all of it is.
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
            let is_told = |part: &SelectionNote| applies(finding.rule, part);
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

// What is reported once: a fault that every later message repeats would bury the others.

/// The rules that have been reported.
#[derive(Clone, Debug, Default)]
pub struct Once(Vec<&'static str>);

impl Once {
    /// Whether this is the first time that `rule` is reported.
    pub fn is_first(&mut self, rule: &'static Rule) -> bool {
        let is_first = !self.0.contains(&rule.id);
        if is_first {
            self.0.push(rule.id);
        }
        is_first
    }
}

/// Whether findings of a rule stand for something in what is selected of a session.
fn applies(rule: &Rule, selection: &SelectionNote) -> bool {
    match rule.missing {
        Some(Missing::Anywhere) => false,
        // A filter selects exchanges whole, so that only a bound cuts answers off.
        Some(Missing::AtEnd) => selection.to.is_none(),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Revisions, Severity};
    use mcpreel_trace::frame::Seq;

    static MODERN: Rule = Rule::error("modern").only(Revisions::MODERN);
    static MILD: Rule = Rule::error("mild").milder_in(Severity::Note, Revisions::LEGACY);

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

#[cfg(test)]
mod part_tests {
    use super::*;

    #[test]
    fn only_a_bound_cuts_answers_off() {
        let rule = crate::rule("request-unanswered").unwrap();
        let filtered = SelectionNote {
            query: Some("tool:a".to_owned()),
            ..SelectionNote::default()
        };
        assert!(applies(rule, &filtered));
        let to = Some(7);
        assert!(!applies(rule, &SelectionNote { to, ..filtered }));
    }
}
