//! What is left to say at the end of a replay: what is missing, what came besides, and how the
//! server ended.

use super::calls::{Tally, named};
use super::director::{Deadly, Director};
use super::stages::{Ended, Stop};
use crate::diff::{Class, Missing, Report, Trouble};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, escape, escape_bytes, plural, size};
use std::collections::BTreeMap;
use std::fmt;

/// Pending requests and questions that a hang names.
const MOST_NAMED: usize = 5;

/// What the director cannot know by itself.
#[derive(Clone, Debug, Default)]
pub struct Witness {
    /// The last lines of the server's stderr, as on the wire.
    pub stderr: Vec<Box<[u8]>>,
    /// Requests of the client in the recording.
    pub requests: u64,
    pub now: Moment,
}

impl Director<'_> {
    /// What came of the replay, once it is over.
    pub fn finish(mut self, witness: &Witness) -> (Report, Tally) {
        self.conclude(witness);
        for rule in self.options.binder.fired() {
            self.judge.rules().fired(rule);
        }
        self.tally.bound = self.options.binder.bound();
        self.tally.forgotten = self.options.binder.forgotten();
        (self.judge.finish(), self.tally)
    }

    /// What came of a replay whose server could not be started: why, escaped.
    pub fn not_started(mut self, why: Box<str>) -> (Report, Tally) {
        self.judge.trouble(Trouble::Target, why);
        (self.judge.finish(), self.tally)
    }

    fn conclude(&mut self, witness: &Witness) {
        match self.ending.stop {
            Some(Stop::Hang) => self.conclude_hang(witness),
            Some(Stop::Crash) => self.conclude_crash(witness),
            Some(Stop::OtherEra(why)) => self.judge.trouble(Trouble::Unreadable, why.into()),
            Some(Stop::Interrupted(_)) | None => {}
            Some(Stop::End) => {
                self.conclude_end(witness);
                self.conclude_nothing(witness);
            }
        }
        for call in self.calls.all().filter(|call| call.cancelled) {
            self.tally.give_up(call, false);
        }
        for exchange in self.questions.missing(&self.calls, self.script.is_part()) {
            let left = self.recorded(&exchange, None);
            self.judge.missing(&left, Missing::NeverAsked);
        }
        self.conclude_notices();
        self.conclude_noise();
    }

    /// Tells which notifications have no counterpart.
    fn conclude_notices(&mut self) {
        // The recording was not gone through to its end otherwise.
        let is_whole = self.ending.stop == Some(Stop::End);
        if is_whole && self.notices.progress == [true, false] {
            let text = "progress was told in the recording, and is not now";
            self.say(Class::Changed, text.to_owned(), None);
        }
        let mut counts: BTreeMap<(Box<str>, Class), (u64, Option<Seq>)> = BTreeMap::new();
        let missed = self.notices.recorded.drain(..).filter(|_| is_whole);
        let missed = missed.map(|notice| match notice.is_due {
            true => (notice, Class::Changed),
            false => (notice, Class::Noise),
        });
        let more = self.notices.live.drain(..);
        for (notice, class) in missed.chain(more.map(|notice| (notice, Class::Added))) {
            let count = counts.entry((notice.method, class)).or_default();
            count.0 += 1;
            count.1 = count.1.or(notice.seq);
        }
        for ((method, class), (count, seq)) in counts {
            let what = match class {
                Class::Added => "came in addition",
                _ => "did not come",
            };
            let text = format!("{} {what}, {}", escape(&method), plural(count, "time"));
            self.say(class, text, seq);
        }
    }

    /// Work was pending at its deadline: tells what, and whether the server did not even read.
    fn conclude_hang(&mut self, witness: &Witness) {
        // How long it took to end the server does not count.
        let (stopped, waits) = &self.ending.stopped;
        let pending = self.calls.awaited().map(|call| {
            let waited = stopped.since(call.sent).as_nanos();
            let waited = duration(u64::try_from(waited).unwrap_or(u64::MAX));
            format!("{} for {waited}", named(&call.exchange))
        });
        let pending: Vec<_> = pending.collect();
        let mut text = match (pending.as_slice(), waits) {
            ([], Some(waits)) => format!("the time is up, it waits for {waits}"),
            ([], None) => "the time is up, and not everything was sent".to_owned(),
            ([one], _) => format!("no answer to {one}"),
            (all, _) => {
                let requests = plural(all.len() as u64, "request");
                let first = all[..all.len().min(MOST_NAMED)].join(", ");
                format!("no answer to {requests}: {first}")
            }
        };
        text += &match self.ending.unread {
            Some((bytes, _)) => format!("; the write is blocked, {} are not read", size(bytes)),
            None => "; the write is not blocked".to_owned(),
        };
        let open = self.questions.unanswered().take(MOST_NAMED);
        let open: Vec<_> = open.map(|it| named(&it.exchange)).collect();
        if !open.is_empty() {
            text += &format!("; it has no answer to what it asks: {}", open.join(", "));
        }
        text += &self.stray_hint();
        text += &last_words(witness);
        self.judge.trouble(Trouble::Hang, text.into());
        self.conclude_pending();
    }

    /// The server left with work pending: tells how, after what, and what it said last.
    fn conclude_crash(&mut self, witness: &Witness) {
        let ended = self.ended().filter(|_| !self.ending.outlived);
        let how = match ended {
            Some(ended) => ended.to_string(),
            None if self.ending.output_ended => "the server closed its output and lived on".into(),
            None => "the server closed its input and lived on".into(),
        };
        let as_then = match ended {
            Some(ended) if ended.is_bad() && self.is_as_recorded() => {
                "; in the recording it ended in the same way"
            }
            _ => "",
        };
        let text = format!(
            "{how}, after {}; {} of {} sent{as_then}{}",
            escape(&self.tally.last_method),
            self.tally.sent,
            plural(witness.requests, "request"),
            last_words(witness),
        );
        self.judge.trouble(Trouble::Target, text.into());
        self.conclude_pending();
    }

    fn conclude_pending(&mut self) {
        for call in self.calls.awaited() {
            let left = self.recorded(&call.exchange, None);
            self.judge.missing(&left, Missing::NeverAnswered);
        }
    }

    /// Everything was done: tells whether the server left as it should, and as it did then. One that
    /// fails where only a part of its session was wanted would not have had the rest.
    fn conclude_end(&mut self, witness: &Witness) {
        let (needed, is_part) = (self.ending.needed, self.script.is_part());
        let ended = self.ended().filter(|_| needed.is_none());
        let badly = ended.filter(|ended| ended.is_bad());
        if self.is_as_recorded() {
            // That nothing differs is not all there is to say of a server that died again.
            let method = escape(&self.tally.last_method);
            let text = badly.map(|ended| format!("{ended}, after {method}").into());
            self.tally.ended_as_then = text;
            return;
        }
        // One that was still at work when its session was cut short, or whose recorded end is
        // unknown, may end with any code.
        let is_at_work = self.calls.all().any(|call| !call.exchange.is_listen())
            || self.questions.unanswered().next().is_some();
        let may_have_a_code = is_at_work || self.options.recorded_end.is_none();
        if is_part && badly.is_some_and(|ended| ended.signal.is_some() || !may_have_a_code) {
            return self.conclude_crash(witness);
        }
        let text = match (needed, badly) {
            (Some(Deadly::Kill), _) => "the server did not end at SIGTERM, and was killed".into(),
            (Some(Deadly::Term), _) => "the server did not end when its input was closed".into(),
            (None, Some(ended)) => ended.to_string(),
            (None, None) => return,
        };
        let class = if is_part {
            Class::Noise
        } else {
            Class::Changed
        };
        self.say(class, text, None);
    }

    /// Tells why nothing was compared, if that is so and nothing else says it.
    fn conclude_nothing(&mut self, witness: &Witness) {
        let tally = &self.tally;
        if tally.answered > 0 || tally.refused > 0 || !tally.unbound.is_empty() {
            return;
        }
        let why = match (witness.requests, tally.unwanted) {
            (0, _) => "the recording has no request of the client",
            (_, 1..) if tally.sent == 0 => "no request is wanted",
            _ => "no request was answered both in the recording and now",
        };
        self.judge.trouble(Trouble::Unreadable, why.into());
    }

    fn ended(&self) -> Option<&Ended> {
        self.ending.exited.as_ref().map(|(ended, _)| ended)
    }

    /// Whether the server ended as in the recording, or better than that.
    fn is_as_recorded(&self) -> bool {
        let ended = self.ended();
        match (&self.options.recorded_end, self.ending.needed) {
            (Some(End::Killed { signal }), Some(Deadly::Term)) => {
                signal == "SIGTERM" || signal == "SIGKILL"
            }
            (Some(End::Killed { signal }), Some(Deadly::Kill)) => signal == "SIGKILL",
            (Some(End::Killed { signal }), None) => {
                ended.and_then(|ended| ended.signal.as_deref()) == Some(signal)
            }
            // A shell's way to say that a signal ended it.
            (Some(End::Exited { code }), Some(Deadly::Term)) => *code == 143,
            (Some(End::Exited { code }), None) => ended.and_then(|it| it.code) == Some(*code),
            _ => false,
        }
    }

    /// Tells of lines that are no messages and of answers to nothing, where the recording had none.
    fn conclude_noise(&mut self) {
        if let [0, lines @ (1..)] = self.tally.noise {
            let first = self.tally.first_noise.as_deref().unwrap_or_default();
            let (lines, first) = (plural(lines, "line"), escape_bytes(first));
            let text = format!(
                "{lines} of no JSON-RPC on stdout, and there were none in the recording: {first}"
            );
            self.say(Class::Changed, text, None);
        }
        if let [0, answers @ (1..)] = self.tally.strays {
            let (answers, hint) = (plural(answers, "answer"), self.stray_hint());
            let text = format!("{answers} to nothing that was asked{hint}");
            self.say(Class::Changed, text, None);
        }
    }

    /// Which id an answer had that fits nothing.
    fn stray_hint(&self) -> String {
        let id = self.tally.first_stray.as_deref().map(escape);
        let hint = id.map(|id| format!("; an answer with the id {id} came, which nobody used"));
        hint.unwrap_or_default()
    }
}

impl Ended {
    fn is_bad(&self) -> bool {
        self.code != Some(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.signal, self.code) {
            (Some(signal), _) => write!(f, "the server was ended by {}", escape(signal)),
            (None, Some(code)) => write!(f, "the server ended with exit code {code}"),
            (None, None) => f.write_str("the server ended"),
        }
    }
}

fn last_words(witness: &Witness) -> String {
    let lines = witness.stderr.iter().map(|line| escape_bytes(line));
    match lines.collect::<Vec<_>>().join(" / ") {
        lines if lines.is_empty() => lines,
        lines => format!("; its stderr ends: {lines}"),
    }
}
