//! A frame in a transcript.

use super::INDENT;
use crate::protocol::message::{Direction, classify};
use crate::store::links::Link;
use crate::text::layout::each_line;
use crate::text::{Limits, duration, escape, since, size};
use crate::trace::clock::Moment;
use crate::trace::exchange::Status;
use crate::trace::frame::{FrameHead, Seq};
use std::fmt::Write as _;

/// How much of a message stands in a transcript: enough for a list of tools with their schemas.
const BODY: Limits = Limits {
    lines: 5_000,
    line: 4_000,
};

/// Messages of a batch whose lines are told: it can have thousands.
const TOLD: usize = 8;

/// A frame that is to be written.
pub(super) struct Frame {
    pub head: FrameHead,
    /// Its bytes, or as many of them as are looked at.
    pub raw: Vec<u8>,
    pub link: Option<Link>,
    /// What its messages say, where these are not all of its bytes.
    pub said: Option<Vec<String>>,
}

/// What a line of the transcript begins with.
pub(super) fn begin(seq: Option<Seq>, t: Moment) -> String {
    let since = since(t.0);
    match seq {
        Some(seq) => format!("{:>5}  {since:>9}  ", seq.0),
        None => format!("{:>5}  {since:>9}  ", '-'),
    }
}

impl Frame {
    /// Adds its lines.
    pub fn write(&self, text: &mut String) {
        text.push_str(&begin(Some(self.head.seq), self.head.t_last));
        let Some(direction) = self.head.stream.messages() else {
            self.line(text);
            return;
        };
        let arrow = match direction {
            Direction::ClientToServer => '→',
            Direction::ServerToClient => '←',
        };
        let (told, facts) = (self.told(), facts(&self.head, self.link.as_ref()));
        let _ = writeln!(text, "{arrow} {told}  ({facts})");
        self.body(text);
    }

    /// A line of stderr, on the line that has begun.
    fn line(&self, text: &mut String) {
        text.push_str("! ");
        // As it stands, whatever it looks like.
        let shown = self.raw.trim_ascii_end();
        let shown = &shown[..shown.len().min(BODY.line)];
        text.push_str(&crate::text::escape_bytes(shown));
        let said = if shown.len() == BODY.line {
            shown.len()
        } else {
            self.raw.len()
        };
        let left_out = self.head.size.saturating_sub(said as u64);
        if left_out > 0 {
            let _ = write!(text, "… ({} more)", size(left_out));
        }
        text.push('\n');
    }

    /// What its messages say, in a line.
    fn told(&self) -> String {
        let read;
        let said = if let Some(said) = &self.said {
            said
        } else {
            let messages = classify(&self.raw).messages.into_iter();
            read = messages.map(|message| message.summary).collect();
            &read
        };
        if said.is_empty() {
            return "no message".to_owned();
        }
        let told = said.iter().take(TOLD).map(|summary| escape(summary));
        let mut told = told.collect::<Vec<_>>().join(" · ");
        if said.len() > TOLD {
            let more = crate::text::count((said.len() - TOLD) as u64);
            let _ = write!(told, " · {more} more");
        }
        told
    }

    /// Its bytes, laid out; or as much of it as there is.
    fn body(&self, text: &mut String) {
        let left_out = each_line(&self.raw, BODY, &mut |line| {
            text.push_str(INDENT);
            text.push_str(line);
            text.push('\n');
        });
        let left_out = left_out as u64 + self.head.size.saturating_sub(self.raw.len() as u64);
        if left_out > 0 {
            let _ = writeln!(text, "{INDENT}… {} not shown", size(left_out));
        }
    }
}

/// What it answers or belongs to, how long that took, and its size.
fn facts(head: &FrameHead, link: Option<&Link>) -> String {
    let mut facts = String::new();
    if let Some(link) = link {
        let method = link.method.as_deref().map(escape);
        if let Some(asked) = link.answers {
            let _ = write!(facts, "#{} {}", asked.0, method.unwrap_or_default());
            if let Some(ns) = link.latency_ns {
                let _ = write!(facts, ": {}", duration(ns));
            }
            // The words of the answer say it where it is one of these.
            let is_plain =
                |status| matches!(status, Status::Ok | Status::Error | Status::ToolError);
            if let Some(status) = link.status.filter(|status| !is_plain(*status)) {
                let _ = write!(facts, ", {}", status.as_str());
            }
            facts.push_str("; ");
        } else if let Some(around) = link.within {
            let _ = write!(facts, "in #{}; ", around.0);
        }
    }
    facts.push_str(&size(head.size));
    facts
}
