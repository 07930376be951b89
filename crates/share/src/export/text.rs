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

mod batch;
mod frame;

use super::{Excerpt, Export, Part, WriteError, Written};
use crate::in_turn::Batch as _;
use crate::in_turn::InTurn;
use crate::phrases::{self, session, when};
use batch::Batch;
use frame::Frame;
use mcpreel_store::links::Link;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::text::{clock, escape, pad_end, plural};
use std::fmt::Write as _;
use std::io::{self, Read as _, Write};

/// Bytes of a frame too long to hold that are looked at.
const LOOKED_AT: u64 = 256 * 1024;

/// Columns of the names in the heading.
const NAMES: usize = 11;

const INDENT: &str = "         ";

pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    let heading = heading(&excerpt, &summary)?;
    out.write_all(heading.as_bytes())?;
    let mut writer = Writer::new(recording, out);
    excerpt.walk(&mut |part| {
        if let Part::Frame(head, ..) | Part::Passed(head) = &part {
            (export.progress)(head.seq);
        }
        writer.part(&part)
    })?;
    writer.told_passed()?;
    writer.finish()?;
    Ok(writer.written)
}

fn heading(excerpt: &Excerpt<'_>, summary: &Summary) -> Result<String, WriteError> {
    let recording = excerpt.recording;
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
    facts.extend(excerpt.now.map(|now| ("live", session::live(now))));
    let is_untimed = recording.is_untimed()?;
    facts.extend(is_untimed.then(|| ("times", phrases::UNTIMED.to_owned())));
    facts.extend(session::facts(summary, recording.given_up_count()?));
    let note = excerpt.selection.note();
    facts.extend(note.map(|note| ("only", session::only(note))));
    for (name, value) in facts {
        let _ = writeln!(text, "{}{value}", pad_end(name, NAMES));
    }
    text.push('\n');
    Ok(text)
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    /// What is put together, and what was and is being laid out.
    batch: Batch,
    others: InTurn<Batch>,
    /// Frames that were left out since the last line.
    passed: u64,
    written: Written,
}

impl<'r, W: Write> Writer<'r, W> {
    fn new(recording: &'r Recording, out: &'r mut W) -> Self {
        Self {
            recording,
            out,
            batch: Batch::default(),
            others: InTurn::new(),
            passed: 0,
            written: Written::default(),
        }
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), WriteError> {
        match part {
            Part::Passed(_) => {
                self.passed += 1;
                self.written.left_out += 1;
            }
            Part::Frame(head, raw, link) => {
                self.written.frames += 1;
                self.told_passed()?;
                self.frame(head, *raw, *link)?;
            }
            Part::Event(row) => {
                self.written.events += 1;
                self.told_passed()?;
                let mut line = String::new();
                frame::begin(None, row.event.t, &mut line);
                let _ = writeln!(line, "· {}", phrases::event(&row.event.kind));
                self.batch.line(line);
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Hands over what was put together, if that is enough.
    fn hand_over(&mut self) -> io::Result<()> {
        if self.batch.is_full() {
            let done = self.others.swap(std::mem::take(&mut self.batch));
            self.batch = done.unwrap_or_default();
            self.batch.write(self.out)?;
        }
        Ok(())
    }

    /// Writes all that is not written yet.
    fn finish(&mut self) -> io::Result<()> {
        while let Some(mut done) = self.others.take() {
            done.write(self.out)?;
        }
        self.batch.work();
        self.batch.write(self.out)
    }

    /// Says that frames were left out.
    fn told_passed(&mut self) -> io::Result<()> {
        if self.passed == 0 {
            return Ok(());
        }
        let passed = plural(std::mem::take(&mut self.passed), "frame");
        self.batch
            .line(format!("{INDENT}… {passed} not selected\n"));
        self.hand_over()
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<(), WriteError> {
        let beginning;
        let raw = if let Some(raw) = raw {
            raw
        } else {
            beginning = self.beginning(head)?;
            &beginning
        };
        let is_whole = head.size == raw.len() as u64;
        let said = if is_whole {
            None
        } else {
            let messages = self.recording.messages_of_frame(head.seq)?.into_iter();
            Some(messages.map(|row| row.record.summary.into()).collect())
        };
        let frame = Frame {
            head: *head,
            link: link.cloned(),
            said,
        };
        self.batch.frame(frame, raw);
        Ok(self.hand_over()?)
    }

    fn beginning(&self, head: &FrameHead) -> Result<Vec<u8>, WriteError> {
        let mut raw = Vec::new();
        let mut bytes = self.recording.stream(head.seq)?.take(LOOKED_AT);
        bytes.read_to_end(&mut raw)?;
        Ok(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Selection, exported};
    use crate::written::{Session, recorded};
    use mcpreel_trace::clock::Moment;
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
    fn of_many_short_lines_few_wait_to_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let reel = recorded(dir.path(), Session::end);
        let recording = Recording::open(&reel).unwrap();
        let mut out = io::sink();
        let mut writer = Writer::new(&recording, &mut out);
        let head = FrameHead {
            seq: Seq(1),
            stream: StreamId::STDERR,
            offset: 0,
            t_first: Moment(0),
            t_last: Moment(0),
            size: 1,
        };
        for _ in 0..2 * batch::TOGETHER / size_of::<Frame>() {
            let part = Part::Frame(&head, Some(b"\n"), None);
            writer.part(&part).unwrap();
            assert!(writer.batch.len() * size_of::<Frame>() < batch::TOGETHER);
        }
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
