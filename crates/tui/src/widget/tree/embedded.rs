//! JSON within a string: most tools answer so. Its nodes stand below the string's.
//!
//! ```text
//! on the wire   "text":"{\"q\":1}"     the string's node has the bytes of the whole string
//! the text              {"q":1}        what is read; its spans become those of the bytes above
//! ```
//!
//! Nodes within a string are spans of the same bytes as all others, so that places and search hits mean the
//! same everywhere; what is shown of them is without the escapes of the string.

use super::{NodeId, Nodes};
use mcpreel_wire::json::{Document, Stopped, Unit, Units, Value};
use std::ops::Range;

/// Bytes of an escape that may break off at the end of a string.
const ESCAPE: usize = 12;

/// The text between the quotes of a string, and the places from which on it lies otherwise in the bytes:
/// pairs of a place in the text and one in the bytes.
struct Text {
    text: String,
    shifts: Vec<(usize, usize)>,
}

impl Text {
    fn of(bytes: &[u8], start: usize) -> Self {
        let mut units = Units::new(bytes);
        let (mut text, mut shifts) = (String::new(), vec![(0, start)]);
        let mut before = (0, bytes.len());
        while let Some(unit) = units.next() {
            text.push(char_of(unit));
            let now = (text.len(), units.left());
            if now.0 - before.0 != before.1 - now.1 {
                shifts.push((now.0, start + bytes.len() - now.1));
            }
            before = now;
        }
        Self { text, shifts }
    }

    /// Where the bytes of a span of the text are.
    fn place(&self, span: &Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let after = self.shifts.partition_point(|(text, _)| *text <= at);
            let (text, bytes) = self.shifts[after.saturating_sub(1)];
            bytes + at - text
        };
        place(span.start)..place(span.end)
    }
}

fn char_of(unit: Unit) -> char {
    match unit {
        Unit::Char(char) => char,
        Unit::LoneSurrogate(_) | Unit::Invalid => char::REPLACEMENT_CHARACTER,
    }
}

/// A piece of a string without the escapes.
pub fn resolved(bytes: &[u8]) -> String {
    Units::new(bytes).map(char_of).collect()
}

impl Nodes {
    /// Adds what is within the string `value`, the last node, if that is an object or array which holds
    /// something, and nothing else; of a string that breaks off as much as there is. Returns how many
    /// members or elements it has.
    pub(super) fn push_within(&mut self, value: Value<'_>, id: NodeId) -> Option<u32> {
        // A string may break off after a quote that is part of it.
        let is_ended = |bytes: &&[u8]| {
            let slashes = bytes.iter().rev().take_while(|byte| **byte == b'\\');
            slashes.count() % 2 == 0
        };
        let whole = value.string_bytes().filter(is_ended);
        let bytes = whole.or_else(|| value.raw().get(1..))?;
        if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[' | b'\\')) {
            return None;
        }
        let within = Text::of(bytes, value.span().start + 1);
        if !within.text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let left = self.limit.saturating_sub(self.all.len());
        let (document, stopped) = Document::read_prefix(within.text.as_bytes(), left);
        let breaks_off = |at: usize| whole.is_none() && at + ESCAPE >= within.text.len();
        match stopped {
            Some(Stopped::At(error)) if !breaks_off(error.offset) => return None,
            Some(Stopped::Enough { offset }) => {
                let offset = within.place(&(offset..offset)).end;
                self.more.get_or_insert(offset);
            }
            _ => {}
        }
        let document = document?;
        let first = self.all.len();
        self.is_within = true;
        let children = self.push_children(document.root(), id);
        self.is_within = false;
        for node in &mut self.all[first..] {
            node.value = within.place(&node.value);
            node.key = node.key.as_ref().map(|key| within.place(key));
        }
        Some(children)
    }
}
