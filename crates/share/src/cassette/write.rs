//! A recording as the lines of a cassette.

use super::US;
use super::carrier::Carrier;
use super::cassette_header::{Header, start_event};
use crate::export::{Export, ExportError, Part, Progress, Selection, Written};
use crate::redacting::{HELD, Redacting};
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::{Engine as _, write::EncoderWriter};
use mcpreel_store::notices::Link;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{FrameHead, StreamId};
use serde_json::value::RawValue;
use std::io::{self, BufReader, BufWriter, Seek as _, Write};
use tempfile::SpooledTempFile;

/// Bytes of lines that wait in memory before they wait in a file.
const SPOOLED: usize = 8 * 1024 * 1024;

/// A longer line of stderr is coded: as text it is six times as long if it is nothing but control
/// characters, and nobody reads it.
const MAX_TEXT: usize = 256 * 1024;

/// Writes a cassette.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let summary = export.excerpt.recording.summary()?;
    let header = Header::of(&summary, export.excerpt.selection.note());
    write_under(&header, &summary.context, export)
}

/// Writes a cassette under a header, and with a start event, that the caller has made.
pub fn write_under(
    header: &Header,
    context: &ProcessContext,
    export: Export<'_, impl Write>,
) -> Result<Written, ExportError> {
    let Export { excerpt, out, .. } = export;
    let recording = excerpt.recording;
    let summary = recording.summary()?;
    begin(header, context, out)?;
    let mut writer = Writer::new(recording, out, export.progress);
    excerpt.walk((HELD, true), &mut |part| writer.part(&part))?;
    let written = writer.written;
    end(&summary, excerpt.now, out)?;
    Ok(written)
}

/// Writes a cassette without secrets. The lines wait in a file that nobody else can open, because
/// the header says how many of them were changed.
pub fn write_redacted(
    recording: &Recording,
    redacting: &mut Redacting<'_>,
    (selection, now): (&Selection, Option<Moment>),
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> Result<Written, ExportError> {
    let mut lines = BufWriter::new(SpooledTempFile::new(SPOOLED));
    let mut writer = Writer::new(recording, &mut lines, progress);
    redacting.walk(selection, true, &mut |part| writer.part(&part))?;
    let written = writer.written;
    let summary = redacting.summary()?;
    let header = Header::of(&summary, selection.note());
    begin(&header, &summary.context, out)?;
    let mut lines = lines.into_inner().map_err(io::IntoInnerError::into_error)?;
    lines.rewind()?;
    io::copy(&mut BufReader::new(lines), out)?;
    end(&summary, now, out)?;
    Ok(written)
}

fn begin(header: &Header, context: &ProcessContext, out: &mut impl Write) -> io::Result<()> {
    header.write(out)?;
    let start = start_event(context)?;
    writeln!(out, "{{\"t\":0,\"k\":\"event\",\"event\":{start}}}")
}

/// Ends a cassette; of a session that goes on, `now`.
fn end(summary: &Summary, now: Option<Moment>, out: &mut impl Write) -> io::Result<()> {
    let now = now.filter(|_| !summary.state.is_final());
    now.map_or(Ok(()), |now| event(now, &EventKind::Copied, out))?;
    let last = now.unwrap_or_default().0.max(summary.t_last_ns);
    writeln!(out, "{{\"t\":{},\"k\":\"end\"}}", last / US)
}

struct Writer<'r, W> {
    recording: &'r Recording,
    out: &'r mut W,
    progress: &'r mut Progress<'r>,
    line: Vec<u8>,
    written: Written,
}

impl<'r, W: Write> Writer<'r, W> {
    fn new(recording: &'r Recording, out: &'r mut W, progress: &'r mut Progress<'r>) -> Self {
        Self {
            recording,
            out,
            progress,
            line: Vec::new(),
            written: Written::default(),
        }
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), ExportError> {
        match part {
            Part::Frame(head, raw, link) => {
                (self.progress)(head.seq)?;
                self.written.frames += 1;
                self.frame(head, *raw, *link)?;
            }
            Part::Passed(head) => {
                (self.progress)(head.seq)?;
                self.written.left_out += 1;
            }
            Part::Event(row) => {
                self.written.events += 1;
                event(row.event.t, &row.event.kind, self.out)?;
            }
        }
        Ok(())
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Option<&[u8]>,
        link: Option<&Link>,
    ) -> Result<(), ExportError> {
        self.line.clear();
        keys(&mut self.line, head, link)?;
        if let Some(raw) = raw {
            body(&mut self.line, head, raw)?;
        } else {
            self.out.write_all(&self.line)?;
            self.line.clear();
            self.out.write_all(b"\"b64\":\"")?;
            let mut coded = EncoderWriter::new(&mut *self.out, &BASE64);
            io::copy(&mut self.recording.stream(head.seq)?, &mut coded)?;
            coded.finish()?;
            drop(coded);
            self.line.push(b'"');
        }
        self.line.extend_from_slice(b"}\n");
        Ok(self.out.write_all(&self.line)?)
    }
}

fn event(t: Moment, kind: &EventKind, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"t\":{},\"k\":\"event\",\"event\":", t.0 / US)?;
    serde_json::to_writer(&mut *out, kind)?;
    out.write_all(b"}\n")
}

/// The keys before the body, with the comma after them.
fn keys(out: &mut Vec<u8>, head: &FrameHead, link: Option<&Link>) -> io::Result<()> {
    let (first, last) = (head.t_first.0 / US, head.t_last.0 / US);
    write!(out, "{{\"n\":{},\"t\":{last}", head.seq.0)?;
    if first != last {
        write!(out, ",\"t0\":{first}")?;
    }
    let (stream, kind) = (head.stream.as_str(), kind(head, link));
    write!(out, ",\"d\":\"{stream}\",\"k\":\"{kind}\",")?;
    if let Some(carrier) = Carrier::of(head) {
        out.extend_from_slice(b"\"c\":");
        serde_json::to_writer(&mut *out, &carrier)?;
        out.push(b',');
    }
    let Some(link) = link else {
        return Ok(());
    };
    let names_method = matches!(link.kind, MessageKind::Request | MessageKind::Notification);
    if let Some(method) = link.method.as_deref().filter(|_| names_method) {
        out.extend_from_slice(b"\"m\":");
        serde_json::to_writer(&mut *out, method)?;
        out.push(b',');
    }
    for (key, seq) in [("re", link.answers), ("in", link.within)] {
        if let Some(seq) = seq {
            write!(out, "\"{key}\":{},", seq.0)?;
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

/// Adds the bytes of a frame: verbatim if they read back as they are, else as base64.
fn body(line: &mut Vec<u8>, head: &FrameHead, raw: &[u8]) -> io::Result<()> {
    let text = std::str::from_utf8(raw).ok();
    let is_carried = head.stream.connection().is_some();
    if is_carried && let Some(json) = text.and_then(json_text) {
        line.extend_from_slice(b"\"raw\":");
        line.extend_from_slice(json.as_bytes());
        return Ok(());
    }
    if is_carried || head.stream == StreamId::STDERR {
        if let Some(text) = text.filter(|text| text.len() <= MAX_TEXT) {
            line.extend_from_slice(b"\"text\":");
            return Ok(serde_json::to_writer(line, text)?);
        }
    } else if let Some(json) = text.and_then(verbatim) {
        line.extend_from_slice(b"\"raw\":");
        line.extend_from_slice(json.as_bytes());
        return Ok(());
    }
    line.extend_from_slice(b"\"b64\":\"");
    line.extend_from_slice(BASE64.encode(raw).as_bytes());
    line.push(b'"');
    Ok(())
}

/// The JSON text of a frame, if the frame is that and a newline. A carriage return would make it
/// two lines for some programs.
fn verbatim(frame: &str) -> Option<&str> {
    json_text(frame.strip_suffix('\n')?)
}

/// The text, if it is one JSON text on one line.
fn json_text(json: &str) -> Option<&str> {
    let value: &RawValue = serde_json::from_str(json).ok()?;
    (value.get() == json && !json.contains(['\r', '\n'])).then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::frame::{Carried, Seq};

    fn written(stream: StreamId, raw: &[u8]) -> String {
        let mut line = Vec::new();
        let head = FrameHead {
            seq: Seq(1),
            stream,
            offset: 0,
            t_first: Moment(0),
            t_last: Moment(0),
            size: raw.len() as u64,
            carried: Carried::default(),
        };
        body(&mut line, &head, raw).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn one_json_text_and_a_newline_stand_as_they_are() {
        let nested = format!("{}{}", "[".repeat(512), "]".repeat(512));
        for json in [
            "{}",
            "{ \"a\" : [1.50, 1e3] }",
            "7",
            "\"\u{e9}\\u00e9\u{2028}\"",
            "null",
            &nested,
        ] {
            let line = written(StreamId::S2C, format!("{json}\n").as_bytes());
            assert_eq!(line, format!("\"raw\":{json}"));
        }
    }

    #[test]
    fn anything_else_is_coded() {
        let others: [&[u8]; 10] = [
            b"\n",
            b"{}",
            b"{}\r\n",
            b" {}\n",
            b"{} \n",
            b"{\"a\":\r1}\n",
            b"\xef\xbb\xbf{}\n",
            b"{}{}\n",
            b"{},\"raw\":{}\n",
            b"\"\xff\"\n",
        ];
        for raw in others {
            let coded = format!("\"b64\":\"{}\"", BASE64.encode(raw));
            assert_eq!(written(StreamId::C2S, raw), coded, "{raw:?}");
        }
    }
}
