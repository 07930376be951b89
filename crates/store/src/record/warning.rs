//! The one line that may go to the host's stderr.

use mcpreel_capture::tap::Tap;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::write;
use std::os::fd::AsFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Says once why something is not on record, whichever thread finds out first.
#[derive(Debug, Default)]
pub struct Warning {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What stands between the session and its recording now, and may yet pass.
    problem: Option<String>,
    /// What found no room in the host's pipe.
    unsaid: Option<String>,
    said: bool,
}

impl Warning {
    /// Says why the tap could not keep everything, if it could not.
    pub fn tell(&self, tap: &Tap) {
        let unsaid = tap.take_untold().or_else(|| self.state().unsaid.take());
        if let Some(unsaid) = unsaid {
            self.say(&unsaid);
        }
    }

    /// Keeps what is wrong now; `None` when it has passed.
    pub fn set_problem(&self, problem: Option<String>) {
        self.state().problem = problem;
    }

    /// Says what is wrong now, if anything is.
    pub fn tell_problem(&self) {
        let problem = self.state().problem.take();
        if let Some(problem) = problem {
            self.say(&problem);
        }
    }

    /// Says `message`, if nothing has been said yet.
    ///
    /// A host that does not read its side of stderr must not be able to hang the session on our
    /// account: where there is no room now, the next call tries again.
    pub fn say(&self, message: &str) {
        let mut state = self.state();
        if state.said {
            return;
        }
        let stderr = std::io::stderr();
        let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
        let room = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
        if !room {
            state.unsaid = Some(message.to_owned());
            return;
        }
        let line = format!("mcpreel: {}\n", visible(message));
        // A pipe that has room takes a line of up to 4096 bytes at once.
        let end = line.len().min(4096);
        state.said = write(&stderr, &line.as_bytes()[..end]).is_ok();
    }

    /// A panic of another thread must not stop the session; the state is valid between any two
    /// statements.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `message` as one line that no terminal takes for a command: it may quote the command line.
fn visible(message: &str) -> String {
    let mut line = String::with_capacity(message.len());
    for character in message.chars() {
        match character {
            '\n' | '\r' => line.push(' '),
            // Also what turns the direction of writing.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                line.extend(character.escape_unicode());
            }
            _ if character.is_control() => line.extend(character.escape_default()),
            _ => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(
            visible("no \u{1b}[31mé\u{9b}2J\u{7}\n\u{202e}x"),
            "no \\u{1b}[31mé\\u{9b}2J\\u{7} \\u{202e}x"
        );
    }
}
