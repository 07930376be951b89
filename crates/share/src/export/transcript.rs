//! A transcript: a session as people read it.
//!
//! ```text
//! 7f3a9c21  weather-server  complete
//! started    2026-11-20T15:17:03.120Z, 12.0 s long
//! client     claude-ai 0.1.0; roots
//! …
//!
//!     -  00:00.001  • the server was started, pid 4711
//!     1  00:00.041  → initialize claude-ai 0.1.0, 2025-11-25                          (153 B)
//!          {
//!            "jsonrpc": "2.0",
//!            …
//!     2  00:00.082  ← ok weather 2                       (#1 initialize: 41.2 ms; 1.2 kB)
//!     3  00:00.083  ! a line on stderr
//!                     … 12 frames not selected
//! ```
//!
//! The words are those of `mcpreel show`. Everything is escaped; what is cut is said with its size.

use super::{Excerpt, Export, ExportError, Part, Written};
use crate::phrases::when;
use crate::row::{RowView, arrow};
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::notices::Link;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::message::Classifier;
use mcpreel_wire::text::layout::each_line;
use mcpreel_wire::text::{Limits, clock, count, duration, escape, pad_end, plural, since, size};
use std::fmt::Write as _;
use std::io::Write;

/// The part of a message in a transcript: enough for a list of tools with their schemas.
const BODY: Limits = Limits {
    lines: 5_000,
    line: 4_000,
};

/// Bytes of a frame too long to hold that are looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// Messages of a batch whose summaries are written: it can have thousands.
const SUMMARIES: usize = 8;

/// Columns of the names in the heading.
const NAMES: usize = 11;

const INDENT: &str = "         ";

pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    let heading = heading(&excerpt, &excerpt.recording.summary()?)?;
    out.write_all(heading.as_bytes())?;
    let mut writer = Writer {
        recording: excerpt.recording,
        out,
        classifier: Classifier::default(),
        passed: 0,
        written: Written::default(),
    };
    excerpt.walk((COLLECT_LIMIT, true), &mut |part| {
        if let Part::Frame(head, ..) | Part::Passed(head) = &part {
            (export.progress)(head.seq)?;
        }
        writer.part(&part)
    })?;
    writer.flush_passed()?;
    Ok(writer.written)
}

fn heading(excerpt: &Excerpt<'_>, summary: &Summary) -> Result<String, ExportError> {
    let (name, state) = (escape(&summary.name), summary.state.as_str());
    let mut text = format!("{}  {name}  {state}\n", summary.id);
    let started = match summary.wall_ns {
        0 => when::exact(0),
        known => when::rfc3339(known),
    };
    let long = clock(summary.t_last_ns);
    let mut facts = vec![("started", format!("{started}, {long} long"))];
    facts.extend(excerpt.facts(summary)?);
    for (name, value) in facts {
        let _ = writeln!(text, "{}{value}", pad_end(name, NAMES));
    }
    text.push('\n');
    Ok(text)
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    classifier: Classifier,
    /// Frames that were left out since the last line.
    passed: u64,
    written: Written,
}

impl<W: Write> Writer<'_, W> {
    fn part(&mut self, part: &Part<'_>) -> Result<(), ExportError> {
        match part {
            Part::Passed(_) => {
                self.passed += 1;
                self.written.left_out += 1;
            }
            Part::Frame(head, raw, link) => {
                self.flush_passed()?;
                self.written.frames += 1;
                let text = self.frame(head, *raw, *link)?;
                self.out.write_all(text.as_bytes())?;
            }
            Part::Event(row) => {
                self.flush_passed()?;
                self.written.events += 1;
                let view = RowView::of_event(&row.event);
                let (since, arrow, what) = (since(view.t.0), view.arrow(), view.what(None));
                writeln!(self.out, "{:>5}  {since:>9}  {arrow} {what}", '-')?;
            }
        }
        Ok(())
    }

    /// Says how many frames were left out.
    fn flush_passed(&mut self) -> Result<(), ExportError> {
        if self.passed > 0 {
            let passed = plural(std::mem::take(&mut self.passed), "frame");
            writeln!(self.out, "{INDENT}… {passed} not selected")?;
        }
        Ok(())
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<String, ExportError> {
        let beginning;
        let raw = if let Some(raw) = raw {
            raw
        } else {
            beginning = self.recording.piece(head.seq, 0..LOOKED_AT)?;
            &beginning
        };
        let mut text = format!("{:>5}  {:>9}  ", head.seq.0, since(head.t_last.0));
        let Some(direction) = head.stream.messages() else {
            // As it stands, whatever it looks like.
            let trimmed = raw.trim_ascii_end();
            let shown = &trimmed[..trimmed.len().min(BODY.line)];
            let view = RowView::of_line(head, shown);
            let _ = write!(text, "{} {}", view.arrow(), view.what(None));
            if shown.len() == BODY.line {
                let more = head.size.saturating_sub(shown.len() as u64);
                let _ = write!(text, "… ({} more)", size(more));
            }
            text.push('\n');
            return Ok(text);
        };
        let _ = write!(text, "{} ", arrow(direction));
        if head.size == raw.len() as u64 {
            let messages = self.classifier.classify(raw).messages;
            summaries(messages.iter().map(|message| &*message.summary), &mut text);
        } else {
            let rows = self.recording.messages_of_frame(head.seq)?;
            summaries(rows.iter().map(|row| &*row.record.summary), &mut text);
        }
        text.push_str("  (");
        facts(head, link, &mut text);
        text.push_str(")\n");
        let left_out = each_line(raw, BODY, &mut |line| {
            let _ = writeln!(text, "{INDENT}{line}");
        });
        let left_out = left_out as u64 + head.size.saturating_sub(raw.len() as u64);
        if left_out > 0 {
            let _ = writeln!(text, "{INDENT}… {} not shown", size(left_out));
        }
        Ok(text)
    }
}

/// Adds what messages say, each in a line.
fn summaries<'s>(mut said: impl ExactSizeIterator<Item = &'s str>, text: &mut String) {
    if said.len() == 0 {
        text.push_str("no message");
    }
    let first: Vec<_> = said.by_ref().take(SUMMARIES).map(escape).collect();
    text.push_str(&first.join(" · "));
    if said.len() > 0 {
        let _ = write!(text, " · {} more", count(said.len() as u64));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Selection, exported};
    use crate::written::{Session, recorded};
    use mcpreel_trace::event::EventKind;
    use mcpreel_trace::frame::{Seq, StreamId};

    fn transcript(selection: &Selection, session: impl FnOnce(&mut Session)) -> String {
        let dir = tempfile::tempdir().unwrap();
        let reel = recorded(dir.path(), |made| {
            session(made);
            made.end();
        });
        let recording = Recording::open(&reel).unwrap();
        String::from_utf8(exported(Excerpt::of(&recording, selection), write)).unwrap()
    }

    fn all() -> Selection {
        Selection::between(None, None)
    }

    #[test]
    fn what_was_said_stands_in_its_order_and_answers_say_to_what() {
        let text = transcript(&all(), |session| {
            session.event(&EventKind::Spawned { pid: 7 });
            session.at(1_000_000);
            session.chunk(
                StreamId::C2S,
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
            );
            session.at(3_000_000);
            session.chunk(StreamId::STDERR, b"{x}\x1b[2J\n");
            session.at(5_000_000);
            session.chunk(
                StreamId::S2C,
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
            );
            session.chunk(StreamId::S2C, b"Starting\xff\n");
        });
        let body = text.split_once("\n\n").unwrap().1;
        let ends: Vec<_> = body.lines().collect();
        assert_eq!(
            ends,
            [
                "    -  00:00.000  • the server was started, pid 7",
                "    1  00:00.001  → ping  (41 B)",
                "         {",
                "           \"jsonrpc\": \"2.0\",",
                "           \"id\": 1,",
                "           \"method\": \"ping\"",
                "         }",
                "    2  00:00.003  ! {x}\\x1b[2J",
                "    3  00:00.005  ← ok  (#1 ping: 4.0 ms; 37 B)",
                "         {",
                "           \"jsonrpc\": \"2.0\",",
                "           \"id\": 1,",
                "           \"result\": {}",
                "         }",
                "    4  00:00.005  ← no message  (10 B)",
                "         Starting\\xff",
                "    -  00:00.005  • the server ended with exit code 0; peak memory 1 B, CPU 5 ns",
            ]
        );
    }

    #[test]
    fn what_is_left_out_is_counted_where_it_was() {
        let text = transcript(&Selection::between(Some(Seq(3)), Some(Seq(4))), |session| {
            for line in 1..=5 {
                session.chunk(StreamId::STDERR, format!("line {line}\n").as_bytes());
            }
        });
        assert!(text.contains("\nonly       from #3, to #4\n"), "{text}");
        let body = text.split_once("\n\n").unwrap().1;
        let lines: Vec<_> = body.lines().map(|line| line[5..].trim_start()).collect();
        assert_eq!(lines[0], "… 2 frames not selected");
        assert!(lines[1].ends_with("! line 3") && lines[2].ends_with("! line 4"));
        assert_eq!(lines[3], "… 1 frame not selected");
        assert_eq!(lines.len(), 4);
    }
}
