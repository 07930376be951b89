//! What the recorded frames want, one after the other.

use super::progress::token_of;
use super::{Director, Scene, Waits};
use crate::player::options::Order;
use crate::player::script::{Part, Step, What};
use crate::rules::Side;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use std::time::Duration;

/// Requests that are open at most: each takes memory. A recording in which more were open waits for
/// answers where the recorded client did not.
const MOST_OPEN: usize = 16_384;

/// How long a batch waits for the questions that it answers.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct Walk {
    current: Option<Step>,
    hold: Option<Hold>,
    over: bool,
    /// A line of the client that broke off: sent if it is the last one.
    unfinished: Option<Step>,
    /// When the frame before was recorded, and when the walk went on from it.
    before: Option<(Moment, Moment)>,
}

/// Why the walk waits, and until when at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub waits: Waits,
    pub until: Option<Moment>,
}

impl Hold {
    pub(super) fn new(waits: Waits, until: Option<Moment>) -> Self {
        Self { waits, until }
    }
}

impl Walk {
    pub fn wants_step(&self) -> bool {
        self.current.is_none() && !self.over
    }

    pub fn is_over(&self) -> bool {
        self.over && self.current.is_none()
    }

    pub fn waits(&self) -> Waits {
        let hold = self.hold.as_ref();
        hold.map_or(Waits::Nothing, |hold| hold.waits.clone())
    }

    pub fn until(&self) -> Option<Moment> {
        self.hold.as_ref()?.until
    }

    pub fn current(&self) -> Option<&Step> {
        self.current.as_ref()
    }

    /// What passed between the frame before and `step` in the recording; nothing where its clock
    /// went back.
    fn gap(&self, step: &Step) -> Duration {
        let before = self.before.map_or(Moment(0), |(recorded, _)| recorded);
        step.head.t_first.since(before)
    }
}

impl Director {
    /// The next recorded frame; `None`: there is none.
    pub fn offer(&mut self, step: Option<Step>, scene: &mut Scene<'_>) {
        match step {
            Some(step) => self.walk.current = Some(step),
            None => self.walk.over = true,
        }
        self.go(scene);
    }

    pub(super) fn go(&mut self, scene: &mut Scene<'_>) {
        if !self.is_walking() {
            return self.settle(scene.now);
        }
        if let Some(step) = self.walk.current.take() {
            self.walk.hold = self.hold(&step, scene);
            if self.walk.hold.is_some() {
                self.walk.current = Some(step);
                self.look_for_early(scene);
            } else {
                let gap = self.walk.gap(&step);
                self.walk.before = Some((step.head.t_last, scene.now));
                self.pass(step, gap, scene);
            }
        }
        if self.walk.is_over() {
            if let Some(step) = self.walk.unfinished.take() {
                self.send(step, scene);
            }
            self.settle_down(scene.now);
        }
    }

    /// Where the server is waited for, it may be that it waits for us.
    fn look_for_early(&mut self, scene: &mut Scene<'_>) {
        if matches!(self.walk.waits(), Waits::Answer(..) | Waits::Answers(_)) {
            let until = self.answer_early(scene);
            if let Some(hold) = &mut self.walk.hold {
                hold.until = until;
            }
        }
    }

    fn hold(&mut self, step: &Step, scene: &Scene<'_>) -> Option<Hold> {
        if step.is_from_server() {
            return step.parts.iter().find_map(|part| self.unanswered(part));
        }
        let asks = step.is_from_client() && !matches!(step.single(), Some(What::Answers(_)));
        // What is not sent waits for nobody.
        let asks = asks && !scene.past.leaves_out(step.head.seq);
        asks.then(|| self.hold_client(step, scene)).flatten()
    }

    /// Whether the walk has to wait for the answer that `part` is.
    fn unanswered(&self, part: &Part) -> Option<Hold> {
        let What::Answers(id) = part.what else {
            return None;
        };
        let call = self.calls.get(id).filter(|call| call.is_awaited())?;
        let exchange = &call.exchange;
        let waits = Waits::Answer(exchange.request.0, exchange.method.clone());
        Some(Hold::new(waits, None))
    }

    /// Does what a frame wants, which came so long after the one before.
    fn pass(&mut self, step: Step, gap: Duration, scene: &mut Scene<'_>) {
        if step.is_from_server() {
            self.pass_server(step, gap, scene);
        } else if let Some(What::Answers(ask)) = step.single() {
            self.answer_ask(*ask, &step, scene);
        } else if step.is_from_client() {
            self.pass_client(step, scene);
        }
    }

    fn pass_server(&mut self, step: Step, gap: Duration, scene: &Scene<'_>) {
        if step.parts.is_empty() {
            self.tally.noise[0] += 1;
        }
        let busy = self.calls.len() > 0;
        let lost = self.skipped.was_latest();
        let raw = step.raw.as_deref().unwrap_or_default();
        for part in step.parts {
            match part.what {
                What::Asks(exchange) => {
                    let unwanted = exchange.parent.is_some_and(|id| self.skipped.has(id));
                    self.asks.pass(*exchange, unwanted, gap, scene.now);
                }
                What::Tells(message) => {
                    if let Some(token) = token_of(&message) {
                        self.tokens.told(token, Side::Left);
                    }
                    self.notices.pass(&step.head, &message, busy, lost);
                    self.log(&message, raw, Some(&step.head), scene.now);
                }
                What::Answers(_) => {}
                What::Other => self.tally.strays[0] += 1,
            }
        }
    }

    fn pass_client(&mut self, step: Step, scene: &mut Scene<'_>) {
        if let Some(cut) = self.walk.unfinished.take() {
            // Bytes are missing behind it: what follows would become a part of it.
            self.tally.cut += 1;
            self.skip_cut(&cut, scene);
        }
        let ends = step.raw.as_deref().is_none_or(|raw| raw.ends_with(b"\n"));
        if ends {
            self.send(step, scene);
        } else {
            self.walk.unfinished = Some(step);
        }
    }

    /// Why a request or notification of the client cannot be sent yet.
    fn hold_client(&mut self, step: &Step, scene: &Scene<'_>) -> Option<Hold> {
        if let Some(hold) = self.asks.held(&self.calls, scene.now) {
            return Some(hold);
        }
        let serial = self.options.order == Order::Serial && self.calls.awaited() > 0;
        if serial || self.calls.len() >= MOST_OPEN {
            return Some(Hold::new(Waits::Answers(self.calls.awaited()), None));
        }
        let ends_listening = self.ends_listening(step);
        if let Some(hold) = self.notices.held(step, ends_listening, scene.now) {
            return Some(hold);
        }
        self.hold_batch(step, scene.now)
            .or_else(|| self.hold_gap(step, scene.now))
    }

    /// A batch that answers questions waits for all of them.
    fn hold_batch(&mut self, step: &Step, now: Moment) -> Option<Hold> {
        let answers = step.parts.iter().filter_map(|part| match part.what {
            What::Answers(id) => Some(id),
            _ => None,
        });
        let unmet = answers.into_iter().find(|id| self.asks.is_unmet(*id));
        let unmet: ExchangeId = unmet.filter(|_| step.batch)?;
        let since = *self.asks.batch_since.get_or_insert(now);
        let until = since + PATIENCE;
        if until <= now {
            self.asks.batch_since = None;
            return None;
        }
        let waits = self.asks.waits_for(unmet);
        Some(Hold::new(waits, Some(until)))
    }

    fn hold_gap(&self, step: &Step, now: Moment) -> Option<Hold> {
        let Order::Timed { speed, max_gap } = self.options.order else {
            return None;
        };
        let (_, passed) = self.walk.before?;
        let gap = self.walk.gap(step).min(max_gap);
        let until = passed
            + gap
                .div_f64(speed.max(f64::MIN_POSITIVE))
                .min(max_gap * 1000);
        (now < until).then(|| Hold::new(Waits::Gap, Some(until)))
    }
}
