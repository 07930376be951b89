//! Requests that a task answers are cancelled by `tasks/cancel`.

use crate::finding::Findings;
use crate::remembered::Remembered;
use crate::rule::{Revisions, Rule, Severity};
use crate::section::CANCELLATION;
use crate::seen::Part;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Outcome, Subject};

pub(super) static CANCEL_TASK_REQUEST: Rule = Rule::error(
    "cancel-task-request",
    "a request that asks for a task is cancelled like one that does not",
)
.why("The task goes on and keeps its result, because only `tasks/cancel` ends a task.")
.fix("Send `tasks/cancel` with the id of the task instead of `notifications/cancelled`.")
.of(CANCELLATION)
.only(Revisions::between(
    Revision::V2025_11_25,
    Revision::V2025_11_25,
))
.milder_where(Severity::Warning, "its task had no id yet");

/// Requests that are remembered after a task has answered them. Without a limit a client that asks
/// for nothing but tasks would be kept in memory; what was forgotten is not judged.
const REMEMBERED: usize = 1024;

/// The requests that were answered by a task, with the frame that says so.
#[derive(Debug)]
pub(super) struct Tasks(Remembered<ExchangeId, Seq>);

impl Default for Tasks {
    fn default() -> Self {
        Self(Remembered::new(REMEMBERED))
    }
}

impl Tasks {
    pub(super) fn part(&mut self, part: &Part<'_>, findings: &mut Findings) {
        match &part.message.body {
            Body::Response(response) if matches!(response.outcome, Outcome::Task { .. }) => {
                if let Some((exchange, asked)) = part.exchange().zip(part.asked())
                    && asked.task
                {
                    self.0.insert(exchange, part.seen.head.seq);
                }
            }
            Body::Notification(notification) => {
                if let Subject::Cancelled { .. } = notification.subject {
                    self.cancelled(part, findings);
                }
            }
            _ => {}
        }
    }

    fn cancelled(&self, part: &Part<'_>, findings: &mut Findings) {
        let Some(exchange) = part.exchange() else {
            return;
        };
        if let Some(answer) = self.0.get(&exchange) {
            let finding = part.at(&CANCEL_TASK_REQUEST, "its task goes on");
            findings.push(finding.and(*answer));
        } else if let Some(asked) = part.asked().filter(|asked| asked.task) {
            // Before the answer names the task nobody can cancel it by its id.
            let finding = part.at(&CANCEL_TASK_REQUEST, "before its task had an id");
            findings.push(finding.as_bad_as(Severity::Warning).and(asked.frame));
        }
    }
}
