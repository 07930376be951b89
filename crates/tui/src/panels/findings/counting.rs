//! Counts findings by rule, some milliseconds at a time; with a filter those that point at a frame
//! or exchange that fits.

use crate::widget::cursor::Rows;
use crate::worker::job::{Growth, Job, Progress, Source, Step};
use mcpreel_store::reader::{FindingRow, ReadError};
use mcpreel_store::select::Question;
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Findings that are counted at once.
const LOAD: u64 = 10_000;

/// Findings that are judged together.
const LOT: usize = 64;

/// Messages of a frame that are judged: of a batch that is longer, the first ones.
const MESSAGES: usize = 64;

/// Findings of a group that are read at first, and then four times as many.
const PAGE: u32 = 200;

/// A rule and a severity.
pub type GroupId = (Box<str>, Box<str>);

#[derive(Debug, Default)]
pub struct Findings {
    /// The filter and the unfolded groups that were asked for.
    pub asked: Option<(Query, BTreeMap<GroupId, u32>)>,
    /// The groups, errors first; none until the first answer.
    pub groups: Option<Vec<FindingGroup>>,
    pub percent: u8,
    /// Groups that are unfolded, and how many findings of each are wanted.
    pub unfolded: BTreeMap<GroupId, u32>,
    /// The first findings of groups that are, or were, unfolded.
    pub rows: BTreeMap<GroupId, Vec<FindingRow>>,
    pub cursor: Rows<Place>,
}

/// A row, whatever stands above it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The first row, whichever that is.
    #[default]
    First,
    Group(GroupId),
    Finding(GroupId, u64),
    More(GroupId),
}

#[derive(Clone, Copy, Debug)]
pub enum Row<'s> {
    /// All findings of a rule with a severity; whether it is unfolded.
    Group(&'s FindingGroup, bool),
    Finding(&'s FindingRow),
    /// So many findings were not read.
    More(&'s FindingGroup, u64),
}

impl Row<'_> {
    pub fn place(&self) -> Place {
        match self {
            Self::Group(group, _) => Place::Group(id_of(group)),
            Self::Finding(row) => Place::Finding((row.rule.clone(), row.severity.clone()), row.id),
            Self::More(group, _) => Place::More(id_of(group)),
        }
    }
}

pub fn id_of(group: &FindingGroup) -> GroupId {
    (group.rule.clone(), group.severity.clone())
}

impl Findings {
    pub fn all(&self) -> Vec<Row<'_>> {
        let mut all = Vec::new();
        for group in self.groups.iter().flatten() {
            let id = id_of(group);
            let unfolded = self.unfolded.contains_key(&id);
            all.push(Row::Group(group, unfolded));
            if !unfolded {
                continue;
            }
            let rows = self.rows.get(&id).map_or(&[][..], Vec::as_slice);
            all.extend(rows.iter().map(Row::Finding));
            let left = group.count.saturating_sub(rows.len() as u64);
            if left > 0 {
                all.push(Row::More(group, left));
            }
        }
        all
    }

    pub fn places(&self) -> Vec<Place> {
        self.all().iter().map(Row::place).collect()
    }

    /// Where the cursor is; on the group of its row where that is gone.
    pub fn at(&self) -> usize {
        let places = self.places();
        let find = |place: &Place| places.iter().position(|one| one == place);
        let group = self.group().map(Place::Group);
        let group = || group.as_ref().and_then(find);
        find(&self.cursor.id).or_else(group).unwrap_or(0)
    }

    /// The group that the cursor is in.
    pub fn group(&self) -> Option<GroupId> {
        match &self.cursor.id {
            Place::Group(group) | Place::Finding(group, _) | Place::More(group) => {
                Some(group.clone())
            }
            Place::First => self.groups.iter().flatten().next().map(id_of),
        }
    }

    /// The row under the cursor.
    pub fn current(&self) -> Option<Row<'_>> {
        self.all().get(self.at()).copied()
    }

    /// The frame of the finding under the cursor, or of the first one of the group under it.
    pub fn frame(&self) -> Option<Seq> {
        match self.current()? {
            Row::Finding(row) => row.frame,
            Row::Group(group, _) | Row::More(group, _) => group.first,
        }
    }

    /// How many there are of a severity.
    pub fn count(&self, severity: &str) -> u64 {
        let groups = self.groups.iter().flatten();
        let groups = groups.filter(|group| &*group.severity == severity);
        groups.map(|group| group.count).sum()
    }

    /// Folds or unfolds the group that the cursor is in; the cursor stays in it.
    pub fn fold(&mut self, close: bool) {
        let Some(group) = self.group() else {
            return;
        };
        if close {
            self.unfolded.remove(&group);
            self.cursor.id = Place::Group(group);
        } else {
            self.unfolded.entry(group).or_insert(PAGE);
        }
    }

    pub fn toggle(&mut self) {
        let group = self.group();
        self.fold(group.is_some_and(|group| self.unfolded.contains_key(&group)));
    }
}

/// The findings that were counted so far.
pub struct Found {
    pub groups: Vec<FindingGroup>,
    pub rows: BTreeMap<GroupId, Vec<FindingRow>>,
    pub percent: u8,
}

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
        let to = last.min(self.after + LOAD);
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

    fn answer(&mut self, source: &Source<'_>, percent: u8) -> Result<Found, ReadError> {
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
        Ok(Found {
            groups,
            rows,
            percent,
        })
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
    type Found = Found;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
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
        let is_told = is_done || !self.known;
        let found = is_told.then(|| self.answer(source, percent)).transpose()?;
        self.known |= is_done;
        let progress = if is_done {
            Progress::Done
        } else {
            Progress::More
        };
        Ok((progress, found))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_unfolds_below_itself_and_says_what_was_not_read() {
        let group = FindingGroup {
            rule: "a".into(),
            severity: "note".into(),
            count: 3,
            first: Some(Seq(4)),
            last: Some(Seq(9)),
        };
        let finding = |number, frame| FindingRow {
            id: number,
            rule: "a".into(),
            severity: "note".into(),
            frame: Some(Seq(frame)),
            exchange: None,
            path: None,
            related: Vec::new(),
            detail: "d".into(),
        };
        let id = id_of(&group);
        let mut state = Findings {
            groups: Some(vec![group]),
            ..Findings::default()
        };
        assert_eq!((state.all().len(), state.frame()), (1, Some(Seq(4))));
        state.unfolded.insert(id.clone(), 2);
        let rows = vec![finding(1, 4), finding(2, 7)];
        state.rows.insert(id.clone(), rows);
        assert!(matches!(state.all()[3], Row::More(_, 1)));
        state.cursor.id = Place::Finding(id.clone(), 2);
        assert_eq!(state.frame(), Some(Seq(7)));
        state.unfolded.clear();
        assert_eq!(state.at(), 0, "its group");
    }
}
