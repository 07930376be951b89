//! The exchanges that a report describes, and the sequence diagram around them in Mermaid's language.
//!
//! ```text
//! sequenceDiagram
//!     participant c as claude-ai 0.1.0
//!     participant s as weather 2
//!     c->>s: #35;1 initialize claude-ai 0.1.0, 2025-11-25
//!     s-->>c: #35;2 ok weather 2
//!     Note over c,s: 12 more frames
//!     c->>s: #35;15 tools/call transfer
//!     Note over s: stderr#58; fatal#58; bad pointer
//!     Note over s: the server was ended by SIGSEGV
//! ```
//!
//! Of what was said only letters, digits and a few marks stand as they are; everything else is an
//! entity code, which the diagram shows as the character and its language never takes for its own.

use crate::export::{Excerpt, ExportError, Progress};
use crate::phrases::{self, phrases_network};
use mcpreel_lint::cause::{Cause, Facts};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::http::Part;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, escape, escape_bytes, plural};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Frames that are drawn: more do not fit on a screen.
const ROWS: usize = 40;

/// Messages of a batch that are drawn.
const PARTS: usize = 4;

const LABEL: usize = 72;

/// Bytes of a line that are looked at.
const LOOKED_AT: u64 = 512;

/// Draws these frames, and says how many lie between them and up to `last`.
pub(super) fn draw(
    recording: &Recording,
    summary: &Summary,
    (frames, last): (&BTreeSet<Seq>, Seq),
) -> Result<String, ReadError> {
    let session = &summary.session;
    let client = phrases::peer(&session.client).unwrap_or_else(|| "client".to_owned());
    let server = phrases::peer(&session.server).unwrap_or_else(|| summary.name.clone());
    let mut lines = vec!["sequenceDiagram".to_owned()];
    for (side, name) in [("c", client), ("s", server)] {
        lines.push(format!("    participant {side} as {}", label(&name)));
    }
    let mut drawn = 0;
    for seq in frames.iter().take(ROWS) {
        if let Some(head) = recording.head(*seq)? {
            lines.extend(gap(drawn, seq.0));
            draw_frame(recording, &head, &mut lines)?;
            drawn = seq.0;
        }
    }
    lines.extend(gap(drawn, last.0.min(summary.frames).saturating_add(1)));
    let ended = session.phase.end();
    lines.extend(ended.map(|end| note("s", &phrases::end_of_session(end, &summary.context))));
    Ok(lines.join("\n") + "\n")
}

fn draw_frame(
    recording: &Recording,
    head: &FrameHead,
    lines: &mut Vec<String>,
) -> Result<(), ReadError> {
    let seq = head.seq;
    let messages = recording.messages_of_frame(seq)?;
    for row in messages.iter().take(PARTS) {
        let record = &row.record;
        let mark = match record.kind {
            MessageKind::Request => "->>",
            MessageKind::Response => "-->>",
            MessageKind::Notification => "-)",
            MessageKind::Other => "-x",
        };
        let said = format!("#{} {}", seq.0, escape(&record.summary));
        lines.push(arrow(record.direction, mark, &said));
    }
    if let more @ 1.. = messages.len().saturating_sub(PARTS) as u64 {
        let more = format!("{} in this batch", plural(more, "more message"));
        lines.push(note("c,s", &more));
    }
    if messages.is_empty() {
        let preview = recording.piece(seq, 0..LOOKED_AT)?;
        let said = escape_bytes(preview.trim_ascii_end());
        lines.extend(match (head.stream.messages(), head.carried.http) {
            (Some(way), 0) => Some(arrow(way, "-x", &format!("#{} no message: {said}", seq.0))),
            (Some(way), _) => draw_http(way, head, &preview),
            (None, _) => Some(note("s", &format!("stderr: {said}"))),
        });
    }
    Ok(())
}

/// Draws a part of HTTP that says something by itself: a head.
fn draw_http(way: Direction, head: &FrameHead, preview: &[u8]) -> Option<String> {
    let mark = match head.carried.part {
        Part::RequestHead => "->>",
        Part::ResponseHead => "-->>",
        _ => return None,
    };
    let said = phrases_network::part(head, preview);
    Some(arrow(way, mark, &format!("#{} {said}", head.seq.0)))
}

fn arrow(direction: Direction, mark: &str, said: &str) -> String {
    let (from, to) = match direction {
        Direction::ClientToServer => ("c", "s"),
        Direction::ServerToClient => ("s", "c"),
    };
    format!("    {from}{mark}{to}: {}", label(said))
}

fn note(over: &str, said: &str) -> String {
    format!("    Note over {over}: {}", label(said))
}

/// Says how many frames lie between two.
fn gap(last: u64, next: u64) -> Option<String> {
    let between = next.saturating_sub(last.saturating_add(1));
    (between > 0).then(|| note("c,s", &plural(between, "more frame")))
}

/// The text as the diagram takes it: cut, and what is not plainly text as an entity code.
fn label(text: &str) -> String {
    let text = cut(&escape(text), LABEL);
    let mut label = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        let is_plain = character.is_alphanumeric() || " ._-/…".contains(character);
        if is_plain {
            label.push(character);
        } else {
            let _ = write!(label, "#{};", u32::from(character));
        }
    }
    // An empty label is no label.
    if label.trim().is_empty() {
        "…".clone_into(&mut label);
    }
    label
}

/// Exchanges that are told in full.
const TOLD: usize = 10;

/// Exchanges that are told where nothing went wrong: the last ones.
const LAST: u64 = 3;

/// Exchanges of a batch that are looked at.
const OF_FRAME: usize = 4;

/// Frames that are drawn before a request, and after what became of it.
const NEAR: u64 = 3;

/// Requests of the other side meanwhile that are drawn.
const CHILDREN: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Picked {
    /// In the order of their requests.
    pub exchanges: Vec<Exchange>,
    pub left_out: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// The frames that show the causes.
    evidence: BTreeSet<Seq>,
}

impl Picked {
    /// The first exchanges of a selection; without a selection those that `causes` point at, those
    /// that failed, or the last ones.
    pub fn of(
        excerpt: &Excerpt<'_>,
        (facts, causes): (&Facts, &[Cause]),
        progress: &mut Progress<'_>,
    ) -> Result<Self, ExportError> {
        if excerpt.is_cut() {
            return Self::selected(excerpt, progress);
        }
        let recording = excerpt.recording;
        let evidence = causes.iter().flat_map(|cause| &cause.evidence);
        let evidence: Vec<_> = evidence.filter_map(|one| one.place.frame()).collect();
        let mut found = Vec::new();
        for seq in &evidence {
            let of_frame = recording.exchanges_of_frame(*seq)?;
            found.extend(of_frame.into_iter().take(OF_FRAME));
        }
        found.extend(facts.troubled().cloned());
        if found.is_empty() {
            let last = recording.exchange_before(excerpt.last)?.0;
            let ids = (last.saturating_sub(LAST) + 1..=last).map(ExchangeId);
            found = recording.exchanges_of(&ids.collect::<Vec<_>>())?;
        }
        let mut exchanges = BTreeMap::new();
        for exchange in found {
            if exchanges.len() < TOLD {
                exchanges.insert(exchange.id, exchange);
            }
        }
        Ok(Self {
            failed: (facts.counts.failed)
                .saturating_sub(exchanges.values().filter(|one| one.has_failed()).count() as u64),
            left_out: (facts.counts.exchanges).saturating_sub(exchanges.len() as u64),
            exchanges: exchanges.into_values().collect(),
            evidence: evidence.into_iter().collect(),
        })
    }

    fn selected(excerpt: &Excerpt<'_>, progress: &mut Progress<'_>) -> Result<Self, ExportError> {
        let (mut exchanges, mut more) = (Vec::new(), 0);
        let others = excerpt.exchanges(&mut |exchange| {
            progress(exchange.request.0)?;
            match exchanges.len() {
                ..TOLD => exchanges.push(exchange.clone()),
                _ => more += 1,
            }
            Ok::<_, ExportError>(())
        })?;
        Ok(Self {
            exchanges,
            left_out: others + more,
            failed: 0,
            evidence: BTreeSet::new(),
        })
    }

    /// The frames to be drawn: what belongs to them, and a few before and after, of what is
    /// selected.
    pub fn around(&self, excerpt: &Excerpt<'_>) -> Result<BTreeSet<Seq>, ReadError> {
        let recording = excerpt.recording;
        let mut frames = self.evidence.clone();
        for exchange in &self.exchanges {
            let (from, _) = exchange.request;
            let to = exchange.response.map_or(from, |(seq, _)| seq);
            frames.extend((from.0.saturating_sub(NEAR).max(1)..=from.0).map(Seq));
            frames.extend((to.0..=to.0.saturating_add(NEAR)).map(Seq));
            frames.extend(exchange.cancelled);
            let mut children = recording.children(exchange.id)?;
            children.truncate(CHILDREN);
            for child in recording.exchanges_of(&children)? {
                frames.insert(child.request.0);
                frames.extend(child.response.map(|(seq, _)| seq));
            }
        }
        frames.retain(|seq| seq.0 > 0 && excerpt.has(*seq));
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_nothing_that_the_language_knows() {
        assert_eq!(label("tools/call a-b_c.d 2"), "tools/call a-b_c.d 2");
        assert_eq!(
            label("x; end\n%%{init}"),
            "x#59; end#92;n#37;#37;#123;init#125;"
        );
        assert_eq!(label("<b>#1:"), "#60;b#62;#35;1#58;");
        assert_eq!(label("東京 é"), "東京 é");
        assert_eq!(label("  "), "…");
        assert!(label(&"x".repeat(100)).chars().count() <= LABEL);
    }
}
