//! What is overdue: what should have happened by now.
//!
//! The rules ask whenever something comes, so that a recording holds what is overdue by then; a
//! viewer of a live recording asks at its own now, and stores nothing.

use super::ending::{PATIENCE_NS, PROCESS_STDOUT_CLOSED_EARLY, SHUTDOWN_EOF_IGNORED};
use super::lasting;
use super::slowness::{REQUEST_SLOW, TIMEOUT_NO_CANCEL, is_judged};
use super::start::{SLOW_START, SLOW_START_NS};
use crate::{Context, Finding, Findings, Part, Rule};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::session::{Ends, Session, Side};
use mcpreel_wire::message::Direction;
use std::collections::HashSet;

/// A request without an answer for so long should have been given up: the most common limit of
/// clients is a minute.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// How often the open requests are looked through. At each frame it would cost more than all else
/// where many are open.
const LOOK_NS: u64 = 1_000_000_000;

/// Requests that were told to be overdue; as many as are looked through.
const TOLD: usize = 4096;

/// What is overdue at `now` in a live recording: `open` are the exchanges that have no answer, and
/// an answer that takes longer than `slow_ns` is slow.
///
/// Told are: a handshake without an answer (`slow-start`), or else a slow call (`request-slow`);
/// a request of a minute that nobody has cancelled (`timeout-no-cancel`); a server that lives on
/// after the end of its stdin (`shutdown-eof-ignored`) or of its stdout
/// (`process-stdout-closed-early`). Some of it is stored in the recording as soon as anything else
/// comes: `timeout-no-cancel`, unless what comes is an end, and the last two. Then it is told by
/// both, with the same rule and exchange.
pub fn overdue<'a>(
    open: impl Iterator<Item = &'a Exchange> + Clone,
    session: &Session,
    slow_ns: u64,
    now: Moment,
) -> Vec<Finding> {
    let asking: HashSet<ExchangeId> = open.clone().filter_map(|one| one.parent).collect();
    let mut findings = Vec::new();
    for exchange in open.filter(|exchange| is_open(exchange)) {
        let is_asking = asking.contains(&exchange.id);
        let is_starting = session.handshake_ns.is_none();
        let late = handshake(exchange, now).filter(|_| is_starting);
        findings.extend(late.or_else(|| slow(exchange, is_asking, slow_ns, now)));
        findings.extend(timeout(exchange, is_asking, now));
    }
    if session.phase.end().is_none() {
        findings.extend(eof_ignored(&session.ends, now, PATIENCE_NS));
        findings.extend(stdout_closed(&session.ends, now));
    }
    findings
}

/// Looks through the open requests from time to time.
#[derive(Debug, Default)]
pub(super) struct Watch {
    next: Moment,
    told: BoundedMap<ExchangeId, (), TOLD>,
}

impl Watch {
    pub(super) fn passed(&mut self, context: &Context<'_>) {
        if context.now >= self.next {
            self.look(context);
        }
    }

    /// The recording is over. Of requests that `end` says were never answered another rule tells.
    pub(super) fn finish(&mut self, end: &[Observation], context: &Context<'_>) {
        for one in end {
            let is_told = match one.kind {
                Observed::Unanswered => true,
                Observed::Lost => one.direction == Direction::ClientToServer,
                _ => false,
            };
            if let Some(exchange) = one.exchange.filter(|_| is_told) {
                self.told.is_first(exchange);
            }
        }
        self.look(context);
    }

    fn look(&mut self, context: &Context<'_>) {
        self.next = Moment(context.now.0.saturating_add(LOOK_NS));
        for exchange in unanswered(context) {
            let is_asking = context.correlator.is_waiting(exchange.id);
            let found = timeout(exchange, is_asking, context.now);
            self.tell(exchange, found, context.findings);
        }
    }

    /// An answer that nothing came before, so that nobody had looked.
    pub(super) fn answered(&mut self, part: &Part<'_>) {
        let exchange = part.full_exchange();
        let is_late = |exchange: &&Exchange| {
            exchange.cancelled.is_none() && exchange.own_ns() >= Some(TIMEOUT_NS)
        };
        if let Some(exchange) = exchange.filter(is_late) {
            let found = timeout(exchange, false, part.seen.head.t_first);
            self.tell(exchange, found, part.seen.findings);
        }
    }

    fn tell(&mut self, exchange: &Exchange, found: Option<Finding>, findings: &Findings) {
        if found.is_some() && self.told.is_first(exchange.id) {
            findings.extend(found);
        }
    }
}

/// The exchanges without an answer, as many as rules remember, in order.
pub(super) fn unanswered<'a>(context: &Context<'a>) -> Vec<&'a Exchange> {
    let open = context.known.open();
    let open = open.filter_map(|(id, _)| context.correlator.exchange(id));
    let mut open: Vec<_> = open.filter(|exchange| is_open(exchange)).collect();
    open.sort_unstable_by_key(|exchange| exchange.id);
    open
}

/// Whether an exchange waits for its answer, or has waited to the end of the recording.
fn is_open(exchange: &Exchange) -> bool {
    exchange.response.is_none() && exchange.cancelled.is_none() && !exchange.is_listen()
}

/// Whether an exchange is what a client begins with.
pub(super) fn is_handshake(exchange: &Exchange) -> bool {
    matches!(&*exchange.method, "initialize" | "server/discover")
}

fn late(rule: &'static Rule, exchange: &Exchange, detail: String) -> Finding {
    rule.at(exchange.request.0, detail).about(Some(exchange.id))
}

/// A handshake that has no answer for too long.
pub(super) fn handshake(exchange: &Exchange, now: Moment) -> Option<Finding> {
    let ns = exchange.own_ns_until(now);
    (is_handshake(exchange) && ns > SLOW_START_NS).then(|| {
        let detail = format!("no answer to {} for {}", exchange.method, lasting(ns));
        late(&SLOW_START, exchange, detail)
    })
}

/// A call that has no answer for longer than is slow. While the server asks its client, it is not
/// the one who is waited for.
fn slow(exchange: &Exchange, is_asking: bool, slow_ns: u64, now: Moment) -> Option<Finding> {
    let ns = exchange.own_ns_until(now);
    let is_slow = is_judged(exchange) && !is_asking && ns > slow_ns;
    is_slow.then(|| {
        late(
            &REQUEST_SLOW,
            exchange,
            format!("no answer for {}", lasting(ns)),
        )
    })
}

/// A request that should have been given up. Progress may renew the limit, people may take their
/// time, and `tasks/result` takes as long as its task.
fn timeout(exchange: &Exchange, is_asking: bool, now: Moment) -> Option<Finding> {
    let ns = exchange.own_ns_until(now);
    let may_last = [
        "tasks/result",
        "sampling/createMessage",
        "elicitation/create",
    ];
    let is_due = ns >= TIMEOUT_NS
        && exchange.progress_count == 0
        && !is_asking
        && !may_last.contains(&&*exchange.method);
    is_due.then(|| {
        late(
            &TIMEOUT_NO_CANCEL,
            exchange,
            format!("no answer for {}", lasting(ns)),
        )
    })
}

/// A server that lives on after the end of its stdin, for `patience_ns` at least.
pub(super) fn eof_ignored(ends: &Ends, now: Moment, patience_ns: u64) -> Option<Finding> {
    let closed = ends.c2s.filter(|end| end.by == Side::Host)?;
    let ns = now.ns_since(closed.t);
    let detail = format!("alive {} after the end of stdin", lasting(ns));
    (ns >= patience_ns).then(|| SHUTDOWN_EOF_IGNORED.found(detail))
}

/// A server that lives on after it closed its stdout, to which it was not asked.
pub(super) fn stdout_closed(ends: &Ends, now: Moment) -> Option<Finding> {
    let closed = ends.s2c.filter(|end| end.by == Side::Server)?;
    let was_asked = ends.c2s.is_some_and(|end| end.t <= closed.t);
    let ns = now.ns_since(closed.t);
    let detail = format!("alive {} after it closed stdout", lasting(ns));
    (ns >= PATIENCE_NS && !was_asked).then(|| PROCESS_STDOUT_CLOSED_EARLY.found(detail))
}

#[cfg(test)]
mod overdue_tests;
