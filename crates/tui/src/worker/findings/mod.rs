//! What is wrong.
//!
//! Findings are counted by rule in pieces, since there may be a million of them; of the groups
//! that are unfolded the first ones are read, as many as the screen asks for. Where there is a
//! filter, each is judged by what it points at (`fitting`).

mod fitting;

use super::{Growth, Job, Progress, Source};
use mcpreel_store::reader::{FindingRow, ReadError};
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::query::Query;
use std::collections::BTreeMap;

/// Findings that are counted at once.
const PAGE: u64 = 10_000;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Groups at most. There are not so many rules; a recording made by hand may name others.
const GROUPS: usize = 500;

pub type GroupId = (Box<str>, Box<str>);

#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    /// Which: those that point at a frame or exchange that fits it.
    pub query: Query,
    /// Groups that are unfolded, and how many of each are wanted.
    pub unfolded: Vec<(GroupId, u32)>,
    /// Whether the groups are on the screen already: then figures so far are not handed over.
    pub known: bool,
}

#[derive(Debug)]
pub enum Answer {
    /// How many there are. Comes again as more is counted.
    Groups {
        generation: u64,
        /// Errors first, then the most frequent.
        groups: Vec<FindingGroup>,
        /// How much was counted, percent; 100 when all was.
        percent: u8,
    },
    Rows {
        generation: u64,
        group: GroupId,
        rows: Vec<FindingRow>,
    },
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        if self.query.expr.is_some() {
            return Box::new(fitting::Fitting::new(self));
        }
        Box::new(Counting {
            ask: self,
            after: 0,
            groups: Groups::default(),
            rows_due: true,
        })
    }
}

struct Counting {
    ask: Ask,
    after: u64,
    groups: Groups,
    rows_due: bool,
}

#[derive(Default)]
struct Groups(BTreeMap<GroupId, FindingGroup>);

impl Groups {
    fn add(&mut self, group: &FindingGroup) {
        let id = (group.rule.clone(), group.severity.clone());
        if self.0.len() >= GROUPS && !self.0.contains_key(&id) {
            return;
        }
        let known = self.0.entry(id).or_insert(FindingGroup {
            count: 0,
            first: None,
            last: None,
            ..group.clone()
        });
        known.count += group.count;
        known.first = known.first.into_iter().chain(group.first).min();
        known.last = known.last.max(group.last);
    }

    /// Errors first, then the most frequent.
    fn sorted(&self) -> Vec<FindingGroup> {
        let mut groups: Vec<_> = self.0.values().cloned().collect();
        groups.sort_by_key(|group| (rank(&group.severity), std::cmp::Reverse(group.count)));
        groups
    }
}

impl Counting {
    fn answer(&self, last: u64) -> super::Answer {
        super::Answer::Findings(Answer::Groups {
            generation: self.ask.generation,
            groups: self.groups.sorted(),
            percent: percent(self.after, last),
        })
    }
}

/// How much was looked at, percent; 100 when all was.
fn percent(at: u64, last: u64) -> u8 {
    let percent = at.saturating_mul(100) / last.max(1);
    if at >= last {
        100
    } else {
        u8::try_from(percent.min(99)).unwrap_or(99)
    }
}

fn rank(severity: &str) -> u8 {
    match severity {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    }
}

impl Job for Counting {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<super::Answer>,
    ) -> Result<Progress, ReadError> {
        let recording = source.recording;
        if std::mem::take(&mut self.rows_due) {
            for ((rule, severity), limit) in &self.ask.unfolded {
                let rows = recording.findings_of_group(rule, severity, None, *limit)?;
                answers.push(super::Answer::Findings(Answer::Rows {
                    generation: self.ask.generation,
                    group: (rule.clone(), severity.clone()),
                    rows,
                }));
            }
        }
        let began = source.clock.now().0;
        let last = recording.last_finding()?;
        while self.after < last && source.clock.now().0.saturating_sub(began) < STEP_NS {
            let to = last.min(self.after + PAGE);
            for group in recording.finding_groups_between(self.after, to, None)? {
                self.groups.add(&group);
            }
            self.after = to;
        }
        let done = self.after >= last;
        if done || !self.ask.known {
            answers.push(self.answer(last));
        }
        Ok(if done { Progress::Done } else { Progress::More })
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended {
            // At the end what was derived may have been derived anew.
            self.after = 0;
            self.groups = Groups::default();
        }
        self.rows_due = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;

    #[test]
    fn what_was_counted_in_pieces_is_one_group_and_errors_come_first() {
        let ask = Ask {
            generation: 1,
            query: Query::default(),
            unfolded: vec![],
            known: false,
        };
        let mut counting = Counting {
            ask,
            after: 0,
            groups: Groups::default(),
            rows_due: true,
        };
        let group = |rule: &str, severity: &str, count, first, last| FindingGroup {
            rule: rule.into(),
            severity: severity.into(),
            count,
            first,
            last,
        };
        counting
            .groups
            .add(&group("a", "note", 900, Some(Seq(3)), Some(Seq(5))));
        counting.groups.add(&group("b", "error", 1, None, None));
        counting
            .groups
            .add(&group("a", "note", 100, Some(Seq(2)), Some(Seq(9))));
        let super::super::Answer::Findings(Answer::Groups { groups, .. }) = counting.answer(0)
        else {
            panic!("it answers with groups");
        };
        assert_eq!(groups[0].rule.as_ref(), "b");
        assert_eq!(
            groups[1],
            group("a", "note", 1000, Some(Seq(2)), Some(Seq(9)))
        );
    }
}
