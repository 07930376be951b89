//! Exchanges in time: those around the cursor one by one, all of the visible range as a density.
//!
//! Only what is asked for is read: rows go out from an anchor both ways until there are enough of
//! them or the range ends, the density goes once over the range. Both go on in steps; each answer
//! says how far it is.

use super::{Job, Progress, Source};
use crate::query::Query;
use crate::query::ast::{Expr, Field, Op, Subject, Value};
use crate::store::figures::Meanwhile;
use crate::store::reader::ReadError;
use crate::store::select::{Context, Limit, Question, Scan, Way};
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;
use crate::trace::item::{ItemKey, Lens, What};
use std::collections::VecDeque;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Rows that a step takes from a scan: what is looked up for each has to fit into it too.
const HITS: usize = 500;

/// Exchanges whose beginnings are read at once.
const PAGE: u32 = 4000;

/// Ticks and questions of one exchange that are drawn: more than there are columns say nothing.
const MARKS: u32 = 300;

/// A range of time, nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Where it begins.
    pub from: u64,
    /// Where it ends, later than it begins.
    pub to: u64,
}

/// The question.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    /// Which exchanges.
    pub query: Query,
    /// The time cursor.
    pub until: Option<Seq>,
    /// The range on the screen; none: everything.
    pub window: Option<Window>,
    /// Columns of the density.
    pub columns: usize,
    /// Where the cursor is; none: on the last row.
    pub anchor: Option<ItemKey>,
    /// Rows that are wanted each way.
    pub rows: usize,
}

/// The answer. Comes again as more is found.
#[derive(Debug)]
pub struct Answer {
    /// The question.
    pub generation: u64,
    /// What was found.
    pub picture: Box<Picture>,
}

/// Exchanges in time.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The range that is shown.
    pub window: Window,
    /// Where the recording ends, nanoseconds.
    pub end_ns: u64,
    /// Exchanges that began in each column.
    pub density: Vec<u64>,
    /// How much of the range was counted, percent.
    pub percent: u8,
    /// Rows, in order.
    pub rows: Vec<Bar>,
    /// Whether there are rows before and after these.
    pub more: (bool, bool),
    /// Whether rows before these are still looked for.
    pub looking: bool,
}

/// An exchange in time.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The row.
    pub key: ItemKey,
    /// The exchange.
    pub exchange: Box<Exchange>,
    /// What happened while it was open.
    pub meanwhile: Meanwhile,
}

impl Window {
    /// How long it is.
    #[must_use]
    pub fn span(self) -> u64 {
        self.to.saturating_sub(self.from).max(1)
    }

    /// The column of `columns` in which `at` lies; none if it lies outside.
    #[must_use]
    pub fn column(self, at: Moment, columns: usize) -> Option<usize> {
        if at.0 < self.from || at.0 > self.to || columns == 0 {
            return None;
        }
        let wide = u128::from(at.0 - self.from) * columns as u128 / u128::from(self.span());
        Some(usize::try_from(wide).unwrap_or(columns).min(columns - 1))
    }
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Drawing {
            ask: self,
            work: None,
        })
    }

    /// The rows that are asked for, of which only requests count.
    fn question(&self) -> Question {
        let requests = Expr::Compare {
            subject: Subject::Field(Field::Kind),
            op: Op::Contains,
            value: Value::Text {
                text: "request".into(),
                quoted: false,
            },
        };
        let expr = match &self.query.expr {
            None => requests,
            Some(expr) => Expr::And(vec![requests, expr.clone()]),
        };
        Question {
            lens: Lens::Exchanges,
            query: Query { expr: Some(expr) },
            until: self.until,
        }
    }
}

struct Drawing {
    ask: Ask,
    work: Option<Work>,
}

/// How exchanges are counted.
enum Count {
    /// All of them, from this one on.
    All(ExchangeId),
    /// Those that fit a filter.
    Fitting(Box<Scan>),
}

/// What is under way.
struct Work {
    window: Window,
    end_ns: u64,
    below: Option<Scan>,
    above: Option<Scan>,
    count: Option<Count>,
    rows: VecDeque<Bar>,
    /// Rows before and after the anchor.
    found: (usize, usize),
    more: (bool, bool),
    density: Vec<u64>,
    percent: u8,
}

impl Drawing {
    fn begin(&self, source: &Source<'_>) -> Result<Work, ReadError> {
        let until = match self.ask.until {
            Some(until) => source.recording.head(until)?.map(|head| head.t_last.0),
            None => None,
        };
        let end_ns = until.unwrap_or(source.summary.t_last_ns).max(1);
        let window = self.ask.window.unwrap_or(Window {
            from: 0,
            to: end_ns,
        });
        let start = match window.from {
            0 => None,
            from => Some(seq_at(source, from)?),
        };
        let before = start.map(|seq| ItemKey::of_part(seq, 0));
        let anchor = self.anchor(source, window)?;
        let (question, context) = (self.ask.question(), context(source));
        let scan = |way, from| Some(Scan::new(&question, way, from, context));
        let count = match (&self.ask.query.expr, start) {
            (None, None) => Count::All(ExchangeId(0)),
            (None, Some(seq)) => Count::All(source.recording.exchange_before(seq)?),
            (Some(_), _) => {
                let scan = Scan::new(&question, Way::Oldest, before, context);
                Count::Fitting(Box::new(scan))
            }
        };
        let mut work = Work {
            window,
            end_ns,
            below: None,
            above: None,
            count: Some(count),
            rows: VecDeque::new(),
            found: (0, 0),
            more: (false, false),
            density: vec![0; self.ask.columns],
            percent: 0,
        };
        match (anchor, self.ask.anchor) {
            // The last row of the range is the anchor.
            (_, None) if self.ask.window.is_none() => work.above = scan(Way::Newest, None),
            (_, None) => {
                let end = ItemKey::of_part(Seq(seq_at(source, window.to)?.0 + 2), 0);
                work.above = scan(Way::Newest, Some(end));
            }
            (Some(anchor), _) => {
                work.below = scan(Way::Oldest, Some(anchor));
                work.above = scan(Way::Newest, Some(anchor));
                if let Some(bar) = self.bar(source, anchor)? {
                    work.rows.push_back(bar);
                }
            }
            // It is not in the range: the first that began in it is.
            (None, Some(_)) => {
                work.below = scan(Way::Oldest, before);
                // The frame before the range may hold a request that is open in it.
                let first = start.map_or_else(ItemKey::default, |seq| ItemKey::of_part(seq, 1));
                work.above = scan(Way::Newest, Some(first));
            }
        }
        Ok(work)
    }

    /// The anchor, if it fits and is in the range.
    fn anchor(&self, source: &Source<'_>, window: Window) -> Result<Option<ItemKey>, ReadError> {
        let Some(anchor) = self.ask.anchor else {
            return Ok(None);
        };
        let (recording, question) = (source.recording, self.ask.question());
        let fits = recording.fitting(&question, context(source), &[anchor])?;
        let times = recording.times(anchor, self.ask.until)?;
        let is_in = times.is_some_and(|times| overlaps(window, times.from, times.to));
        Ok(Some(anchor).filter(|_| is_in && !fits.is_empty()))
    }

    fn bar(&self, source: &Source<'_>, key: ItemKey) -> Result<Option<Bar>, ReadError> {
        let (recording, until) = (source.recording, self.ask.until);
        let items = recording.items(Lens::Exchanges, &[key], until)?;
        let what = items.into_iter().next().map(|item| item.what);
        let Some(What::Exchange(exchange)) = what else {
            return Ok(None);
        };
        let meanwhile = recording.meanwhile(&exchange, until, MARKS)?;
        Ok(Some(Bar {
            key,
            exchange,
            meanwhile,
        }))
    }

    /// Looks for rows one way. Whether that way is done.
    fn look(&self, source: &Source<'_>, work: &mut Work, way: Way) -> Result<bool, ReadError> {
        let wanted = self.ask.rows;
        let scan = match way {
            Way::Oldest => &mut work.below,
            Way::Newest => &mut work.above,
        };
        let Some(scan) = scan else {
            return Ok(true);
        };
        // A page at a time: each row that is taken is read as a whole.
        let step = scan.step(source.recording, &limit(source, wanted.clamp(1, 64)))?;
        for hit in &step.hits {
            let Some(times) = source.recording.times(hit.key, self.ask.until)? else {
                continue;
            };
            if way == Way::Oldest && times.from.0 > work.window.to {
                return Ok(true);
            }
            if !overlaps(work.window, times.from, times.to) {
                continue;
            }
            let found = match way {
                Way::Oldest => &mut work.found.1,
                Way::Newest => &mut work.found.0,
            };
            if *found >= wanted {
                match way {
                    Way::Oldest => work.more.1 = true,
                    Way::Newest => work.more.0 = true,
                }
                return Ok(true);
            }
            *found += 1;
            if let Some(bar) = self.bar(source, hit.key)? {
                match way {
                    Way::Oldest => work.rows.push_back(bar),
                    Way::Newest => work.rows.push_front(bar),
                }
            }
        }
        Ok(step.done)
    }

    /// Counts the exchanges in each column. Whether all are counted.
    fn count(&self, source: &Source<'_>, work: &mut Work) -> Result<bool, ReadError> {
        let (recording, until) = (source.recording, self.ask.until);
        let (begun, is_last): (Vec<Moment>, bool) = match &mut work.count {
            None => return Ok(true),
            Some(Count::All(after)) => {
                let page = recording.beginnings(*after, until, PAGE)?;
                *after = page.last().map_or(*after, |(id, _)| *id);
                let is_last = page.len() < PAGE as usize;
                (page.into_iter().map(|(_, at)| at).collect(), is_last)
            }
            Some(Count::Fitting(scan)) => {
                let step = scan.step(recording, &limit(source, HITS))?;
                let mut begun = Vec::with_capacity(step.hits.len());
                for hit in &step.hits {
                    let times = recording.times(hit.key, until)?;
                    begun.extend(times.map(|times| times.from));
                }
                (begun, step.done)
            }
        };
        for at in begun {
            if at.0 > work.window.to {
                return Ok(true);
            }
            if let Some(column) = work.window.column(at, self.ask.columns) {
                work.density[column] += 1;
            }
            let done = u128::from(at.0.saturating_sub(work.window.from)) * 100;
            let percent = done / u128::from(work.window.span());
            // The first hundredth is that of the rows.
            work.percent = u8::try_from(percent.clamp(1, 99)).unwrap_or(99);
        }
        Ok(is_last)
    }

    fn answer(&self, work: &Work) -> super::Answer {
        super::Answer::Timeline(Answer {
            generation: self.ask.generation,
            picture: Box::new(Picture {
                window: work.window,
                end_ns: work.end_ns,
                density: work.density.clone(),
                percent: work.percent,
                rows: work.rows.iter().cloned().collect(),
                more: work.more,
                looking: work.above.is_some() || work.below.is_some(),
            }),
        })
    }
}

impl Job for Drawing {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<super::Answer>,
    ) -> Result<Progress, ReadError> {
        let mut work = match self.work.take() {
            Some(work) => work,
            None => self.begin(source)?,
        };
        let began = source.clock.now().0;
        let mut done = false;
        while !done && source.clock.now().0.saturating_sub(began) < STEP_NS {
            if work.below.is_some() && self.look(source, &mut work, Way::Oldest)? {
                work.below = None;
            } else if work.found.0 < self.ask.rows && work.above.is_some() && work.percent == 0 {
                // The first rows before counting, the others after it.
                if self.look(source, &mut work, Way::Newest)? {
                    work.above = None;
                }
                if began + STEP_NS < source.clock.now().0 {
                    work.percent = 1;
                }
            } else if work.count.is_some() {
                if self.count(source, &mut work)? {
                    work.count = None;
                    work.percent = 100;
                }
            } else if work.above.is_some() {
                if self.look(source, &mut work, Way::Newest)? {
                    work.above = None;
                }
            } else {
                done = true;
            }
        }
        answers.push(self.answer(&work));
        self.work = Some(work);
        Ok(if done { Progress::Done } else { Progress::More })
    }
}

fn context(source: &Source<'_>) -> Context {
    source.context()
}

fn limit(source: &Source<'_>, hits: usize) -> Limit {
    Limit {
        hits,
        nanos: STEP_NS / 2,
        clock: source.clock,
    }
}

/// Whether something that lasted so long is seen in the range.
fn overlaps(window: Window, from: Moment, to: Option<Moment>) -> bool {
    from.0 <= window.to && to.is_none_or(|to| to.0 >= window.from)
}

/// The last frame that was complete before `at`, or the first one.
fn seq_at(source: &Source<'_>, at: u64) -> Result<Seq, ReadError> {
    let (mut low, mut high) = (0, source.summary.frames);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let head = source.recording.head(Seq(middle))?;
        if head.is_some_and(|head| head.t_last.0 < at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(Seq(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moment_of_a_range_lies_in_its_last_column() {
        let window = Window { from: 100, to: 200 };
        assert_eq!(window.column(Moment(100), 10), Some(0));
        assert_eq!(window.column(Moment(199), 10), Some(9));
        assert_eq!(window.column(Moment(200), 10), Some(9));
        assert_eq!(window.column(Moment(201), 10), None);
        assert_eq!(window.column(Moment(99), 10), None);
    }

    #[test]
    fn what_is_open_is_seen_in_every_range_after_its_beginning() {
        let window = Window { from: 100, to: 200 };
        assert!(overlaps(window, Moment(5), None));
        assert!(overlaps(window, Moment(5), Some(Moment(100))));
        assert!(!overlaps(window, Moment(5), Some(Moment(99))));
        assert!(!overlaps(window, Moment(201), None));
    }
}
