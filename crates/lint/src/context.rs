//! Families of rules, and what they look at: a moment ([`Context`]), a frame
//! ([`FrameContext`]) and each of its messages ([`Part`]).

use crate::quote::Trail;
use crate::{Finding, Findings, OpenRequest, Rule, SessionFacts};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Correlator, MessageRecord, Observation};
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::FrameHead;
use mcpreel_trace::http::HttpExchange;
use mcpreel_trace::session::Session;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::{Revision, methods};
use mcpreel_wire::message::{self, Content, Direction, Era, Message};
use std::ops::Deref;

/// All that is known when something other than a message has come.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub now: Moment,
    /// The session up to now, and with what has just come.
    pub session: &'a Session,
    pub known: &'a SessionFacts,
    pub correlator: &'a Correlator,
    /// Collects the findings.
    pub findings: &'a Findings,
}

impl Context<'_> {
    /// The revision by which a finding is judged: its own, that of its exchange, or that of the
    /// connection where it is about neither.
    pub fn revision(&self, finding: &Finding) -> Revision {
        let of_exchange = |id| {
            let asked = self.known.open_request(id).map(|asked| asked.revision);
            asked.or_else(|| {
                let exchange = self.correlator.exchange(id)?;
                Some(self.known.revision(exchange.era))
            })
        };
        let known = finding.revision.or_else(|| of_exchange(finding.exchange?));
        known.unwrap_or_else(|| {
            if self.known.is_modern() {
                self.known.revision(Era::Modern)
            } else {
                self.known.legacy()
            }
        })
    }
}

/// Rules that share what they have to remember. Frames and events come in order; what a family
/// remembers must not grow with the length of the recording (see [`BoundedMap`](mcpreel_trace::bounded::BoundedMap)), and the
/// work on one frame must not grow faster than its size. Findings of rules that do not apply to the
/// revision that they are judged by are dropped by the caller, which also makes them as mild as
/// their rule says for that revision.
pub trait Family {
    /// Time has come to `context.now`, before whatever comes next: for rules about what did not
    /// happen in time.
    fn passed(&mut self, _context: &Context<'_>) {}

    /// Looks at the next frame of a protocol stream.
    fn frame(&mut self, _seen: &FrameContext<'_>) {}

    /// Looks at the next message of a frame, after [`Self::frame`].
    fn part(&mut self, _part: &Part<'_>) {}

    /// Looks at the next line on stderr; of a very long one `raw` is the beginning.
    fn stderr(&mut self, _head: &FrameHead, _raw: &[u8], _context: &Context<'_>) {}

    fn event(&mut self, _event: &Event, _context: &Context<'_>) {}

    /// Looks at an exchange of HTTP whose response has begun: both heads are there.
    fn http(&mut self, _http: &HttpExchange, _context: &Context<'_>) {}

    /// Looks at an exchange of HTTP whose response is over; `observed` is what the correlator observed then.
    fn http_over(
        &mut self,
        _http: &HttpExchange,
        _observed: &[Observation],
        _context: &Context<'_>,
    ) {
    }

    /// The recording is over; `end` is what the correlator observed then.
    fn finish(&mut self, _end: &[Observation], _context: &Context<'_>) {}
}

// What rules are shown: a frame, and each of its messages with all that is known about it.

/// A frame with all that is known about it when rules look at it.
#[derive(Clone, Copy, Debug)]
pub struct FrameContext<'a> {
    pub head: &'a FrameHead,
    /// The bytes, terminator included; of a very long frame at least the beginning.
    pub raw: &'a [u8],
    pub content: &'a Content,
    /// The JSON value that it holds; `None` where it is none, or where only its outline was read.
    pub root: Option<Value<'a>>,
    /// The messages with their exchanges.
    pub messages: &'a [MessageRecord],
    pub observations: &'a [Observation],
    /// The exchange of HTTP that carries it.
    pub http: Option<&'a HttpExchange>,
    /// The session up to and including this frame; requests that the frame answers are still open.
    pub context: Context<'a>,
}

impl<'a> Deref for FrameContext<'a> {
    type Target = Context<'a>;

    fn deref(&self) -> &Context<'a> {
        &self.context
    }
}

impl<'a> FrameContext<'a> {
    /// Whether it is what a server says with an HTTP error.
    pub fn is_refusal(&self) -> bool {
        let status = self.http.and_then(|http| http.status);
        let is_answer = self.head.stream.messages() == Some(Direction::ServerToClient);
        is_answer && status.is_some_and(|status| status >= 400)
    }

    pub fn parts(&self) -> impl Iterator<Item = Part<'a>> + use<'a> {
        let seen = *self;
        let messages = seen.content.messages.iter().zip(seen.messages);
        let messages = messages.zip(values(seen.content, seen.root));
        messages.map(move |((message, record), value)| Part {
            seen,
            message,
            record,
            value,
        })
    }

    /// The revision by which its messages are judged; of a batch its first.
    pub fn revision(&self) -> Revision {
        match self.parts().next() {
            Some(part) => part.revision(),
            None => self.known.legacy(),
        }
    }
}

/// The JSON value of each message of a frame.
pub(super) fn values<'a>(
    content: &'a Content,
    root: Option<Value<'a>>,
) -> impl Iterator<Item = Option<Value<'a>>> {
    let elements = root.filter(|_| content.batch);
    let mut elements = elements.map(|root| (0u32..).zip(root.elements()));
    content
        .messages
        .iter()
        .map(move |message| match &mut elements {
            // Not every member of a batch has a message.
            Some(elements) => elements
                .find(|(part, _)| *part == message.part)
                .map(|(_, value)| value),
            None => root,
        })
}

/// Places that the findings of one rule in one frame name where a walk over values finds them.
const PLACES: usize = 4;

/// A message with all that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub seen: FrameContext<'a>,
    pub message: &'a Message,
    pub record: &'a MessageRecord,
    /// The JSON value; `None` where only an outline was read.
    pub value: Option<Value<'a>>,
}

impl<'a> Part<'a> {
    pub fn direction(&self) -> Direction {
        self.record.direction
    }

    /// The method by its name in the protocol; of a response that of its request.
    pub fn method(&self) -> Option<&'a str> {
        self.record.method.as_deref().map(methods::canonical)
    }

    /// The era: of a response that of its request, of a notification that of the exchange it
    /// belongs to, else that of the client's latest request.
    pub fn era(&self) -> Era {
        self.record.era
    }

    /// The revision by which it is judged.
    pub fn revision(&self) -> Revision {
        match self.request() {
            Some(asked) => asked.revision,
            None => self.seen.known.revision(self.era()),
        }
    }

    /// The exchange that it belongs to.
    pub fn exchange(&self) -> Option<ExchangeId> {
        self.record.exchange
    }

    /// The request of its exchange (of a request: itself), if it is or was still open.
    pub fn request(&self) -> Option<&'a OpenRequest> {
        self.seen.known.open_request(self.record.exchange?)
    }

    /// All that is known of its exchange, this message included.
    pub fn full_exchange(&self) -> Option<&'a Exchange> {
        self.seen.correlator.exchange(self.record.exchange?)
    }

    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        self.value?.get(name)
    }

    pub fn params(&self) -> Option<Value<'a>> {
        self.get("params")
    }

    pub fn param(&self, name: &str) -> Option<Value<'a>> {
        self.params()?.get(name)
    }

    /// `result`, unless there is an error.
    pub fn result(&self) -> Option<Value<'a>> {
        match self.error() {
            Some(_) => None,
            None => self.get("result"),
        }
    }

    pub fn error(&self) -> Option<Value<'a>> {
        self.get("error").filter(|error| !error.is_null())
    }

    /// The client's capabilities for this message: those of the handshake, or in the request that it is or
    /// belongs to.
    pub fn client_capabilities(&self) -> Declared {
        match (self.era(), self.request()) {
            (Era::Legacy, _) => self.seen.known.client.clone(),
            (Era::Modern, asked) => asked
                .and_then(|asked| asked.capabilities.declared())
                .unwrap_or_default(),
        }
    }

    /// The server's capabilities: those of the handshake, or of its answer to a client that asked. `None` where nobody
    /// asked.
    pub fn server_capabilities(&self) -> Option<&'a Declared> {
        match self.era() {
            Era::Legacy => self.seen.known.server.as_ref(),
            Era::Modern => self.seen.known.discovered.as_ref(),
        }
    }

    /// The line for people, which is not made of every message when it is read.
    pub fn line(&self) -> String {
        match self.value {
            Some(value) => message::line(self.message, value),
            None => self.message.summary.clone(),
        }
    }

    pub fn at(&self, rule: &'static Rule, detail: impl Into<String>) -> Finding {
        let finding = rule.at(self.seen.head.seq, detail).about(self.exchange());
        finding.judged_by(self.revision())
    }

    pub fn push(&self, finding: Finding) {
        self.seen.findings.push(finding);
    }

    pub fn extend(&self, findings: impl IntoIterator<Item = Finding>) {
        self.seen.findings.extend(findings);
    }

    /// Reports a finding in this message.
    pub fn tell(&self, rule: &'static Rule, detail: impl Into<String>) {
        self.push(self.at(rule, detail));
    }

    /// Reports a finding at a place of this message.
    pub fn tell_at(
        &self,
        rule: &'static Rule,
        path: impl Into<Box<str>>,
        detail: impl Into<String>,
    ) {
        self.push(self.at(rule, detail).path(path));
    }

    /// Reports a finding at one of many places that may be wrong, unless a few of them are reported
    /// already.
    pub fn tell_with(
        &self,
        rule: &'static Rule,
        place: &Trail<'_>,
        detail: impl FnOnce() -> String,
    ) {
        let finding = || self.at(rule, detail()).path(place.path());
        let frame = Some(self.seen.head.seq);
        self.seen.findings.push_up_to(PLACES, rule, frame, finding);
    }
}
