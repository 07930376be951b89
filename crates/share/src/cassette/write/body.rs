//! The bytes of a frame in a line: verbatim where that reads back as what it was, else as base64.

use super::WriteError;
use crate::cassette::check::Check;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::{Engine as _, write::EncoderWriter};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::json::{Node, parse_into};
use std::io::{self, Read, Write};

/// Bytes of a long frame that are read at once.
const PIECE: usize = 256 * 1024;

/// Nodes kept for the next line; what a huge one needed is given back.
const KEPT_NODES: usize = 1 << 14;

/// A longer line of stderr is coded: as text it is six times as long if it is nothing but control
/// characters, and nobody reads it.
const MAX_TEXT: usize = 256 * 1024;

/// Ends `line` with the bytes `raw` of a frame.
pub(super) fn short(line: &mut Vec<u8>, stream: StreamId, raw: &[u8], nodes: &mut Vec<Node>) {
    let is_text = stream == StreamId::STDERR && raw.len() <= MAX_TEXT;
    let text = std::str::from_utf8(raw).ok().filter(|_| is_text);
    match (text, raw.strip_suffix(b"\n")) {
        (Some(text), _) => {
            line.extend_from_slice(b"\"text\":");
            // It is a line of text: nothing in it cannot be written.
            let written = serde_json::to_writer(&mut *line, text);
            debug_assert!(written.is_ok(), "memory takes what is written");
        }
        (None, Some(json)) if verbatim(line, json, nodes) => {}
        (None, _) => {
            line.extend_from_slice(b"\"b64\":\"");
            line.extend_from_slice(BASE64.encode(raw).as_bytes());
            line.push(b'"');
        }
    }
    line.extend_from_slice(b"}\n");
}

/// Adds `json` as it stands, if the line then reads back as it is meant; else nothing. The line is
/// looked at, not the text alone: what nests deeply enough to be read by itself may be too deep
/// within it.
fn verbatim(line: &mut Vec<u8>, json: &[u8], nodes: &mut Vec<Node>) -> bool {
    let before = line.len();
    line.extend_from_slice(b"\"raw\":");
    let start = line.len();
    line.extend_from_slice(json);
    let end = line.len();
    line.push(b'}');
    let parsed = parse_into(line, nodes).ok();
    let last = parsed.and_then(|root| root.members().last());
    let is_whole = last.is_some_and(|(_, value)| value.span() == (start..end));
    // A line that is split at a carriage return somewhere on its way would be two.
    let is_plain = !json.contains(&b'\r') && std::str::from_utf8(json).is_ok();
    if nodes.capacity() > KEPT_NODES {
        *nodes = Vec::new();
    }
    let fits = is_whole && is_plain;
    line.truncate(if fits { end } else { before });
    fits
}

/// Ends the line of a frame that is too long to hold: looked at first, then written.
pub(super) fn long(
    recording: &Recording,
    head: &FrameHead,
    out: &mut impl Write,
) -> Result<(), WriteError> {
    let text = head.size.saturating_sub(1);
    let mut check = Check::default();
    let last = each_piece(recording, head, text, &mut |piece| {
        check.push(piece);
        Ok(())
    })?;
    let is_text = last == Some(b'\n') && check.finish().is_ok();
    if is_text && head.stream != StreamId::STDERR {
        out.write_all(b"\"raw\":")?;
        each_piece(recording, head, text, &mut |piece| out.write_all(piece))?;
    } else {
        out.write_all(b"\"b64\":\"")?;
        let mut coded = EncoderWriter::new(&mut *out, &BASE64);
        each_piece(recording, head, head.size, &mut |piece| {
            coded.write_all(piece)
        })?;
        coded.finish()?;
        drop(coded);
        out.write_all(b"\"")?;
    }
    Ok(out.write_all(b"}\n")?)
}

/// Ends the line of a frame as long as that whose bytes are held all the same.
pub(super) fn held(stream: StreamId, raw: &[u8], out: &mut impl Write) -> Result<(), WriteError> {
    let text = raw.strip_suffix(b"\n").filter(|text| {
        let mut check = Check::default();
        check.push(text);
        stream != StreamId::STDERR && check.finish().is_ok()
    });
    if let Some(text) = text {
        out.write_all(b"\"raw\":")?;
        out.write_all(text)?;
    } else {
        out.write_all(b"\"b64\":\"")?;
        let mut coded = EncoderWriter::new(&mut *out, &BASE64);
        coded.write_all(raw)?;
        coded.finish()?;
        drop(coded);
        out.write_all(b"\"")?;
    }
    Ok(out.write_all(b"}\n")?)
}

/// Gives the first `len` bytes of a frame to `take`, piece by piece; returns the byte after them.
fn each_piece(
    recording: &Recording,
    head: &FrameHead,
    len: u64,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<Option<u8>, WriteError> {
    let mut bytes = recording.stream(head.seq)?;
    let mut buffer = vec![0; PIECE];
    let mut left = len;
    while left > 0 {
        let room = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let read = bytes.read(&mut buffer[..room])?;
        if read == 0 {
            return Ok(None);
        }
        take(&buffer[..read])?;
        left -= read as u64;
    }
    let mut next = [0];
    let read = bytes.read(&mut next)?;
    Ok((read == 1).then_some(next[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(stream: StreamId, raw: &[u8]) -> String {
        let mut line = b"{\"n\":1,".to_vec();
        short(&mut line, stream, raw, &mut Vec::new());
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn one_json_text_and_a_newline_stand_as_they_are() {
        for json in [
            "{}",
            "{ \"a\" : [1.50, 1e3] }",
            "[]",
            "7",
            "\"\u{e9}\\u00e9\u{2028}\"",
            "null",
        ] {
            let line = written(StreamId::S2C, format!("{json}\n").as_bytes());
            assert_eq!(line, format!("{{\"n\":1,\"raw\":{json}}}\n"));
        }
    }

    #[test]
    fn anything_else_is_coded() {
        let nested = format!("{}{}\n", "[".repeat(512), "]".repeat(512));
        let others: [&[u8]; 12] = [
            b"\n",
            b"{}",
            b"{}\r\n",
            b" {}\n",
            b"{} \n",
            b"{\"a\":\r1}\n",
            b"\xef\xbb\xbf{}\n",
            b"{}{}\n",
            b"{},\"raw\":{}\n",
            b"{},\"k\":5\n",
            b"\"\xff\"\n",
            nested.as_bytes(),
        ];
        for raw in others {
            let coded = BASE64.encode(raw);
            let line = written(StreamId::C2S, raw);
            assert_eq!(
                line,
                format!("{{\"n\":1,\"b64\":\"{coded}\"}}\n"),
                "{raw:?}"
            );
        }
    }

    #[test]
    fn stderr_is_text_where_it_is_text() {
        assert_eq!(
            written(StreamId::STDERR, b"\x1b[1m \"a\"\r\n"),
            "{\"n\":1,\"text\":\"\\u001b[1m \\\"a\\\"\\r\\n\"}\n"
        );
        assert_eq!(
            written(StreamId::STDERR, b"\xff\n"),
            "{\"n\":1,\"b64\":\"/wo=\"}\n"
        );
    }
}
