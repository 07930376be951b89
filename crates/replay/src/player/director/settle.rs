//! What an answer means for what comes later.

use super::calls::{Call, was_answered};
use super::send::listing;
use super::sides::{live, recorded};
use super::{Director, Scene};
use crate::bind::About;
use crate::judge::Occurrence;
use bytes::Bytes;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Outcome;

impl Director {
    /// The answer to a call came, byte for byte the recorded one.
    pub(super) fn answered_alike(&mut self, id: ExchangeId, line: &[u8], scene: &mut Scene<'_>) {
        let Some(call) = self.calls.close(id) else {
            return;
        };
        let exchange = &call.exchange;
        if &*exchange.method == "tools/list" {
            self.learn_tools(line);
        }
        if exchange.status == Status::InputRequired {
            return self.compare(&call, exchange.status, (line, None), scene);
        }
        self.tally.answered += 1;
        let walls = [
            self.recorded_wall(exchange.t_request),
            self.options.wall_ns.checked_add(call.sent.0),
        ];
        let latency_ns = nanos(scene, &call);
        let page = listing(exchange, scene);
        let mut then = recorded(exchange, walls[0], Some(line));
        then.request = page.as_deref();
        let now = live(exchange, walls[1], Some(line), exchange.status, latency_ns);
        self.judge.both(&then, &now);
        self.compare_progress(&call);
    }

    pub(super) fn answered(
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
            return self.stop(super::Stop::OtherEra(why.into()), scene.now);
        }
        let status = mcpreel_trace::correlator::status_of(method, outcome);
        let call = self.one_more_round(call, status, text, scene);
        if let Some(call) = call.and_then(|call| self.one_more_poll(call, text, scene)) {
            self.compare(&call, status, (text, value), scene);
        }
    }

    /// Puts an answer, which was read already if there is a value, to the recorded one, and learns
    /// from both.
    fn compare(
        &mut self,
        call: &Call,
        status: Status,
        (text, value): (&[u8], Option<Value<'_>>),
        scene: &mut Scene<'_>,
    ) {
        let exchange = &*call.exchange;
        let wall_ns = self.options.wall_ns.checked_add(call.sent.0);
        let now = live(exchange, wall_ns, Some(text), status, nanos(scene, call));
        if exchange.is_listen() {
            return;
        }
        self.tally.answered += 1;
        if !was_answered(exchange) {
            let wall_ns = self.recorded_wall(exchange.t_request);
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
        self.judge(exchange, renamed.as_deref().or(then), &now, scene);
        self.compare_progress(call);
    }

    /// Compares an answer with the recorded one, as that would read now.
    fn judge(
        &mut self,
        exchange: &Exchange,
        then: Option<&[u8]>,
        now: &Occurrence<'_>,
        scene: &mut Scene<'_>,
    ) {
        let about = about(exchange);
        let Some(then) = then.map(|then| self.options.binder.as_now(about, then)) else {
            self.tally.uncompared += 1;
            return;
        };
        let page = listing(exchange, scene);
        let wall_ns = self.recorded_wall(exchange.t_request);
        let mut then = recorded(exchange, wall_ns, Some(&then));
        then.request = page.as_deref();
        self.judge.both(&then, now);
    }

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
        let (seq, about) = (exchange.request.0, about(exchange));
        let request: std::cell::OnceCell<Option<Bytes>> = std::cell::OnceCell::new();
        let past = &mut scene.past;
        let binder = &mut self.options.binder;
        binder.learn(about, then.root(), now, &mut |text| {
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

    /// Why the server is of the other era than the recording, if that shows: in its first answer.
    fn other_era(
        &self,
        exchange: &Exchange,
        outcome: &Outcome,
        value: Option<Value<'_>>,
    ) -> Option<&'static str> {
        use mcpreel_wire::message::Era;
        if self.tally.answered > 0 || exchange.status != Status::Ok {
            return None;
        }
        let refused = matches!(outcome, Outcome::Error { .. });
        let result = value.and_then(|value| value.get("result"));
        let stateless = result.is_some_and(|result| result.get("resultType").is_some());
        match exchange.era {
            Era::Legacy if &*exchange.method == "initialize" && refused => Some(
                "the recording begins with initialize, which the server refuses: it may speak the \
                 modern era only",
            ),
            Era::Modern if refused => Some(
                "the recording has no handshake, and the server refuses its first request: it may \
                 speak the legacy era only",
            ),
            Era::Modern if result.is_some() && !stateless => Some(
                "the recording is of the modern era, and the server's first answer has no \
                 resultType: it is of the legacy one",
            ),
            _ => None,
        }
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

fn nanos(scene: &Scene<'_>, call: &Call) -> Option<u64> {
    u64::try_from(scene.now.since(call.sent).as_nanos()).ok()
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
