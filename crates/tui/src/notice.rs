//! Messages to the user, and the time at which they came.

use std::collections::VecDeque;

/// The time, as it is given to the state: nothing below reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Nanoseconds since the viewer started.
    pub ui_ns: u64,
    /// Wall clock, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
}

const SUCCESS_NS: u64 = 4_000_000_000;

/// The time that it takes to see a message: after it the next key takes the message off the screen.
const SEEN_NS: u64 = 500_000_000;

/// Messages that are kept; older ones go.
const KEPT: usize = 500;

#[derive(Debug, Default)]
pub struct Notices {
    /// All messages that are kept, the oldest first.
    pub all: VecDeque<Notice>,
    dismissed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub weight: Weight,
    pub text: String,
    pub at: Now,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Success,
    /// Something went wrong; it stays until a key is pressed.
    Error,
}

impl Notices {
    pub fn shown(&self, now: Now) -> Option<&Notice> {
        let last = self.all.back().filter(|_| !self.dismissed)?;
        let age = now.ui_ns.saturating_sub(last.at.ui_ns);
        (last.weight == Weight::Error || age < SUCCESS_NS).then_some(last)
    }

    /// Takes the message off the screen, if there was time to see it.
    pub fn dismiss_seen(&mut self, now: Now) {
        let is_seen = |it: &Notice| now.ui_ns.saturating_sub(it.at.ui_ns) > SEEN_NS;
        self.dismissed |= self.shown(now).is_some_and(is_seen);
    }

    /// Whether a message will fade, so that the screen has to be drawn again.
    pub fn fades(&self, now: Now) -> bool {
        let shown = self.shown(now);
        shown.is_some_and(|notice| notice.weight == Weight::Success)
    }

    /// Takes the message off the screen.
    pub fn dismiss(&mut self) {
        self.dismissed = true;
    }

    pub fn push(&mut self, weight: Weight, text: String, at: Now) {
        if self.all.len() == KEPT {
            self.all.pop_front();
        }
        self.dismissed = false;
        self.all.push_back(Notice { weight, text, at });
    }
}
