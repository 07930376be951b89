//! A recording as lines.

mod body;
mod seen;

use super::{Header, US, start};
use crate::formats::export::{Export, Part, Selection, WriteError, Written};
use crate::formats::redacted::Redacting;
use crate::protocol::json::Node;
use crate::store::indexer::COLLECT_LIMIT;
use crate::store::links::Link;
use crate::store::reader::{EventRow, Recording, Summary};
use crate::trace::clock::Moment;
use crate::trace::correlator::MessageKind;
use crate::trace::frame::{FrameHead, Seq, StreamId};
use seen::Seen;
use std::io::{self, BufReader, BufWriter, Seek as _, Write};
use tempfile::SpooledTempFile;

/// Bytes that are moved at once.
const BUFFER: usize = 256 * 1024;

/// Bytes of lines that wait in memory before they wait in a file.
const SPOOLED: usize = 8 * 1024 * 1024;

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
    begin(header, &summary, out)?;
    let mut writer = Writer::new(recording, out, export.progress);
    excerpt.walk(&mut |part| writer.part(&part))?;
    let written = writer.written;
    end(&summary, out)?;
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
    let written = writer.written;
    let summary = redacting.summary()?;
    begin(&Header::of(&summary, selection.note()), &summary, out)?;
    let mut lines = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
    lines.rewind()?;
    io::copy(&mut BufReader::with_capacity(BUFFER, lines), out)?;
    end(&summary, out)?;
    Ok(written)
}

fn begin(header: &Header, summary: &Summary, out: &mut impl Write) -> Result<(), WriteError> {
    header.write(out)?;
    let start = start::json(&summary.context).map_err(io::Error::from)?;
    Ok(writeln!(
        out,
        "{{\"t\":0,\"k\":\"event\",\"event\":{start}}}"
    )?)
}

fn end(summary: &Summary, out: &mut impl Write) -> Result<(), WriteError> {
    let end = summary.t_last_ns / US;
    Ok(writeln!(out, "{{\"t\":{end},\"k\":\"end\"}}")?)
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    progress: &'r mut dyn FnMut(Seq),
    /// The line that is being made; its memory is used again.
    line: Vec<u8>,
    nodes: Vec<Node>,
    seen: Seen,
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
                self.written.events += 1;
                self.event(row)?;
            }
        }
        Ok(())
    }

    fn event(&mut self, row: &EventRow) -> Result<(), WriteError> {
        let t = row.event.t.0 / US;
        write!(self.out, "{{\"t\":{t},\"k\":\"event\",\"event\":")?;
        serde_json::to_writer(&mut *self.out, &row.event.kind).map_err(io::Error::from)?;
        Ok(self.out.write_all(b"}\n")?)
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<(), WriteError> {
        self.line.clear();
        let seen = self.seen.frame(head);
        beginning(&mut self.line, head, link, seen)?;
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
