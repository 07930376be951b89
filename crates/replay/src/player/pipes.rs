//! The three pipes of the server, none of which we ever wait at alone.

use crate::signals::{Signals, ready, within};
use mcpreel_capture::process::spawn::{ServerEnds, SpawnError, spawn_in};
use mcpreel_capture::tap::MAX_CHUNK;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::unistd::{read, write};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

pub(super) struct Pipes {
    stdin: Option<OwnedFd>,
    pub stdout: Source,
    pub stderr: Source,
    /// Bytes to be written, and the number of those that were.
    queue: Vec<u8>,
    written: usize,
}

/// Where the server writes; `None` once that is closed.
pub(super) struct Source(Option<OwnedFd>);

impl Pipes {
    pub fn start(command: &[OsString], dir: Option<&Path>) -> Result<(Self, Child), SpawnError> {
        let failed = |source| SpawnError::Failed {
            program: (command.first()).map_or_else(String::new, |it| it.display().to_string()),
            source,
        };
        let (server_stdin, stdin) = io::pipe().map_err(failed)?;
        let (stdout, server_stdout) = io::pipe().map_err(failed)?;
        let (stderr, server_stderr) = io::pipe().map_err(failed)?;
        let stdin = OwnedFd::from(stdin);
        // The flag is this end's alone: the server's keeps its own.
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
            .map_err(|errno| failed(errno.into()))?;
        let ends = ServerEnds {
            stdin: server_stdin.into(),
            stdout: server_stdout.into(),
            stderr: server_stderr.into(),
        };
        let child = spawn_in(dir, command, ends)?;
        let pipes = Self {
            stdin: Some(stdin),
            stdout: Source(Some(stdout.into())),
            stderr: Source(Some(stderr.into())),
            queue: Vec::new(),
            written: 0,
        };
        Ok((pipes, child))
    }

    /// Whether something can still be written.
    pub fn is_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub fn close_input(&mut self) {
        self.stdin = None;
        self.queue = Vec::new();
        self.written = 0;
    }

    /// Bytes that the server has not taken yet.
    pub fn waiting(&self) -> usize {
        self.queue.len() - self.written
    }

    /// Bytes are to be written after those that wait.
    pub fn queue(&mut self, bytes: &[u8]) {
        self.queue.extend_from_slice(bytes);
    }

    /// Writes as much as the server takes now.
    pub fn write(&mut self) -> Result<(), Errno> {
        while let Some(stdin) = &self.stdin
            && self.waiting() > 0
        {
            match write(stdin, &self.queue[self.written..]) {
                Ok(bytes) => self.written += bytes,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(()),
                Err(errno) => return Err(errno),
            }
        }
        self.queue.clear();
        self.queue.shrink_to(MAX_CHUNK);
        self.written = 0;
        Ok(())
    }

    /// Waits until a signal has come, stdin has room for what waits, or stdout or stderr have
    /// something to read: which of the four.
    pub fn wait(&self, signals: &Signals, timeout: Duration) -> [bool; 4] {
        let stdin = self.stdin.as_ref().filter(|_| self.waiting() > 0);
        let fds = [
            (Some(signals.wake.as_fd()), PollFlags::POLLIN),
            (stdin.map(|fd| fd.as_fd()), PollFlags::POLLOUT),
            (
                self.stdout.0.as_ref().map(|fd| fd.as_fd()),
                PollFlags::POLLIN,
            ),
            (
                self.stderr.0.as_ref().map(|fd| fd.as_fd()),
                PollFlags::POLLIN,
            ),
        ];
        ready(fds, within(timeout))
    }
}

impl Source {
    /// Reads once: the number of bytes; `None` at the end, after which the source is closed.
    pub fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let fd = self.0.as_ref()?;
        loop {
            match read(fd, buffer) {
                Err(Errno::EINTR) => {}
                Ok(bytes) if bytes > 0 => return Some(bytes),
                // Whatever else a read says, nothing will come any more.
                Ok(_) | Err(_) => break,
            }
        }
        self.0 = None;
        None
    }
}
