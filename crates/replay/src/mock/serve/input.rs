//! What the host says, on record before it is used.

use super::Notice;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;
use std::os::fd::AsFd;
use std::sync::mpsc::SyncSender;

/// Bytes that are read at once; a record of the journal holds as many.
const AT_ONCE: usize = 64 * 1024;

/// Reads stdin until its end, or until nobody wants it any more.
pub fn read_all(tap: &Tap, notify: &SyncSender<Notice>) {
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
