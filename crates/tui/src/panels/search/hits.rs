//! The term of a search, and the rows in which the term was found.

use crate::settings::View;
use crate::worker::job::{self, Growth, Job, Source, Step};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::Question;
use mcpreel_store::text_search::{self, Finder, Pattern, SearchHit};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use mcpreel_wire::text::{count, cut, escape, plural};
use std::collections::BTreeSet;
use std::ops::{Bound, Range, RangeInclusive};

/// Before a regular expression, in the text that is typed.
const REGEX: &str = "re:";

/// Places that are marked in one text; more cannot be told apart by eye.
const MARKED: usize = 1000;

/// The time that a step may take, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Hits that are handed over. Whoever finds more has searched for too little.
const MOST: u64 = 20_000;

#[derive(Debug, Default)]
pub struct Search {
    /// The term; none while nothing is searched for.
    pub term: Option<Term>,
    /// The rows in which it was found.
    pub rows: BTreeSet<ItemKey>,
    /// Rows with a hit that the filter hides.
    pub hidden: BTreeSet<ItemKey>,
    /// Messages and lines in which it was found: a row may have several.
    pub hits: u64,
    pub progress: Progress,
    pub scope: (Lens, Query),
    /// The cursor goes to the nearest hit as soon as that is known.
    pub nearest: Option<Nearest>,
    /// What Esc goes back to while the term is typed.
    pub before: Option<Box<Before>>,
}

/// The hit that is nearest to the row `from` is looked for, as long as the cursor stays at `place`.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    pub from: ItemKey,
    pub place: ItemKey,
}

/// What was on the screen before a term was typed.
#[derive(Debug, Default)]
pub struct Before {
    pub view: View,
    pub place: Option<ItemKey>,
    pub follows: bool,
    /// The search before; none while nothing is typed yet.
    pub search: Option<Search>,
}

#[derive(Clone, Copy, Debug, Default)]
pub enum Progress {
    #[default]
    Done,
    /// The frames that are left, of all.
    Scanning(u64, u64),
    /// The frames that are not searched: a person has stopped the search, or it had too many hits.
    Stopped(u64),
}

/// Places in a text that are marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The places in order and apart from each other.
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
    /// The term of `text`: the text itself, or after `re:` a regular expression. Without a capital
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

    /// The places of these terms in a text; of very many places the first.
    pub fn places(terms: &[Self], text: &[u8]) -> Marks {
        let of = |term: &Self| term.finder.places(text, MARKED + 1);
        let mut places: Vec<_> = terms.iter().flat_map(of).collect();
        places.sort_by_key(|place| place.start);
        places.dedup_by(|next, place| {
            let is_joined = next.start <= place.end;
            place.end = place.end.max(if is_joined { next.end } else { 0 });
            is_joined
        });
        let more = places.len() > MARKED;
        places.truncate(MARKED);
        Marks { places, more }
    }
}

impl Search {
    /// Whether the term was found in a row, or in one of a run that is shown as one.
    pub fn is_hit(&self, run: RangeInclusive<ItemKey>) -> bool {
        self.rows.range(run).next().is_some()
    }

    /// The next row with a hit after `from`, or the one before it; from the other end where there
    /// is none, which is told too.
    pub fn next(&self, from: ItemKey, forward: bool) -> Option<(ItemKey, bool)> {
        let rows = &self.rows;
        let (next, around) = if forward {
            let after = (Bound::Excluded(from), Bound::Unbounded);
            (rows.range(after).next(), rows.first())
        } else {
            (rows.range(..from).next_back(), rows.last())
        };
        let around = around.map(|key| (*key, true));
        next.map(|key| (*key, false)).or(around)
    }

    /// `/quota  12 hits, 2 rows hidden by the filter · scanning 61 % · Ctrl-C stops`; nothing while
    /// nothing is searched for. `dot` stands between the parts.
    pub fn status(&self, dot: &str) -> Option<String> {
        let term = cut(&escape(&self.term.as_ref()?.text), 24);
        let hits = plural(self.hits, "hit");
        let hidden = match self.hidden.len() {
            0 => String::new(),
            hidden => format!(", {hidden} rows hidden by the filter"),
        };
        let progress = match self.progress {
            Progress::Done => String::new(),
            Progress::Scanning(left, of) => {
                let percent = of.saturating_sub(left).saturating_mul(100) / of.max(1);
                format!(" {dot} scanning {percent} % {dot} Ctrl-C stops")
            }
            Progress::Stopped(left) => format!(" {dot} {} frames not searched", count(left)),
        };
        Some(format!("search {term}  {hits}{hidden}{progress}"))
    }
}

/// The findings of a step of the search.
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
    /// The lens of the rows, and the filter that shows them.
    question: Question,
    search: Option<text_search::Search>,
    hits: u64,
    ended: bool,
}

impl Job for Searching {
    type Found = Result<Found, String>;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let search = match &mut self.search {
            Some(search) => search,
            None => match text_search::Search::new(source.path, &self.pattern) {
                Ok(search) => self.search.insert(search),
                Err(error) => {
                    self.ended = true;
                    let text = escape(&error.to_string()).into_owned();
                    return Ok((job::Progress::Done, Some(Err(text))));
                }
            },
        };
        let step = search.step(source.clock.deadline(STEP_NS))?;
        let room = usize::try_from(MOST.saturating_sub(self.hits)).unwrap_or(usize::MAX);
        let hits = &step.hits[..step.hits.len().min(room)];
        self.hits += hits.len() as u64;
        self.ended = self.hits >= MOST;
        let found = Found {
            rows: self.rows(source, hits)?,
            hits: hits.len() as u64,
            reached: step.reached,
            progress: match (self.ended, step.done) {
                (true, _) => Progress::Stopped(step.left),
                (false, true) => Progress::Done,
                (false, false) => Progress::Scanning(step.left, step.of),
            },
        };
        let progress = job::Progress::done(self.ended || step.done);
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
        let rows = hits.iter();
        let rows = rows.map(|hit| row_of(recording, lens, hit.seq, Some(hit.place.start)));
        let rows: BTreeSet<_> = rows.collect::<Result<_, _>>()?;
        let rows: Vec<_> = rows.into_iter().collect();
        if self.question.query.expr.is_none() {
            return Ok(rows.into_iter().map(|key| (key, true)).collect());
        }
        let shown = recording.fitting(&self.question, source.context(), &rows)?;
        let is_shown = |key| shown.binary_search(&key).is_ok();
        Ok(rows.into_iter().map(|key| (key, is_shown(key))).collect())
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
        return row_of_carrier(recording, lens, seq);
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
    Ok(exchange.as_ref().map_or(own, ItemKey::of_exchange))
}

/// Frames of an HTTP exchange among which its first message is looked for.
const HEADS: u32 = 20;

/// The row of a frame without a message. Through the lens of exchanges a part of HTTP is shown with the
/// message that was sent in its request, and where there is none with the request.
fn row_of_carrier(recording: &Recording, lens: Lens, seq: Seq) -> Result<ItemKey, ReadError> {
    let carrier = recording.head(seq)?.map_or(0, |head| head.carried.http);
    let Some(http) = recording.http(carrier)?.filter(|_| lens == Lens::Exchanges) else {
        return Ok(ItemKey::of_part(seq, 0));
    };
    if http.has_messages {
        for head in recording.carried(http.id, HEADS)? {
            if !recording.messages_of_frame(head.seq)?.is_empty() {
                return row_of(recording, lens, head.seq, None);
            }
        }
    }
    Ok(ItemKey::of_part(http.request, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_counts_only_where_there_is_a_capital_and_an_expression_is_said() {
        let places = |term: &str, text: &str| {
            Term::places(&[Term::parse(term).unwrap()], text.as_bytes()).places
        };
        assert_eq!(places("quota", "Quota QUOTA"), [0..5, 6..11]);
        assert_eq!(places("Quota", "Quota QUOTA").len(), 1);
        assert_eq!(places("a.c", "abc a.c").len(), 1);
        assert_eq!(places("re:a.c", "abc a.c"), [0..3, 4..7]);
        assert!(Term::parse("re:(").is_err_and(|error| !error.contains('\n')));
    }
}
