//! What HTTP says of the calls that it carries, beside their answers.

use super::{At, Correlator, Observation, Observed};
use crate::exchange::{Exchange, ExchangeId, Status};
use crate::frame::FrameHead;
use crate::http::{End, ResponseEnd};
use mcpreel_wire::http::head::status_line;
use mcpreel_wire::mcp::summary::{self, Answer};
use mcpreel_wire::message::{Era, Request};

impl Correlator {
    /// The HTTP exchange of `head` was answered with an error status, or a redirect. A message may yet come
    /// in its body, and then counts.
    pub(crate) fn refused(&mut self, head: &FrameHead, status: u16) {
        self.changes.begin();
        self.now = self.now.max(head.t_last);
        let said = status_line(status);
        self.refused_by_http(head.carried.http, status);
        self.each_open(head.carried.http, false, |exchange| {
            exchange.status = Status::HttpError;
            exchange.code = Some(status.to_string().into());
            let answer = Some(Answer::Other(&said));
            exchange.summary =
                summary::exchange(&exchange.method, &exchange.summary, answer).into();
            exchange.t_response = Some(head.t_first);
            exchange.t_response_last = Some(head.t_last);
            None
        });
    }

    /// The response to an HTTP exchange is over, whether or not it held the answers.
    pub(crate) fn response_over(&mut self, over: &ResponseEnd) {
        let ResponseEnd {
            http,
            t,
            end,
            is_resumable,
            carries_all,
        } = *over;
        let by_client = end == End::Left;
        self.changes.begin();
        self.now = self.now.max(t);
        let ended = |exchange: &mut Exchange| {
            if exchange.status != Status::Open {
                return None;
            }
            // To close the stream is how a client of the modern era cancels.
            if by_client && exchange.era == Era::Modern {
                exchange.status = Status::Cancelled;
                exchange.t_cancelled = Some(t);
                return None;
            }
            if exchange.era == Era::Legacy && (is_resumable || by_client) {
                let is_polled = end != End::Cut && !by_client;
                exchange.status = if is_polled {
                    Status::Polled
                } else {
                    Status::Open
                };
                return None;
            }
            exchange.status = Status::Lost;
            Some(Observed::Lost)
        };
        if carries_all {
            self.each(self.calls.open_of_client(), true, ended);
        } else {
            self.each_open(http, true, ended);
        }
    }

    /// The call that goes on with a request that is sent again where the server has sent it.
    pub(super) fn sent_again(&mut self, at: At<'_>, request: &Request) -> Option<ExchangeId> {
        let id = self.calls.in_flight(at.direction, &request.id)?;
        let exchange = &mut self.calls.get_mut(id)?.exchange;
        if !is_redirected(exchange) || exchange.method != request.method {
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
                if let Some(kind) = change(&mut call.exchange) {
                    self.changes.observe(Observation::of(&call.exchange, kind));
                }
                self.changes.touch(&call.exchange);
                let is_over = !matches!(call.exchange.status, Status::Open | Status::Polled);
                if is_over && !is_redirected(&call.exchange) && settles {
                    self.calls.settle(id);
                    self.end_wait(id, self.now);
                }
            }
        }
    }
}

/// Whether the server has sent a call elsewhere: the client may send the same again.
fn is_redirected(exchange: &Exchange) -> bool {
    let code = exchange.code.as_deref();
    exchange.status == Status::HttpError && matches!(code, Some("307" | "308"))
}
