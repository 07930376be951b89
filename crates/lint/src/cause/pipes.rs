//! A pipe was full: somebody did not read, so that the other side had to wait.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::Facts;
use super::{Cause, Evidence, Place, SECOND_NS, phrases};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{duration, size};

/// Waits that are shorter altogether are those of a busy machine, nanoseconds.
const PATIENCE_NS: u64 = SECOND_NS;

/// The size of a pipe on Linux, bytes: with more on stderr, a host that does not read would block.
const PIPE: u64 = 64 * 1024;

/// The waits of one stream.
#[derive(Default)]
struct Held<'f> {
    total_ns: u64,
    bytes: u64,
    /// The beginning of a wait that has not ended.
    open: Option<Moment>,
    shown: Vec<&'f Event>,
}

impl<'f> Held<'f> {
    fn of(facts: &'f Facts, of: StreamId) -> Self {
        let mut held = Self::default();
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

    /// Whether somebody gave up waiting, or was never answered, while the stream was held up.
    fn harmed(&self, facts: &Facts) -> bool {
        let until = facts.told_to_end().unwrap_or(facts.now);
        let cancelled = facts.cancelled.iter();
        let cancelled = cancelled.map(|one| (one.exchange.t_request, one.t.unwrap_or(until)));
        let open = facts
            .without_answer()
            .map(|exchange| (exchange.t_request, until));
        let harmed: Vec<_> = cancelled.chain(open).collect();
        self.shown.iter().any(|event| match event.kind {
            EventKind::StallEnded { lasted_ns, .. } => {
                let began = Moment(event.t.0.saturating_sub(lasted_ns));
                harmed
                    .iter()
                    .any(|(from, to)| *from <= event.t && began <= *to)
            }
            _ => false,
        })
    }
}

pub(super) fn pipe_not_read(facts: &Facts) -> Option<Cause> {
    let streams = [StreamId::S2C, StreamId::STDERR, StreamId::C2S];
    let held = streams.map(|stream| (stream, Held::of(facts, stream)));
    let is_long = |held: &Held<'_>| held.total_ns >= PATIENCE_NS || held.open.is_some();
    let worst = held.into_iter().filter(|(_, held)| is_long(held));
    let (stream, held) = worst.max_by_key(|(_, held)| (held.open.is_some(), held.total_ns))?;
    let (who, what, rule, advice) = match stream {
        StreamId::STDERR => (
            "the host",
            "the server's stderr",
            "stderr-undrained",
            "Let the server say less on stderr (a lower log level, or a file) until the host reads \
             it: a host must read stderr or send it elsewhere, or any chatty server hangs.",
        ),
        StreamId::C2S => (
            "the server",
            "its stdin",
            "stdin-undrained",
            "The server is busy or blocked: look what it does at that moment. A server must go on \
             reading while a tool runs.",
        ),
        _ => (
            "the host",
            "the server's stdout",
            "stdout-undrained",
            "The host is busy or blocked: look what it does at that moment, and whether the answer \
             before was very large.",
        ),
    };
    let (bytes, lasted) = (size(held.bytes), duration(held.total_ns));
    let (does, how, hangs) = match held.open {
        Some(_) if facts.is_live => ("does", format!("{bytes} have waited for {lasted}"), "hangs"),
        Some(_) => (
            "did",
            format!("{bytes} waited for {lasted}, until the end"),
            "hung",
        ),
        None => ("did", format!("{bytes} had to wait for {lasted}"), "hung"),
    };
    let certainty = match held.open {
        Some(_) => Certain,
        None if held.harmed(facts) => Likely,
        None => Possible,
    };
    let sentence = format!(
        "{who} {does} not read {what}: {how}; meanwhile the other side {hangs} in its write"
    );
    let mut cause = Cause::new(certainty, sentence)
        .advise(advice)
        .shown(held.shown.into_iter().map(evidence))
        .shown_findings(facts, rule);
    let bytes = facts.counts.stderr_bytes;
    if stream == StreamId::STDERR && bytes > PIPE {
        let (bytes, pipe) = (size(bytes), size(PIPE));
        let text = format!("{bytes} on stderr altogether; a pipe that nobody reads holds {pipe}");
        cause = cause.shown([Evidence::new(Place::Session, text)]);
    }
    Some(cause)
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
