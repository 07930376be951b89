//! Looking through a recording, and following it.

use super::scale::Scale;
use super::tally::Tally;
use super::{Answer as Found, Ask};
use crate::worker::{Answer, Growth, Job, Progress, Source};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_store::select::{Limit, Question, Scan, Way};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use std::collections::HashSet;

/// Rows of the first answer: about a screen, so that it comes at once.
const FIRST: usize = 128;

/// Rows of an answer: a thousand of them would be a screen that waits for memory.
const AT_ONCE: usize = 4096;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 8_000_000;

/// Changed exchanges that are judged in one step.
const JUDGED: usize = 64;

pub(super) struct Scanning {
    ask: Ask,
    stage: Stage,
    /// Finds what is older than what was found; none until the first step.
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
    tally: Tally,
    scale: Scale,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Older,
    Newer,
    Touched,
    Judged,
    /// How many rows there are in all.
    Counted,
    Scaled,
}

impl Scanning {
    pub fn new(ask: Ask) -> Self {
        Self {
            from: ask.stopped,
            ask,
            stage: Stage::Older,
            older: None,
            newer: None,
            touched_up_to: Seq(0),
            changed: Vec::new(),
            is_complete: false,
            has_answered: false,
            tally: Tally::default(),
            scale: Scale::default(),
        }
    }

    fn question(&self) -> Question {
        Question {
            lens: self.ask.lens,
            query: self.ask.query.clone(),
            until: None,
        }
    }

    fn begin(&mut self, source: &Source<'_>) {
        if self.older.is_some() {
            return;
        }
        let (question, context) = (self.question(), source.context());
        let end = Seq(source.summary.frames);
        self.touched_up_to = end;
        self.older = Some(Scan::new(&question, Way::Newest, None, context));
        // Rows of the last frame are found twice, and kept once.
        let from = ItemKey::of_part(Seq(end.0.saturating_sub(1)), 0);
        self.newer = Some(Scan::new(&question, Way::Oldest, Some(from), context));
    }

    fn look_back(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let limit = self.limit(source);
        let Some(scan) = &mut self.older else {
            return Ok(Stage::Newer);
        };
        let step = scan.step(source.recording, &limit)?;
        self.from = step.looked_at.or(self.from);
        self.is_complete = step.done;
        found.older = step.hits;
        Ok(if step.done {
            Stage::Newer
        } else {
            Stage::Older
        })
    }

    fn look_ahead(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let limit = self.limit(source);
        let Some(scan) = &mut self.newer else {
            return Ok(Stage::Touched);
        };
        let step = scan.step(source.recording, &limit)?;
        found.newer = step.hits;
        Ok(if step.done {
            Stage::Touched
        } else {
            Stage::Newer
        })
    }

    fn limit(&self, source: &Source<'_>) -> Limit {
        Limit {
            hits: if self.has_answered { AT_ONCE } else { FIRST },
            nanos: STEP_NS,
            clock: source.clock,
        }
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
        let ids: Vec<_> = found.touched.iter().map(|(id, _)| *id).collect();
        self.scale.changed(source.recording, &ids)?;
        if self.ask.query.expr.is_none() || found.touched.is_empty() {
            return Ok(Stage::Counted);
        }
        let is_known =
            |key: &ItemKey| self.is_complete || self.from.is_some_and(|from| from <= *key);
        let mut keys = Vec::new();
        for (id, key) in &found.touched {
            match self.ask.lens {
                Lens::Exchanges => keys.push(*key),
                Lens::Wire => {
                    let messages = source.recording.messages_of_exchange(*id)?;
                    let parts = messages.iter().map(|message| &message.record);
                    keys.extend(parts.map(|record| ItemKey::of_part(record.frame, record.part)));
                }
            }
        }
        keys.retain(is_known);
        self.changed.extend(keys);
        Ok(Stage::Judged)
    }

    fn judge(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let at = self.changed.len().saturating_sub(JUDGED);
        let keys = self.changed.split_off(at);
        let (question, context) = (self.question(), source.context());
        let fitting = source.recording.fitting(&question, context, &keys)?;
        let fit: HashSet<_> = fitting.iter().copied().collect();
        found.cease = keys.into_iter().filter(|key| !fit.contains(key)).collect();
        found.begin = hits(source.recording, self.ask.lens, fitting)?;
        Ok(if self.changed.is_empty() {
            Stage::Counted
        } else {
            Stage::Judged
        })
    }

    fn count(&mut self, source: &Source<'_>, found: &mut Found) -> Result<Stage, ReadError> {
        let last = Seq(source.summary.frames);
        found.total = self.tally.step(source.recording, self.ask.lens, last)?;
        Ok(match found.total {
            Some(_) => Stage::Scaled,
            None => Stage::Counted,
        })
    }

    fn percent(&self, source: &Source<'_>) -> u8 {
        let last = source.summary.frames;
        let (Some(from), false) = (self.from, self.is_complete || last == 0) else {
            return if self.is_complete { 100 } else { 0 };
        };
        let seen = last.saturating_sub(from.seq.0);
        u8::try_from(seen * 100 / last).unwrap_or(99).min(99)
    }
}

/// Rows that changed as hits: of those only exchanges and messages do, and they stand alone but
/// for notifications, which fold only where they were found first.
fn hits(
    recording: &Recording,
    lens: Lens,
    keys: Vec<ItemKey>,
) -> Result<Vec<mcpreel_store::select::Hit>, ReadError> {
    use mcpreel_store::select::Hit;
    use mcpreel_trace::item::ItemKind;
    if lens == Lens::Exchanges {
        let hit = |key| Hit {
            key,
            kind: ItemKind::Request,
            fold: None,
        };
        return Ok(keys.into_iter().map(hit).collect());
    }
    let items = recording.items(lens, &keys, None)?;
    let hit = |item: &mcpreel_trace::item::Item| Hit {
        key: item.key,
        kind: item.kind(),
        fold: None,
    };
    Ok(items.iter().map(hit).collect())
}

impl Job for Scanning {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        self.begin(source);
        let mut found = Found {
            generation: self.ask.generation,
            ..Found::default()
        };
        let mut is_over = false;
        self.stage = match self.stage {
            Stage::Older if self.ask.stopped.is_some() => Stage::Newer,
            Stage::Older => self.look_back(source, &mut found)?,
            Stage::Newer => self.look_ahead(source, &mut found)?,
            Stage::Touched => self.look_at_changes(source, &mut found)?,
            Stage::Judged => self.judge(source, &mut found)?,
            Stage::Counted => self.count(source, &mut found)?,
            Stage::Scaled => {
                let exchanges = source.summary.exchanges;
                let done = self.scale.step(source.recording, exchanges)?;
                found.usual = done.then(|| self.scale.p95());
                is_over = done;
                Stage::Scaled
            }
        };
        self.has_answered = true;
        found.from = self.from;
        found.percent = self.percent(source);
        found.done = self.is_complete;
        answers.push(Answer::List(found));
        Ok(if is_over {
            Progress::Done
        } else {
            Progress::More
        })
    }

    fn grown(&mut self, _: &Growth) -> bool {
        self.stage = Stage::Newer;
        true
    }
}
