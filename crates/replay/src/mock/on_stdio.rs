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
use crate::signals::{Signals, ready, signal_event, within};
use mcpreel_capture::process::own_exit_event;
use mcpreel_capture::tap::Tap;
use mcpreel_store::record::{self, Ending, Recorder};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{Closer, EventKind, Passed};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::escape_bytes;
use nix::errno::Errno;
use nix::poll::{PollFlags, PollTimeout};
use nix::unistd::{read, write};
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;

/// Bytes that are read or recorded at once; a record of the spool holds as many.
const AT_ONCE: usize = 64 * 1024;

/// Bytes that a pipe with room takes without making us wait.
const WITHOUT_WAITING: usize = 4096;

/// Milliseconds that stderr may be without room; then lines for it are dropped.
const PATIENCE: u16 = 1000;

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    Input,
    /// The host no longer reads.
    Unread,
    Signal(i32),
    Ended(Ended),
}

/// A session with the host on our standard streams, which is recorded.
pub struct Session<'a> {
    server: Server,
    recorder: Recorder,
    tap: Arc<Tap>,
    signals: &'a Signals,
    /// Makes a line for stderr of a remark.
    remark: &'a dyn Fn(&str) -> String,
    lines: Lines,
    input_is_open: bool,
    /// Whether stderr takes nothing any more.
    mute: bool,
}

impl<'a> Session<'a> {
    pub fn begin(
        server: Server,
        signals: &'a Signals,
        record: &record::Options,
        remark: &'a dyn Fn(&str) -> String,
    ) -> Self {
        let mut recorder = Recorder::create(record, Clock::start());
        let tap = recorder.tap();
        recorder.record_remarks(record);
        let pid = std::process::id();
        tap.event(EventKind::Spawned { pid });
        recorder.start();
        let mut session = Session {
            server,
            recorder,
            tap,
            signals,
            remark,
            lines: Lines::default(),
            input_is_open: true,
            mute: false,
        };
        for message in &record.remarks {
            session.say(&remark(message));
        }
        session
    }

    /// Serves until the session is over.
    pub fn run(&mut self) -> (SessionEnd, Report) {
        self.server.begin(self.now());
        let end = loop {
            match self.settle() {
                Err(end) => break end,
                Ok(()) if self.server.is_done() => break SessionEnd::Input,
                Ok(()) => {}
            }
            if let Err(end) = self.wait() {
                break end;
            }
        };
        (end, self.server.report())
    }

    /// Says how the session went, and ends its recording.
    pub fn finish(mut self, end: &SessionEnd, account: &str, ending: Ending) {
        self.say(account);
        self.tap.event(EventKind::Eof {
            stream: StreamId::S2C,
            by: match end {
                SessionEnd::Unread => Closer::Reader,
                SessionEnd::Input | SessionEnd::Signal(_) | SessionEnd::Ended(_) => Closer::Writer,
            },
        });
        // As `wait` gives it: the code in the second byte, or the signal in the first.
        let ended = own_exit_event(ExitStatus::from_raw(match ending {
            Ending::Code(code) => i32::from(code) << 8,
            Ending::Signal(signal) => signal & 0x7f,
        }));
        self.tap.event(ended.clone());
        self.tap.end(Some(ended));
        self.recorder.finish();
    }

    fn now(&self) -> Moment {
        self.tap.clock().now()
    }

    /// Does all that is to be done now.
    fn settle(&mut self) -> Result<(), SessionEnd> {
        loop {
            self.server.tick(self.now());
            let actions = self.server.take();
            if actions.is_empty() && self.server.due().is_none_or(|due| due > self.now()) {
                return Ok(());
            }
            for action in actions {
                match action {
                    Action::Write(bytes) => self.write(&bytes)?,
                    // A terminal does not obey a recorded line.
                    Action::Stderr(line) if io::stderr().is_terminal() => {
                        self.say(&format!("{}\n", escape_bytes(line.trim_ascii_end())));
                    }
                    Action::Stderr(line) => self.write_stderr(&line),
                    Action::Say(text) => self.say(&(self.remark)(&text)),
                    Action::End(ended) => return Err(SessionEnd::Ended(ended)),
                }
            }
        }
    }

    /// Waits for the host, for a signal, or for the next thing that is due.
    fn wait(&mut self) -> Result<(), SessionEnd> {
        let due = self.server.due().map(|due| due.since(self.now()));
        let timeout = due.map_or(PollTimeout::NONE, within);
        let stdin = io::stdin();
        let input = self.input_is_open.then(|| stdin.as_fd());
        let wake = (Some(self.signals.wake.as_fd()), PollFlags::POLLIN);
        let [woken, readable] = ready([wake, (input, PollFlags::POLLIN)], timeout);
        if woken {
            self.signalled()?;
        }
        if readable {
            self.read(stdin.as_fd())?;
        }
        Ok(())
    }

    fn read(&mut self, stdin: BorrowedFd<'_>) -> Result<(), SessionEnd> {
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
    ) -> Result<(), SessionEnd> {
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
    fn signalled(&self) -> Result<(), SessionEnd> {
        let Some(signal) = self.signals.take() else {
            return Ok(());
        };
        self.tap.event(signal_event(signal, Passed::NotNeeded));
        Err(SessionEnd::Signal(signal))
    }

    /// Writes to the host. Waits for as long as the host does not read.
    fn write(&self, bytes: &[u8]) -> Result<(), SessionEnd> {
        for mut left in bytes.chunks(AT_ONCE) {
            self.tap.chunk(StreamId::S2C, self.now(), left);
            while !left.is_empty() {
                self.write_some(&mut left).inspect_err(|_| {
                    self.tap.event(EventKind::Undelivered {
                        stream: StreamId::S2C,
                        bytes: left.len() as u64,
                    });
                })?;
            }
        }
        Ok(())
    }

    fn write_some(&self, left: &mut &[u8]) -> Result<(), SessionEnd> {
        let stdout = io::stdout();
        let room = (Some(stdout.as_fd()), PollFlags::POLLOUT);
        let wake = (Some(self.signals.wake.as_fd()), PollFlags::POLLIN);
        let [has_room, woken] = ready([room, wake], PollTimeout::NONE);
        if woken {
            self.signalled()?;
        }
        if has_room {
            match write(stdout.as_fd(), &left[..left.len().min(WITHOUT_WAITING)]) {
                Ok(count) => *left = &left[count..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(_) => return Err(SessionEnd::Unread),
            }
        }
        Ok(())
    }

    fn say(&mut self, text: &str) {
        self.write_stderr(text.as_bytes());
    }

    /// A host that does not read stderr cannot hang the session: what finds no room is on record,
    /// and not written.
    fn write_stderr(&mut self, bytes: &[u8]) {
        let stderr = io::stderr();
        for part in bytes.chunks(AT_ONCE) {
            self.tap.chunk(StreamId::STDERR, self.now(), part);
            for piece in part.chunks(WITHOUT_WAITING) {
                let room = [(Some(stderr.as_fd()), PollFlags::POLLOUT)];
                self.mute = self.mute
                    || ready(room, PollTimeout::from(PATIENCE)) == [false]
                    || write(&stderr, piece).is_err();
            }
        }
    }
}
