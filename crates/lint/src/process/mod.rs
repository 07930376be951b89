//! Rules about the process and about time.
//!
//! * `start`: output before the first message, and slow starts;
//! * `ending`: how the server leaves, and pipes that nobody drains;
//! * `slowness`: slow answers, and calls that the client gave up;
//! * `overdue`: what is overdue at a moment, for the rules and for viewers of a live recording:
//!   [`overdue()`].

mod ending;
mod overdue;
mod slowness;
mod start;

pub use overdue::overdue;
pub(crate) use start::is_handshake;

use crate::{Context, Family, FrameContext, Part, Rule};
use mcpreel_trace::correlator::Observation;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::message::Body;

/// The rules of the modules of this family.
pub const RULE_LISTS: &[&[&Rule]] = &[start::RULES, ending::RULES, slowness::RULES];

#[derive(Debug, Default)]
pub struct Process {
    start: start::Start,
    pipes: ending::Pipes,
    ending: ending::Ending,
    latency: slowness::Latencies,
    calls: slowness::Calls,
    time: overdue::Watch,
}

impl Family for Process {
    fn passed(&mut self, context: &Context<'_>) {
        self.pipes.passed(context);
        self.ending.passed(context);
    }

    fn frame(&mut self, seen: &FrameContext<'_>) {
        self.time.passed(&seen.context);
        self.start.frame(seen);
    }

    fn part(&mut self, part: &Part<'_>) {
        ending::request_after_eof(part);
        if matches!(part.message.body, Body::Response(_)) {
            self.latency.answered(part, &self.start);
            self.time.answered(part);
        }
        self.calls.part(part);
    }

    fn stderr(&mut self, head: &FrameHead, _: &[u8], context: &Context<'_>) {
        self.time.passed(context);
        self.pipes.stderr(head, context.findings);
    }

    fn event(&mut self, event: &Event, context: &Context<'_>) {
        if let EventKind::Start(process) = &event.kind {
            self.latency.slow_from(process.slow_ns);
        }
        // What is open at the end is told at the very end.
        if !matches!(event.kind, EventKind::Eof { .. } | EventKind::Exit { .. }) {
            self.time.passed(context);
        }
        self.pipes.event(event, context.findings);
        self.ending.event(event, context);
    }

    fn finish(&mut self, end: &[Observation], context: &Context<'_>) {
        self.start.finish(context);
        self.time.finish(end, context);
        self.pipes.finish(context);
        self.ending.finish(end, context);
    }
}
