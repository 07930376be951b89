//! The first few findings of each rule in one message or frame, and how many more there are.

use super::finding::{Finding, Findings};
use super::rule::Rule;

/// Findings of which a few of each rule are kept, and all are counted.
#[derive(Debug)]
pub(super) struct Few {
    limit: usize,
    rules: Vec<OfRule>,
}

#[derive(Debug)]
struct OfRule {
    rule: &'static Rule,
    findings: Vec<Finding>,
    count: usize,
}

impl Few {
    /// For `limit` findings of each rule, one at least.
    pub(super) fn new(limit: usize) -> Self {
        let rules = Vec::new();
        Self { limit, rules }
    }

    /// Counts a finding of `rule`, which is only made if it is kept.
    pub(super) fn note(&mut self, rule: &'static Rule, finding: impl FnOnce() -> Finding) {
        let known = self.rules.iter().position(|one| one.rule == rule);
        let at = known.unwrap_or_else(|| {
            self.rules.push(OfRule {
                rule,
                findings: Vec::new(),
                count: 0,
            });
            self.rules.len() - 1
        });
        let one = &mut self.rules[at];
        one.count += 1;
        if one.findings.len() < self.limit {
            one.findings.push(finding());
        }
    }

    /// Forgets what was found of the rules that are not `kept`.
    pub(super) fn retain(&mut self, kept: impl Fn(&Rule) -> bool) {
        self.rules.retain(|one| kept(one.rule));
    }

    /// Whether something was found of a rule that `is_meant`.
    pub(super) fn has(&self, is_meant: impl Fn(&Rule) -> bool) -> bool {
        self.rules.iter().any(|one| is_meant(one.rule))
    }

    /// Hands the findings over, by rule; the last of each says with `more` how many were left out.
    pub(super) fn give(self, more: impl Fn(usize) -> String, findings: &mut Findings) {
        for mut one in self.rules {
            let left_out = one.count - one.findings.len();
            if let Some(last) = one.findings.last_mut().filter(|_| left_out > 0) {
                last.detail.push_str(&more(left_out));
            }
            findings.extend(one.findings);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;

    static ANY: Rule = Rule::note("any", "any");
    static OTHER: Rule = Rule::note("other", "other");

    fn given(few: Few) -> Vec<String> {
        let mut findings = Findings::default();
        few.give(|more| format!(" and {more} more"), &mut findings);
        findings.take().into_iter().map(|one| one.detail).collect()
    }

    #[test]
    fn of_each_rule_a_few_are_kept_and_the_last_says_how_many_more() {
        let mut few = Few::new(2);
        for n in 0..5 {
            few.note(&ANY, || {
                assert!(n < 2, "what is not kept is not made");
                ANY.at(Seq(1), n.to_string())
            });
        }
        few.note(&OTHER, || OTHER.at(Seq(1), "once"));
        assert_eq!(given(few), ["0", "1 and 3 more", "once"]);
    }

    #[test]
    fn a_rule_that_is_not_kept_leaves_nothing() {
        let mut few = Few::new(2);
        few.note(&ANY, || ANY.at(Seq(1), "here"));
        few.note(&OTHER, || OTHER.at(Seq(1), "there"));
        assert!(few.has(|rule| *rule == ANY));
        few.retain(|rule| *rule != ANY);
        assert!(!few.has(|rule| *rule == ANY));
        assert_eq!(given(few), ["there"]);
    }
}
