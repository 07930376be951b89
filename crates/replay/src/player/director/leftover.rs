//! What came, then or now, and has no counterpart: notifications, lines that are no messages, answers
//! to nothing.

use super::{Director, Stop};
use crate::compare::Class;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{escape, escape_bytes, plural};
use std::collections::BTreeMap;

impl Director {
    /// Notifications that have no counterpart.
    pub(super) fn conclude_notices(&mut self) {
        let reached = self.ending.stop == Some(Stop::End);
        if reached {
            let [then, now] = std::mem::take(&mut self.logs);
            self.judge.notices(&then, &now);
            self.conclude_missed();
        }
        self.conclude_order();
        self.conclude_more();
        let [recorded, live] = self.notices.dropped;
        if recorded + live > 0 {
            let text = format!(
                "{} had no counterpart and were too many to keep",
                plural(recorded + live, "notification")
            );
            self.say(Class::Noise, text, None);
        }
    }

    /// Notifications that were recorded, and did not come.
    fn conclude_missed(&mut self) {
        let mut counts: BTreeMap<(Box<str>, bool), (u64, Option<Seq>)> = BTreeMap::new();
        for notice in &self.notices.recorded {
            let entry = counts
                .entry((notice.method.clone(), notice.is_due))
                .or_default();
            entry.0 += 1;
            entry.1 = entry.1.or(notice.seq);
        }
        for ((method, is_due), (count, seq)) in counts {
            let class = if is_due { Class::Changed } else { Class::Noise };
            let times = plural(count, "time");
            let text = format!("{} did not come, {times}", escape(&method));
            self.say(class, text, seq);
        }
    }

    /// Notifications that came now alone.
    fn conclude_more(&mut self) {
        let mut more: BTreeMap<(Box<str>, bool), u64> = BTreeMap::new();
        for notice in &self.notices.live {
            let crossed = self.notices.listening.is_crossed(notice);
            *more.entry((notice.method.clone(), crossed)).or_default() += 1;
        }
        for ((method, crossed), count) in more {
            let class = if crossed { Class::Noise } else { Class::Added };
            let times = plural(count, "time");
            let text = format!("{} came in addition, {times}", escape(&method));
            self.say(class, text, None);
        }
    }

    /// Notifications of a subscription that changed places.
    fn conclude_order(&mut self) {
        let disordered = self.notices.orders.disordered();
        let texts = disordered.into_iter().map(|(seq, id)| {
            let id = escape(id.json());
            let text = format!("the notifications of subscription {id} come in another order");
            (seq, text)
        });
        for (seq, text) in texts.collect::<Vec<_>>() {
            self.say(Class::Order, text, Some(seq));
        }
    }

    /// Lines that are no messages, answers to nothing, and progress of nothing, where the recording
    /// had none.
    pub(super) fn conclude_noise(&mut self) {
        if let [0, lines] = self.tally.noise
            && lines > 0
        {
            let first = self.tally.first_noise.as_deref().unwrap_or_default();
            let text = format!(
                "{} of no JSON-RPC on stdout, and there were none in the recording: {}",
                plural(lines, "line"),
                escape_bytes(first)
            );
            self.say(Class::Changed, text, None);
        }
        self.conclude_progress();
        if let [0, answers] = self.tally.strays
            && answers > 0
        {
            let text = format!(
                "{} to nothing that was asked{}",
                plural(answers, "answer"),
                self.stray_hint()
            );
            self.say(Class::Changed, text, None);
        }
    }

    /// Progress that is told by a token which nobody gave.
    fn conclude_progress(&mut self) {
        if let ([0, told], Some(token)) = (self.tokens.strays, &self.tokens.first)
            && told > 0
        {
            let (times, token) = (plural(told, "time"), escape(token.json()));
            let text =
                format!("progress of nothing was told, {times}: nobody gave the token {token}");
            self.say(Class::Changed, text, None);
        }
    }

    /// Which id an answer had that fits nothing.
    pub(super) fn stray_hint(&self) -> String {
        let id = self.tally.first_stray.as_deref();
        id.map_or_else(String::new, |id| {
            format!(
                "; an answer with the id {} came, which nobody used",
                escape(id)
            )
        })
    }
}
