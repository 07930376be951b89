//! Findings: their collection at one moment ([`Findings`]), and how many are kept of a rule in a
//! recording ([`Bounds`]): hostile traffic may break one with every byte.

use super::rule::Missing;
use crate::Family;
use crate::{Rule, Severity};
use mcpreel_trace::event::{ProcessContext, SelectionNote};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use std::cell::RefCell;
use std::collections::HashMap;

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
#[derive(Debug, Default)]
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
            let none = Count::default();
            counts.push(Count { of, ..none });
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

rules! {
    FINDINGS_LEFT_OUT = note("findings-left-out")
        .finds("a rule found so much that the rest is only counted")
        .why("The number of findings of that rule is too low.")
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

/// Rules that the mock breaks on purpose: by the code of its misses, and by that of an assertion.
const OF_THE_MOCK: &[&str] = &["error-code-reserved", "process-exit-nonzero"];

/// Rules that a bridge breaks where the server behind it does: it ends the session with that first.
const OF_THE_BRIDGE: &[&str] = &["shutdown-eof-ignored"];

/// Counts what was found, and leaves out what is too much.
#[derive(Debug, Default)]
pub struct Bounds {
    /// The part of the session that is selected, unless all of it is.
    pub part: Option<SelectionNote>,
    /// Rules by which the server is not judged, as it was mcpreel itself.
    pub excused: &'static [&'static str],
    found: HashMap<&'static str, u64>,
}

impl Bounds {
    /// Excuses what was recorded, where that was mcpreel.
    pub fn excuse(&mut self, process: &ProcessContext) {
        self.excused = match process.bridged_url() {
            _ if process.origin == "mock" => OF_THE_MOCK,
            Some(_) => OF_THE_BRIDGE,
            None => &[],
        };
    }

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
            let is_excused = self.excused.contains(&finding.rule.id);
            let is_told = self.part.as_ref().is_none_or(is_told) && !is_excused;
            if is_told && finding.rule.revisions.contains(revision) {
                finding.severity = finding.rule.severity_in(revision);
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

#[cfg(test)]
mod limits_tests {
    use super::*;
    use crate::rule::{Revisions, Severity};
    use mcpreel_trace::frame::Seq;

    static MODERN: Rule = Rule::error("modern").only(Revisions::MODERN);
    static MILD: Rule = Rule::error("mild").milder_in(Severity::Note, Revisions::LEGACY);

    #[test]
    fn a_finding_is_as_bad_as_its_revision_says_and_none_where_its_rule_does_not_apply() {
        let settled = |revision| {
            let found = vec![MODERN.at(Seq(1), "x"), MILD.at(Seq(2), "y")];
            let mut findings = Vec::new();
            Bounds::default().settle(found, |_| revision, &mut findings);
            let pair = |finding: Finding| (finding.rule.id, finding.severity.as_str());
            findings.into_iter().map(pair).collect::<Vec<_>>()
        };
        let modern = [("modern", "error"), ("mild", "error")];
        assert_eq!(settled(Revision::V2026_07_28), modern);
        assert_eq!(settled(Revision::V2024_11_05), [("mild", "note")]);
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
