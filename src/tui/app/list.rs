//! The list of exchanges or frames.

use crate::trace::frame::Seq;

/// The list of exchanges or frames.
#[derive(Debug, Default)]
pub struct List {
    /// The frame that the cursor goes to as soon as its row is there.
    pub go_to: Option<Seq>,
}
