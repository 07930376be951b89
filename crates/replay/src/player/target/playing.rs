//! One server, driven: its pipes, the director, and what is put on record, in one loop.

use super::pipes::{Pipes, Ready};
use super::{Library, Outcome, Progress, Signals, TargetError};
use crate::lines::{Line, Lines, Tail};
use crate::player::director::{Deadly, Director, Ended, Past as _, Scene, Stop, Want, Witness};
use mcpreel_capture::gauge::Gauge;
use mcpreel_capture::process::ending::{exit_event, signal_name};
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::process::ExitStatusExt as _;
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

pub(super) struct Target<'a> {
    pub clock: Clock,
    pub gauge: Arc<Gauge>,
    pub tap: Arc<Tap>,
    pub pipes: Pipes,
    pub child: Child,
    pub library: Library<'a>,
    pub director: Director,
    pub signals: &'a Signals,
    pub buffer: Vec<u8>,
    pub lines: Lines,
    pub stderr: Tail,
    pub exit: Option<ExitStatus>,
    /// What has ended, and was not said yet.
    pub gone: Vec<Gone>,
    pub told_at: Moment,
}

/// Something of the server that has ended.
pub(super) enum Gone {
    Output,
    Process(Ended),
}

impl Target<'_> {
    pub fn play(mut self, told: &mut dyn FnMut(&Progress<'_>)) -> Result<Outcome, TargetError> {
        let requests = self.library.requests()?;
        let to_make = self.library.requests_to_make(requests)?;
        let played = self.until_over(to_make, told);
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
