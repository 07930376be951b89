//! Pipes, threads and signals around the server, and the recording of the session.
//!
//! ```text
//!  fd 0 ─▶ input thread: on record ─┐
//!  signals thread ──────────────────┼─▶ bounded queue ─▶ main thread: lines ─▶ server ─▶ actions
//!  server behind us: two threads ───┘                          │ on record, then written
//!                                                              ├─▶ fd 1 (waits for the host as any
//!                                                              │         server does; a signal ends it)
//!                                                              └─▶ fd 2 (what nobody reads is dropped)
//! ```
//!
//! Everything is put on record before it is used or written. A host that does not read its answers
//! holds us up, so that nothing is read from it either: no queue grows.

mod behind;
mod input;
mod lines;
mod output;

use super::server::{Action, Ended};
use super::{Report, Server};
use crate::capture::process::ending::own_exit_event;
use crate::capture::process::signals::{self, Arrivals, Caught, SCHEDULED};
use crate::capture::tap::Tap;
use crate::record::{self, Ending, Recorder};
use crate::replay::mock::reel::Reel;
use crate::trace::clock::{Clock, Moment};
use crate::trace::event::{Closer, EventKind, Passed};
use crate::trace::frame::StreamId;
use behind::Behind;
use lines::{Line, Lines};
use nix::sys::signal::Signal;
use output::{Gone, Output};
use signal_hook::low_level::siginfo::Origin;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

/// Notices that wait for the main thread: each holds at most as much as is read at once.
const NOTICES: usize = 16;

/// What a thread tells the main thread.
enum Notice {
    /// Bytes of the host.
    Input(Vec<u8>),
    InputEnded,
    Signal(Origin),
    /// A line of the server behind us.
    Behind(Vec<u8>),
    /// Bytes of its stderr.
    BehindSays(Vec<u8>),
    BehindEnded,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// The host closed our input.
    Input,
    /// The host no longer reads.
    Unread,
    /// By a signal.
    Signal(i32),
    /// By ourselves.
    Ended(Ended),
}

/// How whoever serves speaks, and how it ends.
pub trait Manner {
    /// A remark as a line for stderr.
    fn remark(&self, text: &str) -> String;
    /// What came of the session, as lines for stderr.
    fn report(&self, report: &Report) -> String;
    /// How the process ends.
    fn ending(&self, report: &Report, how: &How) -> Ending;
}

/// The signals that end a session.
pub struct Signals {
    caught: Caught,
    arrivals: Arrivals,
}

impl Signals {
    /// From now on they do not end the process.
    pub fn catch() -> io::Result<Self> {
        let (caught, arrivals) = signals::catch()?;
        Ok(Self { caught, arrivals })
    }
}

/// Serves `server`'s recording between our standard streams until the session is over; records the
/// session as `record` says.
pub fn serve<R: Reel>(
    server: Server<R>,
    Signals { caught, arrivals }: Signals,
    record: &record::Options,
    manner: &dyn Manner,
) -> io::Result<Ending> {
    signals::survive_large_files();
    let mut recorder = Recorder::create(record, Clock::start());
    let tap = recorder.tap();
    for message in &record.remarks {
        let message = message.clone();
        tap.event(EventKind::Warning { message });
    }
    recorder.warn_of_network();
    let pid = std::process::id();
    tap.event(EventKind::Spawned { pid });
    recorder.start();
    let (notify, notices) = sync_channel(NOTICES);
    start_threads(&tap, caught, &notify)?;
    let ending = Session {
        server,
        output: Output::new(&tap, &arrivals),
        lines: Lines::default(),
        behind: None,
        tap: &tap,
        arrivals: &arrivals,
        notices,
        notify,
        manner,
    }
    .run();
    let ended = own_exit_event(status(ending));
    tap.event(ended.clone());
    tap.end(Some(ended));
    recorder.finish();
    Ok(ending)
}

fn start_threads(
    tap: &Arc<Tap>,
    mut caught: Caught,
    notify: &SyncSender<Notice>,
) -> io::Result<()> {
    let tap = Arc::clone(tap);
    start("input", notify, move |notify| {
        input::read_all(&tap, &notify);
    })?;
    start("signals", notify, move |notify| {
        for origin in caught.forever() {
            drop(notify.send(Notice::Signal(origin)));
        }
    })
}

fn start(
    name: &str,
    notify: &SyncSender<Notice>,
    body: impl FnOnce(SyncSender<Notice>) + Send + 'static,
) -> io::Result<()> {
    let notify = notify.clone();
    let builder = thread::Builder::new().name(name.into());
    builder.spawn(move || body(notify)).map(drop)
}

/// The main thread's view of a running session.
struct Session<'a, R> {
    server: Server<R>,
    output: Output<'a>,
    lines: Lines,
    behind: Option<Behind>,
    tap: &'a Tap,
    arrivals: &'a Arrivals,
    notices: Receiver<Notice>,
    notify: SyncSender<Notice>,
    manner: &'a dyn Manner,
}

impl<R: Reel> Session<'_, R> {
    fn run(mut self) -> Ending {
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
            behind.end(matches!(how, How::Signal(_)));
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
            Action::Start(command) => match Behind::start(&command, &self.notify) {
                Ok(behind) => self.behind = Some(behind),
                Err(error) => self.server.behind_is_gone(&error.to_string()),
            },
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
            Ok(Notice::BehindEnded) => self.server.behind_is_gone("it has ended"),
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

/// The end as a process has it.
fn status(ending: Ending) -> ExitStatus {
    // As `wait` gives it: the code in the second byte, or the signal in the first.
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => i32::from(code) << 8,
        Ending::Signal(signal) => signal & 0x7f,
    })
}
