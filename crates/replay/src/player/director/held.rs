//! What does not go out, and what that means for what comes later.

use super::send::{Held, listing};
use super::settle::{about, message_at};
use super::sides::recorded;
use super::skipped::Chain;
use super::{Director, Scene, Stop};
use crate::bind::Fault;
use crate::judge::{Missing, Skip};
use crate::player::script::{Part, Step, What};
use crate::report::Trouble;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::text::escape;

impl Director {
    /// A frame does not go out: what that means for each request in it.
    pub(super) fn hold_back(&mut self, step: &Step, held: &Held, scene: &mut Scene<'_>) {
        if let Held::Fault(Fault::Redacted(names)) = held {
            self.tally.lack(names);
            let names: Vec<_> = names.iter().map(|name| escape(name)).collect();
            self.judge.lacks(names.iter().map(|name| &**name));
        }
        let asks = |part: &Part| matches!(part.what, What::Asks(_));
        if let Held::Why(Missing::Refused(why)) = held
            && !step.parts.iter().any(asks)
        {
            let why = format!("#{}: {why}", step.head.seq.0);
            self.judge.trouble(Trouble::Refused, why.into());
        }
        for part in &step.parts {
            match &part.what {
                What::Asks(exchange) => self.hold_back_request(exchange, held, scene),
                What::Answers(id) => self.asks.answered(*id),
                _ => {}
            }
        }
    }

    fn hold_back_request(&mut self, exchange: &Exchange, held: &Held, scene: &mut Scene<'_>) {
        let why = match held {
            Held::Unwanted => None,
            Held::Why(missing) => Some(missing.clone()),
            Held::Fault(Fault::Redacted(names)) => {
                let names = names.iter().map(|name| escape(name).into());
                Some(Missing::Skipped(Skip::Redacted(names.collect())))
            }
            Held::Fault(Fault::Unreached(what)) => {
                Some(Missing::Skipped(Skip::Unreached(what.clone())))
            }
        };
        match &why {
            None => {
                self.tally.unwanted += 1;
                self.judge.unwanted();
            }
            Some(Missing::Refused(_)) => {
                let tool = exchange.name.as_deref().unwrap_or_default();
                self.tally.refuse(exchange.request.0, tool);
            }
            Some(Missing::Skipped(Skip::NotNeeded)) => self.tally.not_needed += 1,
            Some(_) => self.tally.skipped += 1,
        }
        self.skip(exchange, why.as_ref(), scene);
        if &*exchange.method == "initialize" {
            // Nothing that comes after it would mean anything.
            self.stop(Stop::End, scene.now);
        }
        if let Some(why) = why {
            let wall_ns = self.recorded_wall(exchange.t_request);
            // What was on a page that is not there any more may be on another one.
            let page = listing(exchange, scene);
            let answer = exchange.response.filter(|_| page.is_some());
            let answer = answer.and_then(|(seq, part)| Some((scene.past.raw(seq)?, part)));
            let answer = answer
                .as_ref()
                .and_then(|(raw, part)| message_at(raw, *part));
            let mut left = recorded(exchange, wall_ns, answer);
            left.request = page.as_deref();
            self.judge.missing(&left, why);
        }
    }

    /// A request is not sent: nothing that comes of it will.
    fn skip(&mut self, exchange: &Exchange, why: Option<&Missing>, scene: &mut Scene<'_>) {
        self.skipped.add(exchange);
        let complete = why == Some(&Missing::Skipped(Skip::NotNeeded));
        if complete {
            return self.bind_to_complete(exchange, scene);
        }
        if let Some(first) = exchange.chain {
            let why = "the round of input before it was not gone through";
            self.skipped.set_chain(first, Chain::Broken(why.into()));
        }
        let Some((seq, part)) = exchange.response else {
            return;
        };
        let (Some(request), Some(response)) =
            (scene.past.raw(exchange.request.0), scene.past.raw(seq))
        else {
            return;
        };
        if let Some(response) = message_at(&response, part) {
            self.options.binder.lose(about(exchange), response, |text| {
                memchr::memmem::find(&request, text.as_bytes()).is_some()
            });
        }
    }

    /// A frame of the client broke off in the recording.
    pub(super) fn skip_cut(&mut self, step: &Step, scene: &mut Scene<'_>) {
        let why = Missing::Skipped(Skip::Unreached("the rest of its line".into()));
        self.hold_back(step, &Held::Why(why), scene);
    }
}
