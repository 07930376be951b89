//! A stream of server-sent events (WHATWG HTML, 9.2.5), cut into its blocks.
//!
//! A block ends with an empty line, and is given as soon as that is there. Lines end with `\n`,
//! `\r\n` or `\r`. An empty line that ends with `\r` is there at once, but where the line before it
//! ended with `\r\n`: then its `\n` is waited for, so that it belongs to the block.

use super::piece::{EventFields, Open, Out, Part, Read};

/// Where decoded bytes stand on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The place of the first.
    wire: u64,
    /// How far each of the others is from the one before: 1, or 0 where the same compressed byte
    /// gave all of them.
    step: u64,
    t: u64,
}

impl Place {
    /// The place of what was read, or of what its first byte gave.
    pub(super) fn of(read: Read, step: u64) -> Self {
        Self {
            wire: read.at,
            step,
            t: read.t,
        }
    }

    fn nth(self, index: usize) -> Self {
        Self {
            wire: self.wire + index as u64 * self.step,
            ..self
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct EventStream {
    /// The lines of the block so far, as they are.
    block: Open,
    /// How many bytes of the block are lines with content.
    lines: u64,
    line: Line,
    /// Whether the line before ended with `\r\n`.
    crlf: bool,
    /// Whether this is behind the first line of the stream, which may begin with a byte order mark.
    later: bool,
    /// The end of the last block on the wire.
    end: u64,
}

/// Where in its line a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Start,
    Within,
    /// Behind a `\r` that ended a line: a `\n` may belong to it. The block may be whole but for that.
    Returned {
        block_waits: bool,
    },
}

impl EventStream {
    pub(super) fn push(&mut self, bytes: &[u8], place: Place, out: &mut Out) {
        let mut at = 0;
        while at < bytes.len() {
            if let Line::Returned { block_waits } = self.line {
                self.line = Line::Start;
                self.crlf = bytes[at] == b'\n';
                if self.crlf {
                    self.take_newline(&bytes[at..=at], place.nth(at), block_waits);
                    at += 1;
                }
                if block_waits {
                    self.give_block(out);
                }
                continue;
            }
            let rest = &bytes[at..];
            let terminator = memchr::memchr2(b'\n', b'\r', rest);
            let length = terminator.map_or(rest.len(), |end| end + 1);
            let empty = terminator == Some(0) && self.line == Line::Start;
            // Empty lines between blocks belong to none.
            if !empty || self.block.is_begun() {
                self.take(&rest[..length], place.nth(at));
            }
            if !empty {
                self.lines = self.block.total;
            }
            let returned = terminator.is_some_and(|end| rest[end] == b'\r');
            let block_waits = empty && returned && self.crlf && self.block.is_begun();
            self.line = match terminator {
                None => Line::Within,
                Some(_) if returned => Line::Returned { block_waits },
                Some(_) => Line::Start,
            };
            if empty && !block_waits {
                self.give_block(out);
            }
            at += length;
        }
    }

    /// Ends the stream: what is left of a block without its empty line is no event.
    pub(super) fn end(&mut self, out: &mut Out) {
        if self.line == (Line::Returned { block_waits: true }) {
            self.give_block(out);
        }
        self.block.give(Part::Other, out);
    }

    /// Takes the `\n` behind a `\r`.
    fn take_newline(&mut self, newline: &[u8], place: Place, of_empty_line: bool) {
        if self.block.is_begun() {
            self.take(newline, place);
            if !of_empty_line {
                self.lines = self.block.total;
            }
        }
    }

    fn take(&mut self, bytes: &[u8], place: Place) {
        let wire = place.wire.max(self.end)..place.nth(bytes.len() - 1).wire + 1;
        self.block.reach(wire, place.t);
        self.block.add(bytes);
    }

    /// Gives the block, if there is one.
    fn give_block(&mut self, out: &mut Out) {
        let marked = !std::mem::replace(&mut self.later, true);
        let mut block = std::mem::take(&mut self.block);
        let Some(wire) = block.wire() else { return };
        self.end = wire.end;
        let raw = std::mem::take(&mut block.bytes);
        let cut = block.total - raw.len() as u64;
        let lines = usize::try_from(self.lines).map_or(raw.len(), |lines| lines.min(raw.len()));
        let lines = match raw[..lines].strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if marked => rest,
            _ => &raw[..lines],
        };
        let parsed = Block::parse(lines);
        if parsed.has_fields {
            block.bytes = parsed.data;
            // What was too long to keep is counted as data: it can hardly be anything else.
            block.total = block.bytes.len() as u64 + cut;
            block.give_with(Part::Event, Some(parsed.fields), None, out);
        } else if parsed.has_comments {
            block.bytes = lines.to_vec();
            block.total = block.bytes.len() as u64 + cut;
            block.give(Part::Comment, out);
        }
    }
}

/// What the lines of a block say.
#[derive(Default)]
struct Block<'a> {
    data: Vec<u8>,
    fields: EventFields<'a>,
    has_fields: bool,
    has_comments: bool,
}

impl<'a> Block<'a> {
    fn parse(lines: &'a [u8]) -> Self {
        let mut block = Self::default();
        let mut has_data = false;
        // `\r\n` makes an empty line of its own here; those have no meaning within a block.
        for line in lines.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let colon = memchr::memchr(b':', line);
            let (name, value) = line.split_at(colon.unwrap_or(line.len()));
            let value = value.strip_prefix(b":").unwrap_or(value);
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match name {
                b"" => {
                    block.has_comments |= colon.is_some();
                    continue;
                }
                b"data" => {
                    if std::mem::replace(&mut has_data, true) {
                        block.data.push(b'\n');
                    }
                    block.data.extend_from_slice(value);
                }
                b"event" => block.fields.event = Some(String::from_utf8_lossy(value)),
                b"id" if !value.contains(&0) => {
                    block.fields.id = Some(String::from_utf8_lossy(value));
                }
                b"retry" if value.iter().all(u8::is_ascii_digit) => {
                    block.fields.retry = str::from_utf8(value).ok().and_then(|ms| ms.parse().ok());
                }
                _ => {}
            }
            block.has_fields = true;
        }
        block
    }
}
