//! Changes to a text by spans of its bytes: all else stays as it is.

use super::document::Document;
use super::scan::Unit;
use super::value::{Kind, Value};
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// What is to be put in place of which bytes.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts the JSON text `json` in place of `value`, unless it is that already.
    pub fn replace(&mut self, value: Value<'_>, json: &str) {
        if value.raw() != json.as_bytes() {
            self.list.push((value.span(), json.to_owned()));
        }
    }

    /// Puts `new` in place of these bytes.
    pub fn put(&mut self, span: Range<usize>, new: String) {
        self.list.push((span, new));
    }

    /// Puts a string in place of `value`.
    pub fn replace_string(&mut self, value: Value<'_>, text: &str) {
        self.replace(value, &quoted(text));
    }

    /// Gives an object a member more, in front of the others.
    pub fn insert(&mut self, object: Value<'_>, name: &str, json: &str) {
        self.insert_members(object, &format!("{}:{json}", quoted(name)));
    }

    /// Gives an object members more, in front of the others: `"a":1,"b":2`.
    pub fn insert_members(&mut self, object: Value<'_>, members: &str) {
        if !object.is_object() {
            return;
        }
        let at = object.span().start + 1;
        let comma = if object.members().next().is_some() {
            ","
        } else {
            ""
        };
        self.list.push((at..at, format!("{members}{comma}")));
    }

    /// Takes the members with such names from an object.
    pub fn remove(&mut self, object: Value<'_>, is_named: impl Fn(Value<'_>) -> bool) {
        let mut members = object.members().peekable();
        let mut previous_end = None;
        while let Some((key, value)) = members.next() {
            let end = value.span().end;
            if !is_named(key) {
                previous_end = Some(end);
                continue;
            }
            let span = match (members.peek(), previous_end) {
                (Some((next, _)), _) => key.span().start..next.span().start,
                (None, Some(previous)) => previous..end,
                (None, None) => key.span().start..end,
            };
            self.list.push((span, String::new()));
        }
    }

    /// The text with everything changed. Of two changes that overlap the one that begins first
    /// (of those the wider one) is made.
    pub fn apply(mut self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.list.is_empty() {
            return Cow::Borrowed(text);
        }
        self.list
            .sort_by_key(|(span, _)| (span.start, !span.is_empty(), usize::MAX - span.end));
        let mut changed = Vec::with_capacity(text.len() + 64);
        let mut at = 0;
        for (span, new) in self.list {
            if span.start < at {
                continue;
            }
            changed.extend_from_slice(&text[at..span.start]);
            changed.extend_from_slice(new.as_bytes());
            at = span.end;
        }
        changed.extend_from_slice(&text[at..]);
        Cow::Owned(changed)
    }
}

/// `message` with JSON texts in place of the values that paths of members lead to, if there are such;
/// `None` where it cannot be read so far. What nests too deeply is read up to there: ids usually
/// stand before it.
pub fn replaced(message: &[u8], list: &[(&[&str], &str)]) -> Option<Vec<u8>> {
    let document = match Document::parse(message) {
        Ok(document) => document,
        Err(_) => Document::read_prefix(message, usize::MAX).0?,
    };
    let mut edits = Edits::default();
    for (path, json) in list {
        if let Some(value) = follow(document.root(), path) {
            edits.replace(value, json);
        }
    }
    Some(edits.apply(message).into_owned())
}

/// The value that a path of members leads to.
pub fn follow<'d>(root: Value<'d>, path: &[&str]) -> Option<Value<'d>> {
    path.iter().try_fold(root, |value, name| value.get(name))
}

// One text for all texts that mean the same.

/// The canonical text of `value`: no white space, members sorted by the canonical text of their
/// names and each name once (the last counts), numbers in the normal form of [`Number`](super::Number), strings with as few
/// escapes as the grammar allows. Two values are equal exactly if their canonical texts are,
/// except that all bytes that are no UTF-8 count as U+FFFD.
pub fn canonical(value: Value<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Recursion is bounded by the depth that a document may have.
fn write(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.push_str(&value.raw_text()),
        Kind::Number => match value.number() {
            Some(number) => out.push_str(&number.to_string()),
            None => out.push_str(&value.raw_text()),
        },
        Kind::String => string(value, out),
        Kind::Array => {
            out.push('[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, out);
            }
            out.push(']');
        }
        Kind::Object => object(value, out),
    }
}

fn object(object: Value<'_>, out: &mut String) {
    let mut members: Vec<(Cow<'_, str>, Value<'_>)> = object
        .members()
        .map(|(key, value)| (name(key), value))
        .collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push('{');
    let counting = members.chunk_by(|(a, _), (b, _)| a == b);
    for (index, (name, value)) in counting.filter_map(<[_]>::last).enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(name);
        out.push(':');
        write(*value, out);
    }
    out.push('}');
}

/// A name's canonical text, quotes included, without a copy where it is one already.
fn name(key: Value<'_>) -> Cow<'_, str> {
    if key.has_escapes() {
        let mut out = String::new();
        string(key, &mut out);
        return Cow::Owned(out);
    }
    key.raw_text()
}

fn string(value: Value<'_>, out: &mut String) {
    out.push('"');
    for unit in value.units() {
        match unit {
            Unit::Char(char) if char < ' ' || matches!(char, '"' | '\\') => {
                let escaped = quoted(char.encode_utf8(&mut [0; 4]));
                out.push_str(&escaped[1..escaped.len() - 1]);
            }
            Unit::Char(char) => out.push(char),
            // Writing to a string cannot fail.
            Unit::LoneSurrogate(unit) => drop(write!(out, "\\u{unit:04x}")),
            Unit::Invalid => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out.push('"');
}

/// `text` as a JSON string, quotes included, as [`canonical`] writes it.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut Edits, Value<'_>)) -> String {
        let document = Document::parse(text.as_bytes()).unwrap();
        let mut edits = Edits::default();
        edit(&mut edits, document.root());
        String::from_utf8(edits.apply(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn everything_but_the_value_stays_as_it_is() {
        let text = "{ \"b\" : 1.0 ,\"a\":\"\\u00e9\" , \"b\":2e0}\r\n";
        let changed = edited(text, |edits, root| {
            edits.replace_string(root.get("a").unwrap(), "x\"\n");
        });
        assert_eq!(
            changed,
            "{ \"b\" : 1.0 ,\"a\":\"x\\\"\\n\" , \"b\":2e0}\r\n"
        );
        let same = edited(text, |edits, root| {
            edits.replace(root.get("a").unwrap(), "\"\\u00e9\"");
            assert!(edits.is_empty());
        });
        assert_eq!(same, text);
    }

    #[test]
    fn members_come_and_go() {
        let insert = |text| edited(text, |edits, root| edits.insert(root, "n", "[1]"));
        assert_eq!(insert("{}"), r#"{"n":[1]}"#);
        assert_eq!(insert(r#"{ "a":1}"#), r#"{"n":[1], "a":1}"#);
        assert_eq!(insert("[]"), "[]");
        let remove = |text| {
            edited(text, |edits, root| {
                edits.remove(root, |name| name.is_str("a") || name.is_str("aa"));
            })
        };
        assert_eq!(remove(r#"{"a":1}"#), "{}");
        assert_eq!(remove(r#"{"a":1,"aa":2}"#), "{}");
        assert_eq!(remove(r#"{"x":0,"a":1,"aa":2}"#), r#"{"x":0}"#);
        assert_eq!(remove(r#"{"a":1,"x":0,"aa":2}"#), r#"{"x":0}"#);
        assert_eq!(remove(r#"{"a":1, "b":2}"#), r#"{"b":2}"#);
        assert_eq!(remove(r#"{"b":2, "a":1}"#), r#"{"b":2}"#);
        assert_eq!(remove(r#"{"x":0,"a":1,"b":2}"#), r#"{"x":0,"b":2}"#);
        assert_eq!(remove(r#"{"b":2}"#), r#"{"b":2}"#);
    }

    #[test]
    fn a_message_is_edited_where_the_paths_lead() {
        let list: [(&[&str], &str); 3] = [
            (&["params", "b"], "22"),
            (&["params", "requestId"], "1"),
            (&["id"], "1"),
        ];
        let message = br#"{"params":{"a":1,"b":2},"id":"s"}"#;
        let edited = replaced(message, &list).unwrap();
        assert_eq!(edited, br#"{"params":{"a":1,"b":22},"id":1}"#);
    }
}

#[cfg(test)]
mod canonical_tests {
    use super::*;
    use crate::json::Document;

    fn of(text: &[u8]) -> String {
        canonical(Document::parse(text).unwrap().root())
    }

    #[test]
    fn texts_that_mean_the_same_have_one_form() {
        let form = r#"{"":null,"a":[1,2e1,-5e-1,true],"b":{"c":"é\n\"/"}}"#;
        for text in [
            form,
            r#" { "b" : {"c":"\u00e9\u000a\u0022\/"}, "a":[1.0, 20, -0.5, true], "":null } "#,
            r#"{"a":7,"":1,"b":{"c":"é\n\"/"},"\u0061":[10e-1,2E1,-50e-2,true],"":null}"#,
        ] {
            assert_eq!(of(text.as_bytes()), form, "{text}");
        }
    }
}
