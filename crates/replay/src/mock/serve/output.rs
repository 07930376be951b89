//! What the host hears: on record, then written.

use mcpreel_capture::process::signals::Arrivals;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::write;
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd};

/// A record of the journal holds so many bytes.
const AT_ONCE: usize = 64 * 1024;

/// A pipe that has room takes so many bytes without making us wait.
const WITHOUT_WAITING: usize = 4096;

/// How often a host that does not read makes us look whether a signal has come, milliseconds.
const LOOK: u8 = 100;

/// How long stderr may be without room before what is for it is dropped, milliseconds.
const PATIENCE: u16 = 1000;

/// Why something could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    Unread,
    Interrupted,
}

pub struct Output<'a> {
    tap: &'a Tap,
    arrivals: &'a Arrivals,
    /// Whether stderr takes nothing any more.
    mute: bool,
}

impl<'a> Output<'a> {
    pub fn new(tap: &'a Tap, arrivals: &'a Arrivals) -> Self {
        Self {
            tap,
            arrivals,
            mute: false,
        }
    }

    /// Writes to the host. Waits for as long as it does not read.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Gone> {
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
    pub fn say(&mut self, text: &str) {
        self.write_stderr(text.as_bytes());
    }

    /// Writes bytes to stderr that come from elsewhere: on a terminal they are not obeyed.
    pub fn say_raw(&mut self, bytes: &[u8]) {
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
