//! Counts findings by rule, some milliseconds at a time; with a filter those that point at a frame
//! or exchange that fits.

use super::{GroupId, id_of};
use crate::worker::{Answer, Growth, Job, Progress, Source};
use mcpreel_store::reader::{FindingRow, ReadError};
use mcpreel_store::select::Question;
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Findings that are counted at once.
const PAGE: u64 = 10_000;

/// Findings that are judged together.
const LOT: usize = 64;

/// Messages of a frame that are judged: of a batch that is longer, the first ones.
const MESSAGES: usize = 64;

#[derive(Default)]
pub(super) struct Counting {
    query: Query,
    /// Groups that are unfolded, and how many findings of each are wanted.
    unfolded: BTreeMap<GroupId, u32>,
    /// Whether all groups are on the screen already: then figures so far are not handed over.
    known: bool,
    /// Everything up to this finding was counted.
    after: u64,
    groups: BTreeMap<GroupId, FindingGroup>,
    /// With a filter: findings that were read and wait to be judged.
    waiting: VecDeque<FindingRow>,
    /// The first findings of each group that is unfolded.
    rows: BTreeMap<GroupId, Vec<FindingRow>>,
}

/// The rows that a finding points at: of the list, and of the wire.
#[derive(Default)]
struct Places {
    exchanges: Vec<ItemKey>,
    messages: Vec<ItemKey>,
}

impl Counting {
    pub fn new(query: Query, unfolded: &BTreeMap<GroupId, u32>, known: bool) -> Self {
        Self {
            query,
            unfolded: unfolded.clone(),
            known,
            ..Self::default()
        }
    }

    fn has_filter(&self) -> bool {
        self.query.expr.is_some()
    }

    fn add(&mut self, group: FindingGroup) {
        let id = id_of(&group);
        let Some(known) = self.groups.get_mut(&id) else {
            self.groups.insert(id, group);
            return;
        };
        known.count += group.count;
        known.first = known.first.into_iter().chain(group.first).min();
        known.last = known.last.max(group.last);
    }

    /// Counts all findings up to the last one, a page at a time.
    fn count(&mut self, source: &Source<'_>, last: u64) -> Result<(), ReadError> {
        let to = last.min(self.after + PAGE);
        for group in source.recording.finding_groups_between(self.after, to)? {
            self.add(group);
        }
        self.after = to;
        Ok(())
    }

    /// Judges some findings by what they point at.
    fn judge(&mut self, source: &Source<'_>, last: u64) -> Result<(), ReadError> {
        if self.waiting.is_empty() {
            self.waiting = source.recording.findings(self.after)?.into();
        }
        let lot = self.waiting.len().min(LOT);
        let lot: Vec<_> = self.waiting.drain(..lot).collect();
        self.after = lot.last().map_or(last, |last| last.id);
        let places = lot.iter().map(|finding| places(source, finding));
        let places: Vec<_> = places.collect::<Result<_, _>>()?;
        let exchanges = self.fitting(source, Lens::Exchanges, &places, |one| &one.exchanges)?;
        let messages = self.fitting(source, Lens::Wire, &places, |one| &one.messages)?;
        for (finding, place) in lot.into_iter().zip(places) {
            let fits = place.exchanges.iter().any(|key| exchanges.contains(key))
                || place.messages.iter().any(|key| messages.contains(key));
            if fits {
                self.take(finding);
            }
        }
        Ok(())
    }

    /// The rows at `places` that fit the filter through `lens`.
    fn fitting(
        &self,
        source: &Source<'_>,
        lens: Lens,
        places: &[Places],
        of: fn(&Places) -> &Vec<ItemKey>,
    ) -> Result<HashSet<ItemKey>, ReadError> {
        let keys: HashSet<_> = places.iter().flat_map(of).copied().collect();
        let keys: Vec<_> = keys.into_iter().collect();
        let question = Question {
            lens,
            query: self.query.clone(),
            until: None,
        };
        let fitting = source
            .recording
            .fitting(&question, source.context(), &keys)?;
        Ok(fitting.into_iter().collect())
    }

    fn take(&mut self, finding: FindingRow) {
        let group = FindingGroup {
            rule: finding.rule.clone(),
            severity: finding.severity.clone(),
            count: 1,
            first: finding.frame,
            last: finding.frame,
        };
        let id = id_of(&group);
        self.add(group);
        let Some(wanted) = self.unfolded.get(&id) else {
            return;
        };
        let rows = self.rows.entry(id).or_default();
        if rows.len() < *wanted as usize {
            rows.push(finding);
        }
    }

    fn answer(&mut self, source: &Source<'_>, percent: u8) -> Result<Answer, ReadError> {
        if !self.has_filter() {
            for (id, limit) in &self.unfolded {
                let (rule, severity) = id;
                let rows = source.recording.findings_of_group(rule, severity, *limit)?;
                self.rows.insert(id.clone(), rows);
            }
        }
        let mut groups: Vec<_> = self.groups.values().cloned().collect();
        groups.sort_by_key(|group| (rank(&group.severity), Reverse(group.count)));
        let rows = self.rows.clone();
        Ok(Answer::found(move |_, session| {
            super::found(session, groups, rows, percent)
        }))
    }
}

/// The rows that a finding points at.
fn places(source: &Source<'_>, finding: &FindingRow) -> Result<Places, ReadError> {
    let recording = source.recording;
    let address = |exchange: &Exchange| ItemKey::of_part(exchange.request.0, exchange.request.1);
    let mut places = Places::default();
    if let Some(id) = finding.exchange {
        let exchanges = recording.exchanges_of(&[id])?;
        places.exchanges.extend(exchanges.iter().map(address));
    }
    let Some(seq) = finding.frame else {
        return Ok(places);
    };
    let messages = recording.messages_of_frame(seq)?;
    if messages.is_empty() {
        places.messages.push(ItemKey::of_part(seq, 0));
    }
    // Of a batch only what the finding is about.
    let about = |exchange| finding.exchange.is_none() || exchange == finding.exchange;
    let messages = messages.iter().filter(|row| about(row.record.exchange));
    let parts = messages.take(MESSAGES).map(|row| row.record.part);
    places
        .messages
        .extend(parts.map(|part| ItemKey::of_part(seq, part)));
    if finding.exchange.is_none() {
        let exchanges = recording.exchanges_of_frame(seq)?;
        places
            .exchanges
            .extend(exchanges.iter().take(MESSAGES).map(address));
    }
    Ok(places)
}

/// Errors first.
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
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let began = source.clock.now().0;
        let last = source.recording.last_finding()?;
        while self.after < last && source.clock.now().0.saturating_sub(began) < STEP_NS {
            if self.has_filter() {
                self.judge(source, last)?;
            } else {
                self.count(source, last)?;
            }
        }
        let is_done = self.after >= last;
        let percent = (self.after.saturating_mul(100) / last.max(1)).min(99);
        let percent = if is_done {
            100
        } else {
            u8::try_from(percent).unwrap_or(99)
        };
        if is_done || !self.known {
            answers.push(self.answer(source, percent)?);
        }
        self.known |= is_done;
        Ok(if is_done {
            Progress::Done
        } else {
            Progress::More
        })
    }

    /// What fitted a filter may not fit any more and the other way round; and at the end what was
    /// derived may have been derived anew. Then all is counted anew.
    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended || self.has_filter() {
            *self = Self::new(std::mem::take(&mut self.query), &self.unfolded, self.known);
        }
        true
    }
}
