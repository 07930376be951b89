//! Floods on stderr, and pipes that nobody drains.

use super::lasting;
use crate::finding::{Finding, Findings};
use crate::rule::Rule;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::{FrameHead, StreamId};
use std::collections::VecDeque;

pub(super) static STDERR_BURST: Rule = Rule::note(
    "stderr-burst",
    "a flood on stderr",
)
.why("A pipe holds about 64 KiB, so that a host which does not read stderr all the time makes the server stand still.")
.fix("Let the server log less, or into a file, and let the host read stderr at all times.");

pub(super) static STDERR_UNDRAINED: Rule = Rule::warning(
    "stderr-undrained",
    "the host did not read the server's stderr",
)
.why("The server hangs in the middle of its log line until somebody reads it, and answers nothing meanwhile.")
.fix("Let the host read stderr all the time or send it to a file, and let the server log less until then.");

pub(super) static STDOUT_UNDRAINED: Rule = Rule::warning(
    "stdout-undrained",
    "the host did not read the server's stdout",
)
.why("Answers that are ready wait in the pipe, and the server hangs as soon as that is full.")
.fix("Let the host read stdout in a loop of its own that waits for nothing else.");

pub(super) static STDIN_UNDRAINED: Rule =
    Rule::warning("stdin-undrained", "the server did not read its stdin")
        .why("Requests and cancels wait in the pipe, and the host hangs as soon as that is full.")
        .fix("Let the server read stdin in a loop of its own and do its work elsewhere.");

/// Bytes of stderr within a second that are a burst: what a pipe holds.
const BURST: u64 = 64 << 10;

/// Bytes of stderr in all that are very much.
const MUCH: u64 = 1 << 20;

/// A second is looked at in tenths, so that a flood of short lines needs no memory.
const TENTH_NS: u64 = 100_000_000;

/// A pipe that is full for less is ordinary back-pressure.
const UNDRAINED_NS: u64 = 1_000_000_000;

/// A pipe that has been full for so long is told before it is drained, if it ever is.
const STILL_UNDRAINED_NS: u64 = 10_000_000_000;

/// What the pipes beside the protocol hold, and who does not read.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    /// Tenths of a second with what came in them, of the last second.
    tenths: VecDeque<(u64, u64)>,
    all: u64,
    told_burst: bool,
    told_much: bool,
    stalls: [Option<Stall>; StreamId::STDIO.len()],
}

#[derive(Clone, Copy, Debug)]
struct Stall {
    began: Moment,
    bytes: u64,
    told: bool,
}

impl Pipes {
    pub(super) fn stderr(&mut self, head: &FrameHead, findings: &mut Findings) {
        self.all += head.size;
        if !self.told_burst {
            let within = self.within_a_second(head);
            if within > BURST {
                self.told_burst = true;
                let detail = format!("{} KiB within a second", within >> 10);
                findings.push(STDERR_BURST.at(head.seq, detail));
            }
        }
        if self.all > MUCH && !self.told_much {
            self.told_much = true;
            findings.push(STDERR_BURST.at(head.seq, "more than 1 MiB in all"));
        }
    }

    fn within_a_second(&mut self, head: &FrameHead) -> u64 {
        let tenth = head.t_last.0 / TENTH_NS;
        while self
            .tenths
            .front()
            .is_some_and(|(then, _)| then + 10 <= tenth)
        {
            self.tenths.pop_front();
        }
        match self.tenths.back_mut() {
            Some((last, bytes)) if *last == tenth => *bytes += head.size,
            _ => self.tenths.push_back((tenth, head.size)),
        }
        self.tenths.iter().map(|(_, bytes)| bytes).sum()
    }

    pub(super) fn event(&mut self, event: &Event, findings: &mut Findings) {
        match event.kind {
            EventKind::StallBegan { stream, bytes } => {
                if let Some(stall) = self.stall_of(stream) {
                    *stall = Some(Stall {
                        began: event.t,
                        bytes,
                        told: false,
                    });
                }
            }
            EventKind::StallEnded { stream, lasted_ns } => {
                let stall = self.stall_of(stream).and_then(Option::take);
                if lasted_ns >= UNDRAINED_NS && stall.is_some_and(|stall| !stall.told) {
                    let bytes = stall.map_or(0, |stall| stall.bytes);
                    findings.extend(finding(stream, lasted_ns, bytes));
                }
            }
            _ => {}
        }
    }

    pub(super) fn passed(&mut self, now: Moment, findings: &mut Findings) {
        self.tell(now, STILL_UNDRAINED_NS, findings);
    }

    pub(super) fn finish(&mut self, now: Moment, findings: &mut Findings) {
        self.tell(now, UNDRAINED_NS, findings);
    }

    /// Tells the stalls that have lasted for `from_ns`, each once.
    fn tell(&mut self, now: Moment, from_ns: u64, findings: &mut Findings) {
        for (stall, stream) in self.stalls.iter_mut().zip(StreamId::STDIO) {
            let Some(stall) = stall.as_mut().filter(|stall| !stall.told) else {
                continue;
            };
            let ns = now.0.saturating_sub(stall.began.0);
            if ns >= from_ns {
                stall.told = true;
                findings.extend(finding(stream, ns, stall.bytes));
            }
        }
    }

    fn stall_of(&mut self, stream: StreamId) -> Option<&mut Option<Stall>> {
        self.stalls.get_mut(usize::from(stream.0))
    }
}

fn finding(stream: StreamId, ns: u64, bytes: u64) -> Option<Finding> {
    let (rule, reader): (&'static Rule, _) = match stream {
        StreamId::STDERR => (&STDERR_UNDRAINED, "host"),
        StreamId::S2C => (&STDOUT_UNDRAINED, "host"),
        StreamId::C2S => (&STDIN_UNDRAINED, "server"),
        _ => return None,
    };
    let ns = lasting(ns);
    let detail = format!("the {reader} read nothing for {ns} while {bytes} bytes waited");
    Some(rule.found(detail))
}
