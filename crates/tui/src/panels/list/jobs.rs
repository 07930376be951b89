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
use mcpreel_store::reader::{MessageRow, ReadError};
use mcpreel_store::select::{Hit, Question, Scan, Way};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};
use mcpreel_trace::query::Query;
use std::collections::{HashSet, VecDeque};

/// Rows of the first answer: about a screen, so that it comes at once.
const FIRST: usize = 128;

/// Rows of an answer: many thousands would hold up the screen.
const HITS: usize = 4096;

/// The time of a step of the scan, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Changed exchanges that are judged in one step.
const JUDGED: usize = 64;

/// Frames whose rows are counted in one step: some milliseconds.
const COUNTED: u64 = 25_000;

/// Whole rows that are read in one step: some milliseconds.
const READ: usize = 64;

/// The results of a step of the scan.
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
    /// The number of rows without a filter, once it was counted.
    pub total: Option<u64>,
}

/// Looks through a recording, newest first, and follows it.
#[derive(Default)]
pub struct Scanning {
    question: Question,
    /// A scan that was stopped goes no further back.
    is_stopped: bool,
    stage: Stage,
    /// Find the rows before those that were found, and those after them; none until the first step.
    scans: Option<(Scan, Scan)>,
    /// The frames whose changes were looked at.
    touched_up_to: Seq,
    /// Rows that may fit now or not any more and were not judged yet.
    changed: Vec<ItemKey>,
    /// From where on everything was looked at.
    from: Option<ItemKey>,
    is_complete: bool,
    has_answered: bool,
    /// The rows of the frames before this one are counted.
    counted_to: u64,
    counted: u64,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Older,
    Newer,
    Changed,
    Counted,
}

impl Scanning {
    /// `stopped`: from where on everything was looked at when the scan was stopped.
    pub fn new(lens: Lens, query: Query, stopped: Option<ItemKey>) -> Self {
        Self {
            question: Question::new(lens, query),
            is_stopped: stopped.is_some(),
            from: stopped,
            ..Self::default()
        }
    }

    /// Does a piece of the stage, and returns the stage that comes next; none at the end.
    fn go_on(
        &mut self,
        source: &Source<'_>,
        found: &mut Found,
    ) -> Result<Option<Stage>, ReadError> {
        let hits = if self.has_answered { HITS } else { FIRST };
        let deadline = source.clock.deadline(STEP_NS);
        let (older, newer) = self.scans.get_or_insert_with(|| {
            let context = source.context();
            let end = source.summary.frames;
            self.touched_up_to = Seq(end);
            // Rows of the last frame are found twice, and kept once.
            let from = ItemKey::of_part(Seq(end.saturating_sub(1)), 0);
            (
                Scan::new(&self.question, Way::Newest, None, context),
                Scan::new(&self.question, Way::Oldest, Some(from), context),
            )
        });
        let next = |is_done, stage, next| Ok(Some(if is_done { next } else { stage }));
        match self.stage {
            Stage::Older if self.is_stopped => Ok(Some(Stage::Newer)),
            Stage::Older => {
                let step = older.step(source.recording, hits, deadline)?;
                self.from = step.looked_at.or(self.from);
                self.is_complete = step.done;
                found.older = step.hits;
                next(step.done, Stage::Older, Stage::Newer)
            }
            Stage::Newer => {
                let step = newer.step(source.recording, hits, deadline)?;
                found.newer = step.hits;
                if step.done {
                    self.look_at_changes(source, found)?;
                }
                next(step.done, Stage::Newer, Stage::Changed)
            }
            Stage::Changed => {
                self.judge(source, found)?;
                next(self.changed.is_empty(), Stage::Changed, Stage::Counted)
            }
            Stage::Counted => {
                self.count(source, found)?;
                Ok(found.total.is_none().then_some(Stage::Counted))
            }
        }
    }

    /// Collects the exchanges that have changed, and so the rows that may fit now or not any more.
    fn look_at_changes(&mut self, source: &Source<'_>, found: &mut Found) -> Result<(), ReadError> {
        let after = std::mem::replace(&mut self.touched_up_to, Seq(source.summary.frames));
        found.touched = source.recording.exchanges_touched(after)?;
        if self.question.query.expr.is_none() {
            return Ok(());
        }
        for (id, key) in &found.touched {
            match self.question.lens {
                Lens::Exchanges => self.changed.push(*key),
                Lens::Wire => {
                    let messages = source.recording.messages_of_exchange(*id)?.into_iter();
                    let key = |row: MessageRow| ItemKey::of_part(row.record.frame, row.record.part);
                    self.changed.extend(messages.map(key));
                }
            }
        }
        let (is_complete, from) = (self.is_complete, self.from);
        self.changed
            .retain(|key| is_complete || from.is_some_and(|from| from <= *key));
        Ok(())
    }

    /// Judges some of the changed rows. Those that fit are found as rows that stand alone: a
    /// notification folds only where it was found first.
    fn judge(&mut self, source: &Source<'_>, found: &mut Found) -> Result<(), ReadError> {
        let at = self.changed.len().saturating_sub(JUDGED);
        let keys = self.changed.split_off(at);
        let fitting = (source.recording).fitting(&self.question, source.context(), &keys)?;
        let items = source.recording.items(self.question.lens, &fitting)?;
        let hit = |item: &Item| Hit {
            key: item.key,
            kind: item.kind(),
            fold: None,
        };
        found.begin = items.iter().map(hit).collect();
        let fit: HashSet<_> = fitting.into_iter().collect();
        found.cease = keys.into_iter().filter(|key| !fit.contains(key)).collect();
        Ok(())
    }

    /// Counts the rows that there are without a filter, and goes on where it was.
    fn count(&mut self, source: &Source<'_>, found: &mut Found) -> Result<(), ReadError> {
        let (recording, lens) = (source.recording, self.question.lens);
        let last = source.summary.frames;
        let end = last.min(self.counted_to.saturating_add(COUNTED));
        if self.counted_to < end {
            self.counted += recording.count_rows(lens, Seq(self.counted_to), Seq(end - 1))?;
            self.counted_to = end;
        }
        if end == last {
            // Events may still come after the last frame.
            let rest = recording.count_rows(lens, Seq(last), Seq(last))?;
            found.total = Some(self.counted + rest);
        }
        Ok(())
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
        let mut found = Found::default();
        let next = self.go_on(source, &mut found)?;
        self.stage = next.unwrap_or(Stage::Counted);
        self.has_answered = true;
        found.from = self.from;
        found.percent = self.percent(source);
        found.done = self.is_complete;
        Ok((Progress::done(next.is_none()), Some(found)))
    }

    fn grown(&mut self, _: &Growth) -> bool {
        self.stage = Stage::Newer;
        true
    }
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
        let row = |seq| row_of(recording, lens, seq, None).map(|key| (seq, key));
        let found = self.find.take().map(row).transpose()?;
        let some = self.keys.len().min(READ);
        let keys: Vec<_> = self.keys.drain(..some).collect();
        let items = recording.items(lens, &keys)?;
        let progress = Progress::done(self.keys.is_empty());
        Ok((progress, Some(Read { lens, items, found })))
    }
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
