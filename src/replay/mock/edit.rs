//! Values replaced in the bytes of a message; everything else stays as it was, to the byte.

use crate::protocol::json::{Document, Value};
use std::ops::Range;

/// What is to be put where.
#[derive(Debug)]
pub enum Edit<'e> {
    /// In place of the value that this path of members leads to, if there is one.
    Replace(&'e [&'e str], &'e str),
    /// In place of the value, if there is one and it is a string.
    ReplaceString(&'e [&'e str], &'e str),
    /// As the first member of the object that the path leads to.
    Insert(&'e [&'e str], &'e str, &'e str),
    /// The same, within a new object of this name.
    InsertObject(&'e [&'e str], &'e str, &'e str, &'e str),
}

/// `message` with `edits`, in JSON text; `None` where it cannot be read so far.
#[must_use]
pub fn edit(message: &[u8], edits: &[Edit<'_>]) -> Option<Vec<u8>> {
    // What nests too deeply is read up to there; ids usually stand before it.
    let whole = Document::parse(message).ok();
    let document = match whole {
        Some(document) => document,
        None => Document::read_prefix(message, usize::MAX).0?,
    };
    let root = document.root();
    root.is_object().then_some(())?;
    let mut places: Vec<_> = edits.iter().filter_map(|edit| edit.place(root)).collect();
    places.sort_by_key(|(range, _)| range.start);
    let mut out = Vec::with_capacity(message.len() + 64);
    let mut at = 0;
    for (range, text) in places {
        out.extend_from_slice(message.get(at..range.start)?);
        out.extend_from_slice(text.as_bytes());
        at = range.end;
    }
    out.extend_from_slice(&message[at..]);
    Some(out)
}

/// The value that a path of members leads to.
#[must_use]
pub fn follow<'d>(root: Value<'d>, path: &[&str]) -> Option<Value<'d>> {
    path.iter().try_fold(root, |value, name| value.get(name))
}

impl Edit<'_> {
    fn place(&self, root: Value<'_>) -> Option<(Range<usize>, String)> {
        match self {
            Self::Replace(path, text) => Some((follow(root, path)?.span(), (*text).to_owned())),
            Self::ReplaceString(path, text) => {
                let value = follow(root, path)?;
                value.string_bytes()?;
                Some((value.span(), (*text).to_owned()))
            }
            Self::Insert(path, name, text) => first(root, path, &format!("\"{name}\":{text}")),
            Self::InsertObject(path, outer, name, text) => {
                first(root, path, &format!("\"{outer}\":{{\"{name}\":{text}}}"))
            }
        }
    }
}

/// Where the first member of the object goes that `path` leads to.
fn first(root: Value<'_>, path: &[&str], member: &str) -> Option<(Range<usize>, String)> {
    let object = follow(root, path).filter(Value::is_object)?;
    let at = object.span().start + 1;
    let is_empty = object.members().next().is_none();
    let comma = if is_empty { "" } else { "," };
    Some((at..at, format!("{member}{comma}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(message: &str, edits: &[Edit<'_>]) -> Option<String> {
        edit(message.as_bytes(), edits).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn only_the_value_is_touched() {
        let message = r#"{ "result":{"n":1.00,"é":"\u00e9","id":7} , "id" : 7,"jsonrpc":"2.0"}"#;
        assert_eq!(
            edited(message, &[Edit::Replace(&["id"], "\"x\"")]).unwrap(),
            message.replace("\"id\" : 7", "\"id\" : \"x\"")
        );
        assert_eq!(edited(message, &[]).unwrap(), message);
        let none = [Edit::Replace(&["params", "requestId"], "1")];
        assert_eq!(edited(message, &none).unwrap(), message);
    }

    #[test]
    fn edits_are_made_in_the_order_of_the_text() {
        let edits = [
            Edit::Replace(&["params", "b"], "22"),
            Edit::ReplaceString(&["id"], "1"),
            Edit::Insert(&["params"], "new", "true"),
            Edit::Insert(&["empty"], "new", "true"),
        ];
        assert_eq!(
            edited(r#"{"params":{"a":1,"b":2},"id":"s","empty":{}}"#, &edits).unwrap(),
            r#"{"params":{"new":true,"a":1,"b":22},"id":1,"empty":{"new":true}}"#
        );
        assert_eq!(edited(r#"{"id":7}"#, &edits).unwrap(), r#"{"id":7}"#);
    }

    #[test]
    fn what_nests_too_deeply_is_edited_as_far_as_it_is_read() {
        let deep = format!(
            r#"{{"id":7,"result":{}{}}}"#,
            "[".repeat(900),
            "]".repeat(900)
        );
        let expected = deep.replace("\"id\":7", "\"id\":8");
        assert_eq!(
            edited(&deep, &[Edit::Replace(&["id"], "8")]).unwrap(),
            expected
        );
        assert_eq!(edited("no JSON", &[]), None);
        assert_eq!(edited("[1]", &[]), None);
    }
}
