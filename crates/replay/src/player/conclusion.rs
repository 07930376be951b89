//! What is left to say at the end of a replay: what is missing, what came besides, and how the
//! server ended.

use super::calls::{Tally, named};
use super::director::{Deadly, Director};
use super::stages::Stop;
use crate::diff::{Class, Outcome, Report, Trouble};
use compact_str::CompactString;
use mcpreel_share::phrases::end;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, escape, escape_bytes, plural, size};
use std::collections::BTreeMap;

/// Pending requests and questions that a hang names.
const MOST_NAMED: usize = 5;

impl Director<'_> {
    /// The result of the replay, once it is over. The director does not know the last lines of the
    /// server's stderr, as on the wire, nor how many requests the recorded client sent.
    pub fn finish(mut self, stderr: &[Box<[u8]>], requests: u64) -> (Report, Tally) {
        let lines: Vec<_> = stderr.iter().map(|line| escape_bytes(line)).collect();
        let last_words = match lines.join(" / ") {
            lines if lines.is_empty() => lines,
            lines => format!("; its stderr ends: {lines}"),
        };
        self.conclude(&last_words, requests);
        self.tally.bound = self.options.binder.known.bound();
        self.tally.forgotten = self.options.binder.known.forgotten;
        (self.judge.finish(), self.tally)
    }

    /// The result of a replay whose server could not be started: why, escaped.
    pub fn not_started(mut self, why: Box<str>) -> (Report, Tally) {
        self.judge.trouble(Trouble::Target, why);
        (self.judge.finish(), self.tally)
    }

    fn conclude(&mut self, last_words: &str, requests: u64) {
        match self.ending.stop.clone() {
            Some(Stop::Hang) => self.conclude_hang(last_words),
            Some(Stop::Crash) => self.conclude_crash(last_words, requests),
            Some(Stop::Refused(trouble, why)) => self.judge.trouble(trouble, why.as_str().into()),
            Some(Stop::Interrupted(_)) | None => {}
            Some(Stop::End) => {
                self.conclude_end(last_words, requests);
                self.conclude_nothing(requests);
            }
        }
        // Nothing is alike in a session that was stopped, or of a server that never answers.
        if matches!(self.ending.stop, Some(Stop::End | Stop::Crash)) && self.tally.answered > 0 {
            for call in self.calls.0.values().filter(|call| !call.is_awaited()) {
                let left = self.recorded(&call.exchange, None);
                self.judge.note_equal(&left);
            }
        }
        for exchange in self.questions.missing(&self.calls, self.script.is_part()) {
            let left = self.recorded(&exchange, None);
            self.judge.missing(&left, Outcome::NeverAsked);
        }
        self.conclude_notices();
        self.conclude_noise();
    }

    /// Tells which notifications have no counterpart.
    fn conclude_notices(&mut self) {
        // The recording was not gone through to its end otherwise.
        let is_whole = self.ending.stop == Some(Stop::End);
        let mut counts: BTreeMap<(CompactString, Class), (u64, Option<Seq>)> = BTreeMap::new();
        let missed = self.notices.recorded.drain(..).filter(|_| is_whole);
        let missed = missed.map(|it| {
            let class = Class::Changed.unless(!it.is_due);
            (it.told.0, class, Some(it.seq))
        });
        let more = self.notices.live.drain(..);
        let more = more.map(|(method, _)| (method, Class::Added, None));
        for (method, class, seq) in missed.chain(more) {
            let count = counts.entry((method, class)).or_default();
            count.0 += 1;
            count.1 = count.1.or(seq);
        }
        for ((method, class), (count, seq)) in counts {
            let what = match class {
                Class::Added => "came in addition",
                _ => "did not come",
            };
            let text = format!("{} {what}, {}", escape(&method), plural(count, "time"));
            self.say(class, &text, seq);
        }
    }

    /// Work was pending at its deadline: tells what, and whether the server did not even read.
    fn conclude_hang(&mut self, last_words: &str) {
        // How long it took to end the server does not count.
        let (stopped, waits) = &self.ending.stopped;
        let pending = self.calls.due().map(|call| {
            let waited = stopped.since(call.sent).as_nanos();
            let waited = duration(u64::try_from(waited).unwrap_or(u64::MAX));
            format!("{} for {waited}", named(&call.exchange))
        });
        let pending: Vec<_> = pending.collect();
        let mut text = match (pending.as_slice(), waits) {
            ([], Some(waits)) => format!("the time is up, it waits for {waits}"),
            ([], None) => "the time is up, and not everything was sent".to_owned(),
            (all, _) => format!(
                "no answer to {}",
                all[..all.len().min(MOST_NAMED)].join(", ")
            ),
        };
        let unread = self.ending.unread.map(|(bytes, _)| size(bytes));
        let blocked = unread.map(|bytes| format!("; the write is blocked, {bytes} are not read"));
        text += blocked.as_deref().unwrap_or("; the write is not blocked");
        let open = self.questions.unanswered().take(MOST_NAMED);
        let open: Vec<_> = open.map(|it| named(&it.exchange)).collect();
        if !open.is_empty() {
            text += "; it has no answer to what it asks: ";
            text += &open.join(", ");
        }
        text += &self.stray_hint();
        text += last_words;
        self.judge.trouble(Trouble::Hang, text.into());
        self.conclude_pending();
    }

    /// The server left with work pending: tells how, after what, and what it said last.
    fn conclude_crash(&mut self, last_words: &str, requests: u64) {
        let how = match self.ended().filter(|_| !self.ending.outlived) {
            Some(ended) if is_bad(ended) && self.is_as_recorded() => {
                end(ended) + ", as in the recording"
            }
            Some(ended) => end(ended),
            None if self.ending.output_ended => "the server closed its output and lived on".into(),
            None => "the server closed its input and lived on".into(),
        };
        let text = format!(
            "{how}, after {}; {} of {} sent{last_words}",
            escape(&self.tally.last_method),
            self.tally.sent,
            plural(requests, "request"),
        );
        self.judge.trouble(Trouble::Target, text.into());
        self.conclude_pending();
    }

    fn conclude_pending(&mut self) {
        for call in self.calls.awaited() {
            let left = self.recorded(&call.exchange, None);
            self.judge.missing(&left, Outcome::NeverAnswered);
        }
    }

    /// Everything was done: tells whether the server left as it should, and as it did then. One that
    /// fails where only a part of its session was wanted would not have had the rest.
    fn conclude_end(&mut self, last_words: &str, requests: u64) {
        let (needed, is_part) = (self.ending.needed, self.script.is_part());
        let ended = self.ended().filter(|_| needed.is_none());
        let badly = ended.filter(|ended| is_bad(ended));
        if self.is_as_recorded() {
            // That nothing differs is not all there is to say of a server that died again.
            let method = escape(&self.tally.last_method);
            let text = badly.map(|ended| format!("{}, after {method}", end(ended)).into());
            self.tally.ended_as_then = text;
            return;
        }
        // One that was still at work when its session was cut short, or whose recorded end is
        // unknown, may end with any code.
        let is_at_work = self.calls.0.values().any(|call| !call.exchange.is_listen())
            || self.questions.unanswered().next().is_some();
        let may_have_a_code = is_at_work || self.options.recorded_end.is_none();
        if is_part
            && badly.is_some_and(|ended| matches!(ended, End::Killed { .. }) || !may_have_a_code)
        {
            return self.conclude_crash(last_words, requests);
        }
        let text = match (needed, &self.options.recorded_end, self.ended()) {
            (Some(Deadly::Kill), ..) => "the server did not end at SIGTERM, and was killed".into(),
            (Some(Deadly::Term), ..) => "the server did not end when its input was closed".into(),
            (None, Some(then), Some(now)) if !is_part => {
                let now = now.clone();
                return self.judge.ends(then, &now);
            }
            (None, _, Some(now)) if is_bad(now) => end(now),
            _ => return,
        };
        self.say(Class::Changed.unless(is_part), &text, None);
    }

    /// Tells why nothing was compared, if that is so and nothing else says it.
    fn conclude_nothing(&mut self, requests: u64) {
        let tally = &self.tally;
        if tally.answered > 0 || tally.refused.count > 0 || self.judge.is_lacking() {
            return;
        }
        let why = match (requests, tally.unwanted) {
            (0, _) => "the recording has no request of the client",
            (_, 1..) if tally.sent == 0 => "no request is wanted",
            _ => "no request was answered both in the recording and now",
        };
        self.judge.trouble(Trouble::Unreadable, why.into());
    }

    fn ended(&self) -> Option<&End> {
        self.ending.exited.as_ref().map(|(ended, _)| ended)
    }

    /// Whether the server ended as in the recording, or better than that.
    fn is_as_recorded(&self) -> bool {
        match (&self.options.recorded_end, self.ending.needed) {
            (Some(then), None) => self.ended() == Some(then),
            (Some(End::Killed { signal }), Some(needed)) => {
                signal == "SIGKILL" || (signal == "SIGTERM" && needed == Deadly::Term)
            }
            // A shell's way to say that a signal ended it.
            (Some(End::Exited { code: 143 }), Some(Deadly::Term)) => true,
            _ => false,
        }
    }

    /// Tells of lines that are no messages and of answers to nothing, where the recording had none.
    fn conclude_noise(&mut self) {
        if let [0, lines @ (1..)] = self.tally.noise {
            let first = self.tally.first_noise.as_deref().unwrap_or_default();
            let (lines, first) = (plural(lines, "line"), escape_bytes(first));
            let text = format!(
                "the server wrote {lines} outside JSON-RPC; the recording has none: {first}"
            );
            self.say(Class::Changed, &text, None);
        }
        if let [0, answers @ (1..)] = self.tally.strays {
            let (answers, hint) = (plural(answers, "answer"), self.stray_hint());
            let text = format!("{answers} to nothing that was asked{hint}");
            self.say(Class::Changed, &text, None);
        }
    }

    /// Which id an answer had that fits nothing.
    fn stray_hint(&self) -> String {
        let id = self.tally.first_stray.as_deref().map(escape);
        let hint = id.map(|id| format!("; an answer with the id {id} came, which no request has"));
        hint.unwrap_or_default()
    }
}

fn is_bad(end: &End) -> bool {
    *end != End::Exited { code: 0 }
}
