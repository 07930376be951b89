//! A recording as lines.

mod body;
mod kept;
mod seen;

use super::{Header, US, start};
use crate::export::{Export, Part, Selection, WriteError, Written};
use crate::redacted::Redacting;
use kept::Kept;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::links::Link;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::{CassetteLine, EventKind};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::json::Node;
use seen::Seen;
use std::io::{self, BufReader, BufWriter, Seek as _, Write};
use tempfile::SpooledTempFile;

const BUFFER: usize = 256 * 1024;

/// Bytes of lines that wait in memory before they wait in a file.
const SPOOLED: usize = 8 * 1024 * 1024;

/// Bytes that nobody knows which stand in a line with a frame that cannot be held: whoever reads it
/// looks no further for where that begins.
const BESIDE_LONG: usize = 2048;

/// Writes it as a cassette. Holds no more of it than a frame of a megabyte.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let summary = export.excerpt.recording.summary()?;
    let header = Header::of(&summary, export.excerpt.selection.note());
    write_under(&header, export)
}

/// The same with a header that somebody else has made.
pub fn write_under(header: &Header, export: Export<'_, impl Write>) -> Result<Written, WriteError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    begin(header, &summary, kept::of_start(recording)?.as_deref(), out)?;
    let mut writer = Writer::new(recording, out, export.progress);
    excerpt.walk(&mut |part| writer.part(&part))?;
    let (written, mut kept) = (writer.written, writer.kept);
    end(&summary, &mut kept, out)?;
    Ok(written)
}

/// The same without what is secret. The lines wait in a file that nobody else can open, since the
/// header says how many of them were changed.
pub fn write_redacted(
    recording: &Recording,
    redacting: &mut Redacting<'_>,
    selection: &Selection,
    out: &mut impl Write,
    progress: &mut dyn FnMut(Seq),
) -> Result<Written, WriteError> {
    let mut lines = BufWriter::with_capacity(BUFFER, SpooledTempFile::new(SPOOLED));
    let mut writer = Writer::new(recording, &mut lines, progress);
    redacting.walk(selection, &mut |part| writer.part(&part))?;
    let (written, mut kept) = (writer.written, writer.kept);
    let summary = redacting.summary()?;
    let header = Header::of(&summary, selection.note());
    begin(&header, &summary, kept.start.as_deref(), out)?;
    let mut lines = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
    lines.rewind()?;
    io::copy(&mut BufReader::with_capacity(BUFFER, lines), out)?;
    end(&summary, &mut kept, out)?;
    Ok(written)
}

fn begin(
    header: &Header,
    summary: &Summary,
    keys: Option<&str>,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    header.write(out)?;
    let start = start::json(&summary.context).map_err(io::Error::from)?;
    let keys = keys.map_or_else(String::new, |keys| format!("{keys},"));
    Ok(writeln!(
        out,
        "{{\"t\":0,\"k\":\"event\",{keys}\"event\":{start}}}"
    )?)
}

fn end(summary: &Summary, kept: &mut Kept, out: &mut impl Write) -> Result<(), WriteError> {
    let keys = kept.take(CassetteLine::End, usize::MAX, out)?;
    let keys = keys.map_or_else(String::new, |keys| format!(",{keys}"));
    let end = summary.t_last_ns / US;
    Ok(writeln!(out, "{{\"t\":{end},\"k\":\"end\"{keys}}}")?)
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    progress: &'r mut dyn FnMut(Seq),
    /// The line that is being made; its memory is used again.
    line: Vec<u8>,
    nodes: Vec<Node>,
    seen: Seen,
    /// What the next frame had seen, 0: nothing, where its times do not say it.
    told: Option<Seq>,
    /// What stands in the next line besides.
    kept: Kept,
    written: Written,
}

impl<'r, W: Write> Writer<'r, W> {
    fn new(recording: &'r Recording, out: &'r mut W, progress: &'r mut dyn FnMut(Seq)) -> Self {
        Self {
            recording,
            out,
            progress,
            line: Vec::new(),
            nodes: Vec::new(),
            seen: Seen::default(),
            told: None,
            kept: Kept::default(),
            written: Written::default(),
        }
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), WriteError> {
        if let Part::Frame(head, ..) | Part::Passed(head) = part {
            (self.progress)(head.seq);
        }
        match part {
            Part::Frame(head, raw, link) => {
                self.written.frames += 1;
                self.frame(head, *raw, *link)?;
            }
            Part::Passed(head) => {
                self.written.left_out += 1;
                self.seen.frame(head);
            }
            Part::Event(row) => {
                if let EventKind::LineKeys { of, json } = &row.event.kind {
                    return Ok(self.kept.put(row.event.t, *of, json, self.out)?);
                }
                if let EventKind::Seen { frame } = row.event.kind {
                    self.told = Some(frame.unwrap_or_default());
                    return Ok(());
                }
                self.written.events += 1;
                let keys = self.kept.take(CassetteLine::Event, usize::MAX, self.out)?;
                event(row.event.t, &row.event.kind, keys.as_deref(), self.out)?;
            }
        }
        Ok(())
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<(), WriteError> {
        self.line.clear();
        let seen = self.seen.frame(head);
        let seen = self.told.take().or(seen);
        beginning(&mut self.line, head, link, seen)?;
        let size = raw.map_or(u64::MAX, |raw| raw.len() as u64);
        let room = if size > COLLECT_LIMIT {
            BESIDE_LONG
        } else {
            usize::MAX
        };
        let keys = self.kept.take(CassetteLine::Frame, room, self.out)?;
        if let Some(keys) = keys {
            self.line.extend_from_slice(keys.as_bytes());
            self.line.push(b',');
        }
        let Some(raw) = raw else {
            self.out.write_all(&self.line)?;
            return body::long(self.recording, head, self.out);
        };
        if raw.len() as u64 > COLLECT_LIMIT {
            self.out.write_all(&self.line)?;
            return body::held(head.stream, raw, self.out);
        }
        body::short(&mut self.line, head.stream, raw, &mut self.nodes);
        Ok(self.out.write_all(&self.line)?)
    }
}

fn event(t: Moment, kind: &EventKind, keys: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"t\":{},\"k\":\"event\",", t.0 / US)?;
    if let Some(keys) = keys {
        write!(out, "{keys},")?;
    }
    out.write_all(b"\"event\":")?;
    serde_json::to_writer(&mut *out, kind)?;
    out.write_all(b"}\n")
}

/// The keys before the body, with the comma after them.
fn beginning(
    line: &mut Vec<u8>,
    head: &FrameHead,
    told: Option<&Link>,
    seen: Option<Seq>,
) -> io::Result<()> {
    let us = |t: Moment| t.0 / US;
    write!(line, "{{\"n\":{},\"t\":{}", head.seq.0, us(head.t_last))?;
    if us(head.t_first) != us(head.t_last) {
        write!(line, ",\"t0\":{}", us(head.t_first))?;
    }
    write!(
        line,
        ",\"d\":\"{}\",\"k\":\"{}\",",
        head.stream.as_str(),
        kind(head, told)
    )?;
    if let Some(method) = told.and_then(method) {
        line.extend_from_slice(b"\"m\":");
        serde_json::to_writer(&mut *line, method)?;
        line.push(b',');
    }
    let numbers = [
        ("re", told.and_then(|link| link.answers)),
        ("in", told.and_then(|link| link.within)),
        ("seen", seen),
    ];
    for (key, seq) in numbers {
        if let Some(seq) = seq {
            write!(line, "\"{key}\":{},", seq.0)?;
        }
    }
    Ok(())
}

fn kind(head: &FrameHead, link: Option<&Link>) -> &'static str {
    match link.map(|link| link.kind) {
        Some(MessageKind::Request) => "req",
        Some(MessageKind::Response) => "res",
        Some(MessageKind::Notification) => "note",
        None if head.stream == StreamId::STDERR => "text",
        Some(MessageKind::Other) | None => "other",
    }
}

/// The method that the message itself names.
fn method(link: &Link) -> Option<&str> {
    let names = matches!(link.kind, MessageKind::Request | MessageKind::Notification);
    link.method.as_deref().filter(|_| names)
}
