//! Things that should have happened by now.
//!
//! The rules ask whenever something comes, so that a recording holds what is overdue by then; a
//! viewer of a live recording asks at its own now, and stores nothing.

use super::ending::{PATIENCE_NS, eof_ignored, stdout_closed};
use super::slowness::{REQUEST_SLOW, TIMEOUT_NO_CANCEL, is_judged, slow_limit_ns};
use super::start::{handshake, is_open, late, unanswered};
use crate::{Context, Finding, Findings, Part};
use mcpreel_trace::bounded::BoundedMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::session::Session;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::duration;
use std::collections::HashSet;

/// A request without an answer for so long should have been given up: the most common limit of
/// clients is a minute.
const TIMEOUT_NS: u64 = 60_000_000_000;

/// The time between two looks at the open requests. At each frame it would cost more than all else
/// where many are open.
const LOOK_NS: u64 = 1_000_000_000;

/// Requests that were told to be overdue; as many as are looked through.
const TOLD: usize = 4096;

/// Findings about what is overdue at `now` in a live recording: `open` are the exchanges that have no answer, and
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
        findings.extend(late.or_else(|| {
            slow(
                exchange,
                is_asking,
                slow_limit_ns(exchange, session, Some(slow_ns)),
                now,
            )
        }));
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

/// A call that has no answer for longer than is slow. While the server asks its client, it is not
/// the one who is waited for.
fn slow(exchange: &Exchange, is_asking: bool, slow_ns: u64, now: Moment) -> Option<Finding> {
    let ns = exchange.own_ns_until(now);
    let is_slow = is_judged(exchange) && !is_asking && ns > slow_ns;
    is_slow.then(|| late(&REQUEST_SLOW, exchange, no_answer_for(ns)))
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
    is_due.then(|| late(&TIMEOUT_NO_CANCEL, exchange, no_answer_for(ns)))
}

fn no_answer_for(ns: u64) -> String {
    format!("no answer for {}", duration(ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Linter;
    use crate::lint_tests::{head, tell};
    use mcpreel_trace::analysis::Analysis;
    use mcpreel_trace::event::DEFAULT_SLOW_NS;
    use mcpreel_trace::frame::StreamId;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_is_stored_when_something_comes_is_what_a_live_reader_had_told() {
        let (mut analysis, mut linter) = (Analysis::default(), Linter::default());
        let raw = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
        let call = head(1, StreamId::C2S, Moment(0), raw);
        tell(&mut analysis, &mut linter, &call, raw);
        let open = analysis.take().exchanges;
        let now = Moment(70 * SECOND);
        let mut live = overdue(open.iter(), analysis.session(), DEFAULT_SLOW_NS, now);
        live.retain(|one| one.rule == &TIMEOUT_NO_CANCEL);

        let second = head(2, StreamId::STDERR, now, b"x\n");
        tell(&mut analysis, &mut linter, &second, b"x\n");
        let mut stored = linter.take();
        stored.retain(|one| one.rule == &TIMEOUT_NO_CANCEL);
        assert_eq!(live.len(), 1);
        assert_eq!(live, stored);
    }
}
