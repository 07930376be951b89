//! The story of an exchange from request to answer, one line for each thing. The viewer and `show` tell
//! the same.

use crate::phrases;
use mcpreel_store::story;
use mcpreel_store::story::{Kinship, Story};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{escape, escape_bytes, size};

#[derive(Debug)]
pub struct Told {
    pub rows: Vec<Row>,
    /// Things that were left out because there were too many.
    pub left_out: u64,
}

#[derive(Debug)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The request or the response itself.
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
            let mut row = row(entry.what);
            row.t = entry.t;
            row.gap_ns = entry.t.0.saturating_sub(before.0);
            row.key = entry.key;
            rows.push(row);
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
        } => Row {
            size: Some(on_wire(
                row.span.end.saturating_sub(row.span.start),
                frame_size,
            )),
            ..message(&row.record, of)
        },
        story::Told::Line { head, preview } => Row {
            direction: head.stream.messages(),
            size: Some(size(head.size)),
            word: head.stream.messages().map_or("stderr", |_| "no message"),
            ..bare(
                Tone::Line,
                escape_bytes(preview.trim_ascii_end()).into_owned(),
            )
        },
        story::Told::Event(row) => Row {
            word: "event",
            ..bare(Tone::Event, phrases::event(&row.event.kind))
        },
        story::Told::Finding(finding) => Row {
            word: "finding",
            lens: Lens::Wire,
            ..bare(
                Tone::Finding,
                format!("{}: {}", escape(&finding.rule), escape(&finding.detail)),
            )
        },
    }
}

fn message(record: &MessageRecord, of: Kinship) -> Row {
    let tone = match (of, record.kind) {
        (Kinship::Child(_), _) => Tone::Child,
        (Kinship::Chain(_), _) => Tone::Round,
        (Kinship::Own, MessageKind::Notification) => Tone::Notification,
        (Kinship::Own, _) => Tone::Own,
    };
    // Progress, cancels and responses have no row of their own among the exchanges.
    let lens = match record.kind {
        MessageKind::Request => Lens::Exchanges,
        _ => Lens::Wire,
    };
    Row {
        direction: Some(record.direction),
        word: record.kind.as_str(),
        lens,
        ..bare(tone, escape(&record.summary).into_owned())
    }
}

fn bare(tone: Tone, text: String) -> Row {
    Row {
        t: Moment(0),
        gap_ns: 0,
        tone,
        direction: None,
        word: "",
        size: None,
        text,
        key: ItemKey::default(),
        lens: Lens::Exchanges,
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
