//! What a live line is, whom it concerns, and what an answer means for what comes later.

use super::calls::{Call, was_answered};
use super::director::{Director, Scene};
use super::ending::Stop;
use super::script::What;
use super::send::listing;
use crate::bind::About;
use crate::diff::Occurrence;
use bytes::Bytes;
use mcpreel_trace::correlator::status_of;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::{
    Body, Content, Era, Lines, Message, Outcome, Subject, classify_outline,
};
use std::cell::OnceCell;

/// Bytes of a line that is no message that are kept to be shown.
const SHOWN: usize = 200;

impl Director {
    /// Takes a line of the server, with its terminator.
    pub fn arrive(&mut self, line: &[u8], scene: &mut Scene<'_>) {
        if let Some(call) = self.expected(line) {
            self.answered_alike(call, line, scene);
        } else {
            let mut classifier = std::mem::take(&mut self.classifier);
            let (content, root) = classifier.read(line, Lines::OfProgress);
            self.content(line, &content, root, scene);
            classifier.give_back();
            self.classifier = classifier;
        }
        self.go(scene);
    }

    /// Takes the outline of a line that was too long to be held; empty where it is no JSON.
    pub fn arrive_outline(&mut self, outline: &[u8], scene: &mut Scene<'_>) {
        let content = classify_outline(outline);
        if content.messages.is_empty() {
            self.noise(outline);
        }
        for message in &content.messages {
            match &message.body {
                Body::Response(response) => {
                    let id = response.id.as_ref();
                    match id.and_then(|id| self.calls.by_id(id)) {
                        Some(call) => {
                            self.calls.close(call);
                            self.tally.answered += 1;
                            self.tally.uncompared += 1;
                        }
                        None => self.stray(id),
                    }
                }
                Body::Notification(_) => self.notices.tell(message, scene.now),
                Body::Request(request) => self.stray(Some(&request.id)),
                Body::Invalid => self.noise(outline),
            }
        }
        self.go(scene);
    }

    /// The call that a line answers which is, byte for byte, the answer that the walk waits for.
    fn expected(&self, line: &[u8]) -> Option<ExchangeId> {
        let step = self.walk.current().filter(|step| step.is_from_server())?;
        let Some(What::Answers(id)) = step.single() else {
            return None;
        };
        let call = self.calls.get(*id)?;
        let alike = step.raw.as_deref() == Some(line)
            && call.is_awaited()
            && call.id == call.exchange.rpc_id
            && self.calls.by_id(&call.id) == Some(*id);
        alike.then_some(*id)
    }

    fn content(
        &mut self,
        line: &[u8],
        content: &Content,
        root: Option<Value<'_>>,
        scene: &mut Scene<'_>,
    ) {
        if content.messages.is_empty() {
            return self.noise(line);
        }
        for message in &content.messages {
            let value = match (root, content.batch) {
                (Some(root), true) => root.index(message.part as usize),
                (root, _) => root,
            };
            let text = line.get(message.span.clone()).unwrap_or(line);
            self.message(message, text, value, scene);
        }
    }

    fn message(
        &mut self,
        message: &Message,
        text: &[u8],
        value: Option<Value<'_>>,
        scene: &mut Scene<'_>,
    ) {
        match &message.body {
            Body::Response(response) => {
                let id = response.id.as_ref().filter(|id| !id.is_null());
                match id.and_then(|id| self.calls.by_id(id)) {
                    Some(call) => self.answered(call, &response.outcome, text, value, scene),
                    None => self.stray(response.id.as_ref()),
                }
            }
            Body::Request(request) => match value {
                Some(value) => self.asked(request, value, scene),
                None => self.stray(Some(&request.id)),
            },
            Body::Notification(notification) => {
                if let Subject::Progress {
                    token: Some(token),
                    progress,
                    total,
                } = &notification.subject
                {
                    self.progressed(token, progress.as_deref(), total.as_deref());
                }
                self.notices.tell(message, scene.now);
            }
            Body::Invalid => self.noise(text),
        }
    }

    /// Counts a line that is no message.
    fn noise(&mut self, line: &[u8]) {
        self.tally.noise[1] += 1;
        if self.tally.first_noise.is_none() {
            let line = line.trim_ascii_end();
            self.tally.first_noise = Some(line[..line.len().min(SHOWN)].into());
        }
    }

    /// Counts an answer to nothing that is open.
    fn stray(&mut self, id: Option<&RequestId>) {
        self.tally.strays[1] += 1;
        if self.tally.first_stray.is_none() {
            self.tally.first_stray = id.map(|id| id.json().into());
        }
    }
}

impl Director {
    /// The answer to a call came, byte for byte the recorded one.
    fn answered_alike(&mut self, id: ExchangeId, line: &[u8], scene: &mut Scene<'_>) {
        let Some(call) = self.calls.close(id) else {
            return;
        };
        let exchange = &*call.exchange;
        if &*exchange.method == "tools/list" {
            self.learn_tools(line);
        }
        if exchange.status == Status::InputRequired {
            return self.compare(&call, exchange.status, (line, None), scene);
        }
        self.tally.answered += 1;
        let page = listing(exchange, scene);
        let wall_ns = self.recorded_wall(exchange.t_request);
        let mut then = recorded(exchange, wall_ns, Some(line));
        then.request = page.as_deref();
        let now = self.live(&call, exchange.status, line, scene);
        self.judge.both(&then, &now);
        self.compare_progress(&call);
    }

    fn answered(
        &mut self,
        id: ExchangeId,
        outcome: &Outcome,
        text: &[u8],
        value: Option<Value<'_>>,
        scene: &mut Scene<'_>,
    ) {
        let Some(call) = self.calls.close(id) else {
            return;
        };
        if call.cancelled {
            self.tally.late += 1;
            return self.tally.give_up(&call, true);
        }
        let method = &*call.exchange.method;
        if method == "tools/list" && value.is_some() {
            self.learn_tools(text);
        }
        if let Some(why) = self.other_era(&call.exchange, outcome, value) {
            return self.stop(Stop::OtherEra(why.into()), scene.now);
        }
        let status = status_of(method, outcome);
        let call = self.one_more_round(call, status, text, scene);
        if let Some(call) = call.and_then(|call| self.one_more_poll(call, text, scene)) {
            self.compare(&call, status, (text, value), scene);
        }
    }

    /// Compares an answer with the recorded one, and learns from both. The answer is parsed already
    /// if there is a value.
    fn compare(
        &mut self,
        call: &Call,
        status: Status,
        (text, value): (&[u8], Option<Value<'_>>),
        scene: &mut Scene<'_>,
    ) {
        let exchange = &*call.exchange;
        if exchange.is_listen() {
            return;
        }
        self.tally.answered += 1;
        let now = self.live(call, status, text, scene);
        let wall_ns = self.recorded_wall(exchange.t_request);
        if !was_answered(exchange) {
            self.judge.both(&recorded(exchange, wall_ns, None), &now);
            return;
        }
        let frame = exchange.response.and_then(|(seq, _)| scene.past.raw(seq));
        let part = exchange.response.map_or(0, |(_, part)| part);
        let then = frame.as_deref().and_then(|frame| message_at(frame, part));
        let mut renamed = None;
        if let Some(then) = then {
            self.learn(exchange, then, (text, value), scene);
            renamed = self.go_round(exchange, status, then, text);
        }
        // The recorded answer as it would read now.
        let then = renamed.as_deref().or(then);
        let then = then.map(|then| self.options.binder.as_now(about(exchange), then));
        match then {
            Some(then) => {
                let page = listing(exchange, scene);
                let mut then = recorded(exchange, wall_ns, Some(&then));
                then.request = page.as_deref();
                self.judge.both(&then, &now);
            }
            None => self.tally.uncompared += 1,
        }
        self.compare_progress(call);
    }

    /// Learns the live values that stand for recorded ones.
    pub(super) fn learn(
        &mut self,
        exchange: &Exchange,
        then: &[u8],
        (now, value): (&[u8], Option<Value<'_>>),
        scene: &mut Scene<'_>,
    ) {
        if then == now {
            return;
        }
        let read = value.is_none().then(|| Document::parse(now).ok()).flatten();
        let value = value.or_else(|| read.as_ref().map(Document::root));
        let (Ok(then), Some(now)) = (Document::parse(then), value) else {
            return;
        };
        let request: OnceCell<Option<Bytes>> = OnceCell::new();
        let (past, binder) = (&mut scene.past, &mut self.options.binder);
        let seq = exchange.request.0;
        binder.learn(about(exchange), then.root(), now, &mut |text| {
            // What the client said itself was not made up by the server.
            let request = request.get_or_init(|| past.raw(seq));
            let said = |request: &Bytes| memchr::memmem::find(request, text.as_bytes());
            request.as_ref().and_then(said).is_none() && past.sends_after(seq, text)
        });
    }

    fn learn_tools(&mut self, text: &[u8]) {
        if let Ok(document) = Document::parse(text)
            && let Some(result) = document.root().get("result")
        {
            self.options.guard.live_list(result);
        }
    }

    /// Why the server is of the other era than the recording, if its first answer shows that.
    fn other_era(
        &self,
        exchange: &Exchange,
        outcome: &Outcome,
        value: Option<Value<'_>>,
    ) -> Option<&'static str> {
        if self.tally.answered > 0 || exchange.status != Status::Ok {
            return None;
        }
        let refused = matches!(outcome, Outcome::Error { .. });
        let result = value.and_then(|value| value.get("result"));
        let has_type = result.is_some_and(|result| result.get("resultType").is_some());
        match exchange.era {
            Era::Legacy if &*exchange.method == "initialize" && refused => Some(
                "the recording begins with initialize, which the server refuses: it may speak the \
                 modern era only",
            ),
            Era::Modern if refused => Some(
                "the recording has no handshake, and the server refuses its first request: it may \
                 speak the legacy era only",
            ),
            Era::Modern if result.is_some() && !has_type => Some(
                "the recording is of the modern era, and the server's first answer has no \
                 resultType: it is of the legacy one",
            ),
            _ => None,
        }
    }

    /// The live answer to a call as the right side of a comparison.
    fn live<'a>(
        &self,
        call: &'a Call,
        status: Status,
        answer: &'a [u8],
        scene: &Scene<'_>,
    ) -> Occurrence<'a> {
        let latency = scene.now.since(call.sent).as_nanos();
        Occurrence {
            seq: None,
            status,
            latency_ns: u64::try_from(latency).ok(),
            ..recorded(
                &call.exchange,
                self.options.wall_ns.checked_add(call.sent.0),
                Some(answer),
            )
        }
    }
}

/// A recorded exchange as the left side of a comparison.
pub(super) fn recorded<'a>(
    exchange: &'a Exchange,
    wall_ns: Option<u64>,
    response: Option<&'a [u8]>,
) -> Occurrence<'a> {
    Occurrence {
        seq: Some(exchange.request.0),
        method: &exchange.method,
        name: exchange.name.as_deref(),
        request: None,
        response,
        outline: None,
        status: exchange.status,
        latency_ns: exchange.latency_ns(),
        wall_ns,
    }
}

/// What values of an exchange belong to.
pub(super) fn about(exchange: &Exchange) -> About<'_> {
    About {
        seq: exchange.request.0,
        method: &exchange.method,
        name: exchange.name.as_deref(),
    }
}

/// The message at a place of a batch, or the only one of a frame.
pub(super) fn message_at(frame: &[u8], part: u32) -> Option<&[u8]> {
    let text = frame.strip_prefix(b"\xef\xbb\xbf").unwrap_or(frame);
    if text.trim_ascii_start().first() != Some(&b'[') {
        return Some(text);
    }
    let document = Document::parse(text).ok()?;
    let span = document.root().index(part as usize)?.span();
    text.get(span)
}
