//! The rows around the cursor.

use super::{Ask, Bar, Window, limit, overlaps};
use crate::worker::Source;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Hit, Scan, Step, Way};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens, What};
use std::collections::VecDeque;

/// Ticks and questions of one exchange that are drawn: more than there are columns say nothing.
const MARKS: u32 = 300;

/// The rows that were found, from the anchor out.
pub(super) struct Rows {
    window: Window,
    wanted: usize,
    pub bars: VecDeque<Bar>,
    pub above: Side,
    pub below: Side,
}

/// The rows on one side of the anchor.
#[derive(Default)]
pub(super) struct Side {
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
        let (question, context) = (ask.question(), source.context());
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
            let Some(times) = source.recording.times(*key, None)? else {
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
    let (recording, question) = (source.recording, ask.question());
    let fits = recording.fitting(&question, source.context(), &[anchor])?;
    let times = recording.times(anchor, None)?;
    let is_in = times.is_some_and(|times| overlaps(window, times.from, times.to));
    Ok(Some(anchor).filter(|_| is_in && !fits.is_empty()))
}

fn bar(source: &Source<'_>, key: ItemKey) -> Result<Option<Bar>, ReadError> {
    let recording = source.recording;
    let items = recording.items(Lens::Exchanges, &[key], None)?;
    let what = items.into_iter().next().map(|item| item.what);
    let Some(What::Exchange(exchange)) = what else {
        return Ok(None);
    };
    let meanwhile = recording.meanwhile(&exchange, None, MARKS)?;
    Ok(Some(Bar {
        key,
        exchange,
        meanwhile,
    }))
}

/// The last frame that was complete before `at`, or the first one.
pub(super) fn seq_at(source: &Source<'_>, at: u64) -> Result<Seq, ReadError> {
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
