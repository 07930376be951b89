//! Findings in a list of tools: a few of each kind, and how many more there are.

use crate::finding::{Finding, Findings};
use crate::quote;
use crate::rule::Rule;
use crate::seen::Part;
use crate::trail;
use mcpreel_wire::json::Step;

/// Findings of one rule in one list. A list of ten thousand tools that all lack the same would
/// bury everything else.
const SHOWN: usize = 20;

pub struct Report<'a, 'f> {
    part: &'a Part<'a>,
    findings: &'f mut Findings,
    counts: Vec<Count>,
}

struct Count {
    rule: &'static Rule,
    found: usize,
    /// Where the last one that is shown stands.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct Place<'n> {
    pub index: usize,
    pub name: &'n str,
}

impl Place<'_> {
    /// The path of what `steps` lead to from the tool.
    pub fn path(self, steps: impl IntoIterator<Item = Step>) -> Box<str> {
        let start = [member("result"), member("tools"), Step::Element(self.index)];
        trail::written(start.into_iter().chain(steps).collect())
    }
}

pub fn member(name: &str) -> Step {
    Step::Member(name.into())
}

impl<'a, 'f> Report<'a, 'f> {
    pub fn new(part: &'a Part<'a>, findings: &'f mut Findings) -> Self {
        Self {
            part,
            findings,
            counts: Vec::new(),
        }
    }

    /// Tells something about a tool. Returns the finding, unless there were too many before it.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        place: Place<'_>,
        steps: impl IntoIterator<Item = Step>,
        detail: &str,
    ) -> Option<&mut Finding> {
        let at = self.findings.len();
        let known = self.counts.iter().position(|count| count.rule == rule);
        let index = known.unwrap_or_else(|| {
            self.counts.push(Count {
                rule,
                found: 0,
                last: at,
            });
            self.counts.len() - 1
        });
        let count = &mut self.counts[index];
        count.found += 1;
        if count.found > SHOWN {
            return None;
        }
        let detail = format!("{}: {detail}", quote::text(place.name));
        let finding: Finding = self.part.at(rule, detail).path(place.path(steps));
        let kept = self.findings.add(finding)?;
        count.last = at;
        Some(kept)
    }
}

impl Drop for Report<'_, '_> {
    /// Says how many findings are not shown.
    fn drop(&mut self) {
        for count in &self.counts {
            let more = count.found.saturating_sub(SHOWN);
            if let Some(last) = self.findings.get_mut(count.last).filter(|_| more > 0) {
                last.detail = format!("{}; and {more} more in this list", last.detail);
            }
        }
    }
}
