//! Exchanges, notifications and tools by turns.

use super::besides::{Notifications, Tools};
use super::exchanges::{Again, Exchanges};
use super::{Answer, Ask, Figures};
use crate::worker::{self, Growth, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// While there is more to count, so often the figures so far are handed over, nanoseconds.
const SO_FAR_NS: u64 = 250_000_000;

pub(super) struct Counting {
    ask: Ask,
    exchanges: Exchanges,
    notifications: Notifications,
    tools: Tools,
    phase: Phase,
    told_ns: u64,
    /// Whether everything was counted before: then nothing is told until it is again.
    is_again: bool,
    span: Moment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It is asked which exchanges have changed.
    Changes,
    /// Exchanges that have changed are looked at again.
    Again,
    Exchanges,
    Notifications,
    Tools,
    Done,
}

impl Counting {
    pub fn new(ask: Ask) -> Self {
        Self {
            exchanges: Exchanges::new(&ask),
            ask,
            notifications: Notifications::default(),
            tools: Tools::default(),
            phase: Phase::Changes,
            told_ns: 0,
            is_again: false,
            span: Moment(0),
        }
    }

    fn anew(&mut self) {
        *self = Self {
            told_ns: self.told_ns,
            is_again: true,
            ..Self::new(self.ask.clone())
        };
    }

    /// Does what comes next, and says what comes after it.
    fn go_on(&mut self, source: &Source<'_>) -> Result<Phase, ReadError> {
        Ok(match self.phase {
            Phase::Changes => {
                self.exchanges.look_for_changes(source)?;
                Phase::Again
            }
            Phase::Again => match self.exchanges.again(source)? {
                Again::More => Phase::Again,
                Again::Done => Phase::Exchanges,
                Again::Anew => {
                    self.anew();
                    Phase::Changes
                }
            },
            Phase::Exchanges if !self.exchanges.step(source)? => Phase::Exchanges,
            Phase::Exchanges if self.ask.query.expr.is_some() => Phase::Done,
            Phase::Exchanges => Phase::Notifications,
            Phase::Notifications => {
                let frames = Seq(source.summary.frames);
                if self.notifications.step(source, frames)? {
                    Phase::Tools
                } else {
                    Phase::Notifications
                }
            }
            Phase::Tools => {
                if self.tools.step(source)? {
                    Phase::Done
                } else {
                    Phase::Tools
                }
            }
            Phase::Done => Phase::Done,
        })
    }

    fn figures(&self, source: &Source<'_>, done: bool) -> Result<Figures, ReadError> {
        let stats = self.exchanges.stats();
        Ok(Figures {
            fitting: self.exchanges.fitting(source)?,
            notified: self.notifications.sorted(),
            tools_listed: self.tools.count(),
            never_called: self.tools.never_called(&stats),
            span_ns: self.span.0,
            percent: if done { 100 } else { self.percent(source) },
            stats,
        })
    }

    fn percent(&self, source: &Source<'_>) -> u8 {
        let (mut counted, mut all) = self.exchanges.progress(source);
        if self.ask.query.expr.is_none() {
            counted += self.notifications.frames.0;
            all += source.summary.frames;
        }
        let percent = (counted.saturating_mul(100) / all.max(1)).min(99);
        u8::try_from(percent).unwrap_or(99)
    }

    fn tell(&mut self, source: &Source<'_>, done: bool) -> Result<worker::Answer, ReadError> {
        self.told_ns = source.clock.now().0;
        self.is_again &= !done;
        Ok(worker::Answer::Stats(Answer {
            generation: self.ask.generation,
            figures: Box::new(self.figures(source, done)?),
        }))
    }
}

impl Job for Counting {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<worker::Answer>,
    ) -> Result<Progress, ReadError> {
        let began = source.clock.now().0;
        self.span = Moment(source.summary.t_last_ns);
        loop {
            self.phase = self.go_on(source)?;
            if self.phase == Phase::Done {
                self.phase = Phase::Changes;
                answers.push(self.tell(source, true)?);
                return Ok(Progress::Done);
            }
            let now = source.clock.now().0;
            if now.saturating_sub(began) >= STEP_NS {
                if !self.is_again && now.saturating_sub(self.told_ns) >= SO_FAR_NS {
                    answers.push(self.tell(source, false)?);
                }
                return Ok(Progress::More);
            }
        }
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        if growth.ended {
            self.anew();
        }
        true
    }
}
