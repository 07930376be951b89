//! How many exchanges began in each column of the range.

use super::{Ask, Window, limit};
use crate::worker::Source;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Scan, Way};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;

/// Exchanges that a step takes from a scan: what is looked up for each has to fit into it too.
const HITS: usize = 500;

/// Exchanges whose beginnings are read at once.
const PAGE: u32 = 4000;

pub(super) struct Density {
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
                let scan = Scan::new(&ask.question(), Way::Oldest, before, source.context());
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
                let page = recording.beginnings(*after, None, PAGE)?;
                *after = page.last().map_or(*after, |(id, _)| *id);
                let is_last = page.len() < PAGE as usize;
                (page.into_iter().map(|(_, at)| at).collect(), is_last)
            }
            Some(Count::Fitting(scan)) => {
                let step = scan.step(recording, &limit(source, HITS))?;
                let mut begun = Vec::with_capacity(step.hits.len());
                for hit in &step.hits {
                    let times = recording.times(hit.key, None)?;
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
