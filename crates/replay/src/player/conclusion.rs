//! What is left to say at the end of a replay: what is missing, what came besides, how the server ended.

use super::answers::recorded;
use super::calls::Call;
use super::director::{Deadly, Director, Waits};
use super::ending::{Ended, Stop};
use crate::compare::Class;
use crate::judge::Missing;
use crate::report::{Remark, Trouble};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, escape, escape_bytes, plural, size};

/// Pending requests that a hang names.
const MOST_NAMED: usize = 5;

#[derive(Clone, Debug, Default)]
pub struct Witness {
    /// The last lines of the server's stderr, as on the wire.
    pub stderr: Vec<Box<[u8]>>,
    /// Requests of the client in the recording.
    pub requests: u64,
    pub now: mcpreel_trace::clock::Moment,
    /// Whether only a part of the recording was to be played.
    pub is_part: bool,
}

impl Director {
    pub(super) fn conclude(&mut self, witness: &Witness) {
        match self.ending.stop.clone() {
            Some(Stop::Hang) => self.conclude_hang(witness),
            Some(Stop::Crash) => self.conclude_crash(witness),
            Some(Stop::OtherEra(why)) => self.judge.trouble(Trouble::Unreadable, why),
            Some(Stop::Interrupted(_)) | None => {}
            Some(Stop::End) => {
                self.conclude_end(witness);
                self.conclude_nothing(witness);
            }
        }
        for call in self.calls.all().filter(|call| call.cancelled) {
            self.tally.give_up(call, false);
        }
        let missing = self.questions.missing();
        let could_come = |exchange: &Exchange| {
            let parent = exchange.parent.and_then(|parent| self.calls.get(parent));
            // What belongs to no call may come with what was left out.
            let is_due = exchange.parent.is_some() || !witness.is_part;
            is_due && parent.is_none_or(|call| !call.is_awaited())
        };
        let missing: Vec<_> = missing.into_iter().filter(could_come).collect();
        for exchange in missing {
            let wall_ns = self.recorded_wall(exchange.t_request);
            let left = recorded(&exchange, wall_ns, None);
            self.judge.missing(&left, Missing::NeverAsked);
        }
        self.conclude_notices();
        self.conclude_noise();
    }

    /// Work was pending at its deadline: which, and whether the server did not even read.
    fn conclude_hang(&mut self, witness: &Witness) {
        let pending: Vec<_> = self.calls.all().filter(|call| call.is_awaited()).collect();
        let (stopped, waits) = self
            .ending
            .stopped
            .clone()
            .unwrap_or((witness.now, Waits::Nothing));
        let named = pending.iter().take(MOST_NAMED).map(|call| {
            // How long it took to end the server is no part of it.
            let waited = stopped.since(call.sent).as_nanos();
            format!(
                "{} for {}",
                named(call),
                duration(u64::try_from(waited).unwrap_or(u64::MAX))
            )
        });
        let mut text = match pending.len() {
            0 => in_words_of(&waits),
            1 => format!("no answer to {}", named.collect::<String>()),
            count => {
                let named = named.collect::<Vec<_>>().join(", ");
                format!("no answer to {}: {named}", plural(count as u64, "request"))
            }
        };
        let unread = self.ending.unread.map(|(bytes, _)| size(bytes));
        let write = unread.map(|unread| format!("blocked, {unread} are not read"));
        text += "; the write is ";
        text += write.as_deref().unwrap_or("not blocked");
        text += &self.open_questions();
        text += &self.stray_hint();
        text += &last_words(witness);
        self.trouble(Trouble::Hang, text);
        self.conclude_pending();
    }

    /// The server left with work pending: how, after what, and what it said last.
    fn conclude_crash(&mut self, witness: &Witness) {
        let how = match &self.ending.exited {
            Some((ended, _)) if !self.ending.outlived => in_words(ended),
            _ if self.ending.output_ended => "the server closed its output and lived on".to_owned(),
            _ => "the server closed its input and lived on".to_owned(),
        };
        let mut text = format!(
            "{how}, after {}; {} of {} sent",
            escape(&self.tally.last_method),
            self.tally.sent,
            plural(witness.requests, "request"),
        );
        let well = |(ended, _): &(Ended, _)| ended.code == Some(0);
        let badly = !self.ending.exited.as_ref().is_some_and(well);
        if !self.ending.outlived && badly && self.is_as_recorded() {
            text += "; in the recording it ended in the same way";
        }
        text += &last_words(witness);
        self.trouble(Trouble::Target, text);
        self.conclude_pending();
    }

    fn conclude_pending(&mut self) {
        let pending: Vec<_> = self.calls.all().filter(|call| call.is_awaited()).collect();
        for call in pending {
            let wall_ns = self
                .options
                .recorded_wall_ns
                .checked_add(call.exchange.t_request.0);
            let left = recorded(&call.exchange, wall_ns, None);
            self.judge.missing(&left, Missing::NeverAnswered);
        }
    }

    /// Everything was done; whether the server left as it should, and as it did then. One that fails
    /// where only a part of its session was wanted would not have had the rest.
    fn conclude_end(&mut self, witness: &Witness) {
        if self.is_as_recorded() {
            return self.remember_end();
        }
        if witness.is_part && self.has_failed() {
            return self.conclude_crash(witness);
        }
        let text = match (&self.ending.exited, self.ending.needed) {
            (_, Some(Deadly::Kill)) => "the server did not end at SIGTERM, and was killed".into(),
            (_, Some(Deadly::Term)) => "the server did not end when its input was closed".into(),
            (Some((ended, _)), None) if ended.code != Some(0) => in_words(ended),
            _ => return,
        };
        let class = if witness.is_part {
            Class::Noise
        } else {
            Class::Changed
        };
        self.say(class, text, None);
    }

    /// Whether the server ended badly by itself. One that was still at work when its session was cut
    /// short, or of which nobody knows how it ended then, may end with any code.
    fn has_failed(&self) -> bool {
        let Some((ended, _)) = &self.ending.exited else {
            return false;
        };
        let is_at_work = self.calls.all().any(|call| !call.exchange.is_listen())
            || self.questions.unanswered().next().is_some();
        let may_have_a_code = is_at_work || self.options.recorded_end.is_none();
        let failed = ended.signal.is_some() || (ended.code != Some(0) && !may_have_a_code);
        failed && self.ending.needed.is_none()
    }

    /// That nothing differs is not all there is to say of a server that died, then and now.
    fn remember_end(&mut self) {
        let exited = self.ending.exited.as_ref();
        let badly = exited.filter(|(ended, _)| ended.code != Some(0));
        if let (Some((ended, _)), None) = (badly, self.ending.needed) {
            let method = escape(&self.tally.last_method);
            let text = format!("{}, after {method}", in_words(ended));
            self.tally.ended_as_then = Some(text.into());
        }
    }

    /// Why nothing was compared, if that is so and nobody has said it.
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

    /// Whether the server ended as in the recording, or better than that.
    fn is_as_recorded(&self) -> bool {
        let Some(then) = &self.options.recorded_end else {
            return false;
        };
        let now = self.ending.exited.as_ref().map(|(ended, _)| ended);
        match (then, self.ending.needed) {
            (End::Killed { signal }, Some(Deadly::Term)) => {
                signal == "SIGTERM" || signal == "SIGKILL"
            }
            (End::Killed { signal }, Some(Deadly::Kill)) => signal == "SIGKILL",
            (End::Killed { signal }, None) => {
                now.and_then(|now| now.signal.as_deref()) == Some(signal)
            }
            // A shell's way to say that a signal ended it.
            (End::Exited { code }, Some(Deadly::Term)) => *code == 143,
            (End::Exited { code }, None) => now.and_then(|now| now.code) == Some(*code),
            _ => false,
        }
    }

    /// Tells of lines that are no messages and of answers to nothing, where the recording had none.
    fn conclude_noise(&mut self) {
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

    /// Which id an answer had that fits nothing.
    fn stray_hint(&self) -> String {
        let id = self.tally.first_stray.as_deref();
        id.map_or_else(String::new, |id| {
            format!(
                "; an answer with the id {} came, which nobody used",
                escape(id)
            )
        })
    }

    pub(super) fn say(&mut self, class: Class, text: String, left: Option<Seq>) {
        self.judge.remark(Remark {
            left,
            right: None,
            method: "".into(),
            name: None,
            class,
            text: text.into(),
            trouble: None,
        });
    }

    fn trouble(&mut self, trouble: Trouble, text: String) {
        self.judge.trouble(trouble, text.into());
    }

    /// What the server has asked and got no answer to: it may wait for that.
    fn open_questions(&self) -> String {
        let open = self.questions.unanswered();
        let named = open.map(|one| format!("{} (#{})", escape(&one.method), one.request.0.0));
        let mut named: Vec<_> = named.collect();
        let more = named.len().saturating_sub(MOST_NAMED);
        named.truncate(MOST_NAMED);
        if more > 0 {
            named.push(format!("{more} more"));
        }
        if named.is_empty() {
            return String::new();
        }
        let named = named.join(", ");
        format!("; it has no answer to what it asks: {named}")
    }
}

/// What was waited for when the time was up and no request was open.
fn in_words_of(waits: &Waits) -> String {
    match waits {
        Waits::Question(seq, method) => {
            format!("the server does not ask {} (#{})", escape(method), seq.0)
        }
        Waits::Notice(seq, method) => {
            format!("the server does not tell {} (#{})", escape(method), seq.0)
        }
        Waits::Room => "the server does not read".to_owned(),
        Waits::Gap => "the time is up, and not everything was sent".to_owned(),
        _ => "the time is up".to_owned(),
    }
}

/// A call by its method, what it is about, and where it stands in the recording.
fn named(call: &Call) -> String {
    let exchange = &call.exchange;
    let name = exchange
        .name
        .as_deref()
        .map_or_else(String::new, |name| format!(" {}", escape(name)));
    format!(
        "{}{name} (#{})",
        escape(&exchange.method),
        exchange.request.0.0
    )
}

fn in_words(ended: &Ended) -> String {
    match (&ended.signal, ended.code) {
        (Some(signal), _) => format!("the server was ended by {}", escape(signal)),
        (None, Some(code)) => format!("the server ended with exit code {code}"),
        (None, None) => "the server ended".to_owned(),
    }
}

fn last_words(witness: &Witness) -> String {
    if witness.stderr.is_empty() {
        return String::new();
    }
    let lines = witness
        .stderr
        .iter()
        .map(|line| escape_bytes(line).into_owned());
    format!(
        "; its stderr ends: {}",
        lines.collect::<Vec<_>>().join(" / ")
    )
}
