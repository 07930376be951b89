//! The jobs of the list: which rows there are, and what stands in those on the screen.
//!
//! ```text
//!  Scanning ──▶ from the newest, some ms a step ─────▶ Found { older }
//!               │ the recording has grown
//!               └─▶ from where it ended ─────────────▶ Found { newer }
//!                   exchanges that have changed ─────▶ Found { touched, begin or cease to fit }
//!  Reading  ──▶ whole rows for the screen
//! ```

use crate::panels::search::hits::row_of;
use crate::worker::job::{Growth, Job, Progress, Source, Step};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{Hit, Limit, Question, Scan, Way};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, ItemKind, Lens};
use mcpreel_trace::query::Query;
use std::collections::{HashMap, HashSet, VecDeque};

/// Rows of the first answer: about a screen, so that it comes at once.
const FIRST: usize = 128;

/// Rows of an answer: many thousands would hold up the screen.
const HITS: usize = 4096;

/// How long a step of the scan works, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Changed exchanges that are judged in one step.
const JUDGED: usize = 64;

/// Frames whose rows are counted in one step: some milliseconds.
const COUNTED: u64 = 25_000;

/// Whole rows that are read in one step: some milliseconds.
const READ: usize = 64;

/// What a step of the scan has found.
#[derive(Debug, Default)]
pub struct Found {
    /// Rows before those that were found already, the newest first.
    pub older: Vec<Hit>,
    /// Rows after them, the oldest first.
    pub newer: Vec<Hit>,
    /// Rows among them that fit now, also those that did before.
    pub begin: Vec<Hit>,
    /// Rows among them that do not fit now.
    pub cease: Vec<ItemKey>,
    pub touched: Vec<(ExchangeId, ItemKey)>,
    /// Everything from here on was looked at.
    pub from: Option<ItemKey>,
    /// Percent of the frames that were looked at.
    pub percent: u8,
    /// Whether everything was looked at.
    pub done: bool,
    /// How many rows there are without a filter, where that was counted.
    pub total: Option<u64>,
    /// The usual latency of each method, where that was looked at.
    pub usual: Option<HashMap<Box<str>, u64>>,
}

/// Looks through a recording, newest first, and follows it.
pub struct Scanning {
    question: Question,
    /// From where on everything was looked at when the scan was stopped: it goes no further back.
    stopped: Option<ItemKey>,
    stage: Stage,
    /// Finds the rows before those that were found; none until the first step.
    older: Option<Scan>,
    newer: Option<Scan>,
    /// The frames whose changes were looked at.
    touched_up_to: Seq,
    /// Exchanges that have changed and were not judged yet.
    changed: Vec<ItemKey>,
    /// From where on everything was looked at.
    from: Option<ItemKey>,
    is_complete: bool,
    has_answered: bool,
    /// The rows of the frames before this one are counted.
    counted_to: u64,
    counted: u64,
    /// Exchanges that there were when the usual latencies were taken.
    scaled: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Older,
    Newer,
    Touched,
    Judged,
    Counted,
    Scaled,
}

impl Scanning {
    pub fn new(lens: Lens, query: Query, stopped: Option<ItemKey>) -> Self {
        Self {
            question: Question {
                lens,
                query,
                until: None,
            },
            stopped,
            stage: Stage::Older,
            older: None,
            newer: None,
            touched_up_to: Seq(0),
            changed: Vec::new(),
            from: stopped,
            is_complete: false,
            has_answered: false,
            counted_to: 0,
            counted: 0,
            scaled: 0,
        }
    }

    fn begin(&mut self, source: &Source<'_>) {
        if self.older.is_some() {
            return;
        }
        let context = source.context();
        let end = Seq(source.summary.frames);
        self.touched_up_to = end;
        self.older = Some(Scan::new(&self.question, Way::Newest, None, context));
        // Rows of the last frame are found twice, and kept once.
        let from = ItemKey::of_part(Seq(end.0.saturating_sub(1)), 0);
        self.newer = Some(Scan::new(&self.question, Way::Oldest, Some(from), context));
    }

    /// Does a piece of the stage, and returns the stage that comes next; none at the end.
    fn go_on(
        &mut self,
        source: &Source<'_>,
        found: &mut Found,
    ) -> Result<Option<Stage>, ReadError> {
        let limit = Limit {
            hits: if self.has_answered { HITS } else { FIRST },
            nanos: STEP_NS,
            clock: source.clock,
        };
        Ok(Some(match (self.stage, &mut self.older, &mut self.newer) {
            (Stage::Older, Some(older), _) if self.stopped.is_none() => {
                let step = older.step(source.recording, &limit)?;
                self.from = step.looked_at.or(self.from);
                self.is_complete = step.done;
                found.older = step.hits;
                if step.done {
                    Stage::Newer
                } else {
                    Stage::Older
                }
            }
            (Stage::Older, ..) => Stage::Newer,
            (Stage::Newer, _, Some(newer)) => {
                let step = newer.step(source.recording, &limit)?;
                found.newer = step.hits;
                if step.done {
                    Stage::Touched
                } else {
                    Stage::Newer
                }
            }
            (Stage::Newer | Stage::Touched, ..) => self.look_at_changes(source, found)?,
            (Stage::Judged, ..) => self.judge(source, found)?,
            (Stage::Counted, ..) => self.count(source, found)?,
            (Stage::Scaled, ..) => {
                let exchanges = source.summary.exchanges;
                if exchanges > self.scaled + self.scaled / 8 {
                    self.scaled = exchanges;
                    found.usual = Some(usual(source)?);
                }
                return Ok(None);
            }
        }))
    }

    /// Which exchanges have changed, and so which rows may fit now or not any more.
    fn look_at_changes(
        &mut self,
        source: &Source<'_>,
        found: &mut Found,
    ) -> Result<Stage, ReadError> {
        let after = self.touched_up_to;
        self.touched_up_to = Seq(source.summary.frames);
        found.touched = source.recording.exchanges_touched(after)?;
        if self.question.query.expr.is_none() || found.touched.is_empty() {
            return Ok(Stage::Counted);
        }
        let mut keys = Vec::new();
        for (id, key) in &found.touched {
            match self.question.lens {
                Lens::Exchanges => keys.push(*key),
                Lens::Wire => {
                    let messages = source.recording.messages_of_exchange(*id)?;
                    let parts = messages.iter().map(|message| &message.record);
                    keys.extend(parts.map(|record| ItemKey::of_part(record.frame, record.part)));
                }
            }
        }
        keys.retain(|key| self.is_complete || self.from.is_some_and(|from| from <= *key));
        self.changed.extend(keys);
        Ok(Stage::Judged)
    }

    fn judge(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let at = self.changed.len().saturating_sub(JUDGED);
        let keys = self.changed.split_off(at);
        let recording = source.recording;
        let fitting = recording.fitting(&self.question, source.context(), &keys)?;
        let fit: HashSet<_> = fitting.iter().copied().collect();
        found.cease = keys.into_iter().filter(|key| !fit.contains(key)).collect();
        found.begin = hits(recording, self.question.lens, fitting)?;
        Ok(if self.changed.is_empty() {
            Stage::Counted
        } else {
            Stage::Judged
        })
    }

    /// Counts the rows that there are without a filter, and goes on where it was.
    fn count(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let (recording, lens) = (source.recording, self.question.lens);
        let last = source.summary.frames;
        let end = last.min(self.counted_to.saturating_add(COUNTED));
        if self.counted_to < end {
            let rows = recording.count_rows(lens, Seq(self.counted_to), Seq(end - 1))?;
            self.counted += rows;
            self.counted_to = end;
        }
        if end < last {
            return Ok(Stage::Counted);
        }
        // Events may still come after the last frame.
        let rest = recording.count_rows(lens, Seq(last), Seq(last))?;
        found.total = Some(self.counted + rest);
        Ok(Stage::Scaled)
    }

    fn percent(&self, source: &Source<'_>) -> u8 {
        let last = source.summary.frames;
        match self.from {
            _ if self.is_complete => 100,
            Some(from) if last > 0 => {
                let seen = last.saturating_sub(from.seq.0);
                u8::try_from(seen * 100 / last).unwrap_or(99).min(99)
            }
            _ => 0,
        }
    }
}

impl Job for Scanning {
    type Found = Found;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        self.begin(source);
        let mut found = Found::default();
        let next = self.go_on(source, &mut found)?;
        self.stage = next.unwrap_or(Stage::Scaled);
        self.has_answered = true;
        found.from = self.from;
        found.percent = self.percent(source);
        found.done = self.is_complete;
        let progress = next.map_or(Progress::Done, |_| Progress::More);
        Ok((progress, Some(found)))
    }

    fn grown(&mut self, _: &Growth) -> bool {
        self.stage = Stage::Newer;
        true
    }
}

/// Rows that changed as hits: only exchanges and messages do, and they stand alone but for
/// notifications, which fold only where they were found first.
fn hits(recording: &Recording, lens: Lens, keys: Vec<ItemKey>) -> Result<Vec<Hit>, ReadError> {
    let hit = |key, kind| Hit {
        key,
        kind,
        fold: None,
    };
    if lens == Lens::Exchanges {
        let keys = keys.into_iter();
        return Ok(keys.map(|key| hit(key, ItemKind::Request)).collect());
    }
    let items = recording.items(lens, &keys)?;
    Ok(items
        .iter()
        .map(|item| hit(item.key, item.kind()))
        .collect())
}

/// Reads whole rows for the screen, and finds the row of a frame.
pub struct Reading {
    pub lens: Lens,
    pub keys: VecDeque<ItemKey>,
    /// The frame whose row is looked for.
    pub find: Option<Seq>,
}

/// Whole rows, and the row of the frame that was looked for.
pub struct Read {
    pub lens: Lens,
    pub items: Vec<Item>,
    pub found: Option<(Seq, ItemKey)>,
}

impl Job for Reading {
    type Found = Read;

    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found> {
        let (lens, recording) = (self.lens, source.recording);
        let found = match self.find.take() {
            Some(seq) => Some((seq, row_of(recording, lens, seq, None)?)),
            None => None,
        };
        let some = self.keys.len().min(READ);
        let keys: Vec<_> = self.keys.drain(..some).collect();
        let items: Vec<Item> = recording.items(lens, &keys)?;
        let progress = if self.keys.is_empty() {
            Progress::Done
        } else {
            Progress::More
        };
        Ok((progress, Some(Read { lens, items, found })))
    }
}

/// Answered calls from which the usual latencies are taken: the newest, some milliseconds of work.
const LATELY: u32 = 4_000;

/// The usual latency of each method, nanoseconds: the 95th percentile of the calls lately.
fn usual(source: &Source<'_>) -> Result<HashMap<Box<str>, u64>, ReadError> {
    let first = source.summary.exchanges.saturating_sub(LATELY.into());
    let mut latencies: HashMap<Box<str>, Vec<u64>> = HashMap::new();
    for one in source.recording.latencies(ExchangeId(first), LATELY)? {
        if let Some(nanos) = one.nanos {
            latencies.entry(one.method).or_default().push(nanos);
        }
    }
    let percentile = |(method, mut all): (Box<str>, Vec<u64>)| {
        all.sort_unstable();
        let rank = (all.len() * 95).div_ceil(100);
        (method, all[rank.saturating_sub(1)])
    };
    Ok(latencies.into_iter().map(percentile).collect())
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
