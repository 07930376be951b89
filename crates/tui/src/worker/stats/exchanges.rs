//! The exchanges that are counted: all, or those that fit a filter.
//!
//! What is not settled is looked at again whenever the recording has grown. With a filter more may
//! have happened: an exchange that had been passed begins to fit, as a call that fails now, or no
//! longer does. Neither can be made good in figures that grow, so then all is counted anew.

use super::Ask;
use crate::worker::Source;
use crate::worker::requests::requests;
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::stats::{Collector, Stats, is_settled};
use std::collections::{BTreeMap, HashSet};

/// Exchanges that are read at once.
const PAGE: u32 = 500;

/// How long a scan looks at once, nanoseconds.
const SCAN_NS: u64 = 3_000_000;

/// Changed exchanges that are judged at once.
const JUDGED: usize = 64;

pub(super) struct Exchanges {
    which: Which,
    collector: Collector,
    open: BTreeMap<ExchangeId, Exchange>,
}

enum Which {
    /// All; those up to this one were read.
    All(ExchangeId),
    Fitting(Box<Fitting>),
}

struct Fitting {
    question: Question,
    scan: Option<Scan>,
    /// Everything up to here was looked at.
    at: Option<ItemKey>,
    count: u64,
    /// Those that were counted, where one of them may change.
    counted: HashSet<ItemKey>,
    /// The frames whose changes were looked at.
    touched_up_to: Seq,
    /// What has changed and was not judged yet.
    changed: Vec<ItemKey>,
}

/// What came of looking again at what had been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    More,
    Done,
    /// What was counted is not what fits: it has to be counted anew.
    Anew,
}

impl Exchanges {
    pub fn new(ask: &Ask) -> Self {
        let which = match &ask.query.expr {
            None => Which::All(ExchangeId(0)),
            Some(_) => Which::Fitting(Box::new(Fitting {
                question: requests(&ask.query),
                scan: None,
                at: None,
                count: 0,
                counted: HashSet::new(),
                touched_up_to: Seq(0),
                changed: Vec::new(),
            })),
        };
        Self {
            which,
            collector: Collector::default(),
            open: BTreeMap::new(),
        }
    }

    /// The recording has grown: asks what has changed.
    pub fn look_for_changes(&mut self, source: &Source<'_>) -> Result<(), ReadError> {
        let Which::Fitting(fitting) = &mut self.which else {
            return Ok(());
        };
        let after = fitting.touched_up_to;
        fitting.touched_up_to = Seq(source.summary.frames);
        if let (Some(_), Some(at)) = (&fitting.scan, fitting.at) {
            let touched = source.recording.exchanges_touched(after)?;
            let keys = touched.into_iter().map(|(_, key)| key);
            fitting.changed.extend(keys.filter(|key| *key <= at));
        }
        Ok(())
    }

    /// Looks again at what had been read.
    pub fn again(&mut self, source: &Source<'_>) -> Result<Again, ReadError> {
        if let Which::Fitting(fitting) = &mut self.which
            && let again @ (Again::More | Again::Anew) = fitting.judge(source)?
        {
            return Ok(again);
        }
        let ids: Vec<_> = self.open.keys().copied().collect();
        for exchange in source.recording.light_exchanges_of(&ids, None)? {
            if is_settled(&exchange) {
                self.collector.settled(&exchange);
                self.open.remove(&exchange.id);
            } else {
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(Again::Done)
    }

    /// Reads what comes next. Whether that is all.
    pub fn step(&mut self, source: &Source<'_>) -> Result<bool, ReadError> {
        let (page, is_last) = match &mut self.which {
            Which::All(after) => {
                let page = source.recording.light_exchanges(*after, None, PAGE)?;
                *after = page.last().map_or(*after, |exchange| exchange.id);
                let is_last = page.len() < PAGE as usize;
                (page, is_last)
            }
            Which::Fitting(fitting) => fitting.step(source)?,
        };
        for exchange in page {
            if is_settled(&exchange) {
                self.collector.add(&exchange);
            } else {
                self.collector.open(&exchange);
                self.open.insert(exchange.id, exchange);
            }
        }
        Ok(is_last)
    }

    pub fn stats(&self) -> Stats {
        self.collector.stats(self.open.values())
    }

    /// How many fit, and of how many; none: there is no filter.
    pub fn fitting(&self, source: &Source<'_>) -> Result<Option<super::Fitting>, ReadError> {
        let Which::Fitting(fitting) = &self.which else {
            return Ok(None);
        };
        let last = Seq(source.summary.frames);
        // Exchanges are numbered from 1 on, in the order of their requests.
        let of = source.recording.exchange_before(last)?.0;
        let count = fitting.count;
        Ok(Some(super::Fitting { count, of }))
    }

    /// How many were looked at, of so many, in the same unit.
    pub fn progress(&self, source: &Source<'_>) -> (u64, u64) {
        let frames = source.summary.frames;
        match &self.which {
            Which::All(after) => (after.0, source.summary.exchanges),
            Which::Fitting(fitting) => (fitting.at.map_or(0, |at| at.seq.0), frames),
        }
    }
}

impl Fitting {
    /// Judges some of what has changed.
    fn judge(&mut self, source: &Source<'_>) -> Result<Again, ReadError> {
        let at = self.changed.len().saturating_sub(JUDGED);
        let keys = self.changed.split_off(at);
        let (recording, context) = (source.recording, source.context());
        let fit = recording.fitting(&self.question, context, &keys)?;
        let fit: HashSet<_> = fit.into_iter().collect();
        let differs = |key: &ItemKey| fit.contains(key) != self.counted.contains(key);
        Ok(if keys.iter().any(differs) {
            Again::Anew
        } else if self.changed.is_empty() {
            Again::Done
        } else {
            Again::More
        })
    }

    /// The next exchanges that fit, and whether they are the last ones.
    fn step(&mut self, source: &Source<'_>) -> Result<(Vec<Exchange>, bool), ReadError> {
        let context = source.context();
        let scan = self
            .scan
            .get_or_insert_with(|| Scan::new(&self.question, Way::Oldest, None, context));
        let limit = Limit {
            hits: PAGE as usize,
            nanos: SCAN_NS,
            clock: source.clock,
        };
        let step = scan.step(source.recording, &limit)?;
        self.at = step.looked_at.or(self.at);
        let keys: Vec<_> = step.hits.iter().map(|hit| hit.key).collect();
        let page = source.recording.light_exchanges_at(&keys, None)?;
        self.count += page.len() as u64;
        if !source.summary.state.is_final() {
            self.counted.extend(keys);
        }
        Ok((page, step.done))
    }
}
