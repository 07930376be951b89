//! Servers that leave badly or not at all, and pipes that nobody drains.

use crate::section::SHUTDOWN;
use crate::{Context, Finding, Findings, Part, Rule, quote};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::event::{Event, EventKind, ProcessName};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::session::{Ends, Side};
use mcpreel_wire::message::{Body, Direction};
use mcpreel_wire::text::duration;

rules! {
    STDERR_BURST = note("stderr-burst")
        .finds("a flood on stderr")
        .why("A pipe holds about 64 KiB, so a host that does not keep reading stderr blocks the server.")
        .fix("Let the server log less, or into a file, and let the host read stderr at all times.");

    STDERR_UNDRAINED = warning("stderr-undrained")
        .finds("the host did not read the server's stderr")
        .why("The server hangs in the middle of its log line until the host reads it, and answers nothing until then.")
        .fix("Let the host read stderr all the time or send it to a file, and let the server log less until then.");

    STDOUT_UNDRAINED = warning("stdout-undrained")
        .finds("the host did not read the server's stdout")
        .why("Answers that are ready wait in the pipe, and the server hangs as soon as that is full.")
        .fix("Let the host read stdout in a loop of its own that waits for nothing else.");

    STDIN_UNDRAINED = warning("stdin-undrained")
        .finds("the server did not read its stdin")
        .why("Requests and cancels wait in the pipe, and the host hangs as soon as that is full.")
        .fix("Let the server read stdin in a loop of its own and do its work elsewhere.");

    PROCESS_NOT_STARTED = error("process-not-started")
        .finds("the server could not be started")
        .why("The host sees a connection that ends before it began, and nothing of the reason.")
        .fix("Give the full path of the command, or put its folder on the PATH that the host has.");

    PROCESS_EXIT_NONZERO = warning("process-exit-nonzero").at_end()
        .finds("the server ended with an error")
        .why("It says that something went wrong, and a host that looks at the exit code shows the server as failed.")
        .fix("Look at its last lines on stderr, and let it end with exit code 0 when its stdin is closed.");

    PROCESS_STDOUT_CLOSED_EARLY = error("process-stdout-closed-early").of(SHUTDOWN)
        .finds("the server closed its stdout and lives on")
        .why("No answer can come any more, while the host may go on asking.")
        .fix("Let the server exit when it closes stdout, and look for code that closes or replaces it.");

    SHUTDOWN_EOF_IGNORED = warning("shutdown-eof-ignored").of(SHUTDOWN)
        .finds("the server lives on for seconds after its stdin is closed")
        .why("The host has to wait and to kill it, and a host that does not leaves it running for ever.")
        .fix("Let the server stop its work and exit as soon as it reads the end of stdin.");

    SHUTDOWN_SIGKILL = warning("shutdown-sigkill").of(SHUTDOWN)
        .finds("the server does not end at SIGTERM either")
        .why("It can only be killed, so that it loses whatever it had not written yet.")
        .fix("Handle SIGTERM, and pass it on where a shell or launcher stands between host and server.");

    SHUTDOWN_WRITES_AFTER_EOF = note("shutdown-writes-after-eof").of(SHUTDOWN)
        .finds("the server asks its client after its stdin was closed")
        .why("No answer can come any more, so that a server which waits for it does not end.")
        .fix("Ask nothing after the end of stdin, and give up what is still asked.");

    SURVIVORS_LEFT = note("survivors-left")
        .finds("processes that the server started outlive it")
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
    /// The exit, if that is on record.
    exit: Option<Exit>,
    /// Whether it was told to end by any signal.
    is_signalled: bool,
    /// When it was first told to end by SIGTERM.
    terminated: Option<Moment>,
    /// The rules that were told; each is told once.
    told: Vec<&'static str>,
}

#[derive(Debug)]
struct Exit {
    code: Option<i32>,
    signal: Option<String>,
    /// Whether its input was open until then.
    input_open: bool,
}

impl Ending {
    pub(super) fn passed(&mut self, context: &Context<'_>) {
        if self.exit.is_some() {
            return;
        }
        let (ends, now) = (&context.session.ends, context.now);
        self.once(eof_ignored(ends, now, PATIENCE_NS), context);
        self.once(stdout_closed(ends, now), context);
        let alive = self.terminated.map(|t| now.ns_since(t));
        let alive = alive.filter(|ns| *ns >= PATIENCE_NS).map(duration);
        let alive = alive.map(|lasted| format!("alive {lasted} after the signal"));
        self.once(alive.map(|detail| SHUTDOWN_SIGKILL.found(detail)), context);
    }

    pub(super) fn event(&mut self, event: &Event, context: &Context<'_>) {
        let (ends, findings) = (&context.session.ends, context.findings);
        match &event.kind {
            EventKind::Signal { signal, .. } if ENDS.contains(&&**signal) => {
                self.is_signalled = true;
                if signal == "SIGTERM" {
                    self.terminated.get_or_insert(event.t);
                    if self.exit.is_none() {
                        // Somebody has waited long enough for the end of stdin to be noticed.
                        self.once(eof_ignored(ends, event.t, SIGNALLED_NS), context);
                    }
                }
            }
            EventKind::Exit { code, signal, .. } => {
                let is_told = ends.c2s.is_some_and(|end| end.by == Side::Host);
                let is_killed = signal.as_deref() == Some("SIGKILL");
                if is_killed && (is_told || self.terminated.is_some()) {
                    self.once(Some(SHUTDOWN_SIGKILL.found("ended by SIGKILL")), context);
                }
                // A host that closes because the server has closed tells nobody to end.
                let closed = ends.s2c.filter(|end| end.by == Side::Server);
                let went_first =
                    closed.is_some_and(|its| ends.c2s.is_some_and(|end| its.t <= end.t));
                self.exit.get_or_insert(Exit {
                    code: *code,
                    signal: signal.clone(),
                    input_open: !is_told || went_first,
                });
            }
            EventKind::SpawnFailed { message, .. } => {
                findings.push(PROCESS_NOT_STARTED.found(quote::text(message)));
            }
            EventKind::Survivors { processes } if !processes.is_empty() => {
                findings.push(SURVIVORS_LEFT.found(named(processes)));
            }
            _ => {}
        }
    }

    pub(super) fn finish(&mut self, end: &[Observation], context: &Context<'_>) {
        let Some(exit) = self.exit.take() else {
            return;
        };
        // What a crash has lost is told at the requests, and a server that is ended by a signal may
        // say so in any way.
        let is_loss = |one: &Observation| {
            one.kind == Observed::Lost && one.direction == Direction::ClientToServer
        };
        let is_told = exit.input_open && end.iter().any(is_loss);
        let is_killed = self.is_signalled || self.told.contains(&SHUTDOWN_SIGKILL.id);
        let how = match (exit.code, &exit.signal) {
            _ if is_told || is_killed => return,
            (_, Some(signal)) => format!("ended by {}", quote::text(signal)),
            (Some(code), None) if code != 0 => format!("exit code {code}"),
            _ => return,
        };
        let when = if exit.input_open {
            "while its stdin was open"
        } else {
            "after its stdin was closed"
        };
        let detail = format!("{how}, {when}");
        context.findings.push(PROCESS_EXIT_NONZERO.found(detail));
    }

    /// Puts the finding in, unless its rule was told before.
    fn once(&mut self, finding: Option<Finding>, context: &Context<'_>) {
        if let Some(finding) = finding.filter(|finding| !self.told.contains(&finding.rule.id)) {
            self.told.push(finding.rule.id);
            context.findings.push(finding);
        }
    }
}

/// A server that lives on after the end of its stdin, for `patience_ns` at least.
pub(super) fn eof_ignored(ends: &Ends, now: Moment, patience_ns: u64) -> Option<Finding> {
    let closed = ends.c2s.filter(|end| end.by == Side::Host)?;
    let ns = now.ns_since(closed.t);
    let detail = format!("alive {} after the end of stdin", duration(ns));
    (ns >= patience_ns).then(|| SHUTDOWN_EOF_IGNORED.found(detail))
}

/// A server that lives on after it closed its stdout, to which it was not asked.
pub(super) fn stdout_closed(ends: &Ends, now: Moment) -> Option<Finding> {
    let closed = ends.s2c.filter(|end| end.by == Side::Server)?;
    let was_asked = ends.c2s.is_some_and(|end| end.t <= closed.t);
    let ns = now.ns_since(closed.t);
    let detail = format!("alive {} after it closed stdout", duration(ns));
    (ns >= PATIENCE_NS && !was_asked).then(|| PROCESS_STDOUT_CLOSED_EARLY.found(detail))
}

/// A request of the server that comes after the end of its input.
pub(super) fn request_after_eof(part: &Part<'_>) {
    let is_request = matches!(part.message.body, Body::Request(_));
    let from_server = part.direction() == Direction::ServerToClient;
    let ends = &part.seen.session.ends;
    let closed = ends.c2s.filter(|end| end.by == Side::Host);
    let t = part.seen.head.t_first;
    if let Some(closed) = closed.filter(|closed| is_request && from_server && t > closed.t) {
        let after = duration(t.ns_since(closed.t));
        let method = quote::text(part.method().unwrap_or_default());
        let detail = format!("{method}, {after} after the end of stdin");
        part.tell(&SHUTDOWN_WRITES_AFTER_EOF, detail);
    }
}

fn named(processes: &[ProcessName]) -> String {
    let name = |process: &ProcessName| match &*process.name {
        "" => format!("pid {}", process.pid),
        name => format!("{} (pid {})", quote::text(name), process.pid),
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

const SECOND_NS: u64 = 1_000_000_000;

/// A pipe that is full for less is ordinary back-pressure.
const UNDRAINED_NS: u64 = 1_000_000_000;

/// A pipe that has been full for so long is told before it is drained, if it ever is.
const STILL_UNDRAINED_NS: u64 = 10_000_000_000;

/// Floods on stderr, and writes that hang because somebody does not read.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    /// A second, and the bytes of stderr that came in it.
    burst: (u64, u64),
    told_burst: bool,
    /// Writes that hang, by stream: since when, how many bytes wait, whether that was told.
    stalls: [Option<(Moment, u64, bool)>; StreamId::STDIO.len()],
}

impl Pipes {
    pub(super) fn stderr(&mut self, head: &FrameHead, findings: &Findings) {
        let second = head.t_last.0 / SECOND_NS;
        if second != self.burst.0 {
            self.burst = (second, 0);
        }
        self.burst.1 += head.size;
        let bytes = self.burst.1;
        if bytes > BURST && !std::mem::replace(&mut self.told_burst, true) {
            let detail = format!("{} KiB within a second", bytes >> 10);
            findings.push(STDERR_BURST.at(head.seq, detail));
        }
    }

    pub(super) fn event(&mut self, event: &Event, findings: &Findings) {
        let (stream, began) = match event.kind {
            EventKind::StallBegan { stream, bytes } => (stream, Some((event.t, bytes, false))),
            EventKind::StallEnded { stream, .. } => (stream, None),
            _ => return,
        };
        let Some(stall) = self.stalls.get_mut(stream.index()) else {
            return;
        };
        let ended = std::mem::replace(stall, began);
        if let EventKind::StallEnded { lasted_ns, .. } = event.kind
            && let Some((_, bytes, false)) = ended.filter(|_| lasted_ns >= UNDRAINED_NS)
        {
            findings.extend(undrained(stream, lasted_ns, bytes));
        }
    }

    pub(super) fn passed(&mut self, context: &Context<'_>) {
        self.tell(context, STILL_UNDRAINED_NS);
    }

    pub(super) fn finish(&mut self, context: &Context<'_>) {
        self.tell(context, UNDRAINED_NS);
    }

    /// Tells the stalls that have lasted for `from_ns`, each once.
    fn tell(&mut self, context: &Context<'_>, from_ns: u64) {
        for (stall, stream) in self.stalls.iter_mut().zip(StreamId::STDIO) {
            if let Some((began, bytes, told @ false)) = stall
                && let ns = context.now.ns_since(*began)
                && ns >= from_ns
            {
                *told = true;
                context.findings.extend(undrained(stream, ns, *bytes));
            }
        }
    }
}

fn undrained(stream: StreamId, ns: u64, bytes: u64) -> Option<Finding> {
    let (rule, reader): (&'static Rule, _) = match stream {
        StreamId::STDERR => (&STDERR_UNDRAINED, "host"),
        StreamId::S2C => (&STDOUT_UNDRAINED, "host"),
        StreamId::C2S => (&STDIN_UNDRAINED, "server"),
        _ => return None,
    };
    let ns = duration(ns);
    let detail = format!("the {reader} read nothing for {ns} while {bytes} bytes waited");
    Some(rule.found(detail))
}
