//! The time cursor, the pause and the state panel.

use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::State;

/// The time cursor and the pause: the list ends at the frame of either one.
#[derive(Debug, Default)]
pub struct Playback {
    pub cursor: Option<Seq>,
    /// When the frame under the cursor was complete, as soon as that is known.
    pub t: Option<Moment>,
    pub paused: Option<Seq>,
    /// The state panel, while it is open.
    pub pane: Option<Pane>,
    /// Names the answers that belong to it.
    pub generation: u64,
}

#[derive(Debug, Default)]
pub struct Pane {
    /// The state, and after which frame; none until the worker has answered.
    pub state: Option<(Seq, Box<State>)>,
    /// The frame that it was asked for.
    pub asked: Option<Seq>,
    /// When that was, nanoseconds since the viewer started.
    pub asked_ns: u64,
    pub top: usize,
}

impl Playback {
    /// The last frame whose rows are shown; none shows all.
    pub fn until(&self) -> Option<Seq> {
        self.cursor.or(self.paused)
    }

    pub fn is_on(&self) -> bool {
        self.cursor.is_some()
    }
}
