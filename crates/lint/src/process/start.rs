//! What comes before the first message, and how long that takes.

pub(crate) mod launchers;

use super::{lasting, time};
use crate::family::Context;
use crate::finding::Findings;
use crate::quote;
use crate::rule::Rule;
use crate::section::STDIO;
use crate::seen::Seen;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::Session;
use mcpreel_wire::message::{Body, Content, Problem};

pub(super) static NOISE_BEFORE_FIRST_MESSAGE: Rule = Rule::warning(
    "noise-before-first-message",
    "something other than messages on stdout at the start",
)
.why("The client reads stdout line by line as messages, and many clients give the connection up at the first line that is none.")
.fix("Let stdout carry nothing but messages: send banners and logs to stderr, and start the server itself instead of a launcher that talks.")
.of(STDIO);

pub(super) static SLOW_START: Rule = Rule::note(
    "slow-start",
    "the server took more than five seconds to get ready",
)
.why("Hosts wait for a server only so long, and drop it without a word when it comes too late.")
.fix("Install the server beforehand instead of at each start, load what is large after the handshake, or raise the host's limit.");

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
    pub(super) fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        if seen.head.stream != StreamId::S2C {
            return;
        }
        if !self.has_spoken {
            self.first(seen, findings);
        }
        if !self.is_timed {
            self.timed(seen, findings);
        }
    }

    fn first(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let mut messages = seen.content.messages.iter();
        self.has_spoken = messages.any(|message| !matches!(message.body, Body::Invalid));
        if self.has_spoken || !is_noise(seen.content, seen.raw) {
            return;
        }
        self.has_spoken = true;
        let line = quote::bytes(seen.raw.trim_ascii_end());
        let detail = match launchers::name(seen.raw) {
            Some(name) => format!("{name}: {line}"),
            None => line,
        };
        findings.push(NOISE_BEFORE_FIRST_MESSAGE.at(seen.head.seq, detail));
    }

    fn timed(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let mut messages = seen.content.messages.iter();
        if !messages.any(|message| matches!(message.body, Body::Response(_))) {
            return;
        }
        // A probe that was refused is not the handshake.
        self.is_timed = seen.session.handshake_ns.is_some();
        if let Some(detail) = slow(seen.session) {
            self.is_timed = true;
            self.late = seen.messages.first().and_then(|record| record.exchange);
            findings.push(SLOW_START.at(seen.head.seq, detail).about(self.late));
        }
    }

    /// Whether an exchange is a handshake that was told to be slow.
    pub(super) fn is_told(&self, exchange: &Exchange) -> bool {
        self.late == Some(exchange.id) && time::is_handshake(exchange)
    }

    pub(super) fn finish(&mut self, context: &Context<'_>, findings: &mut Findings) {
        if self.is_timed {
            return;
        }
        let mut open = time::unanswered(context).into_iter();
        findings.extend(open.find_map(|one| time::handshake(one, context.now)));
    }
}

/// What took how long, if it was too long.
fn slow(session: &Session) -> Option<String> {
    let spawned = session.spawned;
    let first = session.first_byte.s2c;
    // Before it was asked anything, a server has nothing to say.
    let asked = session.first_byte.c2s.max(spawned);
    let since = |from| Some(first?.since(from?).as_nanos());
    let is_slow = |ns: u128| ns > u128::from(SLOW_START_NS);
    let handshake = session.handshake_ns;
    if !since(asked).is_some_and(is_slow) && handshake.is_none_or(|ns| ns <= SLOW_START_NS) {
        return None;
    }
    let part = |what: &str, ns: Option<u128>| {
        let ns = u64::try_from(ns?).unwrap_or(u64::MAX);
        Some(format!("{what} {}", lasting(ns)))
    };
    let parts = [
        part("from the spawn to the first byte", since(spawned)),
        part("from the first request to the first byte", since(asked)),
        part("handshake", handshake.map(u128::from)),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
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
