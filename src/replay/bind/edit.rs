//! Changes to a text by spans of its bytes: all else stays as it is.

use crate::protocol::json::{Value, quoted};
use std::borrow::Cow;
use std::ops::Range;

/// What is to be put in place of which bytes.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts the JSON text `json` in place of `value`, unless it is that already.
    pub fn replace(&mut self, value: Value<'_>, json: &str) {
        if value.raw() != json.as_bytes() {
            self.list.push((value.span(), json.to_owned()));
        }
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
    #[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::Document;

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
    fn several_changes_do_not_disturb_each_other() {
        let changed = edited(r#"{"a":[1,2],"b":3}"#, |edits, root| {
            edits.replace(root.get("b").unwrap(), "30");
            edits.insert(root, "n", "0");
            let list = root.get("a").unwrap();
            edits.replace(list.index(1).unwrap(), "20");
            edits.replace(list.index(0).unwrap(), "10");
        });
        assert_eq!(changed, r#"{"n":0,"a":[10,20],"b":30}"#);
    }

    #[test]
    fn of_changes_that_overlap_the_outer_one_is_made() {
        let changed = edited(r#"{"a":[1,2]}"#, |edits, root| {
            let list = root.get("a").unwrap();
            edits.replace(list.index(0).unwrap(), "10");
            edits.replace(list, "null");
        });
        assert_eq!(changed, r#"{"a":null}"#);
    }
}
