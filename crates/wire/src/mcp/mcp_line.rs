//! Building one short line out of whatever came off the wire.

use crate::json::{Kind, Value};

/// The longest line, in characters.
pub(super) const LINE_CHARS: usize = 200;

/// The longest string within a line's arguments, in characters.
const STRING_CHARS: usize = 60;

/// Enough for most lines, so that they are allocated once.
const FIRST_BYTES: usize = LINE_CHARS + 8;

const SHOWN_DEPTH: usize = 2;

/// A line that stops growing at a limit. White space becomes single spaces; control characters
/// stay, for whoever prints the line to escape.
#[derive(Debug)]
pub(super) struct Line {
    text: String,
    chars: usize,
    limit: usize,
    cut: bool,
}

impl Line {
    pub(super) fn new() -> Self {
        Self::with_limit(LINE_CHARS)
    }

    pub(super) fn with_limit(limit: usize) -> Self {
        Self {
            text: String::with_capacity(FIRST_BYTES),
            chars: 0,
            limit,
            cut: false,
        }
    }

    /// The line, its last character an ellipsis if something was left out at its end.
    pub(super) fn finish(mut self) -> String {
        if self.cut {
            self.text.pop();
            self.text.push('…');
        }
        self.text
    }

    fn push(&mut self, char: char) {
        if self.chars == self.limit {
            self.cut = true;
        } else {
            self.chars += 1;
            self.text.push(char);
        }
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        self.put(text);
        self
    }

    fn put(&mut self, text: &str) {
        if text.is_ascii() && text.len() <= self.limit - self.chars {
            self.chars += text.len();
            self.text.push_str(text);
            return;
        }
        for char in text.chars() {
            if self.cut {
                break;
            }
            self.push(char);
        }
    }

    /// Adds characters off the wire, white space collapsed.
    pub(super) fn words(mut self, chars: impl IntoIterator<Item = char>) -> Self {
        self.put_words(chars, 0, usize::MAX);
        self
    }

    /// Adds characters until there are `limit` of them, `count` of which are there already.
    fn put_words(&mut self, chars: impl IntoIterator<Item = char>, mut count: usize, limit: usize) {
        let mut space = false;
        for char in chars {
            if char.is_whitespace() {
                space = count > 0;
                continue;
            }
            if self.cut || count >= limit {
                self.push('…');
                return;
            }
            if std::mem::take(&mut space) {
                self.push(' ');
                count += 1;
            }
            self.push(char);
            count += 1;
        }
    }

    /// Adds a string's characters, or any other value's text, if there is one.
    pub(super) fn value(self, value: Option<Value<'_>>) -> Self {
        match value {
            Some(value) if value.kind() == Kind::String => {
                let mut line = self;
                line.put_string(value, usize::MAX);
                line
            }
            Some(value) => self.compact(value),
            None => self,
        }
    }

    /// Adds a string's characters as [`Self::put_words`] does: first at once what has nothing
    /// special in it, which is most of nearly all strings.
    fn put_string(&mut self, value: Value<'_>, limit: usize) {
        let bytes = value.string_bytes().unwrap_or_default();
        let room = limit.min(self.limit - self.chars);
        let plain = plain(&bytes[..bytes.len().min(room)]);
        self.put(plain);
        if plain.len() < bytes.len() {
            self.put_words(value.chars_from(plain.len()), plain.len(), limit);
        }
    }

    /// Adds a value in short: `{q:"rust", limit:5, filter:{…}}`.
    pub(super) fn compact(mut self, value: Value<'_>) -> Self {
        self.put_compact(value, 0);
        self
    }

    fn put_compact(&mut self, value: Value<'_>, depth: usize) {
        match value.kind() {
            Kind::Null | Kind::Bool | Kind::Number => {
                let chars = value.raw().iter().map(|&byte| char::from(byte));
                self.put_words(chars, 0, STRING_CHARS);
            }
            Kind::String => {
                self.push('"');
                self.put_string(value, STRING_CHARS);
                self.push('"');
            }
            Kind::Array => self.put_array(value, depth),
            Kind::Object => self.put_object(value, depth),
        }
    }

    fn put_array(&mut self, array: Value<'_>, depth: usize) {
        self.push('[');
        for (index, element) in array.elements().enumerate() {
            if !self.another(index, depth) {
                break;
            }
            self.put_compact(element, depth + 1);
        }
        self.push(']');
    }

    fn put_object(&mut self, object: Value<'_>, depth: usize) {
        self.push('{');
        for (index, (key, value)) in object.members().enumerate() {
            if !self.another(index, depth) {
                break;
            }
            self.put_string(key, STRING_CHARS);
            self.push(':');
            self.put_compact(value, depth + 1);
        }
        self.push('}');
    }

    /// Prepares for the next thing inside a container; `false` if no more of it is shown.
    fn another(&mut self, index: usize, depth: usize) -> bool {
        if depth >= SHOWN_DEPTH {
            self.push('…');
            return false;
        }
        if index > 0 {
            self.put(", ");
        }
        !self.cut
    }
}

/// The beginning of `bytes` that is printable ASCII without escapes and without spaces at its
/// edges or in rows.
fn plain(bytes: &[u8]) -> &str {
    let is_special = |byte: u8| !(b' '..=b'~').contains(&byte) || byte == b'\\';
    // Nearly always all of it: whole vectors are looked at together.
    let any = bytes
        .iter()
        .fold(false, |any, &byte| any | is_special(byte));
    let special = bytes.iter().position(|&byte| any && is_special(byte));
    let plain = &bytes[..special.unwrap_or(bytes.len())];
    let spaces = memchr::memmem::find(plain, b"  ");
    let plain = &plain[..spaces.unwrap_or(plain.len())];
    let text = str::from_utf8(plain).unwrap_or_default().trim_end();
    if text.starts_with(' ') { "" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_string_is_its_words_whatever_is_put_at_once(
            text in "[ab ]{0,12}([ -~]{0,80}|\\PC{0,12}|[ \t\n]{0,4}){0,4}",
            before in 0..20_usize,
            limit in 0..100_usize,
        ) {
            let json = serde_json::to_string(&text).unwrap();
            let document = Document::parse(json.as_bytes()).unwrap();
            let line = || Line::with_limit(70).text(&"=".repeat(before));
            let (mut at_once, mut one_by_one) = (line(), line());
            at_once.put_string(document.root(), limit);
            one_by_one.put_words(text.chars(), 0, limit);
            prop_assert_eq!(at_once.finish(), one_by_one.finish());
        }
    }
}
