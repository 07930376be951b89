//! Going over a recording, frame range by frame range.

use super::judge::Judge;
use super::plan::{Candidate, Plan};
use super::probe::Probe;
use super::source::Source;
use super::{Context, Limit, Question, Step, Way};
use crate::reader::{ReadError, Recording};
use crate::values::from_sql;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use rusqlite::Connection;

/// Frames of the first range: about as many as a screen may need.
const FIRST_RANGE: u64 = 512;

/// Frames of the smallest and of the largest range. Smaller ones cost more in statements than in
/// rows, larger ones gain nothing.
const RANGES: std::ops::RangeInclusive<u64> = 64..=1 << 19;

/// How long a range should take, nanoseconds: steps cannot be shorter than that, nor end more
/// exactly.
const RANGE_NS: u64 = 1_500_000;

const NEWEST: &str = "SELECT frames, (SELECT coalesce(max(id), 0) FROM event),
    messages > 4 * exchanges FROM recording";

/// Goes over a recording in steps and finds the rows that fit.
///
/// It may go on after it was done: a scan from the oldest then finds what has come since.
#[derive(Debug)]
pub struct Scan {
    plans: Vec<Plan>,
    probe: Probe,
    judge: Judge,
    until: Option<Seq>,
    way: Way,
    at: Option<ItemKey>,
    range: u64,
}

/// Where the recording ends, and what it is full of.
struct Extent {
    /// The address of the last thing in it.
    last: ItemKey,
    /// Whether most of its messages are rows of their own.
    dense: bool,
}

impl Extent {
    fn of(conn: &Connection, until: Option<Seq>) -> rusqlite::Result<Self> {
        let mut statement = conn.prepare_cached(NEWEST)?;
        statement.query_row([], |row| {
            let frames = Seq(row.get(0).map(from_sql)?);
            let seq = until.map_or(frames, |until| frames.min(until));
            // Of the last frame everything is on record, of the events after it perhaps not.
            let event = row.get(1).map(from_sql)?;
            Ok(Self {
                last: ItemKey::of_event(seq, event),
                dense: row.get(2)?,
            })
        })
    }
}

impl Scan {
    /// A scan for `question` that begins after `from`, or at the end of the recording where its
    /// [`Way`] begins.
    pub fn new(question: &Question, way: Way, from: Option<ItemKey>, context: Context) -> Self {
        let sources = Source::of(question.lens).iter();
        Self {
            plans: sources
                .filter_map(|&source| Plan::new(source, question, context))
                .collect(),
            probe: Probe::new(question, context),
            judge: Judge::new(&question.query, question.lens, context),
            until: question.until,
            way,
            at: from,
            range: FIRST_RANGE,
        }
    }

    pub fn step(&mut self, recording: &Recording, limit: &Limit) -> Result<Step, ReadError> {
        let began = limit.clock.now();
        let spent = || limit.clock.now().0.saturating_sub(began.0);
        let mut step = Step::default();
        loop {
            let range_began = spent();
            let range = recording.in_one_read(|recording| self.look(recording))?;
            let looked = spent() - range_began;
            let Some(range) = range else {
                step.done = true;
                break;
            };
            let mut candidates = range.candidates.into_iter();
            let is_over =
                |hits, judged| hits >= limit.hits.max(1) || (judged > 0 && spent() >= limit.nanos);
            let is_through = self.take(recording, &mut candidates, &mut step, &is_over)?;
            self.adapt(looked, is_through);
            if !is_through {
                break;
            }
            self.at = Some(range.end);
            step.done = range.is_last;
            // The next range would take as long.
            if step.done || spent() + looked >= limit.nanos {
                break;
            }
        }
        step.looked_at = self.at;
        Ok(step)
    }

    /// Takes candidates until the step is over: that is asked with the hits that it has, and with
    /// the rows of this range that were judged one by one. Returns whether all were taken.
    fn take(
        &mut self,
        recording: &Recording,
        candidates: &mut dyn Iterator<Item = Candidate>,
        step: &mut Step,
        is_over: &dyn Fn(usize, u64) -> bool,
    ) -> Result<bool, ReadError> {
        let mut judged = 0;
        for Candidate { hit, sure } in candidates {
            if is_over(step.hits.len(), judged) {
                return Ok(false);
            }
            if !sure {
                judged += 1;
            }
            if sure || recording.read(|conn| self.judge.fits(conn, hit.key, self.until))? {
                step.hits.push(hit);
            }
            self.at = Some(hit.key);
        }
        Ok(true)
    }

    /// Rows lie about as close as before, so the next range should take [`RANGE_NS`]; but it does
    /// not grow much at once, in case they do not.
    fn adapt(&mut self, took: u64, is_through: bool) {
        let range = match took {
            _ if !is_through => self.range / 2,
            0..=RANGE_NS => {
                let fitting = self.range.saturating_mul(RANGE_NS) / took.max(1);
                fitting.min(self.range.saturating_mul(2))
            }
            _ => self.range.saturating_mul(RANGE_NS) / took,
        };
        self.range = range.clamp(*RANGES.start(), *RANGES.end());
    }

    /// Looks at the columns of the next range of frames; `None` if there is nothing to look at.
    fn look(&mut self, recording: &Recording) -> Result<Option<Found>, ReadError> {
        let extent = recording.read(|conn| Extent::of(conn, self.until))?;
        let Some((lo, hi)) = self.next(&extent) else {
            self.at = self.at.or(Some(extent.last));
            return Ok(None);
        };
        let mut candidates = Vec::new();
        let may_fit = recording.read(|conn| self.probe.may_fit(conn, extent.last.seq))?;
        for plan in &self.plans {
            if !plan.source.is_asked(may_fit) {
                continue;
            }
            recording.read(|conn| plan.run(conn, extent.dense, (lo, hi), &mut candidates))?;
        }
        candidates.retain(|candidate| self.is_ahead(candidate.hit.key));
        candidates.sort_unstable_by_key(|candidate| candidate.hit.key);
        if self.way == Way::Newest {
            candidates.reverse();
        }
        let (end, is_last) = self.end(&extent, (lo, hi));
        Ok(Some(Found {
            candidates,
            end,
            is_last,
        }))
    }

    /// Where a look at these frames ends, and whether nothing lies behind.
    fn end(&self, extent: &Extent, (lo, hi): (u64, u64)) -> (ItemKey, bool) {
        let is_newest = hi == extent.last.seq.0;
        match self.way {
            Way::Newest => (ItemKey::of_part(Seq(lo), 0), lo == 0),
            Way::Oldest if is_newest => (extent.last, true),
            Way::Oldest => {
                let (seq, nth) = (Seq(hi), u32::MAX);
                (ItemKey { seq, nth }, false)
            }
        }
    }

    /// The frames that are looked at next, both included; `None` if there are none.
    fn next(&self, extent: &Extent) -> Option<(u64, u64)> {
        let last = extent.last.seq.0;
        let more = self.range - 1;
        match (self.way, self.at) {
            (Way::Newest, at) => {
                let hi = match at {
                    Some(at) if at.seq.0 == 0 && at.nth == 0 => return None,
                    Some(at) if at.nth == 0 => last.min(at.seq.0 - 1),
                    Some(at) => last.min(at.seq.0),
                    None => last,
                };
                Some((hi.saturating_sub(more), hi))
            }
            (Way::Oldest, Some(at)) if at >= extent.last => None,
            (Way::Oldest, at) => {
                let lo = match at {
                    Some(at) if at.nth == u32::MAX => at.seq.0 + 1,
                    Some(at) => at.seq.0,
                    None => 0,
                };
                Some((lo, last.min(lo.saturating_add(more))))
            }
        }
    }

    fn is_ahead(&self, key: ItemKey) -> bool {
        self.at.is_none_or(|at| match self.way {
            Way::Newest => key < at,
            Way::Oldest => key > at,
        })
    }
}

/// What stands in a range of frames.
struct Found {
    candidates: Vec<Candidate>,
    /// How far the scan is when all of them were taken.
    end: ItemKey,
    /// Whether nothing comes after it.
    is_last: bool,
}
