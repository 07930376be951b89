//! The server as a process: it is started, given what the director says, and listened to.
//!
//! ```text
//!  one thread, one poll:   stdin (when something waits) · stdout · stderr · signals
//!
//!    stdout ─read─▶ on record ─▶ lines ─▶ director ─▶ on record ─write─▶ stdin
//!    stderr ─read─▶ on record ─▶ its last lines
//! ```
//!
//! Nothing here blocks: a server that does not read cannot keep us from hearing what it says, and
//! the other way round. What is read is on record before it is used, what is sent before it is
//! written. Memory holds what the pipes hold, one line, and a page of the recording.

use super::calls::Tally;
use super::conclusion::Witness;
use super::director::{Deadly, Director, Past as _, Scene, Waits, Want};
use super::ending::{Ended, Stop};
use super::library::Library;
use super::pipes::{Pipes, Ready};
use crate::bind::Binder;
use crate::diff::Report;
use crate::lines::{Line, Lines, Tail};
use crate::signals::Signals;
use mcpreel_capture::gauge::Gauge;
use mcpreel_capture::process::spawn::SpawnError;
use mcpreel_capture::process::{exit_event, signal_name};
use mcpreel_capture::tap::{MAX_CHUNK, Tap};
use mcpreel_store::reader::{ReadError, Summary};
use mcpreel_store::record::Recorder;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{count, escape};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

/// So much may wait to be written before the walk stops: more would be memory for nothing.
const ROOM: usize = 128 * 1024;

/// So much is sent while lines are still to be heard that came with others: what waits longer finds
/// a server that has nothing to do.
const AT_ONCE: usize = 2048;

/// Steps of the walk between two looks at the pipes.
const STEPS: usize = 256;

/// How often somebody is told how far it is.
const TOLD: Duration = Duration::from_millis(100);

#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<OsString>,
    /// Its working directory; `None`: ours.
    pub dir: Option<PathBuf>,
}

/// Why the recorded command cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCommand {
    Unknown,
    /// Values in it are redacted, and were not supplied: which. Not escaped.
    Redacted(Vec<Box<str>>),
}

impl Command {
    /// The recorded command, in the folder where it was as long as that is there.
    pub fn recorded(summary: &Summary, binder: &Binder) -> Result<Self, NoCommand> {
        let context = &summary.context;
        if context.argv.is_empty() {
            return Err(NoCommand::Unknown);
        }
        let words = context.argv.iter().map(|word| binder.word(word));
        let words: Vec<_> = words
            .collect::<Result<_, _>>()
            .map_err(NoCommand::Redacted)?;
        let dir = context.cwd.as_deref().map(|dir| binder.word(dir));
        let dir = dir.and_then(Result::ok).map(PathBuf::from);
        Ok(Self {
            words: words.into_iter().map(OsString::from).collect(),
            dir: dir.filter(|dir| dir.is_dir()),
        })
    }
}

#[derive(Clone, Debug)]
pub struct Progress<'a> {
    pub tally: &'a Tally,
    /// Requests of the recording.
    pub requests: u64,
    pub waits: Waits,
}

impl Progress<'_> {
    pub fn in_words(&self) -> String {
        let waits = self.waits.in_words();
        let waits = waits.map_or_else(String::new, |waits| format!(", waits for {waits}"));
        format!(
            "{} of {} sent{waits}",
            count(self.tally.sent),
            count(self.requests)
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The recording that is replayed could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The pipes to the server could not be used.
    #[error("the pipes to the server cannot be used")]
    Pipe(#[from] std::io::Error),
}

#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    pub tally: Tally,
    pub requests: u64,
    /// The signal by which the user stopped it.
    pub interrupted: Option<i32>,
}

/// Starts the server, plays `library` to it, and puts on record with `recorder` what is said.
pub fn run(
    command: &Command,
    library: Library<'_>,
    director: Director,
    recorder: &mut Recorder,
    signals: &Signals,
    told: &mut dyn FnMut(&Progress<'_>),
) -> Result<Outcome, TargetError> {
    let tap = recorder.tap();
    let (pipes, child) = match Pipes::start(command) {
        Ok(started) => started,
        Err(error) => return not_started(&error, &library, director, recorder),
    };
    tap.event(EventKind::Spawned { pid: child.id() });
    recorder.start();
    let target = Target {
        clock: tap.clock(),
        gauge: Arc::clone(&recorder.gauges()[0]),
        tap,
        pipes,
        child,
        library,
        director,
        signals,
        buffer: vec![0; MAX_CHUNK],
        lines: Lines::default(),
        stderr: Tail::default(),
        exit: None,
        gone: Vec::new(),
        told_at: Moment(0),
    };
    target.play(told)
}

/// What comes of it where there is no server.
fn not_started(
    error: &SpawnError,
    library: &Library<'_>,
    director: Director,
    recorder: &mut Recorder,
) -> Result<Outcome, TargetError> {
    let tap = recorder.tap();
    let (exit_code, message) = (error.exit_code(), error.to_string());
    let (report, tally) = director.not_started(escape(&message).into());
    tap.event(EventKind::SpawnFailed { exit_code, message });
    tap.end(None);
    recorder.start();
    Ok(Outcome {
        report,
        tally,
        requests: library.requests()?,
        interrupted: None,
    })
}

/// One server, driven: its pipes, the director, and the new recording, in one loop.
struct Target<'a> {
    clock: Clock,
    gauge: Arc<Gauge>,
    tap: Arc<Tap>,
    pipes: Pipes,
    child: Child,
    library: Library<'a>,
    director: Director,
    signals: &'a Signals,
    buffer: Vec<u8>,
    lines: Lines,
    stderr: Tail,
    exit: Option<ExitStatus>,
    /// What has ended, and was not said yet.
    gone: Vec<Gone>,
    told_at: Moment,
}

/// Something of the server that has ended.
enum Gone {
    Output,
    Process(Ended),
}

impl Target<'_> {
    fn play(mut self, told: &mut dyn FnMut(&Progress<'_>)) -> Result<Outcome, TargetError> {
        let requests = self.library.requests()?;
        let played = self.until_over(requests, told);
        if self.exit.is_none() {
            // Nobody relays to it any more, whatever went wrong.
            let _ = self.child.kill();
            self.exit = self.child.wait().ok();
            if let Some(status) = self.exit {
                self.tap.event(exit_event(status));
            }
        }
        self.tap.end(self.exit.map(exit_event));
        played?;
        let interrupted = self.signals.first();
        let witness = Witness {
            stderr: self.stderr.lines(),
            requests,
            now: self.clock.now(),
            is_part: self.library.is_part(),
        };
        let (report, tally) = self.director.finish(&witness);
        Ok(Outcome {
            report,
            tally,
            requests,
            interrupted,
        })
    }

    fn until_over(
        &mut self,
        requests: u64,
        told: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<(), TargetError> {
        loop {
            self.walk()?;
            self.act();
            self.say_goodbye();
            let timeout = match self.director.want() {
                Want::Nothing => return Ok(()),
                Want::Step if self.has_room() => Some(Duration::ZERO),
                Want::Step => None,
                Want::Wait(until) => until.map(|until| until.since(self.clock.now())),
            };
            self.tell(requests, told);
            let timeout = timeout.unwrap_or(TOLD).min(TOLD);
            let ready = self.pipes.wait(&self.signals.wake, timeout)?;
            self.hear(&ready)?;
            let now = self.clock.now();
            let scene = &mut Scene {
                now,
                past: &mut self.library,
            };
            self.director.tick(scene);
        }
    }

    /// Says what has ended, after all that was heard before has been gone on from: who has said
    /// everything may go.
    fn say_goodbye(&mut self) {
        if self.director.want() == Want::Step && self.has_room() {
            return;
        }
        let now = self.clock.now();
        for gone in self.gone.drain(..) {
            match gone {
                Gone::Output => self.director.output_ended(now),
                Gone::Process(ended) => self.director.exited(ended, now),
            }
        }
    }

    fn tell(&mut self, requests: u64, told: &mut dyn FnMut(&Progress<'_>)) {
        let now = self.clock.now();
        if self.told_at + TOLD <= now {
            self.told_at = now;
            told(&Progress {
                tally: self.director.tally(),
                requests,
                waits: self.director.waits(now),
            });
        }
    }

    fn has_room(&self) -> bool {
        self.director.unsent() < ROOM && self.pipes.waiting() == 0
    }

    fn walk(&mut self) -> Result<(), TargetError> {
        let mut steps = self.steps();
        self.offer(&mut steps)
    }

    /// Offers recorded frames as long as they are wanted, and as there is room for what they want.
    fn offer(&mut self, steps: &mut usize) -> Result<(), TargetError> {
        while *steps > 0 && self.director.want() == Want::Step && self.director.unsent() < ROOM {
            *steps -= 1;
            let step = self.library.next_step()?;
            let scene = &mut Scene {
                now: self.clock.now(),
                past: &mut self.library,
            };
            self.director.offer(step, scene);
        }
        Ok(())
    }

    /// How many steps the walk may take before the pipes are looked at again.
    fn steps(&self) -> usize {
        if self.pipes.waiting() == 0 { STEPS } else { 0 }
    }

    fn act(&mut self) {
        let action = self.director.take_action();
        let now = self.clock.now();
        if !action.send.is_empty() {
            self.send(&action.send, now);
        }
        if action.close {
            self.close_input();
        }
        if let Some(signal) = action.signal
            && self.exit.is_none()
        {
            let signal = match signal {
                Deadly::Term => Signal::SIGTERM,
                Deadly::Kill => Signal::SIGKILL,
            };
            let pid = i32::try_from(self.child.id()).map(Pid::from_raw);
            // It may have ended just now; then it needs no signal.
            let _ = pid.map(|pid| kill(pid, signal));
            let message = format!("the server was sent {} by the replay", signal.as_str());
            self.tap.event(EventKind::Warning { message });
        }
    }

    fn hear(&mut self, ready: &[Ready]) -> Result<(), TargetError> {
        for ready in ready {
            match ready {
                Ready::Signals => self.signals.clear(),
                Ready::Stdin => self.write(self.clock.now()),
                Ready::Stdout => self.read_stdout()?,
                Ready::Stderr => self.read_stderr(),
            }
        }
        if let Some(signal) = self.signals.take() {
            let now = self.clock.now();
            self.tap.event(EventKind::Signal {
                signal: signal_name(signal),
                sender: None,
                passed: Passed::NotNeeded,
            });
            self.director.stop(Stop::Interrupted(signal), now);
        }
        // Its end is a signal as well; in vain it is asked for only where there is time to.
        if ready.is_empty() || ready.contains(&Ready::Signals) {
            self.reap()?;
        }
        Ok(())
    }

    fn read_stdout(&mut self) -> Result<(), TargetError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut lines = std::mem::take(&mut self.lines);
        let read = self.pipes.read_stdout(&mut buffer);
        let (now, mut steps, mut went) = (self.clock.now(), self.steps(), Ok(()));
        if let Some(bytes) = read {
            let chunk = &buffer[..bytes];
            self.tap.chunk(StreamId::S2C, now, chunk);
            lines.push(chunk, |line| {
                let gone_on = self.heard(line, now, &mut steps);
                went = std::mem::replace(&mut went, Ok(())).and(gone_on);
            });
        } else {
            self.tap.event(EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Writer,
            });
            lines.rest(|line| went = self.heard(line, now, &mut steps));
            self.gone.push(Gone::Output);
        }
        (self.buffer, self.lines) = (buffer, lines);
        went
    }

    /// A line came. Goes on after each as if it had come alone, so that what is recorded next is
    /// known when the next line is heard.
    fn heard(&mut self, line: Line<'_>, now: Moment, steps: &mut usize) -> Result<(), TargetError> {
        let scene = &mut Scene {
            now,
            past: &mut self.library,
        };
        match line {
            Line::Whole(line) => self.director.arrive(line, scene),
            Line::TooLong(outline) => self.director.arrive_outline(outline, scene),
        }
        self.offer(steps)?;
        if self.director.unsent() >= AT_ONCE {
            self.act();
            *steps = (*steps).min(self.steps());
        }
        Ok(())
    }

    fn read_stderr(&mut self) {
        let now = self.clock.now();
        if let Some(bytes) = self.pipes.read_stderr(&mut self.buffer) {
            let chunk = &self.buffer[..bytes];
            self.tap.chunk(StreamId::STDERR, now, chunk);
            self.stderr.push(chunk);
        } else {
            self.tap.event(EventKind::Eof {
                stream: StreamId::STDERR,
                by: Closer::Writer,
            });
        }
    }

    fn reap(&mut self) -> Result<(), TargetError> {
        if self.exit.is_some() {
            return Ok(());
        }
        if let Some(status) = self.child.try_wait()? {
            self.exit = Some(status);
            self.tap.event(exit_event(status));
            let ended = Ended {
                code: status.code(),
                signal: status.signal().map(|signal| signal_name(signal).into()),
            };
            self.gone.push(Gone::Process(ended));
        }
        Ok(())
    }
}

/// What the server is sent: on record first, then written as the server takes it.
impl Target<'_> {
    /// Puts bytes on record, and writes what the server takes of them.
    fn send(&mut self, bytes: &[u8], now: Moment) {
        if !self.pipes.is_open() {
            return;
        }
        for chunk in bytes.chunks(MAX_CHUNK) {
            self.tap.chunk(StreamId::C2S, now, chunk);
        }
        self.pipes.queue(bytes);
        self.write(now);
    }

    fn write(&mut self, now: Moment) {
        let waited = self.pipes.waiting();
        if self.pipes.write().is_err() {
            self.tap.event(EventKind::Undelivered {
                stream: StreamId::C2S,
                bytes: self.pipes.waiting() as u64,
            });
            self.pipes.close_input();
            self.tap.event(EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Reader,
            });
            self.director.input_refused(now);
        }
        let waits = self.pipes.waiting();
        if waits < waited {
            self.director.unread(0, now);
        }
        self.director.unread(waits as u64, now);
        match (waits, self.pipes.stalls) {
            (0, true) => self.gauge.end_write(&self.tap),
            (1.., false) => self.gauge.begin_write(now, waits),
            (1.., true) => self.gauge.left(waits),
            (0, false) => {}
        }
        self.pipes.stalls = waits > 0;
    }

    fn close_input(&mut self) {
        if self.pipes.is_open() {
            let waits = self.pipes.waiting();
            if waits > 0 {
                self.tap.event(EventKind::Undelivered {
                    stream: StreamId::C2S,
                    bytes: waits as u64,
                });
                self.gauge.end_write(&self.tap);
            }
            self.pipes.close_input();
            self.tap.event(EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer,
            });
        }
    }
}
