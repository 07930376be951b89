//! Exchanges in time: those around the cursor one by one, all of the visible range as a density.
//!
//! Only what is asked for is read: rows go out from an anchor both ways until there are enough of
//! them or the range ends, the density goes once over the range. Both are taken by turns, in
//! steps; each answer says how far it is.

use crate::panels::filter::typed::requests;
use crate::worker::job::{self, Job, Progress, Source};
use mcpreel_store::exchanges::Meanwhile;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Hit, Limit, Scan, Step, Way};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens, What};
use mcpreel_trace::query::Query;
use std::collections::VecDeque;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// Ticks and questions of one exchange that are drawn: more than there are columns say nothing.
const MARKS: u32 = 300;

/// Exchanges that a step takes from a scan: what is looked up for each has to fit into it too.
const HITS: usize = 500;

/// Exchanges whose beginnings are read at once.
const PAGE: u32 = 4000;

#[derive(Debug, Default)]
pub struct Timeline {
    pub asked: Option<Asked>,
    pub picture: Option<Box<Picture>>,
    /// The range on the screen; none: everything, as it grows.
    pub window: Option<Window>,
    /// The row with the cursor; none: the last one.
    pub cursor: Option<ItemKey>,
    /// On which row of the screen the cursor is.
    pub offset: usize,
    /// The first row on the screen, where the wheel has left it; none: the cursor is seen.
    pub wheel: Option<ItemKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// When, nanoseconds since the viewer started.
    pub at_ns: u64,
    pub frames: u64,
    pub about: About,
    pub anchor: Option<ItemKey>,
    pub is_answered: bool,
}

/// What a picture is of: if this differs, it is another one.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    pub query: Query,
    pub window: Option<Window>,
    /// Columns and rows on the screen.
    pub size: (usize, usize),
}

impl Timeline {
    /// Around which row the picture is: where it was scrolled to, or where the cursor is.
    pub fn anchor(&self) -> Option<ItemKey> {
        self.wheel.or(self.cursor)
    }

    /// Whether the cursor is among the rows of the picture: the wheel may have left it far behind.
    pub fn has_cursor(&self) -> bool {
        let (Some(picture), Some(key)) = (self.picture.as_deref(), self.cursor) else {
            return true;
        };
        let is_before = picture.rows.first().is_some_and(|bar| key < bar.key);
        let is_after = picture.rows.last().is_some_and(|bar| bar.key < key);
        !(is_before && picture.more.0 || is_after && picture.more.1)
    }

    /// Where the cursor is among the rows of the picture.
    pub fn cursor_row(&self) -> usize {
        let rows = self
            .picture
            .as_deref()
            .map_or(&[][..], |picture| &picture.rows);
        let last = rows.len().saturating_sub(1);
        match self.cursor {
            None => last,
            Some(key) => rows.partition_point(|bar| bar.key < key).min(last),
        }
    }

    /// The first row on a screen of `page` rows.
    pub fn top(&self, page: usize) -> usize {
        let rows = self
            .picture
            .as_deref()
            .map_or(&[][..], |picture| &picture.rows);
        let offset = self.offset.min(page.saturating_sub(1));
        let top = match self.wheel {
            Some(key) => rows.partition_point(|bar| bar.key < key),
            None => self.cursor_row().saturating_sub(offset),
        };
        top.min(rows.len().saturating_sub(page))
    }
}

/// A range of time, nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub from: u64,
    /// Where it ends, later than it begins.
    pub to: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub window: Window,
    /// Where the recording ends, nanoseconds.
    pub end_ns: u64,
    /// Exchanges that began in each column.
    pub density: Vec<u64>,
    /// How much of the range was counted, percent.
    pub percent: u8,
    pub rows: Vec<Bar>,
    /// Whether there are rows before and after these.
    pub more: (bool, bool),
    /// Whether rows before these are still looked for.
    pub looking: bool,
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub key: ItemKey,
    pub exchange: Box<Exchange>,
    /// What happened while it was open.
    pub meanwhile: Meanwhile,
}

impl Picture {
    /// Whether something of it is still looked for.
    pub fn is_partial(&self) -> bool {
        self.looking || self.percent < 100
    }
}

impl Window {
    pub fn span(self) -> u64 {
        self.to.saturating_sub(self.from).max(1)
    }

    /// The column of `columns` in which `at` lies; none if it lies outside.
    pub fn column(self, at: Moment, columns: usize) -> Option<usize> {
        if at.0 < self.from || at.0 > self.to || columns == 0 {
            return None;
        }
        let wide = u128::from(at.0 - self.from) * columns as u128 / u128::from(self.span());
        Some(usize::try_from(wide).unwrap_or(columns).min(columns - 1))
    }
}
/// A picture that is asked for.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub query: Query,
    /// The range on the screen; none: everything.
    pub window: Option<Window>,
    pub columns: usize,
    /// Where the cursor is; none: on the last row.
    pub anchor: Option<ItemKey>,
    pub rows: usize,
    /// Whether only the whole picture is handed over: one of the same is on the screen.
    pub is_whole: bool,
}

/// Draws the rows and counts the density by turns.
pub(super) struct Drawing {
    ask: Ask,
    work: Option<Work>,
}

struct Work {
    window: Window,
    end_ns: u64,
    rows: Rows,
    density: Density,
}

impl Drawing {
    pub fn new(ask: Ask) -> Self {
        Self { ask, work: None }
    }

    fn begin(&self, source: &Source<'_>) -> Result<Work, ReadError> {
        let end_ns = source.summary.t_last_ns.max(1);
        let whole = Window {
            from: 0,
            to: end_ns,
        };
        let window = self.ask.window.unwrap_or(whole);
        let start = match window.from {
            0 => None,
            from => Some(seq_at(source, from)?),
        };
        Ok(Work {
            window,
            end_ns,
            rows: Rows::begin(&self.ask, source, window, start)?,
            density: Density::begin(&self.ask, source, window, start)?,
        })
    }
}

impl Work {
    /// Does what comes next, in a step that began at `began`. Whether nothing does.
    fn go_on(&mut self, source: &Source<'_>, began: u64) -> Result<bool, ReadError> {
        let (rows, density) = (&mut self.rows, &mut self.density);
        if !rows.below.is_done() {
            rows.look(source, Way::Oldest)?;
        } else if density.percent == 0 && !rows.has_above() {
            // The first rows before counting, the others after it.
            rows.look(source, Way::Newest)?;
            if source.clock.now().0.saturating_sub(began) > STEP_NS {
                density.percent = 1;
            }
        } else if !density.is_done() {
            density.step(source)?;
        } else if !rows.above.is_done() {
            rows.look(source, Way::Newest)?;
        } else {
            return Ok(true);
        }
        Ok(false)
    }

    fn picture(&self) -> Picture {
        let (rows, density) = (&self.rows, &self.density);
        Picture {
            window: self.window,
            end_ns: self.end_ns,
            density: density.columns.clone(),
            percent: density.percent,
            rows: rows.bars.iter().cloned().collect(),
            more: (rows.above.more, rows.below.more),
            looking: !rows.above.is_done() || !rows.below.is_done(),
        }
    }
}

impl Job for Drawing {
    type Found = Box<Picture>;

    fn step(&mut self, source: &Source<'_>) -> job::Step<Self::Found> {
        let mut work = match self.work.take() {
            Some(work) => work,
            None => self.begin(source)?,
        };
        let began = source.clock.now().0;
        let mut done = false;
        while !done && source.clock.now().0.saturating_sub(began) < STEP_NS {
            done = work.go_on(source, began)?;
        }
        let is_told = done || !self.ask.is_whole;
        let picture = is_told.then(|| Box::new(work.picture()));
        self.work = Some(work);
        let progress = if done { Progress::Done } else { Progress::More };
        Ok((progress, picture))
    }
}

/// The rows that were found, from the anchor out.
struct Rows {
    window: Window,
    wanted: usize,
    pub bars: VecDeque<Bar>,
    pub above: Side,
    pub below: Side,
}

/// The rows on one side of the anchor.
#[derive(Default)]
struct Side {
    /// Looks for them; none: that is done.
    scan: Option<Scan>,
    found: usize,
    /// Whether there are more than are wanted.
    pub more: bool,
}

impl Side {
    pub fn is_done(&self) -> bool {
        self.scan.is_none()
    }

    /// Whether another row has a place; if not, there is more.
    fn takes(&mut self, wanted: usize) -> bool {
        self.more = self.found >= wanted;
        self.found += usize::from(!self.more);
        !self.more
    }
}

impl Rows {
    /// Rows of the range `window`, before which `start` is the last frame.
    pub fn begin(
        ask: &Ask,
        source: &Source<'_>,
        window: Window,
        start: Option<Seq>,
    ) -> Result<Self, ReadError> {
        let (question, context) = (requests(&ask.query), source.context());
        let side = |way, from| Side {
            scan: Some(Scan::new(&question, way, from, context)),
            ..Side::default()
        };
        let mut rows = Self {
            window,
            wanted: ask.rows,
            bars: VecDeque::new(),
            above: Side::default(),
            below: Side::default(),
        };
        match (anchor(ask, source, window)?, ask.anchor) {
            // The last row of the range is the anchor.
            (_, None) if ask.window.is_none() => rows.above = side(Way::Newest, None),
            (_, None) => {
                let end = ItemKey::of_part(Seq(seq_at(source, window.to)?.0 + 2), 0);
                rows.above = side(Way::Newest, Some(end));
            }
            (Some(anchor), _) => {
                rows.below = side(Way::Oldest, Some(anchor));
                rows.above = side(Way::Newest, Some(anchor));
                rows.bars.extend(bar(source, anchor)?);
            }
            // It is not in the range: the first that began in it is.
            (None, Some(_)) => {
                let before = start.map(|seq| ItemKey::of_part(seq, 0));
                rows.below = side(Way::Oldest, before);
                // The frame before the range may hold a request that is open in it.
                let first = start.map_or_else(ItemKey::default, |seq| ItemKey::of_part(seq, 1));
                rows.above = side(Way::Newest, Some(first));
            }
        }
        Ok(rows)
    }

    /// Whether all rows above were found that are wanted.
    pub fn has_above(&self) -> bool {
        self.above.is_done() || self.above.found >= self.wanted
    }

    pub fn look(&mut self, source: &Source<'_>, way: Way) -> Result<(), ReadError> {
        // A page at a time: each row that is taken is read as a whole.
        let limit = limit(source, self.wanted.clamp(1, 64));
        let Some(mut scan) = self.side(way).scan.take() else {
            return Ok(());
        };
        let step = scan.step(source.recording, &limit)?;
        if !self.take(source, &step, way)? {
            self.side(way).scan = Some(scan);
        }
        Ok(())
    }

    fn side(&mut self, way: Way) -> &mut Side {
        match way {
            Way::Oldest => &mut self.below,
            Way::Newest => &mut self.above,
        }
    }

    /// Takes what a step has found. Whether this way is done.
    fn take(&mut self, source: &Source<'_>, step: &Step, way: Way) -> Result<bool, ReadError> {
        let wanted = self.wanted;
        for Hit { key, .. } in &step.hits {
            let Some(times) = source.recording.times(*key)? else {
                continue;
            };
            if way == Way::Oldest && times.from.0 > self.window.to {
                return Ok(true);
            }
            if !overlaps(self.window, times.from, times.to) {
                continue;
            }
            if !self.side(way).takes(wanted) {
                return Ok(true);
            }
            let bar = bar(source, *key)?;
            match way {
                Way::Oldest => self.bars.extend(bar),
                Way::Newest => bar.into_iter().for_each(|bar| self.bars.push_front(bar)),
            }
        }
        Ok(step.done)
    }
}

/// The anchor, if it fits and is in the range.
fn anchor(ask: &Ask, source: &Source<'_>, window: Window) -> Result<Option<ItemKey>, ReadError> {
    let Some(anchor) = ask.anchor else {
        return Ok(None);
    };
    let (recording, question) = (source.recording, requests(&ask.query));
    let fits = recording.fitting(&question, source.context(), &[anchor])?;
    let times = recording.times(anchor)?;
    let is_in = times.is_some_and(|times| overlaps(window, times.from, times.to));
    Ok(Some(anchor).filter(|_| is_in && !fits.is_empty()))
}

fn bar(source: &Source<'_>, key: ItemKey) -> Result<Option<Bar>, ReadError> {
    let recording = source.recording;
    let items = recording.items(Lens::Exchanges, &[key])?;
    let what = items.into_iter().next().map(|item| item.what);
    let Some(What::Exchange(exchange)) = what else {
        return Ok(None);
    };
    let meanwhile = recording.meanwhile(&exchange, MARKS)?;
    Ok(Some(Bar {
        key,
        exchange,
        meanwhile,
    }))
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

struct Density {
    window: Window,
    count: Option<Count>,
    pub columns: Vec<u64>,
    /// How much of the range was counted.
    pub percent: u8,
}

enum Count {
    All(ExchangeId),
    Fitting(Box<Scan>),
}

impl Density {
    /// Of the range `window`, before which `start` is the last frame.
    pub fn begin(
        ask: &Ask,
        source: &Source<'_>,
        window: Window,
        start: Option<Seq>,
    ) -> Result<Self, ReadError> {
        let count = match (&ask.query.expr, start) {
            (None, None) => Count::All(ExchangeId(0)),
            (None, Some(seq)) => Count::All(source.recording.exchange_before(seq)?),
            (Some(_), start) => {
                let before = start.map(|seq| ItemKey::of_part(seq, 0));
                let scan = Scan::new(&requests(&ask.query), Way::Oldest, before, source.context());
                Count::Fitting(Box::new(scan))
            }
        };
        Ok(Self {
            window,
            count: Some(count),
            columns: vec![0; ask.columns],
            percent: 0,
        })
    }

    pub fn is_done(&self) -> bool {
        self.count.is_none()
    }

    pub fn step(&mut self, source: &Source<'_>) -> Result<(), ReadError> {
        let (begun, is_last) = self.next(source)?;
        let is_over = begun.into_iter().any(|at| self.add(at));
        if is_over || is_last {
            self.count = None;
            self.percent = 100;
        }
        Ok(())
    }

    /// When the next exchanges began, and whether they are the last ones.
    fn next(&mut self, source: &Source<'_>) -> Result<(Vec<Moment>, bool), ReadError> {
        let recording = source.recording;
        Ok(match &mut self.count {
            None => (Vec::new(), true),
            Some(Count::All(after)) => {
                let page = recording.beginnings(*after, PAGE)?;
                *after = page.last().map_or(*after, |(id, _)| *id);
                let is_last = page.len() < PAGE as usize;
                (page.into_iter().map(|(_, at)| at).collect(), is_last)
            }
            Some(Count::Fitting(scan)) => {
                let step = scan.step(recording, &limit(source, HITS))?;
                let mut begun = Vec::with_capacity(step.hits.len());
                for hit in &step.hits {
                    let times = recording.times(hit.key)?;
                    begun.extend(times.map(|times| times.from));
                }
                (begun, step.done)
            }
        })
    }

    /// One more began at `at`. Whether that is after the range.
    fn add(&mut self, at: Moment) -> bool {
        if at.0 > self.window.to {
            return true;
        }
        if let Some(column) = self.window.column(at, self.columns.len()) {
            self.columns[column] += 1;
        }
        let done = u128::from(at.0.saturating_sub(self.window.from)) * 100;
        let percent = done / u128::from(self.window.span());
        // The first hundredth is that of the rows.
        self.percent = u8::try_from(percent.clamp(1, 99)).unwrap_or(99);
        false
    }
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
