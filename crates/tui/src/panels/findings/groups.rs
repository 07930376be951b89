//! Findings by rule, and how they are counted.

use crate::widget::cursor::Rows;
use crate::worker::job::{LastAsk, Source};
use mcpreel_lint::Severity;
use mcpreel_store::reader::{FindingRow, ReadError};
use mcpreel_store::select::Question;
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Messages of a frame that are judged: of a batch that is longer, the first ones.
const MESSAGES: usize = 64;

/// Findings that are grouped at once: `SQLite` sorts them in memory.
const COUNTED: u64 = 4096;

/// Findings of a group that are read; the list can be filtered to all of them.
const READ: usize = 200;

/// A rule and a severity.
pub type GroupId = (Box<str>, Box<str>);

/// A row, whatever stands above it: a group, or within it the finding with this number. What was
/// not read has the greatest.
type Place = (GroupId, Option<u64>);

#[derive(Debug, Default)]
pub struct Findings {
    /// The filter and the unfolded groups that were asked for.
    pub asked: LastAsk<(Query, BTreeSet<GroupId>)>,
    /// The groups, errors first; none until the first answer.
    pub groups: Option<Vec<FindingGroup>>,
    pub unfolded: BTreeSet<GroupId>,
    /// The first findings of groups that are, or were, unfolded.
    pub rows: BTreeMap<GroupId, Vec<FindingRow>>,
    pub cursor: Rows<Place>,
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
    fn place(&self) -> Place {
        match self {
            Self::Group(group, _) => (id_of(group), None),
            Self::Finding(row) => ((row.rule.clone(), row.severity.clone()), Some(row.id)),
            Self::More(group, _) => (id_of(group), Some(u64::MAX)),
        }
    }
}

fn id_of(group: &FindingGroup) -> GroupId {
    (group.rule.clone(), group.severity.clone())
}

impl Findings {
    pub fn all(&self) -> Vec<Row<'_>> {
        let mut all = Vec::new();
        for group in self.groups.iter().flatten() {
            let id = id_of(group);
            let unfolded = self.unfolded.contains(&id);
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
        let group = (self.cursor.id.0.clone(), None);
        let find = |place: &Place| places.iter().position(|one| one == place);
        let found = find(&self.cursor.id).or_else(|| find(&group));
        found.unwrap_or(0)
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

    /// Folds or unfolds the group that the cursor is in, or does what is not the case; the cursor
    /// stays in the group.
    pub fn fold(&mut self, folds: Option<bool>) {
        let Some((group, _)) = self.places().into_iter().nth(self.at()) else {
            return;
        };
        if folds.unwrap_or(self.unfolded.contains(&group)) {
            self.unfolded.remove(&group);
            self.cursor.id = (group, None);
        } else {
            self.unfolded.insert(group);
        }
    }
}

/// The findings that were counted.
#[derive(Default)]
pub struct Found {
    groups: BTreeMap<GroupId, FindingGroup>,
    /// The first findings of each group that is unfolded.
    pub rows: BTreeMap<GroupId, Vec<FindingRow>>,
}

impl Found {
    /// The groups, errors first.
    pub fn groups(&self) -> Vec<FindingGroup> {
        let mut groups: Vec<_> = self.groups.values().cloned().collect();
        groups.sort_by_key(|group| Reverse((group.severity.parse::<Severity>().ok(), group.count)));
        groups
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
}

/// Counts findings by rule; with a filter those that point at a frame or exchange that fits.
pub fn count(
    source: &Source<'_>,
    query: &Query,
    unfolded: &BTreeSet<GroupId>,
) -> Result<Found, ReadError> {
    let recording = source.recording;
    let mut found = Found::default();
    if query.expr.is_none() {
        let (last, mut counted) = (recording.last_finding()?, 0);
        while counted < last {
            let to = last.min(counted + COUNTED);
            for group in recording.finding_groups_between(counted, to)? {
                found.add(group);
            }
            counted = to;
        }
        for id in unfolded {
            let limit = u32::try_from(READ).unwrap_or(u32::MAX);
            let rows = recording.findings_of_group(&id.0, &id.1, limit)?;
            found.rows.insert(id.clone(), rows);
        }
        return Ok(found);
    }
    let mut after = 0;
    loop {
        let page = recording.findings(after)?;
        let Some(last) = page.last().filter(|_| !(source.is_stopped)()) else {
            return Ok(found);
        };
        after = last.id;
        for finding in fitting(source, query, page)? {
            let group = FindingGroup {
                rule: finding.rule.clone(),
                severity: finding.severity.clone(),
                count: 1,
                first: finding.frame,
                last: finding.frame,
            };
            let id = id_of(&group);
            found.add(group);
            if unfolded.contains(&id) {
                let rows = found.rows.entry(id).or_default();
                if rows.len() < READ {
                    rows.push(finding);
                }
            }
        }
    }
}

/// The findings that point at a row that fits: of the list, or of the wire.
fn fitting(
    source: &Source<'_>,
    query: &Query,
    findings: Vec<FindingRow>,
) -> Result<Vec<FindingRow>, ReadError> {
    let places = findings.iter().map(|finding| places(source, finding));
    let places: Vec<_> = places.collect::<Result<_, _>>()?;
    let fits = |lens, nth: usize| -> Result<HashSet<ItemKey>, ReadError> {
        let keys: BTreeSet<_> = places.iter().flat_map(|both| &both[nth]).copied().collect();
        let keys: Vec<_> = keys.into_iter().collect();
        let question = Question::new(lens, query.clone());
        let fitting = (source.recording).fitting(&question, source.context(), &keys)?;
        Ok(fitting.into_iter().collect())
    };
    let fitting = [fits(Lens::Exchanges, 0)?, fits(Lens::Wire, 1)?];
    let is_fit = |both: &Places| {
        let mut both = both.iter().zip(&fitting);
        both.any(|(keys, fitting)| keys.iter().any(|key| fitting.contains(key)))
    };
    let both = findings.into_iter().zip(&places);
    let fitting = both.filter(|(_, both)| is_fit(both));
    Ok(fitting.map(|(finding, _)| finding).collect())
}

/// The rows that a finding points at: of the list, and of the wire.
type Places = [Vec<ItemKey>; 2];

fn places(source: &Source<'_>, finding: &FindingRow) -> Result<Places, ReadError> {
    let recording = source.recording;
    let mut exchanges = match finding.exchange {
        Some(id) => recording.exchanges_of(&[id])?,
        None => Vec::new(),
    };
    let Some(seq) = finding.frame else {
        let rows = exchanges.iter().map(ItemKey::of_exchange);
        return Ok([rows.collect(), Vec::new()]);
    };
    if finding.exchange.is_none() {
        exchanges = recording.exchanges_of_frame(seq)?;
    }
    let messages = recording.messages_of_frame(seq)?;
    // Of a batch only what the finding is about.
    let about = |exchange| finding.exchange.is_none() || exchange == finding.exchange;
    let about = messages.iter().filter(|row| about(row.record.exchange));
    let parts = about.take(MESSAGES).map(|row| row.record.part);
    let mut wire: Vec<_> = parts.map(|part| ItemKey::of_part(seq, part)).collect();
    if messages.is_empty() {
        wire.push(ItemKey::of_part(seq, 0));
    }
    let exchanges = exchanges.iter().take(MESSAGES);
    Ok([exchanges.map(ItemKey::of_exchange).collect(), wire])
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
        state.unfolded.insert(id.clone());
        let rows = vec![finding(1, 4), finding(2, 7)];
        state.rows.insert(id.clone(), rows);
        assert!(matches!(state.all()[3], Row::More(_, 1)));
        state.cursor.id = (id.clone(), Some(2));
        assert_eq!(state.frame(), Some(Seq(7)));
        state.unfolded.clear();
        assert_eq!(state.at(), 0, "its group");
    }
}
