//! What happened from a request to its answer, one line for each thing.

use crate::protocol::message::Direction;
use crate::store::story::{Kinship, Story};
use crate::store::{reader::FindingRow, story};
use crate::text::{escape, escape_bytes};
use crate::trace::clock::Moment;
use crate::trace::correlator::{MessageKind, MessageRecord};
use crate::trace::item::{ItemKey, Lens};
use crate::words;

/// A story, as it is shown.
#[derive(Debug)]
pub struct Told {
    /// Its rows.
    pub rows: Vec<Row>,
    /// Things that were left out because there were too many.
    pub left_out: u64,
}

/// Something that happened.
#[derive(Debug)]
pub struct Row {
    /// When it was complete.
    pub t: Moment,
    /// Nanoseconds since the one before it.
    pub gap_ns: u64,
    /// What kind of thing it is.
    pub tone: Tone,
    /// Which way it went.
    pub direction: Option<Direction>,
    /// What it is, in a word or two.
    pub word: &'static str,
    /// What it says, escaped.
    pub text: String,
    /// Where it stands.
    pub key: ItemKey,
    /// Through which lens it is a row of the list.
    pub lens: Lens,
}

/// What kind of thing a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The request or the response itself.
    Own,
    /// A notification about it.
    Notification,
    /// A request of the other side meanwhile, or its answer.
    Child,
    /// Another round of the same chain.
    Round,
    /// A line of stderr, or one that is no message.
    Line,
    /// Something that happened to the process or the recording.
    Event,
    /// Something wrong.
    Finding,
}

impl Told {
    /// The rows of a story.
    #[must_use]
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
    #[must_use]
    pub fn longest_gap(&self) -> Option<usize> {
        let total: u64 = self.rows.iter().map(|row| row.gap_ns).sum();
        let longest = (0..self.rows.len()).max_by_key(|&at| self.rows[at].gap_ns)?;
        (self.rows.len() > 2 && self.rows[longest].gap_ns > total / 2).then_some(longest)
    }
}

fn row(what: story::Told) -> Row {
    match what {
        story::Told::Message { row, of } => message(&row.record, of),
        story::Told::Line { head, preview } => Row {
            direction: head.stream.messages(),
            word: if head.stream.messages().is_some() {
                "no message"
            } else {
                "stderr"
            },
            ..bare(Tone::Line, line(&preview))
        },
        story::Told::Event(row) => Row {
            word: "event",
            ..bare(Tone::Event, words::event(&row.event.kind))
        },
        story::Told::Finding(finding) => self::finding(&finding),
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
        word: word(record.kind),
        lens,
        ..bare(tone, escape(&record.summary).into_owned())
    }
}

fn word(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Request => "request",
        MessageKind::Response => "response",
        MessageKind::Notification => "notification",
        MessageKind::Other => "other",
    }
}

fn finding(finding: &FindingRow) -> Row {
    let text = format!("{}: {}", escape(&finding.rule), escape(&finding.detail));
    Row {
        word: "finding",
        lens: Lens::Wire,
        ..bare(Tone::Finding, text)
    }
}

fn bare(tone: Tone, text: String) -> Row {
    Row {
        t: Moment(0),
        gap_ns: 0,
        tone,
        direction: None,
        word: "",
        text,
        key: ItemKey::default(),
        lens: Lens::Exchanges,
    }
}

/// A line without its terminator.
fn line(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    escape_bytes(bytes).into_owned()
}
