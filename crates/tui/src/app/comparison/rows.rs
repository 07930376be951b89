//! What of a comparison is on the screen: what is the same is folded.

use super::{Compared, Counts, Part, Row};
use mcpreel_replay::compare::Class;

impl Compared {
    /// Shows what is the same, or folds it.
    pub fn fold(&mut self, unfolded: bool) {
        let mut rows = Vec::new();
        if !self.said.is_empty() {
            rows.push(Row::Head(Part::Session));
            rows.extend((0..self.said.len()).map(Row::Said));
        }
        let offers = self.offers(unfolded);
        if !offers.is_empty() {
            rows.push(Row::Head(Part::Offers));
            rows.extend(offers.into_iter().map(Row::Offer));
        }
        rows.push(Row::Head(Part::Calls));
        self.calls_into(&mut rows, unfolded);
        self.changes = self.walked(&rows);
        self.rows = rows;
        self.counts = self.counted();
    }

    /// What the server offers and is shown, the worst first.
    fn offers(&self, unfolded: bool) -> Vec<usize> {
        let offers = &self.report.offers;
        let class = |at: &usize| offers[*at].difference.class;
        let mut shown: Vec<usize> = (0..offers.len()).collect();
        shown.retain(|at| unfolded || class(at) != Class::Noise);
        shown.sort_by_key(class);
        shown
    }

    fn calls_into(&self, rows: &mut Vec<Row>, unfolded: bool) {
        let (mut same, mut noise) = (0, 0);
        for (at, pair) in self.pairs.iter().enumerate() {
            if !unfolded && pair.is_same() {
                same += 1;
                noise += usize::from(pair.class.is_some());
                continue;
            }
            if same > 0 {
                rows.push(Row::Folded(same, noise));
                (same, noise) = (0, 0);
            }
            rows.push(Row::Pair(at));
        }
        if same > 0 {
            rows.push(Row::Folded(same, noise));
        }
    }

    /// The places in `rows` of what differs: all but noise, unless there is nothing else.
    fn walked(&self, rows: &[Row]) -> Vec<usize> {
        let of = |wanted: fn(Class) -> bool| {
            let rows = rows.iter().enumerate();
            let rows = rows.filter(|(_, row)| !self.is_listed(**row));
            let changes = rows.filter(|(_, row)| self.class(**row).is_some_and(wanted));
            changes.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let changes = of(|class| class != Class::Noise);
        if changes.is_empty() {
            return of(|_| true);
        }
        changes
    }

    /// Counts what there is: calls, offers and sentences about the whole.
    fn counted(&self) -> Counts {
        let mut counts = Counts::default();
        let said = self.said.iter().filter_map(|(class, _)| *class);
        let offers = self.report.offers.iter();
        for class in said.chain(offers.map(|offer| offer.difference.class)) {
            counts.of[class as usize] += 1;
        }
        for pair in self.pairs.iter().filter(|pair| !pair.is_listed) {
            match (pair.class, &pair.said) {
                (Some(class), _) => counts.of[class as usize] += 1,
                (None, None) => counts.same += 1,
                (None, Some(_)) => counts.not_tried += 1,
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::comparison::{Pair, Side};
    use mcpreel_replay::report::Report;
    use std::path::PathBuf;

    fn pair(class: Option<Class>) -> Pair {
        Pair {
            sides: [None; 2],
            call: 0,
            class,
            is_listed: false,
            account: None,
            said: None,
        }
    }

    fn compared(classes: &[Option<Class>]) -> Compared {
        let side = Side {
            path: PathBuf::new(),
            short: String::new(),
            title: String::new(),
        };
        Compared {
            sides: [side.clone(), side],
            report: Report::default(),
            calls: vec![("m".into(), None)],
            pairs: classes.iter().copied().map(pair).collect(),
            bound: std::sync::Arc::default(),
            said: Vec::new(),
            left_out: 0,
            not_made: None,
            counts: Counts::default(),
            rows: Vec::new(),
            changes: Vec::new(),
        }
    }

    #[test]
    fn what_is_the_same_is_folded_and_shown_on_request() {
        let changed = Some(Class::Changed);
        let noise = Some(Class::Noise);
        let mut it = compared(&[None, noise, changed, None]);
        it.fold(false);
        let calls = Row::Head(Part::Calls);
        let folded = [calls, Row::Folded(2, 1), Row::Pair(2), Row::Folded(1, 0)];
        assert_eq!((&*it.rows, &*it.changes), (&folded[..], &[2][..]));
        it.fold(true);
        let all = [
            calls,
            Row::Pair(0),
            Row::Pair(1),
            Row::Pair(2),
            Row::Pair(3),
        ];
        assert_eq!((&*it.rows, &*it.changes), (&all[..], &[3][..]));
    }

    #[test]
    fn what_was_not_tried_is_never_folded() {
        let mut it = compared(&[None]);
        it.pairs[0].said = Some("was refused".into());
        it.fold(false);
        assert_eq!(it.rows, [Row::Head(Part::Calls), Row::Pair(0)]);
    }

    #[test]
    fn noise_is_walked_only_where_nothing_else_differs() {
        let noise = Some(Class::Noise);
        let mut it = compared(&[noise, None]);
        it.fold(true);
        assert_eq!(it.changes, [1]);
        let mut it = compared(&[noise, Some(Class::Breaking)]);
        it.fold(true);
        assert_eq!(it.changes, [2]);
    }
}
