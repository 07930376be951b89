//! Answers that took long: longer than they may, or than their like.

use super::lasting;
use super::start::Start;
use crate::digest;
use crate::finding::{Finding, Findings};
use crate::remembered::Remembered;
use crate::rule::Rule;
use crate::seen::Part;
use hdrhistogram::Histogram;
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::message::{Body, Direction};

pub(super) static REQUEST_SLOW: Rule = Rule::note("request-slow", "an answer that took long")
    .why("Somebody waits for it, and a client that waits only so long gives it up.")
    .fix("Look at what the server does meanwhile, report progress, or answer with a part and a way to get the rest.");

pub(super) static LATENCY_OUTLIER: Rule = Rule::note(
    "latency-outlier",
    "an answer that took far longer than others of its kind",
)
.why("Something other than the work itself took the time, for example a lock, a retry, a cold cache or a slow network.")
.fix("Look at what was different: its arguments, what ran at the same time, and what the server said on stderr.");

/// How often the median an answer must have taken to be an outlier.
const TIMES: u64 = 10;

/// Answers that make a median worth something.
const ENOUGH: u64 = 20;

/// What takes no longer bothers nobody.
const NOTICED_NS: u64 = 100_000_000;

/// Methods and tools whose latencies are remembered. Without a limit a server that is called by a
/// new name each time would be kept in memory; of those that were forgotten nothing is said.
const KINDS: usize = 256;

/// Latencies of one kind, in microseconds: with one significant digit some two kilobytes.
type Sketch = Histogram<u32>;

/// The longest latency that is told from longer ones: an hour, in microseconds.
const LONGEST_US: u64 = 3_600_000_000;

#[derive(Debug)]
pub(super) struct Latencies {
    slow_ns: u64,
    kinds: Remembered<u64, Sketch>,
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            slow_ns: DEFAULT_SLOW_NS,
            kinds: Remembered::new(KINDS),
        }
    }
}

impl Latencies {
    pub(super) fn slow_from(&mut self, slow_ns: Option<u64>) {
        self.slow_ns = slow_ns.unwrap_or(DEFAULT_SLOW_NS);
    }

    /// Looks at an answer; a handshake that is told as a slow start is not told again as slow.
    pub(super) fn part(&mut self, part: &Part<'_>, start: &Start, findings: &mut Findings) {
        let Body::Response(_) = part.message.body else {
            return;
        };
        let Some(exchange) = part.whole().filter(|exchange| is_judged(exchange)) else {
            return;
        };
        // Of a duplicate answer nothing is said.
        let answers = exchange.response == Some((part.seen.head.seq, part.message.part));
        let Some(ns) = exchange.own_ns().filter(|_| answers) else {
            return;
        };
        if ns > self.slow_ns && !start.is_told(exchange) {
            let waited = exchange.waited_inside_ns();
            findings.push(part.at(&REQUEST_SLOW, took(ns, waited)));
        }
        findings.extend(self.outlier(part, exchange, ns));
    }

    fn outlier(&mut self, part: &Part<'_>, exchange: &Exchange, ns: u64) -> Option<Finding> {
        let kind = kind(exchange);
        let known = self.kinds.get(&kind);
        let median = known.and_then(|sketch| median_ns(sketch, ns));
        if exchange.status == Status::Ok {
            self.learn(kind, ns);
        }
        let median = median.filter(|median| ns > median.saturating_mul(TIMES))?;
        let detail = format!("took {}, the median is {}", lasting(ns), lasting(median));
        Some(part.at(&LATENCY_OUTLIER, detail))
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

/// The median of enough answers, if one of `ns` is worth a look.
fn median_ns(sketch: &Sketch, ns: u64) -> Option<u64> {
    let is_worth = ns > NOTICED_NS && sketch.len() >= ENOUGH;
    is_worth.then(|| sketch.value_at_quantile(0.5).saturating_mul(1000))
}

/// Whether the latency of an exchange says something about the server. `tasks/result` waits for as
/// long as its task takes, a subscription for as long as it is wanted.
pub(super) fn is_judged(exchange: &Exchange) -> bool {
    exchange.direction == Direction::ClientToServer
        && exchange.status != Status::Late
        && !exchange.is_listen()
        && &*exchange.method != "tasks/result"
}

pub(super) fn took(ns: u64, waited_ns: u64) -> String {
    match waited_ns {
        0 => format!("took {}", lasting(ns)),
        waited => format!(
            "took {}, without the {} in which the server waited for its client",
            lasting(ns),
            lasting(waited)
        ),
    }
}

/// What an exchange is compared with: others of its method, and of its tool or prompt.
fn kind(exchange: &Exchange) -> u64 {
    let by_name = matches!(&*exchange.method, "tools/call" | "prompts/get");
    let name = exchange.name.as_deref().filter(|_| by_name);
    digest::of((&exchange.method, name))
}
