//! The one line that may go to the host's stderr.

use crate::capture::tap::Tap;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::write;
use std::os::fd::AsFd;

/// Says once why something is not on record.
#[derive(Debug, Default)]
pub struct Warning {
    unsaid: Option<String>,
    said: bool,
}

impl Warning {
    /// Says why the tap could not keep everything, if it could not.
    pub fn tell(&mut self, tap: &Tap) {
        if let Some(reason) = tap.take_untold() {
            self.say(&format!(
                "the session goes on, but is not recorded in full: {reason}"
            ));
        } else if let Some(unsaid) = self.unsaid.take() {
            self.say(&unsaid);
        }
    }

    /// Whether something has been said.
    #[must_use]
    pub fn is_said(&self) -> bool {
        self.said
    }

    /// Says `message`, if nothing has been said yet.
    ///
    /// A host that does not read its side of stderr must not be able to hang the session on our
    /// account: where there is no room now, the next call tries again.
    pub fn say(&mut self, message: &str) {
        if self.said {
            return;
        }
        let stderr = std::io::stderr();
        let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
        let room = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
        if !room {
            self.unsaid = Some(message.to_owned());
            return;
        }
        let line = format!("mcpreel: {}\n", message.replace(['\n', '\r'], " "));
        // A pipe that has room takes a line of up to 4096 bytes at once.
        let end = line.len().min(4096);
        self.said = write(&stderr, &line.as_bytes()[..end]).is_ok();
    }
}
