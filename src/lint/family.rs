//! What a family of rules is.

use super::finding::Findings;
use super::known::Known;
use super::rule::Rule;
use super::seen::Seen;
use crate::trace::clock::Moment;
use crate::trace::correlator::{Correlator, Observation};
use crate::trace::event::Event;
use crate::trace::frame::FrameHead;
use crate::trace::session::Session;

/// All that is known when something other than a message has come.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// When.
    pub now: Moment,
    /// The session up to now, and with what has just come.
    pub session: &'a Session,
    /// What both sides have said.
    pub known: &'a Known,
    /// The exchanges as they stand.
    pub correlator: &'a Correlator,
}

/// Rules that share what they have to remember. Frames and events come in order; what a family
/// remembers must not grow with the length of the recording (see [`super::Remembered`]), and the
/// work on one frame must not grow faster than its size.
pub trait Family {
    /// What the family is called.
    fn name(&self) -> &'static str;

    /// The rules that its findings name.
    fn rules(&self) -> &'static [&'static Rule];

    /// Time has come to `context.now`, before whatever comes next: for rules about what did not
    /// happen in time.
    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        let _ = (context, findings);
    }

    /// Looks at the next frame of a protocol stream. Findings of rules that do not apply to its
    /// revision are dropped by the caller.
    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let _ = (seen, findings);
    }

    /// Looks at the next line on stderr; of a very long one `raw` is the beginning.
    fn stderr(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        context: &Context<'_>,
        findings: &mut Findings,
    ) {
        let _ = (head, raw, context, findings);
    }

    /// Looks at the next event.
    fn event(&mut self, event: &Event, context: &Context<'_>, findings: &mut Findings) {
        let _ = (event, context, findings);
    }

    /// The recording is over; `end` is what the correlator observed then.
    fn finish(&mut self, end: &[Observation], context: &Context<'_>, findings: &mut Findings) {
        let _ = (end, context, findings);
    }
}
