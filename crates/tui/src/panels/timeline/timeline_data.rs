//! Exchanges in time: those around the cursor one by one, all of the visible range as a density.
//!
//! Only what is asked for is read: rows go out from an anchor both ways until there are enough of
//! them or the range ends, then the density goes once over the range.

use crate::panels::filter::typed::requests;
use crate::widget::frame;
use crate::worker::job::{LastAsk, Source};
use mcpreel_store::exchanges::Meanwhile;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Scan, Way};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens, What};
use mcpreel_trace::query::Query;
use std::collections::VecDeque;

/// Ticks and questions of one exchange that are drawn: more than there are columns say nothing.
const MARKS: u32 = 300;

/// Exchanges whose beginnings are read at once.
const PAGE: u32 = 4000;

#[derive(Debug, Default)]
pub struct Timeline {
    pub asked: LastAsk<Ask>,
    pub picture: Option<Box<Picture>>,
    /// The range on the screen; none: everything, as it grows.
    pub window: Option<Window>,
    /// The row with the cursor; none: the last one.
    pub cursor: Option<ItemKey>,
    /// The rows on the screen above the cursor, where there are so many.
    pub above: usize,
}

/// A range of time, nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub from: u64,
    /// The end, later than the beginning.
    pub to: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub window: Window,
    /// The end of the recording, nanoseconds.
    pub end_ns: u64,
    /// Exchanges that began in each column; none until they were counted.
    pub density: Vec<u64>,
    pub rows: Vec<Bar>,
    /// Whether there are rows before and after these.
    pub more: (bool, bool),
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub key: ItemKey,
    pub exchange: Box<Exchange>,
    /// Progress and questions to the client while the exchange was open.
    pub meanwhile: Meanwhile,
}

/// A picture that is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    pub query: Query,
    /// The range on the screen; none: everything.
    pub window: Option<Window>,
    /// Columns and rows on the screen.
    pub size: (usize, usize),
    /// The row around which rows are read; none: the last one.
    pub anchor: Option<ItemKey>,
}

impl Timeline {
    fn rows(&self) -> &[Bar] {
        let picture = self.picture.as_deref();
        picture.map_or(&[], |picture| &picture.rows)
    }

    /// The number of the row with the cursor among the rows of the picture; of the next row where the
    /// picture has none for the cursor.
    pub fn cursor_row(&self) -> usize {
        let (rows, last) = (self.rows(), self.rows().len().saturating_sub(1));
        let row = |key| rows.partition_point(|bar| bar.key < key).min(last);
        self.cursor.map_or(last, row)
    }

    /// The first row on a screen of `page` rows.
    pub fn top(&self, page: usize) -> usize {
        let at = self.cursor_row();
        let top = at.saturating_sub(self.above);
        frame::showing_of(self.rows().len(), at, top, page)
    }

    /// Puts the cursor on a row of a screen that begins with the row `top`, and scrolls as little as
    /// is needed.
    pub fn put(&mut self, to: usize, top: usize, page: usize) {
        self.above = to - frame::showing(to, top, page);
        self.cursor = self.key(to);
    }

    pub fn key(&self, row: usize) -> Option<ItemKey> {
        self.rows().get(row).map(|bar| bar.key)
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

    /// Whether something that lasted so long is seen in the range.
    fn overlaps(self, from: Moment, to: Option<Moment>) -> bool {
        from.0 <= self.to && to.is_none_or(|to| to.0 >= self.from)
    }
}

/// Reads the rows, hands them over, and counts the density.
pub fn read(
    source: &Source<'_>,
    ask: &Ask,
    tell: &dyn Fn(Box<Picture>),
) -> Result<Box<Picture>, ReadError> {
    let end_ns = source.summary.t_last_ns.max(1);
    let whole = Window {
        from: 0,
        to: end_ns,
    };
    let window = ask.window.unwrap_or(whole);
    let mut picture = Box::new(Picture {
        window,
        end_ns,
        ..Picture::default()
    });
    let start = seq_at(source, window.from)?;
    read_rows(source, ask, start, &mut picture)?;
    tell(picture.clone());
    picture.density = density(source, ask, start, window)?;
    Ok(picture)
}

/// Reads rows from the anchor out: as many as two screens in each way, where there are so many.
fn read_rows(
    source: &Source<'_>,
    ask: &Ask,
    start: Seq,
    picture: &mut Picture,
) -> Result<(), ReadError> {
    let (question, window) = (requests(&ask.query), picture.window);
    let mut bars = VecDeque::new();
    let anchor = anchor(source, ask, window)?;
    let (below, above) = match (anchor, ask.anchor) {
        (Some(anchor), _) => {
            bars.extend(bar(source, anchor)?);
            (Some(anchor), Some(anchor))
        }
        // The anchor is not in the range: rows go out from the beginning of the range. The frame
        // before it may hold a request that is open in the range.
        (None, Some(_)) => {
            let row = |part| Some(ItemKey::of_part(start, part));
            (row(0), row(1))
        }
        (None, None) if ask.window.is_none() => (None, None),
        (None, None) => {
            let end = seq_at(source, window.to)?;
            (None, Some(ItemKey::of_part(Seq(end.0 + 2), 0)))
        }
    };
    let wanted = ask.size.1.max(10) * 2;
    let scan = |way, from| Scan::new(&question, way, from, source.context());
    if below.is_some() {
        source.each_hit(scan(Way::Oldest, below), |key| {
            let Some(times) = source.recording.times(key)? else {
                return Ok(true);
            };
            picture.more.1 = bars.len() >= wanted && times.from.0 <= window.to;
            if picture.more.1 || times.from.0 > window.to {
                return Ok(false);
            }
            if window.overlaps(times.from, times.to) {
                bars.extend(bar(source, key)?);
            }
            Ok(true)
        })?;
    }
    let wanted = bars.len() + wanted;
    source.each_hit(scan(Way::Newest, above), |key| {
        let times = source.recording.times(key)?;
        if !times.is_some_and(|times| window.overlaps(times.from, times.to)) {
            return Ok(true);
        }
        picture.more.0 = bars.len() >= wanted;
        if !picture.more.0 {
            bar(source, key)?
                .into_iter()
                .for_each(|bar| bars.push_front(bar));
        }
        Ok(!picture.more.0)
    })?;
    picture.rows = bars.into();
    Ok(())
}

/// The anchor, if it fits and is in the range.
fn anchor(source: &Source<'_>, ask: &Ask, window: Window) -> Result<Option<ItemKey>, ReadError> {
    let Some(anchor) = ask.anchor else {
        return Ok(None);
    };
    let (recording, question) = (source.recording, requests(&ask.query));
    let fits = recording.fitting(&question, source.context(), &[anchor])?;
    let times = recording.times(anchor)?;
    let is_in = times.is_some_and(|times| window.overlaps(times.from, times.to));
    Ok(Some(anchor).filter(|_| is_in && !fits.is_empty()))
}

/// The number of exchanges that began in each column.
fn density(
    source: &Source<'_>,
    ask: &Ask,
    start: Seq,
    window: Window,
) -> Result<Vec<u64>, ReadError> {
    let recording = source.recording;
    let mut columns = vec![0; ask.size.0];
    let mut add = |at: Moment| {
        if let Some(column) = window.column(at, columns.len()) {
            columns[column] += 1;
        }
        at.0 <= window.to
    };
    if ask.query.expr.is_some() {
        let before = Some(ItemKey::of_part(start, 0));
        let question = requests(&ask.query);
        let scan = Scan::new(&question, Way::Oldest, before, source.context());
        source.each_hit(scan, |key| {
            Ok(recording.times(key)?.is_none_or(|times| add(times.from)))
        })?;
        return Ok(columns);
    }
    let mut after = recording.exchange_before(start)?;
    loop {
        let page = recording.beginnings(after, PAGE)?;
        let Some((last, _)) = page.last().filter(|_| !(source.is_stopped)()) else {
            break;
        };
        after = *last;
        if !page.into_iter().all(|(_, at)| add(at)) {
            break;
        }
    }
    Ok(columns)
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

/// The last frame that was complete before `at`; 0 where none was.
fn seq_at(source: &Source<'_>, at: u64) -> Result<Seq, ReadError> {
    let (mut low, mut high) = (0, source.summary.frames);
    while at > 0 && low < high {
        let middle = low + (high - low).div_ceil(2);
        let head = source.recording.head(Seq(middle))?;
        if head.is_some_and(|head| head.t_last.0 < at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Ok(if at > 0 { Seq(low) } else { Seq(0) })
}
