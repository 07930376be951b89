//! The findings that fit a filter: those that point at a frame or exchange that fits it.
//!
//! Each is judged by itself, a lot of them at a time; a recording with a million takes a while,
//! and the figures so far are told meanwhile.

use super::{Answer, Ask, GroupId, Groups, STEP_NS};
use crate::worker::{Answer as Any, Growth, Job, Progress, Source};
use mcpreel_store::reader::{FindingRow, ReadError};
use mcpreel_store::select::Question;
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::item::{ItemKey, Lens};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Findings that are judged together.
const LOT: usize = 64;

/// Messages of a frame that are judged: of a batch that is longer, the first ones.
const MESSAGES: usize = 64;

pub(super) struct Fitting {
    ask: Ask,
    waiting: VecDeque<FindingRow>,
    read: u64,
    judged: u64,
    groups: Groups,
    /// The first ones of each group that is unfolded.
    rows: BTreeMap<GroupId, Vec<FindingRow>>,
}

impl Fitting {
    pub fn new(ask: Ask) -> Self {
        Self {
            ask,
            waiting: VecDeque::new(),
            read: 0,
            judged: 0,
            groups: Groups::default(),
            rows: BTreeMap::new(),
        }
    }

    /// Judges some. Whether there are none left.
    fn judge(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        if self.waiting.is_empty() {
            self.waiting = source.recording.findings(self.read)?.into();
            self.read = self.waiting.back().map_or(self.read, |last| last.id);
        }
        let lot = self.waiting.len().min(LOT);
        let lot: Vec<_> = self.waiting.drain(..lot).collect();
        let Some(last) = lot.last() else {
            return Ok(true);
        };
        self.judged = last.id;
        let places: Vec<_> = lot
            .iter()
            .map(|finding| self.places(source, finding))
            .collect::<Result<_, _>>()?;
        let exchanges = self.fitting(source, Lens::Exchanges, &places, |place| &place.exchanges)?;
        let messages = self.fitting(source, Lens::Wire, &places, |place| &place.messages)?;
        for (finding, place) in lot.into_iter().zip(places) {
            let fits = place.exchanges.iter().any(|key| exchanges.contains(key))
                || place.messages.iter().any(|key| messages.contains(key));
            if fits {
                self.take(finding);
            }
        }
        Ok(false)
    }

    fn places(&self, source: &Source<'_>, finding: &FindingRow) -> Result<Places, ReadError> {
        let recording = source.recording;
        let mut places = Places::default();
        if let Some(id) = finding.exchange {
            let exchanges = recording.light_exchanges_of(&[id], None)?;
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
            let exchanges = exchanges.iter().take(MESSAGES);
            places.exchanges.extend(exchanges.map(address));
        }
        Ok(places)
    }

    /// Which of the rows at `places` fit the filter through `lens`.
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
            query: self.ask.query.clone(),
            until: None,
        };
        let recording = source.recording;
        let fitting = recording.fitting(&question, source.context(), &keys)?;
        Ok(fitting.into_iter().collect())
    }

    fn take(&mut self, finding: FindingRow) {
        let id = (finding.rule.clone(), finding.severity.clone());
        self.groups.add(&FindingGroup {
            rule: finding.rule.clone(),
            severity: finding.severity.clone(),
            count: 1,
            first: finding.frame,
            last: finding.frame,
        });
        let mut unfolded = self.ask.unfolded.iter();
        let wanted = unfolded.find(|(group, _)| *group == id);
        let Some((_, wanted)) = wanted else { return };
        let rows = self.rows.entry(id).or_default();
        if rows.len() < *wanted as usize {
            rows.push(finding);
        }
    }

    fn answer(&self, last: u64, is_done: bool, answers: &mut Vec<Any>) {
        let generation = self.ask.generation;
        for (group, _) in &self.ask.unfolded {
            answers.push(Any::Findings(Answer::Rows {
                generation,
                group: group.clone(),
                rows: self.rows.get(group).cloned().unwrap_or_default(),
            }));
        }
        let percent = if is_done {
            100
        } else {
            super::percent(self.judged, last)
        };
        answers.push(Any::Findings(Answer::Groups {
            generation,
            groups: self.groups.sorted(),
            percent,
        }));
    }
}

/// What a finding points at: rows of the list, and rows of the wire.
#[derive(Default)]
struct Places {
    exchanges: Vec<ItemKey>,
    messages: Vec<ItemKey>,
}

fn address(exchange: &mcpreel_trace::exchange::Exchange) -> ItemKey {
    ItemKey::of_part(exchange.request.0, exchange.request.1)
}

impl Job for Fitting {
    fn step(&mut self, source: &Source<'_>, answers: &mut Vec<Any>) -> Result<Progress, ReadError> {
        let began = source.clock.now().0;
        let last = source.recording.last_finding()?;
        let mut is_done = false;
        while !is_done && source.clock.now().0.saturating_sub(began) < STEP_NS {
            is_done = self.judge(source)?;
        }
        if is_done || !self.ask.known {
            self.answer(last, is_done, answers);
        }
        Ok(if is_done {
            Progress::Done
        } else {
            Progress::More
        })
    }

    /// What fitted may not fit any more and the other way round: whoever looks asks anew. At the
    /// end what was derived may have been derived anew.
    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended {
            *self = Self::new(self.ask.clone());
        }
        growth.ended
    }
}
