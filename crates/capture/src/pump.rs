//! The loop of one stream: read, put on record, write.
//!
//! A pump polls both its sides, so that it notices that the far side has gone while nothing comes
//! in. It ends by closing both, so that the end of file and the broken pipe each reach whom they
//! would reach without us.

use super::gauge::Gauge;
use super::spool::MAX_CHUNK;
use super::tap::Tap;
use mcpreel_trace::event::{Closer, EventKind};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// One end of a pump: something with a descriptor that can be closed for good.
pub trait End: Send {
    fn fd(&self) -> BorrowedFd<'_>;
    /// Closes it, so that the process at the other end notices.
    fn close(self: Box<Self>);
}

impl End for std::os::fd::OwnedFd {
    fn fd(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn close(self: Box<Self>) {}
}

pub struct Pump {
    pub source: Box<dyn End>,
    pub sink: Box<dyn End>,
    pub tap: Arc<Tap>,
    pub gauge: Arc<Gauge>,
    /// Whether the sink stays open when the writer has ended the stream: something of our own may
    /// have to be written to it.
    pub keeps_sink: bool,
}

enum Ended {
    /// The writing side closed the stream.
    ByWriter,
    /// The reading side refused; so many bytes had been read and were not delivered.
    ByReader {
        undelivered: usize,
    },
    Told,
}

impl Pump {
    /// Runs until the stream ends, then closes both ends; or returns the sink, where it is kept.
    pub fn run(self) -> Option<Box<dyn End>> {
        let ended = self.relay();
        let kept = self.keeps_sink && matches!(ended, Ended::ByWriter);
        self.tell(&ended);
        let Self {
            source,
            sink,
            gauge,
            ..
        } = self;
        let sink = if kept {
            Some(sink)
        } else {
            sink.close();
            None
        };
        source.close();
        gauge.idle();
        sink
    }

    /// Puts on record how the stream ended.
    fn tell(&self, ended: &Ended) {
        let stream = self.gauge.stream();
        let by = match *ended {
            Ended::ByWriter => Closer::Writer,
            Ended::ByReader { undelivered } => {
                if undelivered > 0 {
                    let bytes = undelivered as u64;
                    self.tap.event(EventKind::Undelivered { stream, bytes });
                }
                Closer::Reader
            }
            Ended::Told => return,
        };
        self.tap.event(EventKind::Eof { stream, by });
    }

    fn relay(&self) -> Ended {
        let mut buffer = vec![0; MAX_CHUNK];
        loop {
            if !self.wait_for_input() {
                return Ended::ByReader { undelivered: 0 };
            }
            if !self.gauge.begin_read() {
                return Ended::Told;
            }
            match read(self.source.fd(), &mut buffer) {
                Ok(0) => return Ended::ByWriter,
                Ok(n) => {
                    if let Err(undelivered) = self.deliver(&buffer[..n]) {
                        return Ended::ByReader { undelivered };
                    }
                }
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                // Whatever else a read says (a reset socket, a terminal that is gone), nothing
                // will come any more.
                Err(_) => return Ended::ByWriter,
            }
            self.gauge.idle();
        }
    }

    /// Waits until the source has something or is at its end. `false`: the sink is gone.
    fn wait_for_input(&self) -> bool {
        loop {
            let mut fds = [
                PollFd::new(self.source.fd(), PollFlags::POLLIN),
                PollFd::new(self.sink.fd(), PollFlags::empty()),
            ];
            match poll(&mut fds, PollTimeout::NONE) {
                Err(Errno::EINTR | Errno::EAGAIN) => continue,
                // Without poll a blocking read does as well.
                Err(_) => return true,
                Ok(_) => {}
            }
            let [source, sink] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
            if sink.intersects(PollFlags::POLLERR | PollFlags::POLLHUP) {
                return false;
            }
            if !source.is_empty() {
                return true;
            }
        }
    }

    /// Puts `bytes` on record, then writes them all; or says how many were refused.
    fn deliver(&self, bytes: &[u8]) -> Result<(), usize> {
        let t = self.tap.clock().now();
        self.gauge.begin_write(t, bytes.len());
        self.tap.chunk(self.gauge.stream(), t, bytes);
        let result = self.write_all(bytes);
        self.gauge.end_write(&self.tap);
        result
    }

    fn write_all(&self, mut bytes: &[u8]) -> Result<(), usize> {
        while !bytes.is_empty() {
            match write(self.sink.fd(), bytes) {
                Ok(n) => {
                    bytes = &bytes[n..];
                    self.gauge.left(bytes.len());
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => self.wait_for_room(),
                Err(_) => return Err(bytes.len()),
            }
        }
        Ok(())
    }

    /// Hosts pass non-blocking descriptors; the flag is shared with them, so it stays.
    fn wait_for_room(&self) {
        let mut fds = [PollFd::new(self.sink.fd(), PollFlags::POLLOUT)];
        // Whatever poll says, the next write says more.
        let _ = poll(&mut fds, PollTimeout::NONE);
    }
}
