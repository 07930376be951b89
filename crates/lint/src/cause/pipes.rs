//! A pipe was full: somebody did not read, so that the other side had to wait.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Place, named, phrases};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{duration, size};
use std::ops::RangeInclusive;

/// Waits that are shorter altogether are those of a busy machine, nanoseconds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// What a pipe holds on Linux, bytes: with more on stderr, a host that does not read would block.
const PIPE: u64 = 64 * 1024;

#[derive(Default)]
struct Held<'f> {
    total_ns: u64,
    bytes: u64,
    /// Since when the last wait goes on.
    open: Option<Moment>,
    shown: Vec<&'f Event>,
}

impl Held<'_> {
    /// Whether somebody gave up waiting, or was never answered, while it was held up.
    fn harmed(&self, facts: &Facts) -> bool {
        let waits = self.shown.iter().filter_map(|event| match event.kind {
            EventKind::StallEnded { lasted_ns, .. } => {
                Some(event.t.0.saturating_sub(lasted_ns)..=event.t.0)
            }
            _ => None,
        });
        let until = facts.told_to_end().unwrap_or(facts.now).0;
        let cancelled = facts
            .cancelled
            .iter()
            .map(|one| (one.exchange.t_request.0, one.t.map_or(until, |t| t.0)));
        let open = facts.without_answer();
        let open = open.map(|exchange| (exchange.t_request.0, until));
        let harmed: Vec<_> = cancelled.chain(open).collect();
        let is_during = |wait: &RangeInclusive<u64>| {
            harmed
                .iter()
                .any(|(from, to)| from <= wait.end() && wait.start() <= to)
        };
        waits.into_iter().any(|wait| is_during(&wait))
    }
}

pub(super) fn pipe_not_read(facts: &Facts) -> Option<Cause> {
    let streams = [StreamId::S2C, StreamId::STDERR, StreamId::C2S];
    let held = streams.map(|stream| (stream, held(facts, stream)));
    let is_long = |held: &Held<'_>| held.total_ns >= PATIENCE_NS || held.open.is_some();
    let worst = held.into_iter().filter(|(_, held)| is_long(held));
    let (stream, held) = worst.max_by_key(|(_, held)| (held.open.is_some(), held.total_ns))?;
    let (who, what, advice) = words_of(stream);
    let certainty = if held.open.is_some() {
        Certainty::Certain
    } else if held.harmed(facts) {
        Certainty::Likely
    } else {
        Certainty::Possible
    };
    let sentence = sentence(who, what, &held, facts.is_live);
    let cause = Cause::new(certainty, sentence).advise(advice);
    let cause = cause.shown(held.shown.into_iter().map(evidence));
    let rule = match stream {
        StreamId::STDERR => named::STDERR_UNDRAINED,
        StreamId::C2S => named::STDIN_UNDRAINED,
        _ => named::STDOUT_UNDRAINED,
    };
    let cause = cause.shown(facts.found(rule).into_iter().flat_map(phrases::findings));
    Some(cause.shown(volume(facts).filter(|_| stream == StreamId::STDERR)))
}

/// `the host does not read the server's stderr: 4.5 kB have waited for 8.0 s; meanwhile …`
fn sentence(who: &str, what: &str, held: &Held<'_>, is_live: bool) -> String {
    let (bytes, lasted) = (size(held.bytes), duration(held.total_ns));
    match held.open {
        Some(_) if is_live => format!(
            "{who} does not read {what}: {bytes} have waited for {lasted}; meanwhile the other side \
             hangs in its write"
        ),
        open => {
            let how = match open {
                Some(_) => format!("{bytes} waited for {lasted}, until the end"),
                None => format!("{bytes} had to wait for {lasted}"),
            };
            format!("{who} did not read {what}: {how}; meanwhile the other side hung in its write")
        }
    }
}

/// How a stream was held up, by what the recorder noted.
fn held(facts: &Facts, of: StreamId) -> Held<'_> {
    let mut held = Held::default();
    for event in &facts.events {
        match event.kind {
            EventKind::StallBegan { stream, bytes } if stream == of => {
                held.bytes = held.bytes.max(bytes);
                held.open = Some(event.t);
            }
            EventKind::StallEnded { stream, lasted_ns } if stream == of => {
                held.total_ns = held.total_ns.saturating_add(lasted_ns);
                held.open = None;
            }
            EventKind::Undelivered { stream, bytes } if stream == of && held.open.is_some() => {
                held.bytes = held.bytes.max(bytes);
            }
            _ => continue,
        }
        held.shown.push(event);
    }
    let open_ns = held.open.map_or(0, |since| facts.since(since));
    held.total_ns = held.total_ns.saturating_add(open_ns);
    held
}

/// Who does not read, what, and what to do about it.
fn words_of(stream: StreamId) -> (&'static str, &'static str, &'static str) {
    match stream {
        StreamId::STDERR => (
            "the host",
            "the server's stderr",
            "Let the server say less on stderr (a lower log level, or a file) until the host reads \
             it: a host must read stderr or send it elsewhere, or any chatty server hangs.",
        ),
        StreamId::C2S => (
            "the server",
            "its stdin",
            "The server is busy or blocked: look what it does at that moment. A server must go on \
             reading while a tool runs.",
        ),
        _ => (
            "the host",
            "the server's stdout",
            "The host is busy or blocked: look what it does at that moment, and whether the answer \
             before was very large.",
        ),
    }
}

fn evidence(event: &Event) -> Evidence {
    let text = match event.kind {
        EventKind::StallBegan { stream, bytes } => {
            let stream = phrases::stream(stream);
            format!("a write to {stream} hangs, {} wait", size(bytes))
        }
        EventKind::StallEnded { stream, lasted_ns } => {
            let stream = phrases::stream(stream);
            format!("{stream} goes on after {}", duration(lasted_ns))
        }
        _ => "bytes could not be delivered".to_owned(),
    };
    phrases::event(event, text)
}

/// How much there was on stderr, where that is more than a pipe holds.
fn volume(facts: &Facts) -> Option<Evidence> {
    let bytes = facts.counts.stderr_bytes;
    (bytes > PIPE).then(|| {
        let text = format!(
            "{} on stderr altogether; a pipe that nobody reads holds {}",
            size(bytes),
            size(PIPE)
        );
        Evidence::new(Place::Session, text)
    })
}
