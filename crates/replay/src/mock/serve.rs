//! Pipes and signals around the server, and the recording of the session with the host.
//!
//! ```text
//!  one thread, one poll:   stdin · signals · stdout where it has no room
//!
//!    stdin ─read─▶ on record ─▶ lines ─▶ server ─▶ actions ─▶ on record ─┬─write─▶ stdout
//!                                                                      └─write─▶ stderr
//! ```
//!
//! Everything is put on record before it is used or written. A host that does not read its answers
//! holds the mock up, as it would any server, so that nothing is read from the host either; a signal
//! ends that. What nobody reads from stderr is dropped.

use super::server::{Action, Ended};
use super::{Report, Server};
use crate::lines::{Line, Lines};
use crate::signals::Signals;
use mcpreel_capture::process::{own_exit_event, signal_name};
use mcpreel_capture::tap::Tap;
use mcpreel_store::record::{self, Ending, Recorder};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::escape_bytes;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};
use std::io::IsTerminal as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Bytes that are read or recorded at once; a record of the spool holds as many.
const AT_ONCE: usize = 64 * 1024;

/// Bytes that a pipe with room takes without making us wait.
const WITHOUT_WAITING: usize = 4096;

/// Milliseconds that stderr may be without room; then lines for it are dropped.
const PATIENCE: u16 = 1000;

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    Input,
    /// The host no longer reads.
    Unread,
    Signal(i32),
    Ended(Ended),
}

/// The wording and the exit code of the command.
pub trait Manner {
    fn remark(&self, text: &str) -> String;
    /// The account of the session, as lines for stderr.
    fn report(&self, report: &Report) -> String;
    fn ending(&self, report: &Report, how: &How) -> Ending;
}

/// Serves `server`'s recording between our standard streams until the session is over; records the
/// session as `record` says.
pub fn serve(
    server: Server,
    signals: &Signals,
    record: &record::Options,
    manner: &dyn Manner,
) -> Ending {
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
    let mut session = Session {
        server,
        tap: &tap,
        signals,
        manner,
        lines: Lines::default(),
        input_is_open: true,
        mute: false,
    };
    for message in &record.remarks {
        session.say(&manner.remark(message));
    }
    let ending = session.run();
    // As `wait` gives it: the code in the second byte, or the signal in the first.
    let ended = own_exit_event(ExitStatus::from_raw(match ending {
        Ending::Code(code) => i32::from(code) << 8,
        Ending::Signal(signal) => signal & 0x7f,
    }));
    tap.event(ended.clone());
    tap.end(Some(ended));
    recorder.finish();
    ending
}

struct Session<'a> {
    server: Server,
    tap: &'a Tap,
    signals: &'a Signals,
    manner: &'a dyn Manner,
    lines: Lines,
    input_is_open: bool,
    /// Whether stderr takes nothing any more.
    mute: bool,
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
            if let Err(how) = self.wait() {
                break how;
            }
        };
        let report = self.server.report();
        self.say(&self.manner.report(&report));
        self.tap.event(EventKind::Eof {
            stream: StreamId::S2C,
            by: match how {
                How::Unread => Closer::Reader,
                How::Input | How::Signal(_) | How::Ended(_) => Closer::Writer,
            },
        });
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
                match action {
                    Action::Write(bytes) => self.write(&bytes)?,
                    Action::Stderr(line) => self.say_raw(&line),
                    Action::Say(text) => self.say(&self.manner.remark(&text)),
                    Action::End(ended) => return Err(How::Ended(ended)),
                }
            }
        }
    }

    /// Waits for the host, for a signal, or for the next thing that is due.
    fn wait(&mut self) -> Result<(), How> {
        let timeout = match self.server.due() {
            // Rounded up: a moment too early would be one more round of nothing.
            Some(due) => {
                let millis = due.since(self.now()).as_nanos().div_ceil(1_000_000);
                PollTimeout::from(u16::try_from(millis).unwrap_or(u16::MAX))
            }
            None => PollTimeout::NONE,
        };
        let stdin = std::io::stdin();
        let mut fds = vec![PollFd::new(self.signals.wake.as_fd(), PollFlags::POLLIN)];
        if self.input_is_open {
            fds.push(PollFd::new(stdin.as_fd(), PollFlags::POLLIN));
        }
        let ready = poll(&mut fds, timeout).is_ok_and(|ready| ready > 0);
        let is_ready = |fd: &PollFd<'_>| ready && fd.any().unwrap_or(true);
        let (woken, readable) = (is_ready(&fds[0]), fds.get(1).is_some_and(is_ready));
        if woken {
            self.signalled()?;
        }
        if readable {
            self.read(stdin.as_fd())
        } else {
            Ok(())
        }
    }

    fn read(&mut self, stdin: BorrowedFd<'_>) -> Result<(), How> {
        let mut buffer = vec![0; AT_ONCE];
        match read(stdin, &mut buffer) {
            Ok(count @ 1..) => {
                self.tap.chunk(StreamId::C2S, self.now(), &buffer[..count]);
                self.lines(|lines, line| lines.push(&buffer[..count], line))
            }
            // Hosts pass non-blocking descriptors; the flag is shared with them, so it stays.
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(()),
            Ok(_) | Err(_) => {
                self.input_is_open = false;
                self.tap.event(EventKind::Eof {
                    stream: StreamId::C2S,
                    by: Closer::Writer,
                });
                self.lines(|lines, line| lines.rest(line))?;
                self.server.end_of_input(self.now());
                Ok(())
            }
        }
    }

    /// Takes the lines that `lines` gives. All that a line leads to is done before the next.
    fn lines(
        &mut self,
        give: impl FnOnce(&mut Lines, &mut dyn FnMut(Line<'_>)),
    ) -> Result<(), How> {
        let mut lines = std::mem::take(&mut self.lines);
        let mut done = Ok(());
        give(&mut lines, &mut |line| {
            if done.is_ok() {
                self.server.line(line, self.now());
                done = self.settle();
            }
        });
        self.lines = lines;
        done
    }

    /// Ends the session if a signal has come.
    fn signalled(&self) -> Result<(), How> {
        self.signals.clear();
        let Some(signal) = self.signals.take() else {
            return Ok(());
        };
        self.tap.event(EventKind::Signal {
            signal: signal_name(signal),
            sender: None,
            passed: Passed::NotNeeded,
        });
        Err(How::Signal(signal))
    }

    /// Writes to the host. Waits for as long as the host does not read.
    fn write(&self, bytes: &[u8]) -> Result<(), How> {
        for part in bytes.chunks(AT_ONCE) {
            self.tap.chunk(StreamId::S2C, self.now(), part);
            let mut left = part;
            let written = self.write_part(&mut left);
            if written.is_err() {
                self.tap.event(EventKind::Undelivered {
                    stream: StreamId::S2C,
                    bytes: left.len() as u64,
                });
            }
            written?;
        }
        Ok(())
    }

    fn write_part(&self, left: &mut &[u8]) -> Result<(), How> {
        let stdout = std::io::stdout();
        while !left.is_empty() {
            let mut fds = [
                PollFd::new(stdout.as_fd(), PollFlags::POLLOUT),
                PollFd::new(self.signals.wake.as_fd(), PollFlags::POLLIN),
            ];
            let ready = poll(&mut fds, PollTimeout::NONE);
            let [has_room, woken] = fds.map(|fd| ready.is_ok() && fd.any().unwrap_or(true));
            if woken {
                self.signalled()?;
            }
            if !has_room {
                continue;
            }
            match write(stdout.as_fd(), &left[..left.len().min(WITHOUT_WAITING)]) {
                Ok(count) => *left = &left[count..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => return Err(How::Unread),
            }
        }
        Ok(())
    }

    /// Writes text of our own to stderr.
    fn say(&mut self, text: &str) {
        self.write_stderr(text.as_bytes());
    }

    /// Writes a recorded line to stderr; a terminal does not obey it.
    fn say_raw(&mut self, line: &[u8]) {
        if std::io::stderr().is_terminal() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            self.say(&format!("{}\n", escape_bytes(line)));
        } else {
            self.write_stderr(line);
        }
    }

    /// A host that does not read stderr cannot hang the session: what finds no room is on record,
    /// and not written.
    fn write_stderr(&mut self, bytes: &[u8]) {
        let stderr = std::io::stderr();
        for part in bytes.chunks(AT_ONCE) {
            self.tap.chunk(StreamId::STDERR, self.now(), part);
            for piece in part.chunks(WITHOUT_WAITING) {
                if self.mute {
                    break;
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
