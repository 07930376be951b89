//! The pipes between our descriptors and the server.

use super::ends::{self, OurEnd};
use crate::process::spawn::ServerEnds;
use crate::pump::End;
use mcpreel_trace::frame::StreamId;
use std::io;
use std::os::fd::OwnedFd;

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
        let merged = ends::same_file(&io::stdout(), &io::stderr());
        let (server_stdin, to_server) = io::pipe()?;
        let (from_stdout, server_stdout) = io::pipe()?;
        let mut inodes = vec![ends::inode(&from_stdout)?];
        let out = OurEnd::stdout(merged);
        let mut ends = vec![
            pair(StreamId::C2S, OurEnd::stdin(), OwnedFd::from(to_server)),
            pair(StreamId::S2C, OwnedFd::from(from_stdout), out),
        ];
        let server_stderr = if merged {
            OwnedFd::from(server_stdout.try_clone()?)
        } else {
            let (from_stderr, server_stderr) = io::pipe()?;
            inodes.push(ends::inode(&from_stderr)?);
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
