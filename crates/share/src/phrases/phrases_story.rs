//! An exchange: the facts of it, and its story from request to answer, one line for each thing. The
//! viewer, `show` and reports tell the same.

use super::phrases_session::{Facts, known};
use crate::phrases::{self, phrases_network};
use mcpreel_store::story;
use mcpreel_store::story::{Kinship, Story};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, escape, escape_bytes, plural, since, size};
use std::fmt::Write as _;

/// What is known of an exchange besides its messages; `why` says why calls of its session are lost.
pub fn facts(exchange: &Exchange, why: Option<&str>) -> Facts {
    let side = match exchange.direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    };
    let (status, at) = (exchange.status, since(exchange.t_request.0));
    let id = escape(exchange.rpc_id.json());
    let escaped = |text: Option<&str>| text.map(|text| escape(text).into_owned());
    let notices = exchange.progress_count;
    let progress = (notices > 0).then(|| {
        let last = escaped(exchange.progress.as_deref()).unwrap_or_default();
        format!("{}, the last one: {last}", plural(notices, "notification"))
    });
    let asked = format!("by the {side} at {at}, id {id}");
    let said = format!("{}: {}", status.as_str(), status.help());
    let latency = exchange.latency_ns().map(|ns| timing(exchange, ns));
    // An answer's latency says itself how much of it was waiting.
    let is_waited = exchange.waited_ns > 0 && exchange.latency_ns().is_none();
    let waited = is_waited.then(|| format!("{} for the client", duration(exchange.waited_ns)));
    known([
        ("asked", Some(asked)),
        ("status", (status != Status::Ok).then_some(said)),
        ("because", phrases::lost(exchange, why).map(String::from)),
        ("code", escaped(exchange.code.as_deref())),
        ("latency", latency),
        ("waited", waited),
        ("progress", progress),
        ("task", escaped(exchange.task.as_deref())),
    ])
}

fn timing(exchange: &Exchange, latency: u64) -> String {
    let mut words = duration(latency);
    if exchange.waited_ns > 0 {
        let when = if exchange.is_retry() {
            "after"
        } else {
            "of it"
        };
        let waited = duration(exchange.waited_ns);
        let _ = write!(words, ", {when} {waited} waiting for the client");
    }
    if let Some(transfer) = exchange.transfer_ns().filter(|&transfer| transfer > 0) {
        let _ = write!(words, ", then {} of transfer", duration(transfer));
    }
    words
}

#[derive(Debug)]
pub struct Told {
    pub rows: Vec<Row>,
    /// Things that were left out because there were too many.
    pub left_out: u64,
}

#[derive(Debug, Default)]
pub struct Row {
    pub t: Moment,
    /// Nanoseconds since the one before it.
    pub gap_ns: u64,
    pub tone: Tone,
    pub direction: Option<Direction>,
    pub word: &'static str,
    /// The bytes on the wire; see [`on_wire`].
    pub size: Option<String>,
    pub text: String,
    pub key: ItemKey,
    /// Through which lens it is a row of the list.
    pub lens: Lens,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// The request or the response itself.
    #[default]
    Own,
    Notification,
    /// A request of the other side meanwhile, or its answer.
    Child,
    /// Another round of the same chain.
    Round,
    /// A line of stderr, or one that is no message.
    Line,
    /// Something that happened to the process or the recording.
    Event,
    Finding,
}

impl Told {
    pub fn new(story: Story) -> Self {
        let mut rows: Vec<Row> = Vec::with_capacity(story.entries.len());
        for entry in story.entries {
            let before = rows.last().map_or(entry.t, |row| row.t);
            rows.push(Row {
                t: entry.t,
                gap_ns: entry.t.ns_since(before),
                key: entry.key,
                ..row(entry.what)
            });
        }
        Self {
            rows,
            left_out: story.left_out,
        }
    }

    /// The longest time in which nothing happened: the row after it, if it stands out.
    pub fn longest_gap(&self) -> Option<usize> {
        let total: u64 = self.rows.iter().map(|row| row.gap_ns).sum();
        let longest = (0..self.rows.len()).max_by_key(|&at| self.rows[at].gap_ns)?;
        (self.rows.len() > 2 && self.rows[longest].gap_ns > total / 2).then_some(longest)
    }
}

fn row(what: story::Told) -> Row {
    match what {
        story::Told::Message {
            row,
            frame_size,
            of,
        } => {
            let (record, bytes) = (&row.record, row.span.end.saturating_sub(row.span.start));
            Row {
                tone: match (of, record.kind) {
                    (Kinship::Child(_), _) => Tone::Child,
                    (Kinship::Chain(_), _) => Tone::Round,
                    (Kinship::Own, MessageKind::Notification) => Tone::Notification,
                    (Kinship::Own, _) => Tone::Own,
                },
                direction: Some(record.direction),
                word: record.kind.as_str(),
                size: Some(on_wire(bytes, frame_size)),
                text: escape(&record.summary).into_owned(),
                // Progress, cancels and responses have no row of their own among the exchanges.
                lens: match record.kind {
                    MessageKind::Request => Lens::Exchanges,
                    _ => Lens::Wire,
                },
                ..Row::default()
            }
        }
        story::Told::Line { head, preview } => Row {
            tone: Tone::Line,
            direction: head.stream.messages(),
            word: match head.carried.http {
                0 => head.stream.messages().map_or("stderr", |_| "no message"),
                _ => head.carried.part.as_str(),
            },
            size: Some(size(head.size)),
            text: match head.carried.http {
                0 => escape_bytes(preview.trim_ascii_end()).into_owned(),
                _ => escape(&phrases_network::part(&head, &preview)).into_owned(),
            },
            ..Row::default()
        },
        story::Told::Event(row) => Row {
            tone: Tone::Event,
            word: "event",
            text: phrases::event(&row.event.kind),
            ..Row::default()
        },
        story::Told::Finding(finding) => Row {
            tone: Tone::Finding,
            word: "finding",
            text: format!("{}: {}", escape(&finding.rule), escape(&finding.detail)),
            lens: Lens::Wire,
            ..Row::default()
        },
    }
}

/// The bytes that a message takes: those of its frame, terminator included, as everywhere. Where
/// more than a terminator stands beside it, as in a batch, both: `52 B of 153 B`.
pub fn on_wire(message: u64, frame: u64) -> String {
    const TERMINATOR: u64 = 2;
    if frame.saturating_sub(message) <= TERMINATOR {
        return size(frame);
    }
    format!("{} of {}", size(message), size(frame))
}
