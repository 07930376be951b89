//! Changes that the client did not look at, although it had looked before.

use super::rules::IGNORED;
use crate::finding::Findings;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;

/// How long a client may take before it is said to ignore a change, nanoseconds.
const PATIENCE_NS: u64 = 30_000_000_000;

/// How long it may take where the recording ends, nanoseconds: who is about to leave does not ask
/// again.
const PATIENCE_AT_END_NS: u64 = 5_000_000_000;

const LISTS: [(&str, &str); 3] = [
    ("tools", "notifications/tools/list_changed"),
    ("prompts", "notifications/prompts/list_changed"),
    ("resources", "notifications/resources/list_changed"),
];

#[derive(Debug, Default)]
pub(super) struct Lists([State; 3]);

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The client has not asked for it, or has been reported since.
    #[default]
    Unlisted,
    /// The client has asked for it as it is.
    Listed,
    /// It has changed since, first in this frame.
    Changed(Moment, Seq),
}

impl Lists {
    /// A request: it may ask for a list.
    pub(super) fn request(&mut self, part: &Part<'_>) {
        let at = match part.method() {
            Some("tools/list") => 0,
            Some("prompts/list") => 1,
            Some("resources/list" | "resources/templates/list") => 2,
            _ => return,
        };
        if part.direction() == Direction::ClientToServer {
            self.0[at] = State::Listed;
        }
    }

    /// A notification: it may tell of a change.
    pub(super) fn notification(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| it.ends_with("/list_changed")) else {
            return;
        };
        let lists = LISTS.iter().zip(&mut self.0);
        for ((_, changed), state) in lists {
            if *changed == method && matches!(state, State::Listed) {
                *state = State::Changed(part.seen.head.t_last, part.seen.head.seq);
            }
        }
    }

    pub(super) fn passed(&mut self, now: Moment, findings: &mut Findings) {
        self.ignored(now, PATIENCE_NS, findings);
    }

    pub(super) fn finish(&mut self, now: Moment, findings: &mut Findings) {
        self.ignored(now, PATIENCE_AT_END_NS, findings);
    }

    fn ignored(&mut self, now: Moment, patience_ns: u64, findings: &mut Findings) {
        for ((list, _), state) in LISTS.iter().zip(&mut self.0) {
            let State::Changed(t, frame) = *state else {
                continue;
            };
            let after_ns = now.0.saturating_sub(t.0);
            if after_ns >= patience_ns {
                *state = State::Unlisted;
                let detail = format!("{list}: not within {} s", after_ns / 1_000_000_000);
                findings.push(IGNORED.at(frame, detail));
            }
        }
    }
}
