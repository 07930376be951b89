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
use crate::phrases;
use mcpreel_lint::cause::{Cause, Facts};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
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

/// Draws what is `around` the exchanges that are told.
pub(super) fn draw(
    recording: &Recording,
    summary: &Summary,
    around: &Around,
) -> Result<String, ReadError> {
    let session = &summary.session;
    let client = phrases::peer(&session.client).unwrap_or_else(|| "client".to_owned());
    let server = phrases::peer(&session.server).unwrap_or_else(|| summary.name.clone());
    let mut drawing = Drawing {
        recording,
        text: "sequenceDiagram\n".to_owned(),
        last: Seq(0),
    };
    for (side, name) in [("c", client), ("s", server)] {
        let _ = writeln!(drawing.text, "    participant {side} as {}", label(&name));
    }
    for seq in around.frames.iter().take(ROWS) {
        drawing.frame(*seq)?;
    }
    let last = around.last.min(Seq(summary.frames));
    drawing.gap(Seq(last.0.saturating_add(1)));
    if let Some(end) = session.phase.end() {
        drawing.note("s", &phrases::end(end));
    }
    Ok(drawing.text)
}

struct Drawing<'r> {
    recording: &'r Recording,
    text: String,
    last: Seq,
}

impl Drawing<'_> {
    fn frame(&mut self, seq: Seq) -> Result<(), ReadError> {
        let Some(head) = self.recording.head(seq)? else {
            return Ok(());
        };
        self.gap(seq);
        self.last = seq;
        let messages = self.recording.messages_of_frame(seq)?;
        if messages.is_empty() {
            return self.line(&head);
        }
        for row in messages.iter().take(PARTS) {
            let record = &row.record;
            let line = match record.kind {
                MessageKind::Request => "->>",
                MessageKind::Response => "-->>",
                MessageKind::Notification => "-)",
                MessageKind::Other => "-x",
            };
            let said = format!("#{} {}", seq.0, escape(&record.summary));
            self.arrow(record.direction, line, &said);
        }
        let more = messages.len().saturating_sub(PARTS) as u64;
        if more > 0 {
            self.note(
                "c,s",
                &format!("{} in this batch", plural(more, "more message")),
            );
        }
        Ok(())
    }

    fn line(&mut self, head: &FrameHead) -> Result<(), ReadError> {
        let preview = self
            .recording
            .piece(head.seq, 0..head.size.min(LOOKED_AT))?;
        let said = escape_bytes(preview.trim_ascii_end());
        match head.stream.messages() {
            Some(direction) => {
                let said = format!("#{} no message: {said}", head.seq.0);
                self.arrow(direction, "-x", &said);
            }
            None => self.note("s", &format!("stderr: {said}")),
        }
        Ok(())
    }

    fn arrow(&mut self, direction: Direction, line: &str, said: &str) {
        let (from, to) = match direction {
            Direction::ClientToServer => ("c", "s"),
            Direction::ServerToClient => ("s", "c"),
        };
        let _ = writeln!(self.text, "    {from}{line}{to}: {}", label(said));
    }

    fn note(&mut self, over: &str, said: &str) {
        let _ = writeln!(self.text, "    Note over {over}: {}", label(said));
    }

    /// Says how many frames lie between the last one and this.
    fn gap(&mut self, next: Seq) {
        let between = next.0.saturating_sub(self.last.0.saturating_add(1));
        if between > 0 {
            self.note("c,s", &plural(between, "more frame"));
        }
    }
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
const TOLD: usize = 6;

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
    /// The frames that show the causes.
    evidence: BTreeSet<Seq>,
}

#[derive(Debug, Default)]
pub(super) struct Around {
    pub frames: BTreeSet<Seq>,
    pub last: Seq,
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
        let mut found = Found {
            recording: excerpt.recording,
            exchanges: BTreeMap::new(),
        };
        let evidence = causes.iter().flat_map(|cause| &cause.evidence);
        let places: Vec<_> = evidence.filter_map(|one| one.place.frame()).collect();
        for seq in &places {
            found.frame(*seq)?;
        }
        for failed in &facts.failed {
            found.add(failed.first().clone());
        }
        let samples = [&facts.lost, &facts.unanswered, &facts.open];
        let samples = samples.iter().flat_map(|sample| &sample.exchanges);
        samples.for_each(|exchange| found.add(exchange.clone()));
        if found.exchanges.is_empty() {
            found.last(excerpt.last)?;
        }
        let exchanges: Vec<_> = found.exchanges.into_values().collect();
        let left_out = facts
            .counts
            .exchanges
            .saturating_sub(exchanges.len() as u64);
        Ok(Self {
            exchanges,
            left_out,
            evidence: places.into_iter().collect(),
        })
    }

    fn selected(excerpt: &Excerpt<'_>, progress: &mut Progress<'_>) -> Result<Self, ExportError> {
        let mut picked = Self::default();
        let mut ids = Vec::new();
        let mut more = 0;
        let others = excerpt.exchanges(&mut |exchange| {
            progress(exchange.request.0)?;
            if ids.len() < TOLD {
                ids.push(exchange.id);
            } else {
                more += 1;
            }
            Ok::<_, ExportError>(())
        })?;
        picked.left_out = others + more;
        for id in ids {
            picked.exchanges.extend(excerpt.recording.exchange(id)?);
        }
        Ok(picked)
    }

    /// The frames to be drawn: what belongs to them, and a few before and after, of what is
    /// selected.
    pub fn around(&self, excerpt: &Excerpt<'_>) -> Result<Around, ReadError> {
        let (recording, last) = (excerpt.recording, excerpt.last);
        let mut frames = self.evidence.clone();
        for exchange in &self.exchanges {
            let (from, _) = exchange.request;
            let to = exchange.response.map_or(from, |(seq, _)| seq);
            let before = from.0.saturating_sub(NEAR).max(1)..=from.0;
            let after = to.0..=to.0.saturating_add(NEAR);
            frames.extend(before.chain(after).map(Seq));
            frames.extend(exchange.cancelled);
            let children = recording.children(exchange.id)?;
            for id in children.into_iter().take(CHILDREN) {
                let child = recording.exchanges_of(&[id])?;
                frames.extend(child.iter().map(|child| child.request.0));
                let answers = child.iter().filter_map(|child| child.response);
                frames.extend(answers.map(|(seq, _)| seq));
            }
        }
        frames.retain(|seq| seq.0 > 0 && excerpt.has(*seq));
        Ok(Around { frames, last })
    }
}

/// Exchanges as they are found, so many of them.
struct Found<'r> {
    recording: &'r Recording,
    exchanges: BTreeMap<ExchangeId, Exchange>,
}

impl Found<'_> {
    fn add(&mut self, exchange: Exchange) {
        if self.exchanges.len() < TOLD {
            self.exchanges.insert(exchange.id, exchange);
        }
    }

    fn frame(&mut self, seq: Seq) -> Result<(), ReadError> {
        if self.exchanges.len() < TOLD {
            let found = self.recording.exchanges_of_frame(seq)?;
            found
                .into_iter()
                .take(OF_FRAME)
                .for_each(|exchange| self.add(exchange));
        }
        Ok(())
    }

    fn last(&mut self, last: Seq) -> Result<(), ReadError> {
        let last = self.recording.exchange_before(last)?;
        for id in last.0.saturating_sub(LAST) + 1..=last.0 {
            let exchange = self.recording.exchange(ExchangeId(id))?;
            if let Some(exchange) = exchange {
                self.add(exchange);
            }
        }
        Ok(())
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
