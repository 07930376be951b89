//! How many notifications come within a second.

use crate::finding::Findings;
use crate::quote;
use crate::rule::Rule;
use crate::section::PROGRESS;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::message::{Body, Direction};
use std::collections::VecDeque;

pub(super) static FLOOD_NOTIFICATIONS: Rule = Rule::warning(
    "flood-notifications",
    "more than 1000 notifications within a second",
)
.why("The other side has to read every one of them before it sees the next response, so that calls time out behind the flood.")
.fix("Limit the rate of progress and log messages, and put several into one.")
.of(PROGRESS);

/// Notifications of one side within a second that are no flood.
const MOST: usize = 1000;

/// Fewer than so many within a second are the end of a flood.
const CALM: usize = 500;

const SECOND_NS: u64 = 1_000_000_000;

/// When the latest notifications of both sides came.
#[derive(Debug, Default)]
pub(super) struct Flood {
    of_client: Rate,
    of_server: Rate,
}

#[derive(Debug, Default)]
struct Rate {
    /// Those of the last second, [`MOST`] at most.
    latest: VecDeque<Moment>,
    is_flood: bool,
}

impl Flood {
    pub(super) fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Body::Notification(notification) = &part.message.body else {
            return;
        };
        let (rate, who) = match part.direction() {
            Direction::ClientToServer => (&mut self.of_client, "client"),
            Direction::ServerToClient => (&mut self.of_server, "server"),
        };
        if rate.exceeded_at(part.seen.head.t_last) {
            let method = quote::text(&notification.method);
            let detail = format!("from the {who}, the last one {method}");
            findings.push(part.at(&FLOOD_NOTIFICATIONS, detail));
        }
    }
}

impl Rate {
    /// Takes one more in; whether a flood has begun with it.
    fn exceeded_at(&mut self, t: Moment) -> bool {
        let is_old = |then: &Moment| t.0.saturating_sub(then.0) >= SECOND_NS;
        while self.latest.front().is_some_and(is_old) {
            self.latest.pop_front();
        }
        self.is_flood &= self.latest.len() >= CALM;
        let exceeded = self.latest.len() == MOST;
        if exceeded {
            self.latest.pop_front();
        }
        self.latest.push_back(t);
        let begins = exceeded && !self.is_flood;
        self.is_flood |= exceeded;
        begins
    }
}
