//! What is searched for, and where it was found.

use mcpreel_store::search::{Finder, Pattern};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, cut, escape, plural};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

/// Before a regular expression, in the text that is typed.
pub const REGEX: &str = "re:";

/// Places that are marked in one text; more cannot be told apart by eye.
const MARKED: usize = 1000;

const REMEMBERED: usize = 50;

/// What is searched for, and where it was found.
#[derive(Debug, Default)]
pub struct Search {
    /// What is searched for; none while nothing is.
    pub term: Option<Term>,
    /// The rows in which it was found, and whether the filter shows them.
    pub rows: BTreeMap<ItemKey, bool>,
    /// Messages and lines in which it was found: a row may have several.
    pub hits: u64,
    pub progress: Progress,
    /// Names the answers that belong to it.
    pub generation: u64,
    pub scope: (Lens, Query),
    /// The cursor goes to the hit that is nearest to this row, as soon as that is known.
    pub nearest: Option<ItemKey>,
    /// What was searched for before, the newest last.
    pub history: Vec<String>,
    /// Which of them stands in the prompt, counted from the newest.
    pub recalled: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    #[default]
    Idle,
    /// So many frames are left, of so many.
    Scanning(u64, u64),
    Done,
    /// It was stopped with so many frames left.
    Stopped(u64),
    /// There were too many hits; so many frames are left.
    Full(u64),
}

/// Places in a text that are marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Where, in order and apart from each other.
    pub places: Vec<Range<usize>>,
    /// Whether there are more that are not marked.
    pub more: bool,
}

#[derive(Clone, Debug)]
pub struct Term {
    pub text: String,
    pub pattern: Pattern,
    finder: Finder,
}

impl Term {
    /// What `text` searches for: itself, or after `re:` a regular expression. Without a capital
    /// letter in it, case is ignored. An error is one sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pattern = match text.strip_prefix(REGEX) {
            Some(regex) => Pattern::Regex(regex.to_owned()),
            None => Pattern::Literal(text.to_owned()),
        };
        let finder = Finder::new(&pattern);
        let finder = finder.map_err(|error| escape(&error.to_string()).into_owned())?;
        Ok(Self {
            text: text.to_owned(),
            pattern,
            finder,
        })
    }

    /// Where it occurs in a text, to be marked there; of very many places the first.
    pub fn places(&self, text: &[u8]) -> Marks {
        let mut places = self.finder.places(text, MARKED + 1);
        let more = places.len() > MARKED;
        places.truncate(MARKED);
        Marks { places, more }
    }
}

impl Search {
    /// Where the term occurs in a text, to be marked there; nowhere while nothing is searched for.
    pub fn places(&self, text: &[u8]) -> Marks {
        let term = self.term.as_ref();
        term.map(|term| term.places(text)).unwrap_or_default()
    }

    /// Whether the term was found in a row, or in one of a run that is shown as one.
    pub fn is_hit(&self, run: RangeInclusive<ItemKey>) -> bool {
        self.rows.range(run).next().is_some()
    }

    /// How many rows with a hit the filter hides.
    pub fn hidden(&self) -> usize {
        self.rows.values().filter(|shown| !**shown).count()
    }

    /// The next shown row with a hit after `from`, or the one before it.
    pub fn next(&self, from: Option<ItemKey>, forward: bool) -> Option<ItemKey> {
        let shown = |(key, shown): (&ItemKey, &bool)| shown.then_some(*key);
        match (from, forward) {
            (Some(from), true) => {
                let after = (std::ops::Bound::Excluded(from), std::ops::Bound::Unbounded);
                self.rows.range(after).find_map(shown)
            }
            (Some(from), false) => self.rows.range(..from).rev().find_map(shown),
            (None, true) => self.rows.iter().find_map(shown),
            (None, false) => self.rows.iter().rev().find_map(shown),
        }
    }

    /// The place of a row among the shown ones with a hit, from 1, and how many these are.
    pub fn place(&self, row: ItemKey) -> (usize, usize) {
        let shown = |range: &mut dyn Iterator<Item = (&ItemKey, &bool)>| {
            range.filter(|(_, shown)| **shown).count()
        };
        (
            shown(&mut self.rows.range(..=row)),
            shown(&mut self.rows.iter()),
        )
    }

    /// Remembers what was searched for.
    pub fn remember(&mut self, text: &str) {
        self.history.retain(|older| older != text);
        self.history.push(text.to_owned());
        if self.history.len() > REMEMBERED {
            self.history.remove(0);
        }
        self.recalled = None;
    }

    /// Forgets the term and its hits, not what was searched for before.
    pub fn clear(&mut self) {
        *self = Self {
            history: std::mem::take(&mut self.history),
            ..Self::default()
        };
    }

    /// `/quota  12 hits in 9 rows, 2 hidden · scanning 61 % · Ctrl-C stops`; nothing while nothing
    /// is searched for. `dot` stands between the parts.
    pub fn status(&self, dot: &str) -> Option<String> {
        let term = self.term.as_ref()?;
        let mut text = format!(
            "/{}  {}",
            cut(&escape(&term.text), 24),
            plural(self.hits, "hit")
        );
        let hidden = self.hidden();
        if hidden > 0 {
            let _ = write!(text, ", {hidden} rows hidden by the filter");
        }
        match self.progress {
            Progress::Idle | Progress::Done => {}
            Progress::Scanning(left, of) => {
                let percent = (of.saturating_sub(left)).saturating_mul(100) / of.max(1);
                let _ = write!(text, " {dot} scanning {percent} % {dot} Ctrl-C stops");
            }
            Progress::Stopped(frames) => {
                let _ = write!(
                    text,
                    " {dot} stopped, {} frames not searched",
                    count(frames)
                );
            }
            Progress::Full(frames) => {
                let frames = count(frames);
                let _ = write!(text, " {dot} too many, {frames} older frames not searched");
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::Seq;

    fn found(rows: &[(u64, bool)]) -> Search {
        let rows = rows.iter();
        Search {
            rows: rows
                .map(|(seq, shown)| (ItemKey::of_part(Seq(*seq), 0), *shown))
                .collect(),
            ..Search::default()
        }
    }

    #[test]
    fn case_counts_only_where_there_is_a_capital_and_an_expression_is_said() {
        let places =
            |term: &str, text: &str| Term::parse(term).unwrap().places(text.as_bytes()).places;
        assert_eq!(places("quota", "Quota QUOTA"), [0..5, 6..11]);
        assert_eq!(places("Quota", "Quota QUOTA").len(), 1);
        assert_eq!(places("a.c", "abc a.c").len(), 1);
        assert_eq!(places("re:a.c", "abc a.c"), [0..3, 4..7]);
        assert!(Term::parse("").is_err() && Term::parse("re:").is_err());
        assert!(Term::parse("re:(").is_err_and(|error| !error.contains('\n')));
    }

    #[test]
    fn hits_are_walked_in_the_order_of_the_rows_and_hidden_ones_are_left_out() {
        let search = found(&[(3, true), (5, false), (9, true)]);
        let key = |seq| Some(ItemKey::of_part(Seq(seq), 0));
        assert_eq!(search.next(key(3), true), key(9));
        assert_eq!(search.next(key(9), true), None);
        assert_eq!(search.next(key(9), false), key(3));
        assert_eq!(search.next(None, true), key(3));
        assert_eq!(search.hidden(), 1);
        assert_eq!(search.place(ItemKey::of_part(Seq(9), 0)), (2, 2));
    }

    #[test]
    fn an_older_search_comes_back_once() {
        let mut search = found(&[(3, true)]);
        for text in ["a", "b", "a"] {
            search.remember(text);
        }
        search.clear();
        assert_eq!(search.history, ["b", "a"]);
        assert!(search.rows.is_empty());
    }
}
