//! Rules about the process and about time.
//!
//! * `start`: output before the first message, and slow starts;
//! * `ending`: how the server leaves, and pipes that nobody drains;
//! * `slowness`: slow answers, and calls that the client gave up;
//! * `time`: what is overdue at a moment, for the rules and for viewers of a live recording:
//!   [`overdue`].

mod ending;
mod slowness;
mod start;
mod time;

pub use time::overdue;

pub(super) use slowness::is_abandoned;
pub(super) use start::launcher;

use crate::{Context, Family, Findings, FrameContext, Rule};
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::FrameHead;

#[derive(Debug, Default)]
pub struct Process {
    start: start::Start,
    pipes: ending::Pipes,
    ending: ending::Ending,
    latency: slowness::Latencies,
    calls: slowness::Calls,
    time: time::Watch,
}

impl Family for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn rules(&self) -> Vec<&'static Rule> {
        [start::RULES, ending::RULES, slowness::RULES].concat()
    }

    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        self.pipes.passed(context.now, findings);
        self.ending.passed(context, findings);
    }

    fn frame(&mut self, seen: &FrameContext<'_>, findings: &mut Findings) {
        self.time.passed(&seen.context(), findings);
        self.start.frame(seen, findings);
        ending::requests_after_eof(seen, findings);
        for part in seen.parts() {
            self.latency.part(&part, &self.start, findings);
            self.calls.part(&part, findings);
            self.time.part(&part, findings);
        }
    }

    fn stderr(
        &mut self,
        head: &FrameHead,
        _: &[u8],
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        self.time.passed(context, findings);
        self.pipes.stderr(head, findings);
    }

    fn event(&mut self, event: &Event, context: &Context<'_>, findings: &mut Findings) {
        if let EventKind::Start(process) = &event.kind {
            self.latency.slow_from(process.slow_ns);
        }
        // Of what is open at the end it is told at the very end.
        if !matches!(event.kind, EventKind::Eof { .. } | EventKind::Exit { .. }) {
            self.time.passed(context, findings);
        }
        self.pipes.event(event, findings);
        self.ending.event(event, context, findings);
    }

    fn finish(&mut self, end: &[Observation], context: &Context<'_>, findings: &mut Findings) {
        self.start.finish(context, findings);
        self.time.finish(end, context, findings);
        self.pipes.finish(context.now, findings);
        self.ending.finish(end, context.now, findings);
    }
}

/// Nanoseconds in words: `1.2 s`, and below a second `340 ms`.
fn lasting(ns: u64) -> String {
    match ns / 1_000_000 {
        ms @ 0..1000 => format!("{ms} ms"),
        ms => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_is_told_in_milliseconds_and_seconds() {
        let told = [0, 340_000_000, 999_999_999, 1_250_000_000, 61_000_000_000].map(lasting);
        assert_eq!(told, ["0 ms", "340 ms", "999 ms", "1.2 s", "61.0 s"]);
    }
}
