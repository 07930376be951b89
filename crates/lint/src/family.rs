//! What a family of rules is.

use super::finding::{Finding, Findings};
use super::known::Known;
use super::rule::Rule;
use super::seen::Seen;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Correlator, Observation};
use mcpreel_trace::event::Event;
use mcpreel_trace::frame::FrameHead;
use mcpreel_trace::session::Session;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::Era;

/// All that is known when something other than a message has come.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub now: Moment,
    /// The session up to now, and with what has just come.
    pub session: &'a Session,
    pub known: &'a Known,
    pub correlator: &'a Correlator,
}

impl Context<'_> {
    /// The revision by which a finding is judged: its own, that of its exchange, or that of the
    /// connection where it is about neither.
    pub fn revision(&self, finding: &Finding) -> Revision {
        let of_exchange = |id| {
            let asked = self.known.asked(id).map(|asked| asked.revision);
            asked.or_else(|| {
                let exchange = self.correlator.exchange(id)?;
                Some(self.known.revision(exchange.era))
            })
        };
        let known = finding.revision.or_else(|| of_exchange(finding.exchange?));
        known.unwrap_or_else(|| {
            if self.known.is_modern() {
                self.known.revision(Era::Modern)
            } else {
                self.known.legacy()
            }
        })
    }
}

/// Rules that share what they have to remember. Frames and events come in order; what a family
/// remembers must not grow with the length of the recording (see [`super::Remembered`]), and the
/// work on one frame must not grow faster than its size. Findings of rules that do not apply to the
/// revision that they are judged by are dropped by the caller, which also makes them as mild as
/// their rule says for that revision.
pub trait Family {
    fn name(&self) -> &'static str;

    /// The rules that its findings name.
    fn rules(&self) -> &'static [&'static Rule];

    /// Time has come to `context.now`, before whatever comes next: for rules about what did not
    /// happen in time.
    fn passed(&mut self, context: &Context<'_>, findings: &mut Findings) {
        let _ = (context, findings);
    }

    /// Looks at the next frame of a protocol stream.
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

    fn event(&mut self, event: &Event, context: &Context<'_>, findings: &mut Findings) {
        let _ = (event, context, findings);
    }

    /// The recording is over; `end` is what the correlator observed then.
    fn finish(&mut self, end: &[Observation], context: &Context<'_>, findings: &mut Findings) {
        let _ = (end, context, findings);
    }
}
