//! Output before the first message, and slow starts.

use crate::section::STDIO;
use crate::{Context, Finding, FrameContext, Rule, quote};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::Session;
use mcpreel_wire::message::{Body, Content, Problem};
use mcpreel_wire::text::duration;

rules! {
    NOISE_BEFORE_FIRST_MESSAGE = warning("noise-before-first-message").of(STDIO)
        .finds("something other than messages on stdout at the start")
        .why("The client reads stdout line by line as messages, and many clients close the connection at the first line that is not a message.")
        .fix("Let stdout carry nothing but messages: send banners and logs to stderr, and start the server itself instead of a launcher that talks.");

    SLOW_START = note("slow-start")
        .finds("the server took more than five seconds to get ready")
        .why("Hosts have a timeout for the start of a server, and drop a late one without a word.")
        .fix("Install the server beforehand instead of at each start, load what is large after the handshake, or raise the host's limit.");
}

/// From here on a start is slow. Some hosts give up after ten seconds; half of that is worth
/// knowing.
pub(super) const SLOW_START_NS: u64 = 5_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Start {
    /// Whether a message of the server was seen, or noise was told.
    has_spoken: bool,
    /// Whether nothing more is to be said about how long it took.
    is_timed: bool,
    /// The exchange of the answer that was told to have come late.
    late: Option<ExchangeId>,
}

impl Start {
    pub(super) fn frame(&mut self, seen: &FrameContext<'_>) {
        if seen.head.stream != StreamId::S2C {
            return;
        }
        let mut bodies = seen.content.messages.iter().map(|message| &message.body);
        let is_answer = bodies.clone().any(|body| matches!(body, Body::Response(_)));
        let is_message = bodies.any(|body| !matches!(body, Body::Invalid));
        if !self.has_spoken && !is_message && is_noise(seen.content, seen.raw) {
            self.has_spoken = true;
            let line = quote::bytes(seen.raw.trim_ascii_end());
            seen.findings
                .push(NOISE_BEFORE_FIRST_MESSAGE.at(seen.head.seq, line));
        }
        self.has_spoken |= is_message;
        if !self.is_timed && is_answer {
            // A probe that was refused is not the handshake.
            self.is_timed = seen.session.handshake_ns.is_some();
            if let Some(detail) = slow(seen.session) {
                self.is_timed = true;
                self.late = seen.messages.first().and_then(|record| record.exchange);
                seen.findings
                    .push(SLOW_START.at(seen.head.seq, detail).about(self.late));
            }
        }
    }

    /// Whether an exchange is a handshake that was told to be slow.
    pub(super) fn is_told(&self, exchange: &Exchange) -> bool {
        self.late == Some(exchange.id) && is_handshake(exchange)
    }

    pub(super) fn finish(&mut self, context: &Context<'_>) {
        if !self.is_timed {
            let mut open = unanswered(context).into_iter();
            let late = open.find_map(|one| handshake(one, context.now));
            context.findings.extend(late);
        }
    }
}

/// The exchanges without an answer, as many as rules remember, in order.
pub(super) fn unanswered<'a>(context: &Context<'a>) -> Vec<&'a Exchange> {
    let open = context.known.open();
    let open = open.filter_map(|(id, _)| context.correlator.exchange(id));
    let mut open: Vec<_> = open.filter(|exchange| is_open(exchange)).collect();
    open.sort_unstable_by_key(|exchange| exchange.id);
    open
}

/// Whether an exchange waits for its answer, or has waited to the end of the recording.
pub(super) fn is_open(exchange: &Exchange) -> bool {
    let is_refused = exchange.status == Status::HttpError;
    let is_over = exchange.response.is_some() || exchange.cancelled.is_some() || is_refused;
    !is_over && !exchange.is_listen()
}

/// Whether an exchange is what a client begins with.
pub(crate) fn is_handshake(exchange: &Exchange) -> bool {
    matches!(&*exchange.method, "initialize" | "server/discover")
}

pub(super) fn late(rule: &'static Rule, exchange: &Exchange, detail: String) -> Finding {
    rule.at(exchange.request.0, detail).about(Some(exchange.id))
}

/// A handshake that has no answer for too long.
pub(super) fn handshake(exchange: &Exchange, now: Moment) -> Option<Finding> {
    let ns = exchange.own_ns_until(now);
    (is_handshake(exchange) && ns > SLOW_START_NS).then(|| {
        let detail = format!("no answer to {} for {}", exchange.method, duration(ns));
        late(&SLOW_START, exchange, detail)
    })
}

/// The steps of a slow start and their durations.
fn slow(session: &Session) -> Option<String> {
    let (spawned, first) = (session.spawned, session.first_byte.s2c);
    // Before it was asked anything, a server has nothing to say.
    let asked = session.first_byte.c2s.max(spawned);
    let since_spawn = first.zip(spawned).map(|(first, t)| first.ns_since(t));
    let since_asked = first.zip(asked).map(|(first, t)| first.ns_since(t));
    let handshake = session.handshake_ns;
    if since_asked.max(handshake) <= Some(SLOW_START_NS) {
        return None;
    }
    let parts = [
        ("from the spawn to the first byte", since_spawn),
        ("from the first request to the first byte", since_asked),
        ("handshake", handshake),
    ];
    let part = |(what, ns): (&str, Option<u64>)| Some(format!("{what} {}", duration(ns?)));
    let parts: Vec<_> = parts.into_iter().filter_map(part).collect();
    Some(parts.join(", "))
}

/// Whether a frame without a message is noise. A message that is broken is not, and an empty line
/// is no more than that.
fn is_noise(content: &Content, raw: &[u8]) -> bool {
    let line = raw.trim_ascii();
    let begins = line.starts_with(b"{");
    let is_broken = begins && memchr::memmem::find(line, b"\"jsonrpc\"").is_some();
    // The first line of a message that was written over several.
    let is_opening = matches!(line, b"{" | b"[");
    let is_shortened = content.problems.contains(&Problem::Shortened);
    let is_cut = is_shortened || begins && content.problems.contains(&Problem::Truncated);
    !(line.is_empty() || is_broken || is_opening || is_cut)
}
