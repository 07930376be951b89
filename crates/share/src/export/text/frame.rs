//! A frame in a transcript.

use super::INDENT;
use mcpreel_store::links::Link;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::message::{Classifier, Direction};
use mcpreel_wire::text::layout::each_line;
use mcpreel_wire::text::{Limits, duration, escape, since, size};
use std::fmt::Write as _;

/// How much of a message stands in a transcript: enough for a list of tools with their schemas.
const BODY: Limits = Limits {
    lines: 5_000,
    line: 4_000,
};

/// Messages of a batch whose lines are told: it can have thousands.
const TOLD: usize = 8;

pub(super) struct Frame {
    pub head: FrameHead,
    pub link: Option<Link>,
    /// What its messages say, where the bytes that are there are not all.
    pub said: Option<Vec<String>>,
}

/// Begins a line of the transcript.
pub(super) fn begin(seq: Option<Seq>, t: Moment, text: &mut String) {
    let since = since(t.0);
    let _ = match seq {
        Some(seq) => write!(text, "{:>5}  {since:>9}  ", seq.0),
        None => write!(text, "{:>5}  {since:>9}  ", '-'),
    };
}

impl Frame {
    /// Adds its lines; `raw` are its bytes, or as many of them as are looked at.
    pub fn write(&self, raw: &[u8], classifier: &mut Classifier, text: &mut String) {
        begin(Some(self.head.seq), self.head.t_last, text);
        let Some(direction) = self.head.stream.messages() else {
            self.line(raw, text);
            return;
        };
        text.push_str(match direction {
            Direction::ClientToServer => "→ ",
            Direction::ServerToClient => "← ",
        });
        if let Some(said) = &self.said {
            told(said.iter().map(String::as_str), text);
        } else {
            let messages = classifier.classify(raw).messages;
            told(messages.iter().map(|message| &*message.summary), text);
        }
        text.push_str("  (");
        facts(&self.head, self.link.as_ref(), text);
        text.push_str(")\n");
        self.body(raw, text);
    }

    /// A line of stderr, on the line that has begun.
    fn line(&self, raw: &[u8], text: &mut String) {
        text.push_str("! ");
        // As it stands, whatever it looks like.
        let shown = raw.trim_ascii_end();
        let shown = &shown[..shown.len().min(BODY.line)];
        text.push_str(&mcpreel_wire::text::escape_bytes(shown));
        let said = if shown.len() == BODY.line {
            shown.len()
        } else {
            raw.len()
        };
        let left_out = self.head.size.saturating_sub(said as u64);
        if left_out > 0 {
            let _ = write!(text, "… ({} more)", size(left_out));
        }
        text.push('\n');
    }

    /// Its bytes, laid out; or as much of it as there is.
    fn body(&self, raw: &[u8], text: &mut String) {
        let left_out = each_line(raw, BODY, &mut |line| {
            text.push_str(INDENT);
            text.push_str(line);
            text.push('\n');
        });
        let left_out = left_out as u64 + self.head.size.saturating_sub(raw.len() as u64);
        if left_out > 0 {
            let _ = writeln!(text, "{INDENT}… {} not shown", size(left_out));
        }
    }
}

/// Adds what messages say, in a line.
fn told<'s>(mut said: impl ExactSizeIterator<Item = &'s str>, text: &mut String) {
    if said.len() == 0 {
        text.push_str("no message");
    }
    for (nth, summary) in said.by_ref().take(TOLD).enumerate() {
        if nth > 0 {
            text.push_str(" · ");
        }
        text.push_str(&escape(summary));
    }
    if said.len() > 0 {
        let more = mcpreel_wire::text::count(said.len() as u64);
        let _ = write!(text, " · {more} more");
    }
}

/// Adds what it answers or belongs to, how long that took, and its size.
fn facts(head: &FrameHead, link: Option<&Link>, text: &mut String) {
    if let Some(link) = link {
        let method = link.method.as_deref().map(escape);
        if let Some(asked) = link.answers {
            let _ = write!(text, "#{} {}", asked.0, method.unwrap_or_default());
            if let Some(ns) = link.latency_ns {
                let _ = write!(text, ": {}", duration(ns));
            }
            // The words of the answer say it where it is one of these.
            let is_plain =
                |status| matches!(status, Status::Ok | Status::Error | Status::ToolError);
            if let Some(status) = link.status.filter(|status| !is_plain(*status)) {
                let _ = write!(text, ", {}", status.as_str());
            }
            text.push_str("; ");
        } else if let Some(around) = link.within {
            let _ = write!(text, "in #{}; ", around.0);
        }
    }
    text.push_str(&size(head.size));
}
