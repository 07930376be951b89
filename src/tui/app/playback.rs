//! The time cursor and the pause.

use crate::trace::frame::Seq;

/// The time cursor and the pause: both end what is shown at a frame.
#[derive(Debug, Default)]
pub struct Playback {
    /// The time cursor.
    pub cursor: Option<Seq>,
    /// Where the picture was frozen.
    pub paused: Option<Seq>,
}

impl Playback {
    /// The last frame that is shown, if not all are.
    #[must_use]
    pub fn until(&self) -> Option<Seq> {
        self.cursor.or(self.paused)
    }

    /// Whether the time cursor is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.cursor.is_some()
    }
}
