//! A notification belongs to a call, or to none.

use super::{At, Correlator, MessageKind, MessageRecord, Observed};
use crate::exchange::{ExchangeId, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era, Notification, Subject};

impl Correlator {
    pub(super) fn notification(
        &mut self,
        at: At<'_>,
        notification: &Notification,
    ) -> MessageRecord {
        let mut record = at.record(MessageKind::Notification, self.era);
        record.method = Some(notification.method.clone());
        match &notification.subject {
            Subject::Progress { token, .. } => record.token.clone_from(token),
            Subject::Task { id: Some(id), .. } => record.task = Some(id.clone()),
            Subject::Other { name } => record.name.clone_from(name),
            _ => {}
        }
        record.exchange = self.attach(at, notification);
        record.era = match record.exchange.and_then(|id| self.calls.get(id)) {
            Some(call) => call.exchange.era,
            None if at.message.meta.subscription.is_some() => Era::Modern,
            None => self.era,
        };
        record
    }

    fn attach(&mut self, at: At<'_>, notification: &Notification) -> Option<ExchangeId> {
        match &notification.subject {
            Subject::Progress { token, .. } => {
                let attached = self.progress(at, token.as_ref()?);
                return attached.or_else(|| self.related(at));
            }
            Subject::Cancelled {
                request_id,
                is_by_user,
            } => {
                return self.cancelled(at, request_id.as_ref()?, *is_by_user);
            }
            Subject::Task {
                id,
                status,
                outcome,
            } => {
                let creator = self.calls.by_task(at.direction.reverse(), id.as_deref()?)?;
                let (word, carried) = (status.as_deref(), outcome.as_deref());
                self.task_status(creator, word, carried, at);
                return Some(creator);
            }
            Subject::Log { .. } | Subject::Other { .. } => {}
        }
        let is_log = matches!(notification.subject, Subject::Log { .. });
        let from_server = at.direction == Direction::ServerToClient;
        let caller = || {
            let mut callers = self.calls.callers().filter(|_| is_log && from_server);
            callers.next().filter(|_| callers.next().is_none())
        };
        let attached = self.listen_stream(at).or_else(|| self.related(at));
        attached.or_else(caller)
    }

    /// The creator of the task that the message says it is related to.
    fn related(&self, at: At<'_>) -> Option<ExchangeId> {
        let task = at.message.meta.related_task.as_deref()?;
        self.calls
            .by_task(at.direction.reverse(), task)
            .or_else(|| self.calls.by_task(at.direction, task))
    }

    /// The listen request whose stream the message is on.
    fn listen_stream(&self, at: At<'_>) -> Option<ExchangeId> {
        let id = at.message.meta.subscription.as_ref()?;
        let listen = self.calls.any(Direction::ClientToServer, id)?;
        let call = self.calls.get(listen)?;
        call.exchange.is_listen().then_some(listen)
    }

    fn progress(&mut self, at: At<'_>, token: &RequestId) -> Option<ExchangeId> {
        let requests = at.direction.reverse();
        let Some(id) = self.calls.by_token(requests, token) else {
            let kind = if self.calls.has_forgotten {
                Observed::ForGivenUp
            } else {
                Observed::ProgressUnknownToken
            };
            self.changes
                .observe(at.observation(kind, None, token.json()));
            return None;
        };
        let exchange = &mut self.calls.get_mut(id)?.exchange;
        let summary = at.message.summary.as_str();
        let text = summary.strip_prefix("progress ").unwrap_or(summary);
        exchange.progress_count += 1;
        exchange.progress = Some(text.into());
        self.changes.touch(exchange);
        Some(id)
    }

    fn cancelled(
        &mut self,
        at: At<'_>,
        request_id: &RequestId,
        is_by_user: bool,
    ) -> Option<ExchangeId> {
        let own = self.calls.in_flight(at.direction, request_id);
        let Some(id) = own.or_else(|| self.stream_of_the_other_side(at, request_id)) else {
            return self.cancel_of_nothing(at, request_id);
        };
        let call = self.calls.get_mut(id)?;
        call.cancel = Some((at.head.t_last, at.direction));
        call.waits(|waiting| waiting.close(at.head.t_last));
        call.exchange.cancelled = Some(at.head.seq);
        call.exchange.t_cancelled = Some(at.head.t_last);
        call.exchange.status = if is_by_user {
            Status::UserCancelled
        } else {
            Status::Cancelled
        };
        self.changes.touch(&call.exchange);
        self.calls.settle(id);
        self.end_wait(id, at.head.t_last);
        Some(id)
    }

    /// A server ends a listen stream by a cancel for the client's request.
    fn stream_of_the_other_side(&self, at: At<'_>, id: &RequestId) -> Option<ExchangeId> {
        let open = self.calls.in_flight(at.direction.reverse(), id)?;
        let call = self.calls.get(open)?;
        call.exchange.is_listen().then_some(open)
    }

    fn cancel_of_nothing(&mut self, at: At<'_>, id: &RequestId) -> Option<ExchangeId> {
        let own = self.calls.any(at.direction, id);
        let kind = if own.is_some() {
            Observed::CancelCompleted
        } else if self.calls.in_flight(at.direction.reverse(), id).is_some() {
            Observed::CancelWrongDirection
        } else if self.calls.has_forgotten {
            Observed::ForGivenUp
        } else {
            Observed::CancelUnknown
        };
        self.changes.observe(at.observation(kind, own, id.json()));
        own
    }
}
