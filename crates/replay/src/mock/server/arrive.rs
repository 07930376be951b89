//! What a line of the host holds, and whom it is for.

use super::client::Phase;
use super::request::Serving;
use super::{Server, own};
use crate::mock::index::Trigger;
use crate::mock::reel::{Reel, Said};
use crate::mock::wanted::digest;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::message::{Body, Content, Lines, Message, Notification, Problem, Subject};
use std::time::Duration;

impl<R: Reel> Server<R> {
    /// A line of the host, its end included.
    pub fn line(&mut self, line: &[u8], now: Moment) {
        let mut classifier = std::mem::take(&mut self.classifier);
        let (content, root) = classifier.read(line, Lines::OfProgress);
        self.content(&content, root, line, now);
        classifier.give_back();
        self.classifier = classifier;
    }

    /// A line that was too long to be taken in.
    pub fn too_long(&mut self) {
        self.invalid("the line is longer than is read", None);
    }

    fn content(&mut self, content: &Content, root: Option<Value<'_>>, line: &[u8], now: Moment) {
        if content.messages.is_empty() {
            return self.no_message(content);
        }
        let batch = content.batch.then(|| {
            let answered =
                |message: &&Message| matches!(message.body, Body::Request(_) | Body::Invalid);
            self.batches
                .open(content.messages.iter().filter(answered).count())
        });
        if content.batch
            && !self.index.batches
            && self.index.agreed.as_deref() != Some("2025-03-26")
        {
            return self.invalid("batches are part of revision 2025-03-26 only", None);
        }
        for message in &content.messages {
            let value = if content.batch {
                root.and_then(|root| root.index(message.part as usize))
            } else {
                root
            };
            let serving = Serving {
                message: line.get(message.span.clone()).unwrap_or_default(),
                is_read: value.is_some(),
                params: value.and_then(|value| value.get("params")),
                batch,
                delay: Duration::ZERO,
            };
            self.message(message, serving, now);
        }
    }

    fn message(&mut self, message: &Message, serving: Serving<'_>, now: Moment) {
        match &message.body {
            Body::Request(request) => self.request(request, message, serving, now),
            Body::Notification(notification) => self.notified(notification, serving, now),
            Body::Response(response) => {
                self.answered(response.id.as_ref(), serving.message, now);
            }
            Body::Invalid => self.invalid("neither a request nor a notification", serving.batch),
        }
    }

    fn no_message(&mut self, content: &Content) {
        let parse_error = |problem: &Problem| {
            matches!(problem, Problem::NotJson { .. } | Problem::TooDeep { .. })
        };
        if content.problems.iter().any(parse_error) {
            self.tally.malformed += 1;
            let code = own::PARSE_ERROR.to_string();
            self.respond(
                Said::own(own::error(None, &code, "Parse error", None)),
                None,
            );
        } else if !content.problems.contains(&Problem::Blank) {
            self.invalid("no request", None);
        }
    }

    pub(super) fn invalid(&mut self, why: &str, batch: Option<u64>) {
        self.tally.malformed += 1;
        let message = format!("Invalid Request: {why}");
        let error = own::error(None, &own::INVALID_REQUEST.to_string(), &message, None);
        self.respond(Said::own(error), batch);
    }

    fn notified(&mut self, notification: &Notification, serving: Serving<'_>, now: Moment) {
        let method = methods::canonical(&notification.method);
        if method == "notifications/initialized" {
            self.client.phase = Phase::Ready;
        }
        match &notification.subject {
            Subject::Cancelled {
                request_id: Some(id),
            } => {
                if !self.cancel(id, now) {
                    self.cancel_behind(id, serving.message);
                }
            }
            _ => self.tell_behind(method, serving.message),
        }
        let waiting = self.notices.get_mut(&digest(&notification.method, ""));
        if let Some(number) = waiting.and_then(std::collections::VecDeque::pop_front) {
            let anchor = self.index.notices.get(number as usize);
            let anchor = anchor.map(|notice| notice.place);
            self.play_after(Trigger::Notified(number), None, anchor, now);
        }
    }
}
