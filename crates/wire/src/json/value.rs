//! A cursor over the nodes of a document.

use super::document::Node;
use super::number::Number;
use super::scan::{Chars, Units};
use std::borrow::Cow;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    Null,
    #[strum(to_string = "boolean")]
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// `null`, `boolean`, `number`, `string`, `array` or `object`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One value of a document: where it is and what is in it. Free to copy.
#[derive(Clone, Copy, Debug)]
pub struct Value<'d> {
    text: &'d [u8],
    nodes: &'d [Node],
    index: u32,
}

impl<'d> Value<'d> {
    pub(super) fn new(text: &'d [u8], nodes: &'d [Node], index: u32) -> Self {
        Self { text, nodes, index }
    }

    fn node(&self) -> &'d Node {
        &self.nodes[self.index as usize]
    }

    fn at(&self, index: u32) -> Self {
        Self { index, ..*self }
    }

    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Where it stands in the text, quotes and brackets included.
    pub fn span(&self) -> Range<usize> {
        let node = self.node();
        node.start as usize..node.end as usize
    }

    /// Its bytes as they stand in the text, quotes and brackets included.
    pub fn raw(&self) -> &'d [u8] {
        &self.text[self.span()]
    }

    /// Its bytes as text; bytes that are no UTF-8 become U+FFFD.
    pub fn raw_text(&self) -> Cow<'d, str> {
        lossy(self.raw())
    }

    pub fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    pub fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    /// `true` or `false`; `None` for anything else.
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == b"true")
    }

    /// The text of a number as it stands; `None` for anything else.
    pub fn number_text(&self) -> Option<&'d str> {
        match self.kind() {
            Kind::Number => std::str::from_utf8(self.raw()).ok(),
            _ => None,
        }
    }

    /// The exact value of a number; `None` for anything else.
    pub fn number(&self) -> Option<Number> {
        self.number_text().and_then(Number::parse)
    }

    /// A string with its escapes resolved; lone surrogates and bytes that are no UTF-8 become
    /// U+FFFD. `None` for anything else. Copies only where something had to be resolved.
    pub fn as_str(&self) -> Option<Cow<'d, str>> {
        let inner = self.string_bytes()?;
        if self.node().escaped {
            return Some(Cow::Owned(Chars::new(inner).collect()));
        }
        Some(lossy(inner))
    }

    /// The characters of a string one by one, resolved as in [`Self::as_str`], so that the
    /// beginning of a long one costs little. Empty for anything else.
    pub fn chars(&self) -> Chars<'d> {
        Chars::new(self.string_bytes().unwrap_or_default())
    }

    /// The characters of a string after the first `bytes` bytes of its text, in which no escape or
    /// character may be cut.
    pub fn chars_from(&self, bytes: usize) -> Chars<'d> {
        let inner = self.string_bytes().unwrap_or_default();
        Chars::new(inner.get(bytes..).unwrap_or_default())
    }

    /// The characters of a string, lone surrogates told apart. Empty for anything else.
    pub fn units(&self) -> Units<'d> {
        Units::new(self.string_bytes().unwrap_or_default())
    }

    /// Whether it is a string with the value `expected`.
    #[inline]
    pub fn is_str(&self, expected: &str) -> bool {
        let node = self.node();
        if node.escaped {
            return node.kind == Kind::String && self.chars().eq(expected.chars());
        }
        // Most names differ in length already.
        (node.end - node.start) as usize == expected.len() + 2
            && self.string_bytes() == Some(expected.as_bytes())
    }

    /// The bytes of a string's value, escapes resolved; empty for anything else.
    pub fn str_bytes(&self) -> Cow<'d, [u8]> {
        if self.node().escaped {
            return Cow::Owned(self.chars().collect::<String>().into_bytes());
        }
        Cow::Borrowed(self.string_bytes().unwrap_or_default())
    }

    /// The bytes between the quotes of a string, escapes unresolved; `None` for anything else.
    pub fn string_bytes(&self) -> Option<&'d [u8]> {
        match (self.kind(), self.raw()) {
            (Kind::String, [b'"', inner @ .., b'"']) => Some(inner),
            _ => None,
        }
    }

    /// Whether a string has escapes, so that its bytes are not its value.
    pub fn has_escapes(&self) -> bool {
        self.node().escaped
    }

    /// The members of an object in order, duplicates included, each as its name (a string) and
    /// its value. None for anything else.
    pub fn members(&self) -> Members<'d> {
        Members {
            value: *self,
            inside: self.inside(Kind::Object),
        }
    }

    /// The elements of an array in order. None for anything else.
    pub fn elements(&self) -> Elements<'d> {
        Elements {
            value: *self,
            inside: self.inside(Kind::Array),
        }
    }

    fn inside(&self, kind: Kind) -> Range<u32> {
        let node = self.node();
        if node.kind == kind {
            self.index + 1..node.next
        } else {
            0..0
        }
    }

    /// The member `key` of an object, the last one where there are several.
    pub fn get(&self, key: &str) -> Option<Value<'d>> {
        let Range { mut start, end } = self.inside(Kind::Object);
        let mut found = None;
        while start < end {
            let value = start + 1;
            if self.at(start).is_str(key) {
                found = Some(value);
            }
            start = self.nodes[value as usize].next;
        }
        found.map(|index| self.at(index))
    }

    /// Element `index` of an array, counted from 0.
    pub fn index(&self, index: usize) -> Option<Value<'d>> {
        self.elements().nth(index)
    }
}

/// The text of `bytes`. Checking first is faster than being lossy at once.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[derive(Clone, Debug)]
pub struct Members<'d> {
    value: Value<'d>,
    inside: Range<u32>,
}

impl<'d> Iterator for Members<'d> {
    type Item = (Value<'d>, Value<'d>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.inside.is_empty() {
            return None;
        }
        let key = self.value.at(self.inside.start);
        let value = self.value.at(self.inside.start + 1);
        self.inside.start = value.node().next;
        Some((key, value))
    }
}

#[derive(Clone, Debug)]
pub struct Elements<'d> {
    value: Value<'d>,
    inside: Range<u32>,
}

impl<'d> Iterator for Elements<'d> {
    type Item = Value<'d>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.inside.is_empty() {
            return None;
        }
        let element = self.value.at(self.inside.start);
        self.inside.start = element.node().next;
        Some(element)
    }
}

// Names that an object has more than once.

/// Up to how many members are compared with each other before sorting pays.
const FEW: usize = 16;

/// How many repeated names of one object are told: a hostile line must not become a longer list.
const MAX_TOLD: usize = 8;

impl<'d> Value<'d> {
    /// The names that an object has more than once, each once, sorted, eight at most. None for
    /// other values.
    pub fn repeated_names(&self) -> Vec<Cow<'d, str>> {
        if surely_distinct(*self) {
            return Vec::new();
        }
        let names = self.members().filter_map(|(key, _)| key.as_str());
        let mut names: Vec<Cow<'_, str>> = names.collect();
        names.sort_unstable();
        let equal = names.chunk_by(|a, b| a == b).filter(|same| same.len() > 1);
        equal.take(MAX_TOLD).map(|same| same[0].clone()).collect()
    }
}

/// Whether a look at the bytes is enough to say that no name repeats.
fn surely_distinct(object: Value<'_>) -> bool {
    let mut seen: [&[u8]; FEW] = [b""; FEW];
    for (index, (key, _)) in object.members().enumerate() {
        let name = key.string_bytes().unwrap_or_default();
        if index == FEW || key.has_escapes() || seen[..index].contains(&name) {
            return false;
        }
        seen[index] = name;
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::json::Document;

    fn repeated(text: &str) -> Vec<String> {
        let document = Document::parse(text.as_bytes()).unwrap();
        let names = document.root().repeated_names();
        names.into_iter().map(Into::into).collect()
    }

    #[test]
    fn names_are_compared_by_what_they_mean() {
        assert_eq!(repeated(r#"{"id":1,"\u0069d":2,"x":0}"#), ["id"]);
        assert_eq!(repeated(r#"{"b":1,"a":1,"a":1,"b":1,"a":1}"#), ["a", "b"]);
        assert!(repeated(r#"{"a":{"a":1},"b":{"a":1}}"#).is_empty());
        assert!(repeated(r#"["a","a"]"#).is_empty());
    }
}
