//! Rows and density by turns.

use super::density::Density;
use super::rows::{Rows, seq_at};
use super::{Answer, Ask, Picture, STEP_NS, Window};
use crate::worker::{self, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_store::select::Way;

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

    fn answer(&self, generation: u64) -> worker::Answer {
        let (rows, density) = (&self.rows, &self.density);
        worker::Answer::Timeline(Answer {
            generation,
            picture: Box::new(Picture {
                window: self.window,
                end_ns: self.end_ns,
                density: density.columns.clone(),
                percent: density.percent,
                rows: rows.bars.iter().cloned().collect(),
                more: (rows.above.more, rows.below.more),
                looking: !rows.above.is_done() || !rows.below.is_done(),
            }),
        })
    }
}

impl Job for Drawing {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<worker::Answer>,
    ) -> Result<Progress, ReadError> {
        let mut work = match self.work.take() {
            Some(work) => work,
            None => self.begin(source)?,
        };
        let began = source.clock.now().0;
        let mut done = false;
        while !done && source.clock.now().0.saturating_sub(began) < STEP_NS {
            done = work.go_on(source, began)?;
        }
        answers.push(work.answer(self.ask.generation));
        self.work = Some(work);
        Ok(if done { Progress::Done } else { Progress::More })
    }
}
