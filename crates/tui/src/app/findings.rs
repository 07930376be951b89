//! What is wrong.

use crate::worker::findings::GroupId;
use mcpreel_store::reader::FindingRow;
use mcpreel_store::story::FindingGroup;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::Query;
use std::collections::BTreeMap;

/// Findings of a group that are read at first, and then more at a time.
pub const PAGE: u32 = 200;

/// Findings of one group that are read at most. Nobody reads on, and the list can be filtered.
pub const MOST: u32 = 5_000;

#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub generation: u64,
    /// When, nanoseconds since the viewer started.
    pub at_ns: u64,
    pub frames: u64,
    /// What for: if this differs, other findings are counted.
    pub about: About,
    pub unfolded: Vec<(GroupId, u32)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Those that point at what fits it.
    pub query: Query,
}

#[derive(Debug, Default)]
pub struct Findings {
    pub asked: Option<Asked>,
    /// The groups, errors first; none until the first answer.
    pub groups: Option<Vec<FindingGroup>>,
    pub percent: u8,
    /// Groups that are unfolded, and how many of each are wanted.
    pub unfolded: BTreeMap<GroupId, u32>,
    /// The first findings of groups that are, or were, unfolded.
    pub rows: BTreeMap<GroupId, Vec<FindingRow>>,
    pub cursor: Place,
    pub top: usize,
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
    /// All findings of a rule with a severity.
    Group(&'s FindingGroup, bool),
    Finding(&'s FindingRow),
    More(&'s FindingGroup, u64),
}

impl Row<'_> {
    pub fn place(&self) -> Place {
        match self {
            Self::Group(group, _) => Place::Group(id(group)),
            Self::Finding(row) => Place::Finding((row.rule.clone(), row.severity.clone()), row.id),
            Self::More(group, _) => Place::More(id(group)),
        }
    }
}

pub fn id(group: &FindingGroup) -> GroupId {
    (group.rule.clone(), group.severity.clone())
}

impl Findings {
    pub fn all(&self) -> Vec<Row<'_>> {
        let mut all = Vec::new();
        for group in self.groups.iter().flatten() {
            let id = id(group);
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

    /// Where the cursor is among `rows`.
    pub fn cursor_row(&self, rows: &[Row<'_>]) -> usize {
        let exactly = rows.iter().position(|row| row.place() == self.cursor);
        let group = match &self.cursor {
            Place::Finding(group, _) | Place::More(group) => Place::Group(group.clone()),
            other => other.clone(),
        };
        let of_group = || rows.iter().position(|row| row.place() == group);
        exactly.or_else(of_group).unwrap_or(0)
    }

    /// The finding under the cursor, or the first of the group under it.
    pub fn frame(&self) -> Option<Seq> {
        let rows = self.all();
        match rows.get(self.cursor_row(&rows))? {
            Row::Finding(row) => row.frame,
            Row::Group(group, _) | Row::More(group, _) => group.first,
        }
    }

    /// How many there are of a severity.
    pub fn count(&self, severity: &str) -> u64 {
        let of = |group: &&FindingGroup| &*group.severity == severity;
        let groups = self.groups.iter().flatten();
        groups.filter(of).map(|group| group.count).sum()
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
        let id = id(&group);
        let mut state = Findings {
            groups: Some(vec![group]),
            ..Findings::default()
        };
        assert_eq!(state.all().len(), 1);
        assert_eq!(state.frame(), Some(Seq(4)));
        state.unfolded.insert(id.clone(), 2);
        state
            .rows
            .insert(id.clone(), vec![finding(1, 4), finding(2, 7)]);
        let rows = state.all();
        assert!(matches!(rows[3], Row::More(_, 1)), "{rows:?}");
        state.cursor = Place::Finding(id.clone(), 2);
        assert_eq!(state.frame(), Some(Seq(7)));
        state.unfolded.clear();
        let rows = state.all();
        assert_eq!(state.cursor_row(&rows), 0, "its group");
        assert_eq!(state.count("note"), 3);
    }
}
