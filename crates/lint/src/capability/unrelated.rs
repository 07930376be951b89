//! Requests of a server that no call of its client needs.

use super::rules::UNRELATED;
use crate::finding::Findings;
use crate::seen::Part;
use mcpreel_wire::message::Direction;

/// Whether the server may ask for the roots at this moment without being asked anything itself.
#[derive(Debug, Default)]
pub(super) struct Unrelated {
    may_list_roots: bool,
}

impl Unrelated {
    /// A notification: after some of them servers ask for the roots.
    pub(super) fn notification(&mut self, part: &Part<'_>) {
        self.may_list_roots |= matches!(
            part.method(),
            Some("notifications/initialized" | "notifications/roots/list_changed")
        );
    }

    pub(super) fn request(&mut self, part: &Part<'_>, findings: &mut Findings) {
        if part.direction() == Direction::ClientToServer {
            return;
        }
        let method = match part.method() {
            Some("roots/list") if std::mem::take(&mut self.may_list_roots) => return,
            Some(method @ ("roots/list" | "sampling/createMessage" | "elicitation/create")) => {
                method
            }
            _ => return,
        };
        let is_of_task = part.message.meta.related_task.is_some();
        let mut open = part.seen.known.open();
        let needs_it = open.any(|(_, asked)| {
            asked.direction == Direction::ClientToServer && &*asked.method != "ping"
        });
        if !is_of_task && !needs_it && !part.seen.known.has_forgotten() {
            findings.push(part.at(&UNRELATED, method));
        }
    }
}
