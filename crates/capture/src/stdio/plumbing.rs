//! The pipes between our descriptors and the server.

use crate::process::spawn::ServerEnds;
use crate::pump::End;
use mcpreel_trace::frame::StreamId;
use nix::sys::socket::{Shutdown, shutdown};
use nix::sys::stat::{FileStat, SFlag, fstat};
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Both ends of a stream, on our side.
pub struct StreamEnds {
    pub stream: StreamId,
    pub source: Box<dyn End>,
    pub sink: Box<dyn End>,
}

pub struct Plumbing {
    /// Source and sink of each stream.
    pub ends: Vec<StreamEnds>,
    pub server: ServerEnds,
    /// Inode numbers of the pipes that the server writes.
    pub inodes: Vec<u64>,
    /// Whether stdout and stderr are one pipe.
    pub merged: bool,
}

impl Plumbing {
    /// Makes the pipes for our standard descriptors as they are.
    pub fn lay() -> io::Result<Self> {
        let merged = same_file(&io::stdout(), &io::stderr());
        let (server_stdin, to_server) = io::pipe()?;
        let (from_stdout, server_stdout) = io::pipe()?;
        let mut inodes = vec![inode(&from_stdout)?];
        let out = OurEnd::stdout(merged);
        let mut ends = vec![
            pair(StreamId::C2S, OurEnd::stdin(), OwnedFd::from(to_server)),
            pair(StreamId::S2C, OwnedFd::from(from_stdout), out),
        ];
        let server_stderr = if merged {
            OwnedFd::from(server_stdout.try_clone()?)
        } else {
            let (from_stderr, server_stderr) = io::pipe()?;
            inodes.push(inode(&from_stderr)?);
            ends.push(pair(
                StreamId::STDERR,
                OwnedFd::from(from_stderr),
                OurEnd::stderr(),
            ));
            OwnedFd::from(server_stderr)
        };
        let server = ServerEnds {
            stdin: server_stdin.into(),
            stdout: server_stdout.into(),
            stderr: server_stderr,
        };
        Ok(Self {
            ends,
            server,
            inodes,
            merged,
        })
    }
}

fn pair(stream: StreamId, source: impl End + 'static, sink: impl End + 'static) -> StreamEnds {
    StreamEnds {
        stream,
        source: Box::new(source),
        sink: Box::new(sink),
    }
}

// Our three standard descriptors as ends of pumps.
//
// They stay at their numbers: closing one means to put `/dev/null` in its place, which releases
// the host's pipe at once, while no other file can ever take the number.

/// One of our standard descriptors.
#[derive(Debug)]
pub enum OurEnd {
    Stdin(io::Stdin),
    /// What the host reads; where stderr is the same file, that too.
    Stdout {
        out: io::Stdout,
        /// Whether stderr is closed with it.
        with_stderr: bool,
    },
    Stderr(io::Stderr),
}

impl OurEnd {
    pub fn stdin() -> Self {
        Self::Stdin(io::stdin())
    }

    /// Descriptor 1, or 1 and 2 if they are the same file.
    pub fn stdout(with_stderr: bool) -> Self {
        Self::Stdout {
            out: io::stdout(),
            with_stderr,
        }
    }

    pub fn stderr() -> Self {
        Self::Stderr(io::stderr())
    }
}

impl End for OurEnd {
    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Stdin(fd) => fd.as_fd(),
            Self::Stdout { out, .. } => out.as_fd(),
            Self::Stderr(fd) => fd.as_fd(),
        }
    }

    fn close(self: Box<Self>) {
        let Ok(nothing) = nothing() else { return };
        // Only a bad descriptor number could make these fail.
        let _ = match *self {
            Self::Stdin(_) => dup2_stdin(nothing),
            Self::Stderr(_) => dup2_stderr(nothing),
            Self::Stdout { out, with_stderr } => {
                // Hosts that use socket pairs may hold our end as well: only this tells them.
                if !with_stderr && is_socket(&out) {
                    let _ = shutdown(out.as_raw_fd(), Shutdown::Write);
                }
                if with_stderr {
                    let _ = dup2_stderr(&nothing);
                }
                dup2_stdout(nothing)
            }
        };
    }
}

/// Something that can be in the place of a closed descriptor.
fn nothing() -> io::Result<OwnedFd> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from)
        .or_else(|_| Ok(io::pipe()?.1.into()))
}

/// Whether both descriptors are the same file, pipe, socket or terminal.
pub fn same_file(a: &impl AsFd, b: &impl AsFd) -> bool {
    let identity = |file: FileStat| (file.st_dev, file.st_ino, file.st_rdev);
    match (fstat(a.as_fd()), fstat(b.as_fd())) {
        (Ok(a), Ok(b)) => identity(a) == identity(b),
        _ => false,
    }
}

fn is_socket(fd: &impl AsFd) -> bool {
    fstat(fd.as_fd()).is_ok_and(|file| {
        SFlag::from_bits_truncate(file.st_mode) & SFlag::S_IFMT == SFlag::S_IFSOCK
    })
}

/// The inode number behind a descriptor.
pub fn inode(fd: &impl AsFd) -> io::Result<u64> {
    Ok(fstat(fd.as_fd())?.st_ino)
}
