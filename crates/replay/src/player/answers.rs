//! What a line of the server means: an answer, a question of its own, or a notification.
//!
//! Where the live server asks for a round of input as it did then, under whatever keys, the recorded
//! retry answers it. Where it asks for something else, the user's policy for questions decides.

use super::calls::{Call, Chain};
use super::director::Director;
use super::stages::Stop;
use crate::bind::{About, Round};
use crate::diff::{Class, Half, Occurrence, Trouble};
use crate::lines::Line;
use crate::rules::Side;
use bytes::Bytes;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::status_of;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::errors::is_own_error;
use mcpreel_wire::message::{Body, Era, Lines, Message, Outcome, Response, classify_outline};
use mcpreel_wire::text::escape;
use std::cell::OnceCell;

/// Bytes of a line that is no message that are kept to be shown.
const SHOWN: usize = 200;

impl Director<'_> {
    /// Takes a line of the server, with its terminator, and goes on.
    pub fn arrive(&mut self, line: Line<'_>, now: Moment) -> Result<(), ReadError> {
        self.now = now;
        let mut classifier = std::mem::take(&mut self.classifier);
        let (line, (content, root)) = match line {
            Line::Whole(line) => (line, classifier.read(line, Lines::OfProgress)),
            Line::TooLong(outline) => (outline, (classify_outline(outline), None)),
        };
        for message in &content.messages {
            let text = line.get(message.span.clone()).unwrap_or(line);
            let value = match root {
                Some(root) if content.batch => root.index(message.part as usize),
                root => root,
            };
            self.message(message, text, value);
        }
        if content.messages.is_empty() {
            self.noise(line);
        }
        classifier.give_back();
        self.classifier = classifier;
        self.walk(now)
    }

    /// Takes a message; there is no value if its line was too long to be held.
    fn message(&mut self, message: &Message, text: &[u8], value: Option<Value<'_>>) {
        match &message.body {
            Body::Response(response) => {
                let id = response.id.as_ref().filter(|id| !id.is_null());
                let call = id.and_then(|id| self.calls.by_id(id));
                match call.and_then(|call| self.calls.0.remove(&call)) {
                    Some(call) => self.answered(&call, response, text, value),
                    None => self.stray(response.id.as_ref()),
                }
            }
            Body::Request(request) => match value {
                Some(value) => self.asked(request, value),
                None => self.stray(Some(&request.id)),
            },
            Body::Notification(notification) => self.notices.tell(notification),
            Body::Invalid => self.noise(text),
        }
    }

    /// Counts a line that is no message.
    fn noise(&mut self, line: &[u8]) {
        self.tally.noise[1] += 1;
        let line = line.trim_ascii_end();
        let shown = || line[..line.len().min(SHOWN)].into();
        self.tally.first_noise.get_or_insert_with(shown);
    }

    /// Counts an answer to nothing that is open.
    fn stray(&mut self, id: Option<&RequestId>) {
        self.tally.strays[1] += 1;
        let first = self.tally.first_stray.take();
        self.tally.first_stray = first.or_else(|| Some(id?.json().into()));
    }
}

/// Answers.
impl Director<'_> {
    fn answered(
        &mut self,
        call: &Call,
        response: &Response,
        text: &[u8],
        value: Option<Value<'_>>,
    ) {
        let exchange = &*call.exchange;
        if call.cancelled {
            let left = self.recorded(exchange, None);
            return self.judge.note_equal(&left);
        }
        if call.cancelled_after.is_some() {
            self.skipped.ids.insert(exchange.rpc_id.clone());
        }
        let Some(value) = value else {
            self.tally.answered += 1;
            self.tally.uncompared += 1;
            return;
        };
        if &*exchange.method == "tools/list"
            && let Some(result) = value.get("result")
        {
            self.options.guard.live_list(result);
        }
        if self.tally.answered == 0
            && let Some((trouble, why)) = refused(exchange, &response.outcome, value)
        {
            return self.stop(Stop::Refused(trouble, why), self.now);
        }
        if !exchange.is_listen() {
            let status = status_of(&exchange.method, &response.outcome);
            self.compare(call, status, text);
        }
    }

    /// Compares an answer with the recorded one, and learns from both.
    fn compare(&mut self, call: &Call, status: Status, text: &[u8]) {
        let exchange = &*call.exchange;
        self.tally.answered += 1;
        let latency = self.now.since(call.sent).as_nanos();
        let now = Occurrence {
            seq: None,
            status,
            latency_ns: u64::try_from(latency).ok(),
            wall_ns: self.options.wall_ns.checked_add(call.sent.0),
            ..self.recorded(exchange, Some(text))
        };
        let Some(at) = exchange.response else {
            let waited = call.cancelled_after.map(|after| after.as_nanos());
            let then = Occurrence {
                cancelled_after_ns: waited.and_then(|waited| u64::try_from(waited).ok()),
                ..self.recorded(exchange, None)
            };
            self.judge.compare(&then, &now);
            return;
        };
        let Some(then) = self.script.message(at) else {
            self.tally.uncompared += 1;
            return;
        };
        self.learn(exchange, &then, text);
        let renamed = self.go_round(exchange, status, &then, text);
        // The recorded answer as it would read now.
        let then = renamed.as_deref().unwrap_or(&then);
        let binder = &mut self.options.binder;
        let then = binder.as_now(About::of(exchange), Half::Response, then);
        let page = self.listing(exchange);
        let mut then = self.recorded(exchange, Some(&then));
        then.request = page.as_deref();
        self.judge.compare(&then, &now);
    }

    /// Learns the live values that stand for recorded ones.
    pub(super) fn learn(&mut self, exchange: &Exchange, then: &[u8], now: &[u8]) {
        if then == now {
            return;
        }
        if let (Ok(then), Ok(now)) = (Document::parse(then), Document::parse(now)) {
            let request: OnceCell<Option<Bytes>> = OnceCell::new();
            let (script, seq) = (&mut self.script, exchange.request.0);
            let binder = &mut self.options.binder;
            binder.learn(About::of(exchange), then.root(), now.root(), &mut |text| {
                // What the client said itself was not made up by the server.
                let request = request.get_or_init(|| script.raw(seq));
                let said = |request: &Bytes| memchr::memmem::find(request, text.as_bytes());
                request.as_ref().and_then(said).is_none() && script.sends_after(seq, text)
            });
        }
    }
}

/// What is the trouble if the first answer shows that the recording cannot be played: no server gave it,
/// but the bridge to a URL, or the server is of the other era. The words of the server stand there too:
/// it may have refused for another reason.
fn refused(exchange: &Exchange, outcome: &Outcome, answer: Value<'_>) -> Option<(Trouble, String)> {
    if exchange.status != Status::Ok {
        return None;
    }
    let refused = match outcome {
        Outcome::Error { message, .. } => Some(message.as_deref().map_or("an error", |it| it)),
        _ => None,
    };
    let refused = refused.map(|message| escape(message));
    if refused.is_some() && is_own_error(answer) {
        let why = format!("the first request reached no MCP server: {}", refused?);
        return Some((Trouble::Target, why));
    }
    let has_type = answer
        .get("result")
        .map(|result| result.get("resultType").is_some());
    let why = match exchange.era {
        Era::Legacy if &*exchange.method == "initialize" => format!(
            "the server refuses initialize; unless it says why, it may speak the modern era only: {}",
            refused?
        ),
        Era::Modern if refused.is_some() => format!(
            "the server refuses the first request; unless it says why, it may speak the legacy era only: {}",
            refused?
        ),
        Era::Modern if has_type == Some(false) => {
            "the recording is of the modern era, and the server's first answer has no resultType: \
             it is of the legacy one"
                .to_owned()
        }
        _ => return None,
    };
    Some((Trouble::Unreadable, why))
}

/// Rounds of input.
impl Director<'_> {
    /// Remembers what a recorded round of input means for its retry. Returns the recorded answer
    /// under the keys that its questions have now, where both sides ask for input.
    fn go_round(
        &mut self,
        exchange: &Exchange,
        status: Status,
        then: &[u8],
        now: &[u8],
    ) -> Option<Vec<u8>> {
        if exchange.status != Status::InputRequired {
            return None;
        }
        let (chain, renamed) = match status {
            Status::InputRequired => self.round(then, now)?,
            Status::Ok | Status::ToolError | Status::Task => (Chain::Complete(now.into()), None),
            _ => {
                let why = "the server answered the request with an error";
                (Chain::Broken(why.into()), None)
            }
        };
        if let Some(first) = exchange.chain {
            self.skipped.chains.insert(first, chain);
        }
        renamed
    }

    fn round(&mut self, then: &[u8], now: &[u8]) -> Option<(Chain, Option<Vec<u8>>)> {
        let (was, now) = (Document::parse(then).ok()?, Document::parse(now).ok()?);
        let (was, now) = (was.root().get("result")?, now.root().get("result")?);
        let left = |request: Value<'_>| self.words(request, Side::Left, None);
        let right = |request: Value<'_>| self.words(request, Side::Right, None);
        let round = Round::new(was, now, [&left, &right]);
        let renamed = Some(round.as_now(was.get("inputRequests"), then).into_owned());
        self.tally.unexpected += round.unexpected.len() as u64;
        if let Some(question) = round.unexpected.first() {
            let asked = now.get("inputRequests");
            if let Some(request) = asked.and_then(|asked| asked.get(&question.key)) {
                self.unexpected_question(&question.method, None, request, Class::Changed);
            }
            let method = escape(&question.method);
            let why = format!("an answer to {method}, which the server asks for now");
            return Some((Chain::Broken(why.into()), renamed));
        }
        Some((Chain::Asks(round), renamed))
    }
}
