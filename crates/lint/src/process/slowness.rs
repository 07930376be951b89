//! Calls that the client gave up (without a cancel, without having asked for progress, or to make
//! them again), and answers that took long.

use super::ending::PATIENCE_NS;
use super::start::{SLOW_START_NS, Start, is_handshake, late};
use crate::section::{PROGRESS, TIMEOUTS};
use crate::{Part, quote};
use hdrhistogram::Histogram;
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::Correlator;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::Session;
use mcpreel_wire::message::{Body, Direction, Subject};
use mcpreel_wire::text::duration;

rules! {
    REQUEST_SLOW = note("request-slow")
        .finds("a slow response")
        .why("A slow response may exceed the client's timeout.")
        .fix("Find out what the server does in this time, report progress, or answer with a part and a way to get the rest.");

    LATENCY_OUTLIER = note("latency-outlier")
        .finds("a response far slower than others of its kind")
        .why("Something other than the work itself took the time, for example a lock, a retry, a cold cache or a slow network.")
        .fix("Look at what was different: its arguments, what ran at the same time, and what the server said on stderr.");

    TIMEOUT_NO_CANCEL = note("timeout-no-cancel").of(TIMEOUTS).of_absence()
        .finds("a request without an answer for a minute, and without a cancel")
        .why("The sender waits for ever, or has given up while the other side still works.")
        .fix("Let the sender use a timeout for each request, and send `notifications/cancelled` when it expires.");

    REQUEST_GIVEN_UP = warning("request-given-up").of(TIMEOUTS)
        .finds("the client gave up a call without answer and progress for seconds")
        .why("The server may hang in the call, or has forgotten to answer it.")
        .fix("Answer every call, with an error if need be, and report progress of those that take long.");

    NO_PROGRESS_TOKEN = note("no-progress-token").of(PROGRESS)
        .finds("the client gave up a call and had not asked for progress")
        .why("Progress could not keep the call alive, because a server may send it only to a client that gave a token.")
        .fix("Send a `progressToken` with calls that take long and let progress renew the time limit, or raise the limit.");

    REPEATED_AFTER_TIMEOUT = warning("repeated-after-timeout")
        .finds("a call is repeated after the client gave up the first one")
        .why("The first call may have completed too, so that the tool ran twice.")
        .fix("Make the tool safe to call twice, let the server stop at a cancel, or give the first call more time.");
}

/// A call that was open for less was hardly given up because of the time it took.
const GIVEN_UP_NS: u64 = 5_000_000_000;

/// A call that is cancelled sooner was called off, not given up.
const CALLED_OFF_NS: u64 = 1_000_000_000;

/// An open call of this age may have been given up without a cancel; a younger one has a twin that
/// runs at the same time.
const ABANDONED_NS: u64 = 30_000_000_000;

/// A call that is made again later is a new one.
const AGAIN_NS: u64 = 300_000_000_000;

/// Calls that are remembered, open ones and cancelled ones each. Without a limit a client that never
/// gets an answer would be kept in memory; what was forgotten is not compared.
const REMEMBERED: usize = 128;

/// Bytes of the arguments that are compared. Without a limit a large call would be read once more,
/// only to be compared.
const ARGUMENT_BYTES: usize = 8 << 10;

/// The calls of tools that may be made again: open ones, and those that were cancelled.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BoundedMap<ExchangeId, Call, REMEMBERED>,
    cancelled: BoundedMap<ExchangeId, Call, REMEMBERED>,
}

/// A call, told apart by digests, so that many are compared in no time.
#[derive(Clone, Copy, Debug)]
struct Call {
    frame: Seq,
    /// When it was made or, of a cancelled one, cancelled.
    t: Moment,
    tool: u64,
    /// The arguments as they are written: a client writes the same ones alike.
    arguments: u64,
}

impl Calls {
    pub(super) fn part(&mut self, part: &Part<'_>) {
        match &part.message.body {
            Body::Request(request)
                if part.method() == Some("tools/call")
                    && part.direction() == Direction::ClientToServer
                    && request.retry.is_none()
                    && let Some(name) = request.name.as_deref() =>
            {
                self.call(part, name);
            }
            Body::Response(_) if let Some(exchange) = part.exchange() => {
                self.open.remove(&exchange);
            }
            Body::Notification(it) if matches!(it.subject, Subject::Cancelled { .. }) => {
                self.cancelled(part);
            }
            _ => {}
        }
    }

    fn call(&mut self, part: &Part<'_>, name: &str) {
        let arguments = part.param("arguments");
        let is_long = arguments.is_some_and(|it| it.raw().len() > ARGUMENT_BYTES);
        let Some(exchange) = part.exchange().filter(|_| !is_long && part.value.is_some()) else {
            return;
        };
        let call = Call {
            frame: part.seen.head.seq,
            t: part.seen.head.t_last,
            tool: digest(name),
            // To have none and to have an empty object is the same.
            arguments: digest(arguments.map_or(&b"{}"[..], |it| it.raw())),
        };
        if let Some((frame, detail)) = self.made_before(&call, part.seen.correlator) {
            let detail = format!("{} {detail}", quote::text(name));
            part.push(part.at(&REPEATED_AFTER_TIMEOUT, detail).and(frame));
        }
        self.open.insert(exchange, call);
    }

    /// The frame of the same call, if it was made before and nobody waits for it any more, and how
    /// it is made again.
    fn made_before(&self, call: &Call, correlator: &Correlator) -> Option<(Seq, String)> {
        let age = |one: &Call| call.t.ns_since(one.t);
        let is_same = |one: &Call| (one.tool, one.arguments) == (call.tool, call.arguments);
        let cancelled = self.cancelled.iter().map(|(_, one)| one);
        let cancelled = cancelled.filter(|one| is_same(one) && age(one) <= AGAIN_NS);
        if let Some(one) = cancelled.max_by_key(|one| one.frame) {
            let after = duration(age(one));
            return Some((one.frame, format!("again {after} after its cancel")));
        }
        // Of one that pairing knows no longer nobody knows whether it was answered.
        let is_known = |id: &ExchangeId| correlator.exchange(*id).is_some();
        let times = ABANDONED_NS..=AGAIN_NS;
        let abandoned = self
            .open
            .iter()
            .filter(|(id, one)| is_same(one) && times.contains(&age(one)) && is_known(id));
        let (_, one) = abandoned.max_by_key(|(_, one)| one.frame)?;
        let after = duration(age(one));
        Some((one.frame, format!("again after {after} without an answer")))
    }

    fn cancelled(&mut self, part: &Part<'_>) {
        let Some((exchange, asked)) = part.full_exchange().zip(part.request()) else {
            return;
        };
        let t = part.seen.head.t_last;
        let of_client = [asked.direction, part.direction()] == [Direction::ClientToServer; 2];
        // Only its first cancel counts.
        if !of_client || exchange.cancelled != Some(part.seen.head.seq) {
            return;
        }
        let ns = t.ns_since(asked.t);
        let does_work = ["tools/call", "prompts/get", "resources/read"].contains(&&*asked.method)
            && exchange.status != Status::UserCancelled;
        let is_asking = part.seen.correlator.is_waiting(exchange.id);
        let is_silent = exchange.progress_count == 0 && !is_asking;
        let silent_ns = exchange.own_ns_until(t);
        if does_work && is_silent && silent_ns >= PATIENCE_NS {
            let detail = format!("no answer for {}", duration(silent_ns));
            part.push(part.at(&REQUEST_GIVEN_UP, detail).and(asked.frame));
        }
        if does_work && asked.token.is_none() && ns >= GIVEN_UP_NS {
            let detail = format!("given up after {}", duration(ns));
            part.push(part.at(&NO_PROGRESS_TOKEN, detail).and(asked.frame));
        }
        let call = self.open.remove(&exchange.id);
        if let Some(call) = call.filter(|_| ns >= CALLED_OFF_NS) {
            self.cancelled.insert(exchange.id, Call { t, ..call });
        }
    }
}

// Answers that took long: longer than they may, or than their like.

/// From here on an answer is slow, nanoseconds. What begins a session takes as long as the start of its
/// process, which `npx` and `uvx` make long.
pub(super) fn slow_limit_ns(exchange: &Exchange, session: &Session, given: Option<u64>) -> u64 {
    let slow_ns = given.unwrap_or(DEFAULT_SLOW_NS);
    if is_handshake(exchange) && session.spawned.is_some() {
        slow_ns.max(SLOW_START_NS)
    } else {
        slow_ns
    }
}

/// An answer that took so many times the median is an outlier.
const TIMES: u64 = 10;

/// Answers that make a median worth something.
const ENOUGH: u64 = 20;

/// Shorter waits bother nobody, nanoseconds.
const NOTICED_NS: u64 = 100_000_000;

/// Methods and tools whose latencies are remembered. Without a limit a server that is called by a
/// new name each time would be kept in memory; of those that were forgotten nothing is said.
const KINDS: usize = 256;

/// Latencies of one kind, in microseconds: with one significant digit some two kilobytes.
type Sketch = Histogram<u32>;

/// The longest latency that is told from longer ones: an hour, in microseconds.
const LONGEST_US: u64 = 3_600_000_000;

#[derive(Debug, Default)]
pub(super) struct Latencies {
    slow_ns: Option<u64>,
    kinds: BoundedMap<u64, Sketch, KINDS>,
}

impl Latencies {
    pub(super) fn slow_from(&mut self, slow_ns: Option<u64>) {
        self.slow_ns = slow_ns;
    }

    /// Looks at an answer; a handshake that is told as a slow start is not told again as slow.
    pub(super) fn answered(&mut self, part: &Part<'_>, start: &Start) {
        // Of a duplicate answer nothing is said.
        let answer = Some((part.seen.head.seq, part.message.part));
        let exchange = part.full_exchange();
        let exchange = exchange.filter(|it| is_judged(it) && it.response == answer);
        let Some((exchange, ns)) = exchange.and_then(|it| Some((it, it.own_ns()?))) else {
            return;
        };
        let slow_ns = slow_limit_ns(exchange, part.seen.session, self.slow_ns);
        if ns > slow_ns && !start.is_told(exchange) {
            let detail = took(ns, exchange.waited_inside_ns());
            part.push(late(&REQUEST_SLOW, exchange, detail).and(part.seen.head.seq));
        }
        let by_name = matches!(&*exchange.method, "tools/call" | "prompts/get");
        let name = exchange.name.as_deref().filter(|_| by_name);
        let kind = digest((&exchange.method, name));
        if let Some(sketch) = self.kinds.get(&kind)
            && ns > NOTICED_NS
            && sketch.len() >= ENOUGH
        {
            let median = sketch.value_at_quantile(0.5).saturating_mul(1000);
            if ns > median.saturating_mul(TIMES) {
                let (ns, median) = (duration(ns), duration(median));
                let detail = format!("took {ns}, the median is {median}");
                part.push(late(&LATENCY_OUTLIER, exchange, detail).and(part.seen.head.seq));
            }
        }
        if exchange.status == Status::Ok {
            self.learn(kind, ns);
        }
    }

    fn learn(&mut self, kind: u64, ns: u64) {
        let us = (ns / 1000).clamp(1, LONGEST_US);
        if let Some(sketch) = self.kinds.get_mut(&kind) {
            sketch.saturating_record(us);
        } else if let Ok(mut sketch) = Sketch::new_with_bounds(1, LONGEST_US, 1) {
            sketch.saturating_record(us);
            self.kinds.insert(kind, sketch);
        }
    }
}

/// Whether the latency of an exchange says something about the server. `tasks/result` waits for as
/// long as its task takes, a subscription for as long as it is wanted.
pub(super) fn is_judged(exchange: &Exchange) -> bool {
    exchange.direction == Direction::ClientToServer
        && ![Status::Late, Status::UserCancelled].contains(&exchange.status)
        && !exchange.is_listen()
        && &*exchange.method != "tasks/result"
}

pub(super) fn took(ns: u64, waited_ns: u64) -> String {
    match waited_ns {
        0 => format!("took {}", duration(ns)),
        waited => {
            let (own, waited) = (duration(ns), duration(waited));
            format!("took {own}, without the {waited} in which the server waited for its client")
        }
    }
}
