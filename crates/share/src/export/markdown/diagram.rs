//! A sequence diagram in Mermaid's language: who said what when, so many lines of it.
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

use super::picked::Around;
use crate::phrases;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, escape, escape_bytes, plural};
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
        match head.stream {
            StreamId::C2S => {
                let said = format!("#{} no message: {said}", head.seq.0);
                self.arrow(Direction::ClientToServer, "-x", &said);
            }
            StreamId::S2C => {
                let said = format!("#{} no message: {said}", head.seq.0);
                self.arrow(Direction::ServerToClient, "-x", &said);
            }
            _ => self.note("s", &format!("stderr: {said}")),
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
