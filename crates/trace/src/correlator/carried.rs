//! What HTTP says of the calls that it carries, beside their answers.

use super::{At, Correlator, Observation, Observed};
use crate::clock::Moment;
use crate::exchange::{Exchange, ExchangeId, Status};
use crate::frame::FrameHead;
use crate::http::{End, FOLLOWED_WITHIN_NS, HttpExchange};
use mcpreel_wire::mcp::summary::{self, Answer};
use mcpreel_wire::message::{Direction, Era, Request};

impl Correlator {
    /// `http`, the HTTP exchange of `head`, was answered with an error status, or a redirect. A message may yet come
    /// in its body, and then counts. `head` is that of the response, or of a request that comes after it: some
    /// clients send the body of a request apart, and a server may refuse what it says before.
    pub(crate) fn refused(&mut self, head: &FrameHead, http: &HttpExchange) {
        self.changes.begin();
        self.now = self.now.max(head.t_last);
        let (status, said) = (http.status.unwrap_or_default(), http.status_line());
        self.refused_by_http(http.id, status);
        self.each_open(http.id, false, |exchange| {
            without_answer(exchange, status, &said);
            exchange.t_response = Some(head.t_first.max(exchange.t_request));
            exchange.t_response_last = Some(head.t_last);
            None
        });
    }

    /// A stream goes on with an earlier one: what that has not brought may come on this.
    pub(crate) fn resumed(&mut self) {
        self.changes.begin();
        let mut broken = self.calls.open_of_client();
        broken.retain(|id| {
            let exchange = self.exchange(*id);
            exchange.is_some_and(|it| it.status == Status::Lost)
        });
        self.each(broken, false, |exchange| {
            exchange.status = Status::Open;
            exchange.t_response_last = None;
            None
        });
    }

    /// The response of `http` is over, whether or not it held the answers.
    pub(crate) fn response_over(&mut self, http: &HttpExchange) {
        let Some(end) = http.ended else {
            return;
        };
        let t = http.t_last.unwrap_or_default();
        self.changes.begin();
        self.now = self.now.max(t);
        let ended = |exchange: &mut Exchange| left_by(http, end, t, exchange);
        if http.has_endpoint {
            self.each(self.calls.open_of_client(), true, ended);
        } else {
            self.each_open(http.id, true, ended);
        }
    }

    /// The call that goes on with a request that is sent again where the server has sent it.
    pub(super) fn sent_again(&mut self, at: At<'_>, request: &Request) -> Option<ExchangeId> {
        let id = self.calls.last_unanswered(at.direction, &request.id)?;
        let exchange = &mut self.calls.get_mut(id)?.exchange;
        if !is_redirected(exchange) || exchange.method != request.method {
            return None;
        }
        let sent_elsewhere = exchange.t_response.unwrap_or_default();
        if at.head.t_first.ns_since(sent_elsewhere) > FOLLOWED_WITHIN_NS {
            self.calls.settle(id);
            return None;
        }
        exchange.http = at.head.carried.http;
        exchange.status = if exchange.is_listen() {
            Status::Listening
        } else {
            Status::Open
        };
        exchange.summary = at.message.summary.as_str().into();
        exchange.code = None;
        exchange.t_response = None;
        exchange.t_response_last = None;
        self.changes.touch(exchange);
        Some(id)
    }

    fn each_open(
        &mut self,
        http: u32,
        settles: bool,
        change: impl FnMut(&mut Exchange) -> Option<Observed>,
    ) {
        if http > 0 {
            self.each(self.calls.open_in(http), settles, change);
        }
    }

    fn each(
        &mut self,
        calls: Vec<ExchangeId>,
        settles: bool,
        mut change: impl FnMut(&mut Exchange) -> Option<Observed>,
    ) {
        for id in calls {
            if let Some(call) = self.calls.get_mut(id) {
                let observed = change(&mut call.exchange);
                self.changes.touch(&call.exchange);
                let is_over = match call.exchange.status {
                    Status::Open | Status::Polled => false,
                    // The client may come back for the rest: only the end of the recording tells.
                    Status::Lost => observed.is_some(),
                    _ => true,
                };
                if let Some(kind) = observed {
                    self.changes.observe(Observation::of(&call.exchange, kind));
                }
                if is_over && !is_redirected(&call.exchange) && settles {
                    self.calls.settle(id);
                    self.end_wait(id, self.now);
                }
            }
        }
    }
}

/// What the line of a call says behind what came in place of its answer.
pub const NO_ANSWER: &str = ", no answer";

/// What becomes of a call when the response of `http`, which may hold its answer, has ended at `t`.
fn left_by(http: &HttpExchange, end: End, t: Moment, exchange: &mut Exchange) -> Option<Observed> {
    let by_client = end == End::Left;
    if exchange.status != Status::Open || end == End::Unfinished {
        return None;
    }
    // To close the stream is how a client of the modern era cancels.
    if by_client && exchange.era == Era::Modern {
        exchange.status = Status::Cancelled;
        exchange.t_cancelled = Some(t);
        return None;
    }
    // What nobody can read to its end may hold the answer.
    if http.is_shortened && !matches!(end, End::Cut | End::Left) {
        return None;
    }
    let is_own = exchange.direction == Direction::ClientToServer && exchange.http == http.id;
    if exchange.era == Era::Legacy && (http.is_resumable || by_client) {
        match end {
            // Lost from now on, unless the client comes back for the rest.
            End::Cut if is_own => {
                exchange.status = Status::Lost;
                exchange.t_response_last = Some(t);
            }
            End::Cut | End::Left => {}
            _ => exchange.status = Status::Polled,
        }
        return None;
    }
    if let Some(status) = http.status.filter(|_| is_own && http.is_fulfilled()) {
        without_answer(exchange, status, &format!("{}{NO_ANSWER}", http.received()));
        exchange.t_response = http.t_head;
        exchange.t_response_last = Some(t);
        return Some(Observed::NotInResponse);
    }
    exchange.status = Status::Lost;
    exchange.t_response_last = Some(t);
    Some(Observed::Lost)
}

/// A call has the response of HTTP that `said` describes, and no answer.
fn without_answer(exchange: &mut Exchange, status: u16, said: &str) {
    exchange.status = Status::HttpError;
    exchange.code = Some(status.to_string().into());
    let answer = Some(Answer::Other(said));
    exchange.summary = summary::exchange(&exchange.method, &exchange.summary, answer).into();
}

/// Whether the server has sent a call elsewhere: the client may send the same again.
fn is_redirected(exchange: &Exchange) -> bool {
    let code = exchange.code.as_deref();
    exchange.status == Status::HttpError && matches!(code, Some("307" | "308"))
}
