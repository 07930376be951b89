//! JSON that stands within an HTML page.

use super::FRAME_BYTES;
use crate::export::{Excerpt, ExportError, Part, Progress, Written, without_nulls};
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_wire::text::is_hostile;
use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Value, json};
use std::io;
use std::io::Write;

/// Bytes of a block of data; it ends with the value that makes it longer.
const BYTES: usize = 128 * 1024;

/// Data of one kind: an array in a block, or in several, one after the other.
pub(super) struct Blocks<'o, W: Write> {
    out: &'o mut W,
    kind: &'static str,
    text: Vec<u8>,
    /// The first number in the block, where its values have one.
    first: Option<u64>,
}

impl<'o, W: Write> Blocks<'o, W> {
    pub fn new(out: &'o mut W, kind: &'static str) -> Self {
        let (text, first) = (Vec::new(), None);
        Self {
            out,
            kind,
            text,
            first,
        }
    }

    pub fn push(&mut self, value: &impl Serialize) -> io::Result<()> {
        if !self.text.is_empty() {
            self.text.extend_from_slice(b",\n");
        }
        write_json(value, &mut self.text)?;
        if self.text.len() >= BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds an object without its members that are null.
    pub fn push_sparse(&mut self, value: Value) -> io::Result<()> {
        self.push(&without_nulls(value))
    }

    /// Adds a value that is looked up by `number`; numbers only grow.
    pub fn push_numbered(&mut self, number: u64, value: &impl Serialize) -> io::Result<()> {
        self.first.get_or_insert(number);
        self.push(value)
    }

    pub fn finish(mut self) -> io::Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let first = self.first.take();
        let first = first.map_or(String::new(), |first| format!(" data-first=\"{first}\""));
        let kind = self.kind;
        writeln!(
            self.out,
            "<script type=\"application/json\" data-kind=\"{kind}\"{first}>["
        )?;
        self.out.write_all(&self.text)?;
        self.text.clear();
        self.out.write_all(b"\n]</script>\n")
    }
}

/// Adds `value` as JSON in which nothing means anything to a browser, nor to somebody who reads
/// the source of the page.
fn write_json(value: &impl Serialize, into: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = serde_json::Serializer::with_formatter(into, Harmless);
    Ok(value.serialize(&mut writer)?)
}

/// Writes strings so. Outside of strings JSON has nothing that means anything.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: Write + ?Sized>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.bytes().position(may_mean_something) {
            let (plain, from) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let Some(character) = from.chars().next() else {
                break;
            };
            let (this, after) = from.split_at(character.len_utf8());
            if matches!(character, '<' | '>' | '&') || is_hostile(character) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            } else {
                out.write_all(this.as_bytes())?;
            }
            rest = after;
        }
        out.write_all(rest.as_bytes())
    }
}

/// Whether a character that begins with this byte has to be looked at.
fn may_mean_something(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'&' | 0x7f..)
}

// The bytes of the frames.

/// Writes the frames: number, bytes, how many bytes are left out.
pub(super) fn write_frames(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
    progress: &mut Progress<'_>,
) -> Result<Written, ExportError> {
    let mut written = Written::default();
    let mut blocks = Blocks::new(out, "frames");
    excerpt.walk((COLLECT_LIMIT, false), &mut |part| {
        match part {
            Part::Frame(head, raw, _) => {
                written.frames += 1;
                let piece;
                let bytes = if let Some(raw) = raw {
                    raw
                } else {
                    piece = excerpt.recording.piece(head.seq, 0..FRAME_BYTES)?;
                    &piece
                };
                let bytes = beginning(bytes);
                let left_out = head.size.saturating_sub(bytes.len() as u64);
                let frame = json!([head.seq.0, in_pieces(bytes), left_out]);
                blocks.push_numbered(head.seq.0, &frame)?;
                progress(head.seq)?;
            }
            Part::Passed(head) => {
                written.left_out += 1;
                progress(head.seq)?;
            }
            Part::Event(_) => written.events += 1,
        }
        Ok::<(), ExportError>(())
    })?;
    blocks.finish()?;
    Ok(written)
}

/// The bytes that a page has of a frame: never half a character.
fn beginning(bytes: &[u8]) -> &[u8] {
    let limit = usize::try_from(FRAME_BYTES).unwrap_or(usize::MAX);
    if bytes.len() < limit {
        return bytes;
    }
    let kept = &bytes[..limit];
    match std::str::from_utf8(kept) {
        Err(error) if error.error_len().is_none() => &kept[..error.valid_up_to()],
        _ => kept,
    }
}

/// The bytes of a frame as text; if some are no UTF-8, in pieces, text and bytes in turn.
fn in_pieces(bytes: &[u8]) -> Value {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let chunks = bytes.utf8_chunks();
    let pieces = chunks.flat_map(|chunk| [json!(chunk.valid()), json!(chunk.invalid())]);
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><!-- <script>&amp;\u{2028}\u{2029}\u{202e}\u{feff}\u{9b}\u{7f}\
        \u{e0041}\0\u{1b}[2J\r\n\"'\\ ]]>";

    #[test]
    fn nothing_in_a_block_can_end_it_and_it_reads_back_as_it_was() {
        let mut text = Vec::new();
        write_json(&HOSTILE, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.is_ascii(), "{text}");
        let forbidden = ['<', '>', '&', '\0', '\u{1b}', '\r', '\n', '\u{7f}'];
        assert!(!text.contains(forbidden), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), HOSTILE);
    }
}

#[cfg(test)]
mod bytes_tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stand_beside_the_text_around_them() {
        let json = |bytes| serde_json::to_string(&in_pieces(bytes)).unwrap();
        assert_eq!(json("naïve\n".as_bytes()), "\"naïve\\n\"");
        assert_eq!(
            json(b"a\xff\xfeb\n"),
            "[\"a\",[255],\"\",[254],\"b\\n\",[]]"
        );
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let limit = usize::try_from(FRAME_BYTES).unwrap();
        let mut text = "x".repeat(limit - 1);
        assert_eq!(beginning(text.as_bytes()).len(), limit - 1);
        text.push('é');
        assert_eq!(beginning(text.as_bytes()).len(), limit - 1);
        let mut bytes = vec![0xff; limit + 9];
        bytes[limit - 1] = 0xc3;
        assert_eq!(beginning(&bytes).len(), limit, "it is no text anyway");
    }
}
