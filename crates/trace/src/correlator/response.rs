//! A response ends an exchange, or belongs to none.

use super::open_calls::Call;
use super::request::is_about_task;
use super::{At, Correlator, MessageKind, MessageRecord, Observation, Observed};
use crate::exchange::{ExchangeId, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::summary::{self, Answer};
use mcpreel_wire::message::{Direction, Outcome, Response};

/// The outcome of the call that a task answered, by the task's status word and the outcome that
/// it may carry: status and error code; `None` while it is not over.
fn task_outcome<'a>(
    word: Option<&str>,
    carried: Option<&'a Outcome>,
) -> Option<(Status, Option<&'a str>)> {
    let by_word = match word? {
        "completed" => Status::Ok,
        "failed" => Status::Error,
        "cancelled" => Status::Cancelled,
        _ => return None,
    };
    Some(match carried {
        Some(Outcome::Error { code, .. }) => (Status::Error, code.as_deref()),
        Some(Outcome::ToolError) => (Status::ToolError, None),
        _ => (by_word, None),
    })
}

/// The status of an exchange of `method` that was answered by `outcome`.
pub fn status_of(method: &str, outcome: &Outcome) -> Status {
    match outcome {
        Outcome::Result { .. } => Status::Ok,
        Outcome::ToolError => Status::ToolError,
        Outcome::InputRequired(_) => Status::InputRequired,
        Outcome::Error { .. } => Status::Error,
        Outcome::Task { .. } if is_about_task(method) => Status::Ok,
        Outcome::Task {
            status, outcome, ..
        } => task_outcome(status.as_deref(), outcome.as_deref())
            .map_or(Status::Task, |(status, _)| status),
    }
}

impl Correlator {
    pub(super) fn response(&mut self, at: At<'_>, response: &Response) -> MessageRecord {
        let mut record = at.record(MessageKind::Response, self.era);
        record.rpc_id.clone_from(&response.id);
        match &response.outcome {
            Outcome::Error { code, .. } => record.code.clone_from(code),
            Outcome::Task { id, .. } => record.task = Some(id.clone()),
            _ => {}
        }
        let requests = at.direction.reverse();
        let http = at.head.carried.http;
        let id = response.id.as_ref().filter(|id| !id.is_null());
        let of_id = id.and_then(|id| self.calls.unanswered(requests, id, http));
        let is_error = matches!(response.outcome, Outcome::Error { .. });
        let Some(exchange) = of_id.or_else(|| self.only_one_of(http).filter(|_| is_error)) else {
            if let Some(id) = id {
                self.observe_stray(at, requests, id);
            }
            return record;
        };
        self.answer(at, exchange, &response.outcome);
        if let Some(call) = self.calls.get(exchange) {
            record.exchange = Some(exchange);
            record.era = call.exchange.era;
            record.method = Some(call.exchange.method.as_str().into());
            record.name = call.exchange.name.as_deref().map(Into::into);
        }
        record
    }

    /// The request that an HTTP exchange carried, if it was one: what answers it answers that, though
    /// a server that has not read the message does not know its id.
    fn only_one_of(&self, http: u32) -> Option<ExchangeId> {
        if http == 0 {
            return None;
        }
        let [only] = self.calls.open_in(http)[..] else {
            return None;
        };
        Some(only)
    }

    fn observe_stray(&mut self, at: At<'_>, requests: Direction, id: &RequestId) {
        let (kind, exchange) = if let Some(answered) = self.calls.answered(requests, id) {
            (Observed::ResponseDuplicate, Some(answered))
        } else if let Some(open) = self.calls.other_type(requests, id) {
            (Observed::ResponseIdTypeChanged, Some(open))
        } else if self.calls.has_forgotten {
            (Observed::ForGivenUp, None)
        } else {
            (Observed::ResponseUnknown, None)
        };
        self.changes
            .observe(at.observation(kind, exchange, id.json()));
    }

    fn answer(&mut self, at: At<'_>, id: ExchangeId, outcome: &Outcome) {
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let late_ns = settle(call, at, outcome);
        // Who has left has given up its subscriptions.
        let is_left = call.exchange.is_listen() && self.ending.client.wrote_all;
        if is_left && call.exchange.status == Status::Error {
            call.exchange.status = Status::Late;
        }
        if self.is_untimed {
            call.exchange.t_response = None;
            call.exchange.t_response_last = None;
        }
        if let Some(after_ns) = late_ns {
            let kind = Observed::ResponseLate { after_ns };
            self.changes
                .observe(at.observation(kind, Some(id), call.exchange.rpc_id.json()));
        }
        if let (Status::InputRequired, Outcome::InputRequired(asked)) =
            (call.exchange.status, outcome)
        {
            let given_up = self.rounds.wait(&call.exchange, asked, at.head.t_last);
            call.exchange.chain.get_or_insert(id);
            if let Some((frame, chain)) = given_up {
                self.changes.observe(Observation {
                    frame,
                    exchange: Some(chain),
                    direction: call.exchange.direction,
                    kind: Observed::RoundGivenUp,
                    subject: compact_str::CompactString::default(),
                });
            }
        }
        let status = call.exchange.status;
        self.changes.touch(&call.exchange);
        self.calls.answer(id);
        self.answered(id);
        if status != Status::Task {
            self.end_wait(id, at.head.t_last);
        }
        self.join_task(at, id, outcome);
    }

    /// Takes over what the answer to a request about a task says of the call that the task answered.
    fn join_task(&mut self, at: At<'_>, id: ExchangeId, outcome: &Outcome) {
        let exchange = self.calls.get(id).map(|call| &call.exchange);
        let Some(exchange) = exchange.filter(|it| is_about_task(&it.method)) else {
            return;
        };
        let is_wrapped = &*exchange.method == "tasks/result";
        let task = exchange.task.as_deref();
        let Some(creator) = task.and_then(|task| self.calls.by_task(exchange.direction, task))
        else {
            return;
        };
        let (from, status, code): (&[Status], _, _) = match outcome {
            Outcome::Task {
                status, outcome, ..
            } => return self.task_status(creator, status.as_deref(), outcome.as_deref(), at),
            Outcome::Error { code, .. } => (&[Status::Error], Status::Error, code.as_deref()),
            Outcome::ToolError => (&[Status::Ok, Status::Error], Status::ToolError, None),
            Outcome::Result { .. } => (&[], Status::Ok, None),
            Outcome::InputRequired(_) => return,
        };
        if is_wrapped {
            self.task_ended(creator, from, status, code, at);
        }
    }

    /// A status word came for the task that answered `creator`.
    pub(super) fn task_status(
        &mut self,
        creator: ExchangeId,
        word: Option<&str>,
        carried: Option<&Outcome>,
        at: At<'_>,
    ) {
        if let Some((status, code)) = task_outcome(word, carried) {
            self.task_ended(creator, &[], status, code, at);
        }
    }

    /// The call gets its outcome, if it waits for that or stands as one of `from`.
    fn task_ended(
        &mut self,
        creator: ExchangeId,
        from: &[Status],
        status: Status,
        code: Option<&str>,
        at: At<'_>,
    ) {
        if let Some(Call { exchange, .. }) = self.calls.get_mut(creator)
            && (exchange.status == Status::Task || from.contains(&exchange.status))
        {
            exchange.status = status;
            exchange.code = code.map(Into::into);
            self.changes.touch(exchange);
            self.calls.settle(creator);
            self.end_wait(creator, at.head.t_last);
        }
    }
}

/// Writes the answer into its exchange; nanoseconds after the cancel, if it is late.
fn settle(call: &mut Call, at: At<'_>, outcome: &Outcome) -> Option<u64> {
    call.waits(|waiting| waiting.close(at.head.t_first));
    // A server may say that it ends a listen stream and complete it as well.
    let late = call
        .cancel
        .filter(|(_, way)| !(call.exchange.is_listen() && *way == at.direction))
        .map(|(t, _)| at.head.t_first.0.saturating_sub(t.0));
    let exchange = &mut call.exchange;
    // The status with which HTTP refused the request stands in the line until a message says more.
    let was_refused = exchange.status == Status::HttpError;
    exchange.response = Some((at.head.seq, at.message.part));
    exchange.t_response = Some(at.head.t_first);
    exchange.t_response_last = Some(at.head.t_last);
    exchange.response_size = at.head.size;
    exchange.status = match late {
        Some(_) if exchange.status == Status::UserCancelled => Status::UserCancelled,
        Some(_) => Status::Late,
        None => status_of(&exchange.method, outcome),
    };
    if was_refused {
        // The status of HTTP, which says nothing any more.
        exchange.code = None;
    }
    match outcome {
        Outcome::Error { code, .. } => exchange.code.clone_from(code),
        Outcome::Task { id, outcome, .. } => {
            exchange.task = Some(id.clone());
            if let (Status::Error, Some(Outcome::Error { code, .. })) =
                (exchange.status, outcome.as_deref())
            {
                exchange.code.clone_from(code);
            }
        }
        _ => {}
    }
    let answer = Some(Answer::new(outcome, &at.message.summary));
    let asked = if was_refused {
        exchange.asked()
    } else {
        &exchange.summary
    };
    exchange.summary = summary::exchange(&exchange.method, asked, answer).into();
    late
}
