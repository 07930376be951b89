//! The three pipes of the server, none of which we ever wait at alone.

use mcpreel_capture::process::spawn::{ServerEnds, SpawnError, spawn_in};
use mcpreel_capture::tap::MAX_CHUNK;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

pub(super) struct Pipes {
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    /// Bytes to be written, and the number of those that were.
    queue: Vec<u8>,
    written: usize,
    /// Whether a write is said to be under way.
    pub stalls: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ready {
    Signals,
    Stdin,
    Stdout,
    Stderr,
}

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
            stdout: Some(stdout.into()),
            stderr: Some(stderr.into()),
            queue: Vec::new(),
            written: 0,
            stalls: false,
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
            && self.written < self.queue.len()
        {
            match write(stdin, &self.queue[self.written..]) {
                Ok(bytes) => self.written += bytes,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => break,
                Err(errno) => return Err(errno),
            }
        }
        if self.written == self.queue.len() {
            self.queue.clear();
            self.queue.shrink_to(MAX_CHUNK);
            self.written = 0;
        }
        Ok(())
    }

    /// Reads the next bytes of stdout: how many; `None` at its end.
    pub fn read_stdout(&mut self, buffer: &mut [u8]) -> Option<usize> {
        read_some(&mut self.stdout, buffer)
    }

    /// Reads the next bytes of stderr: how many; `None` at its end.
    pub fn read_stderr(&mut self, buffer: &mut [u8]) -> Option<usize> {
        read_some(&mut self.stderr, buffer)
    }

    /// Waits until one of them, or `wake`, has something to be done: which.
    pub fn wait(&self, wake: &impl AsFd, timeout: Duration) -> io::Result<Vec<Ready>> {
        let wants_write = self.waiting() > 0;
        let stdin = self.stdin.as_ref().filter(|_| wants_write);
        let mut watched = vec![Ready::Signals];
        let mut fds = vec![PollFd::new(wake.as_fd(), PollFlags::POLLIN)];
        for (ready, fd, flags) in [
            (Ready::Stdin, stdin, PollFlags::POLLOUT),
            (Ready::Stdout, self.stdout.as_ref(), PollFlags::POLLIN),
            (Ready::Stderr, self.stderr.as_ref(), PollFlags::POLLIN),
        ] {
            if let Some(fd) = fd {
                watched.push(ready);
                fds.push(PollFd::new(fd.as_fd(), flags));
            }
        }
        // Rounded up: a moment too early would be one more round of nothing.
        let millis = timeout.as_nanos().div_ceil(1_000_000);
        let timeout = u16::try_from(millis).unwrap_or(u16::MAX);
        match poll(&mut fds, PollTimeout::from(timeout)) {
            Ok(_) => {}
            Err(Errno::EINTR | Errno::EAGAIN) => return Ok(Vec::new()),
            Err(errno) => return Err(errno.into()),
        }
        let found = fds.iter().map(|fd| fd.any().unwrap_or(true));
        let ready = watched.into_iter().zip(found).filter(|(_, found)| *found);
        Ok(ready.map(|(ready, _)| ready).collect())
    }
}

/// Reads once: the number of bytes; `None` at the end, after which the source is closed.
fn read_some(source: &mut Option<OwnedFd>, buffer: &mut [u8]) -> Option<usize> {
    let fd = source.as_ref()?;
    loop {
        match read(fd, buffer) {
            Err(Errno::EINTR) => {}
            Ok(bytes) if bytes > 0 => return Some(bytes),
            // Whatever else a read says, nothing will come any more.
            Ok(_) | Err(_) => break,
        }
    }
    *source = None;
    None
}
