//! Pipes, threads and signals around the server, and the recording of the session with the host.
//!
//! ```text
//!  fd 0 ─▶ input thread: on record ─┐
//!  signals thread ──────────────────┴─▶ bounded queue ─▶ main thread: lines ─▶ server ─▶ actions
//!                                                              │ on record, then written
//!                                                              ├─▶ fd 1 (waits for the host as any
//!                                                              │         server does; a signal ends it)
//!                                                              └─▶ fd 2 (what nobody reads is dropped)
//! ```
//!
//! Everything is put on record before it is used or written. A host that does not read its answers
//! holds the mock up, so that nothing is read from the host either: no queue grows.

use super::server::{Action, Ended};
use super::{Report, Server};
use crate::lines::{Line, Lines};
use mcpreel_capture::process::ending::own_exit_event;
use mcpreel_capture::process::signals::{self, Arrivals, Caught, SCHEDULED};
use mcpreel_capture::tap::Tap;
use mcpreel_store::record::{self, Ending, Recorder};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{read, write};
use signal_hook::low_level::siginfo::Origin;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

/// Notices that wait for the main thread: each holds at most as much as is read at once.
const NOTICES: usize = 16;

/// Bytes that are read at once; a record of the spool holds as many.
const AT_ONCE: usize = 64 * 1024;

/// A pipe that has room takes so many bytes without making us wait.
const WITHOUT_WAITING: usize = 4096;

/// How often a host that does not read makes us look whether a signal has come, milliseconds.
const LOOK: u8 = 100;

/// How long stderr may be without room before what is for it is dropped, milliseconds.
const PATIENCE: u16 = 1000;

/// What a thread tells the main thread.
enum Notice {
    Input(Vec<u8>),
    InputEnded,
    Signal(Origin),
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Input,
    /// The host no longer reads.
    Unread,
    Signal(i32),
    Ended(Ended),
}

/// How the command speaks, and how it ends.
pub trait Manner {
    fn remark(&self, text: &str) -> String;
    /// What came of the session, as lines for stderr.
    fn report(&self, report: &Report) -> String;
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
pub fn serve(
    server: Server,
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
    let mut output = Output::new(&tap, &arrivals);
    for message in &record.remarks {
        output.say(&manner.remark(message));
    }
    let ending = Session {
        server,
        output,
        lines: Lines::default(),
        tap: &tap,
        arrivals: &arrivals,
        notices,
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
        read_input(&tap, &notify);
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

fn status(ending: Ending) -> ExitStatus {
    // As `wait` gives it: the code in the second byte, or the signal in the first.
    ExitStatus::from_raw(match ending {
        Ending::Code(code) => i32::from(code) << 8,
        Ending::Signal(signal) => signal & 0x7f,
    })
}

/// Reads stdin until its end, or until nobody wants it any more.
fn read_input(tap: &Tap, notify: &SyncSender<Notice>) {
    let stdin = std::io::stdin();
    let mut buffer = vec![0; AT_ONCE];
    loop {
        match read(stdin.as_fd(), &mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                let t = tap.clock().now();
                tap.chunk(StreamId::C2S, t, &buffer[..count]);
                let notice = Notice::Input(buffer[..count].to_vec());
                if notify.send(notice).is_err() {
                    return;
                }
            }
            Err(Errno::EINTR) => {}
            // Hosts pass non-blocking descriptors; the flag is shared with them, so it stays.
            Err(Errno::EAGAIN) => {
                let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
                let _ = poll(&mut fds, PollTimeout::NONE);
            }
            Err(_) => break,
        }
    }
    tap.event(EventKind::Eof {
        stream: StreamId::C2S,
        by: Closer::Writer,
    });
    drop(notify.send(Notice::InputEnded));
}

/// The main thread's view of a running session.
struct Session<'a> {
    server: Server,
    output: Output<'a>,
    lines: Lines,
    tap: &'a Tap,
    arrivals: &'a Arrivals,
    notices: Receiver<Notice>,
    manner: &'a dyn Manner,
}

impl Session<'_> {
    /// Serves until the session is over; returns how the process is to end.
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
                let mut rest = Ok(());
                let mut lines = std::mem::take(&mut self.lines);
                lines.rest(|line| rest = self.line(line));
                rest?;
                self.server.end_of_input(self.now());
            }
            Ok(Notice::Signal(origin)) => return Err(self.signalled(&origin)),
            Err(RecvTimeoutError::Timeout) => {}
            // We hold a sender ourselves.
            Err(RecvTimeoutError::Disconnected) => return Err(How::Input),
        }
        Ok(())
    }

    /// Takes bytes of the host. All that a line leads to is done before the next.
    fn input(&mut self, bytes: &[u8]) -> Result<(), How> {
        let mut done = Ok(());
        let mut lines = std::mem::take(&mut self.lines);
        lines.push(bytes, |line| {
            if done.is_ok() {
                done = self.line(line);
            }
        });
        self.lines = lines;
        done
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), How> {
        match line {
            Line::Whole(line) => self.server.line(line, self.now()),
            Line::TooLong(_) => self.server.too_long(),
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

/// Why something could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gone {
    Unread,
    Interrupted,
}

/// What the host hears: on record, then written.
struct Output<'a> {
    tap: &'a Tap,
    arrivals: &'a Arrivals,
    /// Whether stderr takes nothing any more.
    mute: bool,
}

impl<'a> Output<'a> {
    fn new(tap: &'a Tap, arrivals: &'a Arrivals) -> Self {
        Self {
            tap,
            arrivals,
            mute: false,
        }
    }

    /// Writes to the host. Waits for as long as it does not read.
    fn write(&self, bytes: &[u8]) -> Result<(), Gone> {
        let stdout = std::io::stdout();
        for part in bytes.chunks(AT_ONCE) {
            self.tap.chunk(StreamId::S2C, self.tap.clock().now(), part);
            self.write_part(stdout.as_fd(), part)?;
        }
        Ok(())
    }

    fn write_part(&self, to: BorrowedFd<'_>, mut part: &[u8]) -> Result<(), Gone> {
        while !part.is_empty() {
            let mut fds = [PollFd::new(to, PollFlags::POLLOUT)];
            let ready = poll(&mut fds, PollTimeout::from(LOOK));
            // After a signal there may be no room either: a write would wait, and not for it.
            if matches!(ready, Ok(0) | Err(Errno::EINTR)) {
                if self.arrivals.are_untold() {
                    self.undelivered(part.len());
                    return Err(Gone::Interrupted);
                }
                continue;
            }
            match write(to, &part[..part.len().min(WITHOUT_WAITING)]) {
                Ok(count) => part = &part[count..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => {
                    self.undelivered(part.len());
                    return Err(Gone::Unread);
                }
            }
        }
        Ok(())
    }

    fn undelivered(&self, bytes: usize) {
        self.tap.event(EventKind::Undelivered {
            stream: StreamId::S2C,
            bytes: bytes as u64,
        });
    }

    /// Writes text of our own to stderr.
    fn say(&mut self, text: &str) {
        self.write_stderr(text.as_bytes());
    }

    /// Writes bytes to stderr that come from elsewhere: on a terminal they are not obeyed.
    fn say_raw(&mut self, bytes: &[u8]) {
        if !std::io::stderr().is_terminal() {
            return self.write_stderr(bytes);
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let escaped = format!("{}\n", mcpreel_wire::text::escape_bytes(line));
        self.write_stderr(escaped.as_bytes());
    }

    /// A host that does not read its side of stderr cannot hang the session: what finds no room
    /// is on record, and not written.
    fn write_stderr(&mut self, bytes: &[u8]) {
        let stderr = std::io::stderr();
        for part in bytes.chunks(AT_ONCE) {
            self.tap
                .chunk(StreamId::STDERR, self.tap.clock().now(), part);
            for piece in part.chunks(WITHOUT_WAITING) {
                if self.mute {
                    return;
                }
                let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
                let ready = loop {
                    match poll(&mut fds, PollTimeout::from(PATIENCE)) {
                        Err(Errno::EINTR) => {}
                        ready => break ready,
                    }
                };
                self.mute = !ready.is_ok_and(|ready| ready > 0) || write(&stderr, piece).is_err();
            }
        }
    }
}
