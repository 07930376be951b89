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

mod lines;
mod past;
mod pipes;
mod signals;

pub use past::{Library, Wanted};
pub use signals::Signals;

use super::director::{Deadly, Director, Ended, Scene, Tally, Waits, Want, Witness};
use crate::capture::gauge::Gauge;
use crate::capture::process::ending::{exit_event, signal_name};
use crate::capture::process::spawn::SpawnError;
use crate::capture::tap::Tap;
use crate::record::Recorder;
use crate::replay::report::Report;
use crate::store::reader::ReadError;
use crate::trace::clock::{Clock, Moment};
use crate::trace::event::{Closer, EventKind};
use crate::trace::frame::StreamId;
use lines::{Line, Lines, Tail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipes::{Pipes, Ready};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

/// So much may wait to be written before the walk stops: more would be memory for nothing.
const ROOM: usize = 128 * 1024;

/// Steps of the walk between two looks at the pipes.
const STEPS: usize = 256;

/// How often somebody is told how far it is.
const TOLD: Duration = Duration::from_millis(100);

/// What is started, and where.
#[derive(Clone, Debug)]
pub struct Command {
    /// Program and arguments.
    pub words: Vec<OsString>,
    /// Its working directory; `None`: ours.
    pub dir: Option<PathBuf>,
}

/// How far a replay is.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// What was done.
    pub tally: &'a Tally,
    /// Requests in the recording.
    pub requests: u64,
    /// What is waited for.
    pub waits: Waits,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The server could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The recording that is replayed could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The pipes to the server could not be used.
    #[error("the pipes to the server cannot be used")]
    Pipe(#[from] std::io::Error),
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What differs.
    pub report: Report,
    /// What was done.
    pub tally: Tally,
    /// Requests in the recording.
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
    let started = Pipes::start(command);
    let (pipes, child) = match started {
        Ok(started) => started,
        Err(error) => {
            let (exit_code, message) = (error.exit_code(), error.to_string());
            tap.event(EventKind::SpawnFailed { exit_code, message });
            tap.end(None);
            recorder.start();
            return Err(error.into());
        }
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
        lines: Lines::default(),
        stderr: Tail::default(),
        exit: None,
        told_at: Moment(0),
    };
    target.play(told)
}

/// A server that is being driven.
struct Target<'a> {
    clock: Clock,
    gauge: Arc<Gauge>,
    tap: Arc<Tap>,
    pipes: Pipes,
    child: Child,
    library: Library<'a>,
    director: Director,
    signals: &'a Signals,
    lines: Lines,
    stderr: Tail,
    exit: Option<ExitStatus>,
    told_at: Moment,
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
            self.act()?;
            let timeout = match self.director.want() {
                Want::Nothing => return Ok(()),
                Want::Step if self.has_room() => Some(Duration::ZERO),
                Want::Step => None,
                Want::Wait(until) => until.map(|until| until.since(self.clock.now())),
            };
            let due = self.told_at + TOLD;
            let now = self.clock.now();
            if due <= now {
                self.told_at = now;
                told(&Progress {
                    tally: self.director.tally(),
                    requests,
                    waits: self.director.waits(now),
                });
            }
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

    fn has_room(&self) -> bool {
        self.director.unsent() < ROOM && self.pipes.waiting() == 0
    }

    /// Offers recorded frames, as long as there is room for what they want.
    fn walk(&mut self) -> Result<(), TargetError> {
        for _ in 0..STEPS {
            if self.director.want() != Want::Step || !self.has_room() {
                break;
            }
            let step = self.library.next_step()?;
            let scene = &mut Scene {
                now: self.clock.now(),
                past: &mut self.library,
            };
            self.director.offer(step, scene);
        }
        Ok(())
    }

    /// Does what the director says.
    fn act(&mut self) -> Result<(), TargetError> {
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
        Ok(())
    }

    /// Puts bytes on record, and writes what the server takes of them.
    fn send(&mut self, bytes: &[u8], now: Moment) {
        if !self.pipes.is_open() {
            return;
        }
        for chunk in bytes.chunks(crate::capture::tap::MAX_CHUNK) {
            self.tap.chunk(StreamId::C2S, now, chunk);
        }
        self.pipes.queue(bytes);
        self.write(now);
    }

    fn write(&mut self, now: Moment) {
        let waited = self.pipes.waiting();
        match self.pipes.write() {
            Ok(()) => {}
            Err(_) => {
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

    /// Takes what the pipes have.
    fn hear(&mut self, ready: &Ready) -> Result<(), TargetError> {
        if ready.stdin {
            let now = self.clock.now();
            self.write(now);
        }
        if ready.stdout {
            self.read_stdout();
        }
        if ready.stderr {
            self.read_stderr();
        }
        if ready.signals {
            self.signals.clear();
        }
        if let Some(signal) = self.signals.take() {
            let now = self.clock.now();
            self.tap.event(EventKind::Signal {
                signal: signal_name(signal),
                sender: None,
                passed: crate::trace::event::Passed::NotNeeded,
            });
            self.director.stop(super::Stop::Interrupted(signal), now);
        }
        self.reap()
    }

    fn read_stdout(&mut self) {
        let (clock, tap) = (self.clock, &self.tap);
        let Some(chunk) = self.pipes.read_stdout() else {
            self.tap.event(EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Writer,
            });
            let now = clock.now();
            let scene = &mut Scene {
                now,
                past: &mut self.library,
            };
            let director = &mut self.director;
            self.lines.rest(|line| hear(director, line, scene));
            return self.director.output_ended(now);
        };
        let now = clock.now();
        tap.chunk(StreamId::S2C, now, chunk);
        let scene = &mut Scene {
            now,
            past: &mut self.library,
        };
        let director = &mut self.director;
        self.lines.push(chunk, |line| hear(director, line, scene));
    }

    fn read_stderr(&mut self) {
        let now = self.clock.now();
        match self.pipes.read_stderr() {
            Some(chunk) => {
                self.tap.chunk(StreamId::STDERR, now, chunk);
                self.stderr.push(chunk);
            }
            None => self.tap.event(EventKind::Eof {
                stream: StreamId::STDERR,
                by: Closer::Writer,
            }),
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
            self.director.exited(ended, self.clock.now());
        }
        Ok(())
    }
}

fn hear(director: &mut Director, line: Line<'_>, scene: &mut Scene<'_>) {
    match line {
        Line::Whole(line) => director.arrive(line, scene),
        Line::Outline(outline) => director.arrive_outline(outline, scene),
    }
}
