//! The main thread: what comes in, in its order, and all that it leads to.

use super::behind::Behind;
use super::lines::{Line, Lines};
use super::output::{Gone, Output};
use super::{How, Manner, Notice};
use crate::mock::Server;
use crate::mock::reel::Reel;
use crate::mock::server::Action;
use mcpreel_capture::process::ending::signal_name;
use mcpreel_capture::process::signals::{Arrivals, SCHEDULED};
use mcpreel_capture::tap::Tap;
use mcpreel_store::record::Ending;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use nix::sys::signal::Signal;
use signal_hook::low_level::siginfo::Origin;
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};

/// The main thread's view of a running session.
pub struct Session<'a, R> {
    pub server: Server<R>,
    pub output: Output<'a>,
    pub lines: Lines,
    pub behind: Option<Behind>,
    pub tap: &'a Tap,
    pub arrivals: &'a Arrivals,
    pub notices: Receiver<Notice>,
    pub notify: SyncSender<Notice>,
    pub manner: &'a dyn Manner,
}

impl<R: Reel> Session<'_, R> {
    /// Serves until the session is over; returns how the process is to end.
    pub fn run(mut self) -> Ending {
        self.server.begin(self.now());
        let how = loop {
            if let Err(how) = self.settle() {
                break how;
            }
            if self.server.is_done() {
                break How::Input;
            }
            if let Err(how) = self.next() {
                break how;
            }
        };
        if let Some(behind) = self.behind.take() {
            let status = behind.end(matches!(how, How::Signal(_)));
            self.tell_behind(status);
        }
        let report = self.server.report();
        self.output.say(&self.manner.report(&report));
        self.tell_end(&how);
        self.manner.ending(&report, &how)
    }

    fn now(&self) -> Moment {
        self.tap.clock().now()
    }

    /// Does all that is to be done now.
    fn settle(&mut self) -> Result<(), How> {
        loop {
            self.server.tick(self.now());
            let actions = self.server.take();
            if actions.is_empty() && self.server.due().is_none_or(|due| due > self.now()) {
                return Ok(());
            }
            for action in actions {
                self.perform(action)?;
            }
        }
    }

    fn perform(&mut self, action: Action) -> Result<(), How> {
        match action {
            Action::Write(bytes) => self.output.write(&bytes).map_err(|gone| match gone {
                Gone::Unread => How::Unread,
                Gone::Interrupted => self.interrupted(),
            })?,
            Action::Stderr(line) => self.output.say_raw(&line),
            Action::Say(text) => self.output.say(&self.manner.remark(&text)),
            Action::Start(command) => self.start_behind(&command),
            Action::Pass(bytes) => {
                let taken = self
                    .behind
                    .as_mut()
                    .is_some_and(|behind| behind.pass(bytes));
                if !taken {
                    self.server.behind_is_gone("it does not take its input");
                }
            }
            Action::End(ended) => return Err(How::Ended(ended)),
        }
        Ok(())
    }

    /// Starts the server behind us, and puts on record what came of it.
    fn start_behind(&mut self, command: &[OsString]) {
        match Behind::start(command, &self.notify) {
            Ok(behind) => {
                let words = command.iter().map(|word| word.to_string_lossy());
                self.tap.event(EventKind::BehindSpawned {
                    pid: behind.pid(),
                    argv: words.map(Cow::into_owned).collect(),
                });
                self.behind = Some(behind);
            }
            Err(error) => {
                let message = error.to_string();
                self.server.behind_is_gone(&message);
                self.tap.event(EventKind::BehindFailed { message });
            }
        }
    }

    fn tell_behind(&self, status: Option<ExitStatus>) {
        if let Some(status) = status {
            self.tap.event(EventKind::BehindExit {
                code: status.code(),
                signal: status.signal().map(signal_name),
                passed: self.server.passed_on(),
            });
        }
    }

    /// Waits for the next notice, or for the next thing that is due.
    fn next(&mut self) -> Result<(), How> {
        let notice = match self.server.due() {
            None => self
                .notices
                .recv()
                .map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => self.notices.recv_timeout(due.since(self.now())),
        };
        match notice {
            Ok(Notice::Input(bytes)) => self.input(&bytes)?,
            Ok(Notice::InputEnded) => {
                let rest = self.lines.rest();
                self.line(rest)?;
                self.server.end_of_input(self.now());
            }
            Ok(Notice::Signal(origin)) => return Err(self.signalled(&origin)),
            Ok(Notice::Behind(line)) => self.server.line_from_behind(&line),
            Ok(Notice::BehindSays(bytes)) => self.output.say_raw(&bytes),
            Ok(Notice::BehindSilent) => self.server.behind_is_gone("it has ended"),
            Ok(Notice::BehindExited) => {
                let status = self.behind.as_mut().and_then(Behind::ended);
                self.tell_behind(status);
            }
            Err(RecvTimeoutError::Timeout) => {}
            // We hold a sender ourselves.
            Err(RecvTimeoutError::Disconnected) => return Err(How::Input),
        }
        Ok(())
    }

    fn input(&mut self, bytes: &[u8]) -> Result<(), How> {
        let mut rest = bytes;
        while let Some((line, after)) = self.lines.push(rest) {
            rest = after;
            self.line(line)?;
        }
        Ok(())
    }

    /// A line; all that it leads to is done before the next.
    fn line(&mut self, line: Line) -> Result<(), How> {
        match line {
            Line::Nothing => return Ok(()),
            Line::Whole(line) => self.server.line(&line, self.now()),
            Line::TooLong => self.server.too_long(),
        }
        self.settle()
    }

    fn signalled(&self, origin: &Origin) -> How {
        self.arrivals.told(origin);
        let sender = origin.process.and_then(|it| u32::try_from(it.pid).ok());
        let signal = Signal::try_from(origin.signal);
        self.tap.event(EventKind::Signal {
            signal: signal.map_or_else(|_| origin.signal.to_string(), |it| it.as_str().to_owned()),
            sender,
            passed: Passed::NotNeeded,
        });
        How::Signal(origin.signal)
    }

    /// A signal has come while we were writing; which one, the thread says that waits for signals.
    fn interrupted(&self) -> How {
        let began = self.now();
        while self.now().since(began) < SCHEDULED {
            if let Ok(Notice::Signal(origin)) = self.notices.recv_timeout(SCHEDULED) {
                return self.signalled(&origin);
            }
        }
        How::Signal(Signal::SIGTERM as i32)
    }

    /// Puts on record who closed what.
    fn tell_end(&self, how: &How) {
        let by = match how {
            How::Unread => Closer::Reader,
            How::Input | How::Signal(_) | How::Ended(_) => Closer::Writer,
        };
        self.tap.event(EventKind::Eof {
            stream: StreamId::S2C,
            by,
        });
    }
}
