//! What is searched for, and the rows in which it was found.

use crate::panels::prompt::History;
use crate::worker::job::{self, Growth, Job, Source, Step};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::Question;
use mcpreel_store::text_search;
use mcpreel_store::text_search::{Finder, Pace, Pattern, SearchHit};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
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
    pub scope: (Lens, Query),
    /// The cursor goes to the hit that is nearest to this row, as soon as that is known.
    pub nearest: Option<ItemKey>,
    pub history: History,
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

/// How long a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Rows with a hit that are handed over. Whoever finds more has searched for too little.
const MOST: u64 = 20_000;

/// What a step of the search has found.
pub struct Found {
    /// Rows in which it was found, and whether the filter shows them.
    pub rows: Vec<(ItemKey, bool)>,
    pub hits: u64,
    /// Everything after this frame was looked at.
    pub reached: Seq,
    pub progress: Progress,
}

/// Looks for the term, newest first, and follows the recording.
pub struct Searching {
    pattern: Pattern,
    /// What the rows are, and which of them are shown.
    question: Question,
    search: Option<text_search::Search>,
    hits: u64,
    ended: bool,
}

impl Job for Searching {
    type Found = Result<Found, String>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        if self.search.is_none() {
            match text_search::Search::new(source.path, &self.pattern, None) {
                Ok(search) => self.search = Some(search),
                Err(error) => {
                    let text = escape(&error.to_string()).into_owned();
                    self.ended = true;
                    return Ok((job::Progress::Done, Some(Err(text))));
                }
            }
        }
        let Some(search) = &mut self.search else {
            return Ok((job::Progress::Done, None));
        };
        let step = search.step(&Pace {
            nanos: STEP_NS,
            clock: source.clock,
        })?;
        let room = usize::try_from(MOST.saturating_sub(self.hits)).unwrap_or(usize::MAX);
        let hits = &step.hits[..step.hits.len().min(room)];
        self.hits += hits.len() as u64;
        self.ended = self.hits >= MOST;
        let found = Found {
            rows: self.rows(source, hits)?,
            hits: hits.len() as u64,
            reached: step.reached,
            progress: match (self.ended, step.done) {
                (true, _) => Progress::Full(step.left),
                (false, true) => Progress::Done,
                (false, false) => Progress::Scanning(step.left, step.of),
            },
        };
        let goes_on = matches!(found.progress, Progress::Scanning(..));
        let progress = if goes_on {
            job::Progress::More
        } else {
            job::Progress::Done
        };
        Ok((progress, Some(Ok(found))))
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        let Some(search) = &mut self.search else {
            return !self.ended;
        };
        if self.ended || growth.last <= growth.after {
            return false;
        }
        search.again(growth.after, growth.last);
        true
    }
}

impl Searching {
    pub fn new(pattern: Pattern, question: Question) -> Self {
        Self {
            pattern,
            question,
            search: None,
            hits: 0,
            ended: false,
        }
    }

    /// The rows of these hits, and whether the filter shows them.
    fn rows(
        &self,
        source: &Source<'_>,
        hits: &[SearchHit],
    ) -> Result<Vec<(ItemKey, bool)>, ReadError> {
        let (recording, lens) = (source.recording, self.question.lens);
        let mut keys = Vec::with_capacity(hits.len());
        for hit in hits {
            keys.push(row_of(recording, lens, hit.seq, Some(hit.place.start))?);
        }
        keys.sort_unstable();
        keys.dedup();
        let is_filtered = self.question.query.expr.is_some();
        let shown = if is_filtered {
            recording.fitting(&self.question, source.context(), &keys)?
        } else {
            Vec::new()
        };
        let is_shown = |key| !is_filtered || shown.binary_search(&key).is_ok();
        Ok(keys.into_iter().map(|key| (key, is_shown(key))).collect())
    }
}

/// The row in which the frame `seq` is shown, or the message in it that holds the byte `at`:
/// through the lens of exchanges that of its exchange, unless it is a row of its own.
pub fn row_of(
    recording: &Recording,
    lens: Lens,
    seq: Seq,
    at: Option<u64>,
) -> Result<ItemKey, ReadError> {
    let messages = recording.messages_of_frame(seq)?;
    let holds = |span: &std::ops::Range<u64>| at.is_some_and(|at| span.contains(&at));
    let hit = messages.iter().find(|row| holds(&row.span));
    let Some(hit) = hit.or(messages.first()) else {
        return Ok(ItemKey::of_part(seq, 0));
    };
    let own = ItemKey::of_part(seq, hit.record.part);
    let is_folded = match hit.record.kind {
        MessageKind::Request | MessageKind::Response => true,
        MessageKind::Notification => matches!(
            hit.record.method.as_deref(),
            Some("notifications/progress" | "notifications/cancelled")
        ),
        MessageKind::Other => false,
    };
    let (Lens::Exchanges, Some(id), true) = (lens, hit.record.exchange, is_folded) else {
        return Ok(own);
    };
    let exchange = recording.exchange(id)?;
    Ok(exchange.map_or(own, |exchange| {
        let (seq, part) = exchange.request;
        ItemKey::of_part(seq, part)
    }))
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
}
