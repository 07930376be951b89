//! How the server leaves, or does not, and pipes that nobody drains.

use super::{lasting, time};
use crate::section::SHUTDOWN;
use crate::{Context, Finding, Findings, FrameContext, Rule, quote};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::event::{Event, EventKind, ProcessName};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::session::{Closed, Side};
use mcpreel_wire::message::{Body, Direction};
use std::collections::VecDeque;

rules! {
    STDERR_BURST = note("stderr-burst", "a flood on stderr")
        .why("A pipe holds about 64 KiB, so that a host which does not read stderr all the time makes the server stand still.")
        .fix("Let the server log less, or into a file, and let the host read stderr at all times.");

    STDERR_UNDRAINED = warning("stderr-undrained", "the host did not read the server's stderr")
        .why("The server hangs in the middle of its log line until somebody reads it, and answers nothing meanwhile.")
        .fix("Let the host read stderr all the time or send it to a file, and let the server log less until then.");

    STDOUT_UNDRAINED = warning("stdout-undrained", "the host did not read the server's stdout")
        .why("Answers that are ready wait in the pipe, and the server hangs as soon as that is full.")
        .fix("Let the host read stdout in a loop of its own that waits for nothing else.");

    STDIN_UNDRAINED = warning("stdin-undrained", "the server did not read its stdin")
        .why("Requests and cancels wait in the pipe, and the host hangs as soon as that is full.")
        .fix("Let the server read stdin in a loop of its own and do its work elsewhere.");

    PROCESS_NOT_STARTED = error("process-not-started", "the server could not be started")
        .why("The host sees a connection that ends before it began, and nothing of the reason.")
        .fix("Give the full path of the command, or put its folder on the PATH that the host has.");

    PROCESS_EXIT_NONZERO = warning("process-exit-nonzero", "the server ended with an error")
        .why("It says that something went wrong, and a host that looks at the exit code shows the server as failed.")
        .fix("Look at its last lines on stderr, and let it end with exit code 0 when its stdin is closed.")
        .at_end();

    PROCESS_STDOUT_CLOSED_EARLY = error("process-stdout-closed-early",
        "the server closed its stdout and lives on")
        .why("No answer can come any more, while the host may go on asking.")
        .fix("Let the server exit when it closes stdout, and look for code that closes or replaces it.")
        .of(SHUTDOWN);

    SHUTDOWN_EOF_IGNORED = warning("shutdown-eof-ignored",
        "the server does not end when its stdin is closed")
        .why("The host has to wait and to kill it, and a host that does not leaves it running for ever.")
        .fix("Let the server stop its work and exit as soon as it reads the end of stdin.")
        .of(SHUTDOWN);

    SHUTDOWN_SIGKILL = warning("shutdown-sigkill", "the server does not end at SIGTERM either")
        .why("It can only be killed, so that it loses whatever it had not written yet.")
        .fix("Handle SIGTERM, and pass it on where a shell or launcher stands between host and server.")
        .of(SHUTDOWN);

    SHUTDOWN_WRITES_AFTER_EOF = note("shutdown-writes-after-eof",
        "the server asks its client after its stdin was closed")
        .why("No answer can come any more, so that a server which waits for it does not end.")
        .fix("Ask nothing after the end of stdin, and give up what is still asked.")
        .of(SHUTDOWN);

    SURVIVORS_LEFT = note("survivors-left", "processes that the server started outlive it")
        .why("They hold its pipes open, and run on unseen after the host has closed the session.")
        .fix("Let the server end what it starts, or let the launcher replace itself with the server.");
}

/// A server that lives for so long after it was told to end does not listen: the official clients
/// wait for two to three seconds before they go on.
pub(super) const PATIENCE_NS: u64 = 2_000_000_000;

/// A client that sends SIGTERM began to wait before the end of stdin was on record, so that its two
/// seconds may be a little less here.
const SIGNALLED_NS: u64 = 1_000_000_000;

const NAMED: usize = 4;

/// Signals by which hosts and terminals end a server.
const ENDS: [&str; 4] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

#[derive(Debug, Default)]
pub(super) struct Ending {
    /// How the server ended, if that is on record and nothing else ended it.
    exit: Option<Exit>,
    /// Whether it was told to end by any signal.
    is_signalled: bool,
    /// When it was first told to end by SIGTERM.
    terminated: Option<Moment>,
    recovered: bool,
    /// What was told; each is told once.
    told: Vec<&'static Rule>,
}

#[derive(Debug)]
struct Exit {
    code: Option<i32>,
    signal: Option<String>,
    /// Whether its input was open until then.
    input_open: bool,
}

impl Ending {
    pub(super) fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        if self.exit.is_some() {
            return;
        }
        let (ends, now) = (&context.session.ends, context.now);
        let ignored = || time::eof_ignored(ends, now);
        self.once(&SHUTDOWN_EOF_IGNORED, ignored, findings);
        let closed = || time::stdout_closed(ends, now);
        self.once(&PROCESS_STDOUT_CLOSED_EARLY, closed, findings);
        let terminated = self.terminated;
        let alive = || {
            let ns = now.0.saturating_sub(terminated?.0);
            let detail = || format!("alive {} after the signal", lasting(ns));
            (ns >= PATIENCE_NS).then(|| SHUTDOWN_SIGKILL.found(detail()))
        };
        self.once(&SHUTDOWN_SIGKILL, alive, findings);
    }

    pub(super) fn event(&mut self, event: &Event, context: &Context<'_>, findings: &mut Findings) {
        match &event.kind {
            EventKind::Signal { signal, .. } if ENDS.contains(&&**signal) => {
                self.is_signalled = true;
                if signal == "SIGTERM" {
                    self.terminated.get_or_insert(event.t);
                    self.waited_for(event.t, context.session.ends.c2s, findings);
                }
            }
            EventKind::Exit { code, signal, .. } => {
                let input = context.session.ends.c2s;
                let is_told = input.is_some_and(|end| end.by == Side::Host);
                let is_killed = signal.as_deref() == Some("SIGKILL");
                if is_killed && (is_told || self.terminated.is_some()) {
                    let killed = || Some(SHUTDOWN_SIGKILL.found("ended by SIGKILL"));
                    self.once(&SHUTDOWN_SIGKILL, killed, findings);
                }
                self.exit.get_or_insert(Exit {
                    code: *code,
                    signal: signal.clone(),
                    input_open: !is_told,
                });
            }
            EventKind::SpawnFailed { message, .. } => {
                findings.push(PROCESS_NOT_STARTED.found(quote::text(message)));
            }
            EventKind::Survivors { processes } if !processes.is_empty() => {
                findings.push(SURVIVORS_LEFT.found(named(processes)));
            }
            EventKind::Recovered { .. } => self.recovered = true,
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, end: &[Observation], now: Moment, findings: &mut Findings) {
        if let Some(exit) = self.exit.take() {
            // What a crash has lost is told at the requests.
            let is_told = end.iter().any(|one| {
                one.kind == Observed::Lost && one.direction == Direction::ClientToServer
            });
            if !(exit.input_open && is_told) {
                self.exited(&exit, findings);
            }
        } else if self.recovered
            && let Some(terminated) = self.terminated
        {
            // The recorder waits for the server unless it is killed itself.
            let after = lasting(now.0.saturating_sub(terminated.0));
            let detail = format!("killed with the recorder, at least {after} after the signal");
            let killed = || Some(SHUTDOWN_SIGKILL.found(detail));
            self.once(&SHUTDOWN_SIGKILL, killed, findings);
        }
    }

    /// SIGTERM came after the end of stdin: somebody has waited long enough.
    fn waited_for(&mut self, t: Moment, closed: Option<Closed>, findings: &mut Findings) {
        let Some(closed) = closed.filter(|end| end.by == Side::Host) else {
            return;
        };
        let ns = t.0.saturating_sub(closed.t.0);
        if self.exit.is_none() && ns >= SIGNALLED_NS {
            let detail = || format!("alive {} after the end of stdin", lasting(ns));
            let alive = || Some(SHUTDOWN_EOF_IGNORED.found(detail()));
            self.once(&SHUTDOWN_EOF_IGNORED, alive, findings);
        }
    }

    fn exited(&self, exit: &Exit, findings: &mut Findings) {
        // Whoever is ended by a signal may say so in any way.
        if self.is_signalled || self.told.contains(&&SHUTDOWN_SIGKILL) {
            return;
        }
        let how = match (exit.code, &exit.signal) {
            (_, Some(signal)) => format!("ended by {}", quote::text(signal)),
            (Some(code), None) if code != 0 => format!("exit code {code}"),
            _ => return,
        };
        let when = if exit.input_open {
            "while its stdin was open"
        } else {
            "after its stdin was closed"
        };
        findings.push(PROCESS_EXIT_NONZERO.found(format!("{how}, {when}")));
    }

    /// Tells what is `found` of `rule`, unless that was told before.
    fn once(
        &mut self,
        rule: &'static Rule,
        found: impl FnOnce() -> Option<Finding>,
        findings: &mut Findings,
    ) {
        if !self.told.contains(&rule)
            && let Some(found) = found()
        {
            self.told.push(rule);
            findings.push(found);
        }
    }
}

/// Requests of the server that come after the end of its input.
pub(super) fn requests_after_eof(seen: &FrameContext<'_>, findings: &mut Findings) {
    let Some(closed) = seen.session.ends.c2s.filter(|end| end.by == Side::Host) else {
        return;
    };
    for part in seen.parts() {
        let is_request = matches!(part.message.body, Body::Request(_));
        let from_server = part.direction() == Direction::ServerToClient;
        if is_request && from_server && seen.head.t_first > closed.t {
            let after = lasting(seen.head.t_first.0.saturating_sub(closed.t.0));
            let method = quote::text(part.method().unwrap_or_default());
            let detail = format!("{method}, {after} after the end of stdin");
            findings.push(part.at(&SHUTDOWN_WRITES_AFTER_EOF, detail));
        }
    }
}

fn named(processes: &[ProcessName]) -> String {
    let name = |process: &ProcessName| match &*process.name {
        "" => format!("process {}", process.pid),
        name => format!("{} ({})", quote::text(name), process.pid),
    };
    let mut names: Vec<_> = processes.iter().take(NAMED).map(name).collect();
    if processes.len() > NAMED {
        names.push(format!("{} more", processes.len() - NAMED));
    }
    names.join(", ")
}

// Floods on stderr, and pipes that nobody drains.

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
