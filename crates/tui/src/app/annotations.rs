//! Marks and notes.

use mcpreel_trace::frame::Seq;

/// Marks and notes, as far as they are being written.
#[derive(Debug, Default)]
pub struct Annotations {
    /// The frame whose note is being typed: the cursor may move on meanwhile.
    pub noting: Option<Seq>,
}
