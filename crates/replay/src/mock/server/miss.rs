//! What a request gets that stands for nothing on record.

use super::behind::Passing;
use super::play::Live;
use super::request::Serving;
use super::{Action, Ended, OnMiss, Server, own};
use crate::mock::matcher::Reason;
use crate::mock::nearest::{Near, Nearest, nearest, noise};
use crate::mock::reel::Reel;
use crate::mock::report::Missed;
use crate::mock::wanted::{Texts, Wanted};
use mcpreel_trace::clock::Moment;
use serde_json::{Value, json};

impl<R: Reel> Server<R> {
    /// A request stands for nothing on record.
    pub(super) fn miss(
        &mut self,
        wanted: &Wanted,
        live: Live,
        reason: Reason,
        serving: Serving<'_>,
        now: Moment,
    ) {
        if reason == Reason::Order {
            self.tally.refused_order += 1;
        }
        let nearest = self.nearest(wanted);
        let first = nearest.near.first().filter(|_| nearest.same_name).cloned();
        let missed = self.missed(wanted, reason, &nearest);
        let error = self.not_on_record(&live, reason, &missed, &nearest);
        match (self.options.on_miss.clone(), first) {
            (OnMiss::Nearest, Some(near)) if reason != Reason::Order => {
                self.tally.near(missed);
                let repeats = self.matcher.is_used(near.entry);
                return self.serve(
                    (near.entry, repeats),
                    wanted,
                    live,
                    Some(near),
                    serving,
                    now,
                );
            }
            (OnMiss::Pass(_), _) => {
                let passing = Passing {
                    live,
                    missed,
                    batch: serving.batch,
                };
                return self.pass(passing, &wanted.method, serving.message);
            }
            (OnMiss::Hang, _) => self.say_nothing(serving.batch),
            (OnMiss::Exit, _) => {
                self.play_own(live, error, (serving.delay, serving.batch), now);
                self.act(Action::End(Ended::Missed));
            }
            (OnMiss::Error | OnMiss::Nearest, _) => {
                self.play_own(live, error, (serving.delay, serving.batch), now);
            }
        }
        self.tally.miss(missed);
    }

    fn nearest(&mut self, wanted: &Wanted) -> Nearest {
        let cursor = self.matcher.cursor();
        let (index, reel, rules) = (&self.index, &mut self.reel, &self.options.rules);
        nearest(index, wanted, cursor, rules, |entry| {
            let place = index.entry(entry).request;
            let said = reel.said(place).ok()?;
            Some(Texts::of_recorded(&said.message, rules)?.exact)
        })
    }

    /// A request is taken for one that differs only as two runs do.
    pub(super) fn taken_for(&mut self, wanted: &Wanted, entry: u32) {
        let place = self.index.entry(entry).request;
        let rules = &self.options.rules;
        let said = self.reel.said(place).ok();
        let recorded = said.and_then(|said| Texts::of_recorded(&said.message, rules));
        let paths = recorded.map(|texts| noise(&texts.exact, wanted, rules));
        let mut taken = self.missed(wanted, Reason::Noise, &Nearest::default());
        taken.nearest = Some((place.seq(), paths.unwrap_or_default()));
        self.tally.normalised.add(taken);
    }

    fn missed(&self, wanted: &Wanted, reason: Reason, nearest: &Nearest) -> Missed {
        let near = nearest.near.first();
        Missed {
            method: own::quoted(&wanted.method).into(),
            name: wanted.name.as_deref().map(|name| own::quoted(name).into()),
            reason,
            nearest: near.map(|near| {
                (
                    self.index.entry(near.entry).request.seq(),
                    near.paths.clone(),
                )
            }),
        }
    }

    pub(super) fn not_on_record(
        &self,
        live: &Live,
        reason: Reason,
        missed: &Missed,
        nearest: &Nearest,
    ) -> Vec<u8> {
        let named: Vec<Value> = nearest.near.iter().map(|near| self.named(near)).collect();
        let mut data = json!({
            "reason": reason.as_str(),
            "phase": self.client.phase.as_str(),
            "candidates": nearest.candidates,
        });
        if nearest.compared < nearest.candidates {
            data["compared"] = json!(nearest.compared);
        }
        data["nearest"] = Value::from(named);
        let message = missed.sentence(&self.index.recording);
        let code = own::NOT_ON_RECORD.to_string();
        own::error(Some(&live.id), &code, &message, Some(data))
    }

    /// What is said of a recorded request that comes near.
    pub(super) fn named(&self, near: &Near) -> Value {
        let seq = self.index.entry(near.entry).request.seq().0;
        json!({
            "recording": self.index.recording,
            "seq": seq,
            "distance": near.distance,
            "paths": near.paths,
        })
    }
}
