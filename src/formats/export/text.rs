//! A transcript: a session as people read it.
//!
//! ```text
//! 7f3a9c21  weather-server  complete
//! started    2026-11-20T15:17:03.120Z, 12.0 s long
//! client     claude-ai 0.1.0; roots
//! …
//!
//!     -  00:00.001  · the server was started, pid 4711
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

use super::{Export, Part, Selection, SelectionNote, WriteError, Written};
use crate::protocol::message::{Direction, classify};
use crate::store::links::Link;
use crate::store::reader::{EventRow, Recording, Summary};
use crate::text::layout::each_line;
use crate::text::{Limits, clock, duration, escape, pad_end, plural, since, size};
use crate::trace::clock::Moment;
use crate::trace::exchange::Status;
use crate::trace::frame::{FrameHead, Seq};
use crate::words::{self, session, when};
use std::fmt::Write as _;
use std::io::{Read as _, Write};

/// How much of a message stands in a transcript: enough for a list of tools with their schemas.
const BODY: Limits = Limits {
    lines: 5_000,
    line: 4_000,
};

/// Bytes of a frame too long to hold that are looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// Messages of a batch whose lines are told: it can have thousands.
const TOLD: usize = 8;

/// Columns of the names in the heading.
const NAMES: usize = 11;

/// Before the lines of a message.
const INDENT: &str = "         ";

/// Writes it as a transcript.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    let heading = heading(&summary, recording.given_up_count()?, excerpt.selection);
    out.write_all(heading.as_bytes())?;
    let mut writer = Writer {
        recording,
        out,
        text: String::new(),
        passed: 0,
        written: Written::default(),
    };
    excerpt.walk(&mut |part| {
        if let Part::Frame(head, ..) | Part::Passed(head) = &part {
            (export.progress)(head.seq);
        }
        writer.part(&part)
    })?;
    writer.told_passed();
    writer.flush()?;
    Ok(writer.written)
}

fn heading(summary: &Summary, given_up: u64, selection: &Selection) -> String {
    let mut text = format!(
        "{}  {}  {}\n",
        summary.id,
        escape(&summary.name),
        summary.state.as_str()
    );
    let started = match summary.wall_ns {
        0 => when::exact(0),
        known => when::rfc3339(known),
    };
    let long = clock(summary.t_last_ns);
    let mut facts = vec![("started", format!("{started}, {long} long"))];
    facts.extend(session::facts(summary, given_up));
    facts.extend(selection.note().map(|note| ("only", only(note))));
    for (name, value) in facts {
        let _ = writeln!(text, "{}{value}", pad_end(name, NAMES));
    }
    text.push('\n');
    text
}

/// What is selected, in words.
fn only(note: &SelectionNote) -> String {
    let bounds = [("from", note.from), ("to", note.to)];
    let mut words: Vec<_> = bounds
        .iter()
        .filter_map(|(word, seq)| seq.map(|seq| format!("{word} #{seq}")))
        .collect();
    let query = note.query.as_deref();
    words.extend(query.map(|query| format!("what fits {}", escape(query))));
    words.join(", ")
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    /// What is being made; its memory is used again.
    text: String,
    /// Frames that were left out since the last line.
    passed: u64,
    written: Written,
}

impl<W: Write> Writer<'_, W> {
    fn part(&mut self, part: &Part<'_>) -> Result<(), WriteError> {
        match part {
            Part::Passed(_) => {
                self.passed += 1;
                self.written.left_out += 1;
                return Ok(());
            }
            Part::Frame(head, raw, link) => {
                self.written.frames += 1;
                self.told_passed();
                self.frame(head, *raw, *link)?;
            }
            Part::Event(row) => {
                self.written.events += 1;
                self.told_passed();
                self.event(row);
            }
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Says that frames were left out.
    fn told_passed(&mut self) {
        if self.passed > 0 {
            let passed = plural(std::mem::take(&mut self.passed), "frame");
            let _ = writeln!(self.text, "{INDENT}… {passed} not selected");
        }
    }

    fn event(&mut self, row: &EventRow) {
        self.begin(None, row.event.t);
        let _ = writeln!(self.text, "· {}", words::event(&row.event.kind));
    }

    fn begin(&mut self, seq: Option<Seq>, t: Moment) {
        let _ = match seq {
            Some(seq) => write!(self.text, "{:>5}", seq.0),
            None => write!(self.text, "{:>5}", '-'),
        };
        let _ = write!(self.text, "  {:>9}  ", since(t.0));
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<(), WriteError> {
        self.begin(Some(head.seq), head.t_last);
        let beginning;
        let raw = if let Some(raw) = raw {
            raw
        } else {
            beginning = self.beginning(head)?;
            &beginning
        };
        let Some(direction) = head.stream.messages() else {
            self.line(head, raw);
            return Ok(());
        };
        let told = self.told(head, raw)?;
        let arrow = match direction {
            Direction::ClientToServer => '→',
            Direction::ServerToClient => '←',
        };
        let _ = writeln!(self.text, "{arrow} {told}  ({})", facts(head, link));
        self.body(head, raw);
        Ok(())
    }

    /// A line of stderr, on the line that has begun.
    fn line(&mut self, head: &FrameHead, raw: &[u8]) {
        self.text.push_str("! ");
        // As it stands, whatever it looks like.
        let shown = raw.trim_ascii_end();
        let shown = &shown[..shown.len().min(BODY.line)];
        self.text.push_str(&crate::text::escape_bytes(shown));
        let said = if shown.len() == BODY.line {
            shown.len()
        } else {
            raw.len()
        };
        self.cut(head.size.saturating_sub(said as u64));
        self.text.push('\n');
    }

    /// What the messages of a frame say, in a line.
    fn told(&self, head: &FrameHead, raw: &[u8]) -> Result<String, WriteError> {
        let summaries: Vec<String> = if head.size == raw.len() as u64 {
            let messages = classify(raw).messages.into_iter();
            messages.map(|message| message.summary).collect()
        } else {
            let messages = self.recording.messages_of_frame(head.seq)?.into_iter();
            messages.map(|row| row.record.summary.into()).collect()
        };
        if summaries.is_empty() {
            return Ok("no message".to_owned());
        }
        let told = summaries.iter().take(TOLD).map(|summary| escape(summary));
        let mut told = told.collect::<Vec<_>>().join(" · ");
        if summaries.len() > TOLD {
            let more = crate::text::count((summaries.len() - TOLD) as u64);
            let _ = write!(told, " · {more} more");
        }
        Ok(told)
    }

    /// The bytes of a frame, laid out; or as much of it as there is.
    fn body(&mut self, head: &FrameHead, raw: &[u8]) {
        let text = &mut self.text;
        let left_out = each_line(raw, BODY, &mut |line| {
            text.push_str(INDENT);
            text.push_str(line);
            text.push('\n');
        });
        let left_out = left_out as u64 + head.size.saturating_sub(raw.len() as u64);
        if left_out > 0 {
            let _ = writeln!(self.text, "{INDENT}… {} not shown", size(left_out));
        }
    }

    fn cut(&mut self, left_out: u64) {
        if left_out > 0 {
            let _ = write!(self.text, "… ({} more)", size(left_out));
        }
    }

    fn beginning(&self, head: &FrameHead) -> Result<Vec<u8>, WriteError> {
        let mut raw = Vec::new();
        let mut bytes = self.recording.stream(head.seq)?.take(LOOKED_AT);
        bytes.read_to_end(&mut raw)?;
        Ok(raw)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::export::{Excerpt, exported};
    use crate::trace::event::EventKind;
    use crate::trace::frame::StreamId;
    use crate::written::{Session, recorded};

    /// The transcript of a session.
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
                "    -  00:00.000  · the server was started, pid 7",
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
                "    -  00:00.005  · the server ended with exit code 0; peak memory 1 B, CPU 5 ns",
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

    #[test]
    fn what_is_too_long_is_cut_and_the_rest_is_said() {
        let text = transcript(&all(), |session| {
            let long = "x".repeat(10_000);
            session.chunk(StreamId::STDERR, format!("{long}\n").as_bytes());
            let message = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{long}\"}}\n");
            session.chunk(StreamId::S2C, message.as_bytes());
        });
        assert!(text.lines().all(|line| line.len() < 5_000), "{text}");
        assert!(text.contains("xxx… (6.0 kB more)\n"), "{text}");
        assert!(text.contains("         … 6.0 kB not shown\n"), "{text}");
    }
}
