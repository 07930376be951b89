//! Request ids and progress tokens: equal when JSON type and exact value are equal.

use super::brief;
use super::json::{Document, Kind, Number, Value, quoted};
use compact_str::CompactString;
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

/// A JSON-RPC id (or a progress token, which follows the same rules), with its JSON type.
///
/// Numbers compare by exact decimal value, never through floating point: `1` equals `1.0`, while
/// 2^53 and 2^53 + 1 differ, and `1` and `"1"` differ. The text as on the wire is kept, of a long
/// one its [brief form](brief), which is what it is compared by as well. Cheap to copy.
#[derive(Clone, Debug)]
pub struct RequestId {
    json: CompactString,
    kind: IdKind,
    /// What it is compared by, where that is not its text.
    form: Option<CompactString>,
}

/// The JSON type of an id, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A number without a fractional part.
    Integer,
    Fraction,
    String,
    /// `null`: a request with it has no exchange.
    Null,
    /// Any other JSON value: the protocol forbids it.
    Other,
}

#[derive(Clone, Copy)]
enum From {
    Wire,
    /// From a recording, or from a person.
    Kept,
}

impl RequestId {
    /// The id that `value` is, off the wire.
    pub fn from_value(value: Value<'_>) -> Self {
        Self::read(value, From::Wire)
    }

    /// The id whose JSON text is `json`, one that was stored or that a person asks for; `None` if
    /// that is no JSON.
    pub fn from_json(json: &str) -> Option<Self> {
        if is_counted(json) {
            return Some(Self::new(json, IdKind::Integer, json));
        }
        let document = Document::parse(json.as_bytes()).ok()?;
        Some(Self::read(document.root(), From::Kept))
    }

    pub fn string(text: &str) -> Self {
        let text = brief::asked(text);
        Self::new(&quoted(&text), IdKind::String, &text)
    }

    /// What was stored as an id and is no JSON.
    pub fn damaged(text: &str) -> Self {
        Self::new(text, IdKind::Other, text)
    }

    fn new(json: &str, kind: IdKind, form: &str) -> Self {
        let mut id = Self {
            json: json.into(),
            kind,
            form: None,
        };
        if id.form() != form {
            id.form = Some(form.into());
        }
        id
    }

    fn read(value: Value<'_>, from: From) -> Self {
        let raw = value.raw_text();
        let (kind, form) = match value.kind() {
            // Nearly all ids are one of these two.
            Kind::Number if is_plain(&raw) => (IdKind::Integer, Cow::Borrowed(&*raw)),
            Kind::String => (IdKind::String, value.as_str().unwrap_or_default()),
            Kind::Number => match Number::parse(&raw) {
                Some(exact) if exact.is_integer() => (IdKind::Integer, exact.to_string().into()),
                Some(exact) => (IdKind::Fraction, exact.to_string().into()),
                None => (IdKind::Fraction, Cow::Borrowed(&*raw)),
            },
            Kind::Null => (IdKind::Null, Cow::Borrowed(&*raw)),
            Kind::Bool | Kind::Array | Kind::Object => (IdKind::Other, Cow::Borrowed(&*raw)),
        };
        match from {
            From::Wire if raw.len() <= form.len() + 2 => {
                // Nothing but quotes stands around it.
                match brief::text(&form) {
                    Cow::Borrowed(form) => Self::new(&raw, kind, form),
                    Cow::Owned(brief) => Self::new(&quoted(&brief), kind, &brief),
                }
            }
            From::Wire => Self::new(&brief::json(value), kind, &brief::text(&form)),
            From::Kept if raw.len() > 2 * brief::LONGEST => {
                Self::new(&brief::json(value), kind, &brief::asked(&form))
            }
            From::Kept => Self::new(&raw, kind, &brief::asked(&form)),
        }
    }

    /// Whether the protocol allows it: a string, or a number without a fractional part. `null` is
    /// not allowed either.
    pub fn is_allowed(&self) -> bool {
        matches!(self.kind, IdKind::String | IdKind::Integer)
    }

    /// The JSON text as on the wire: `7`, `"7"`, `1.0`.
    pub fn json(&self) -> &str {
        &self.json
    }

    pub fn kind(&self) -> IdKind {
        self.kind
    }

    /// What it is compared by besides its JSON type: a string with its escapes resolved, a number in
    /// a normal form, for example `-12e3`.
    pub fn form(&self) -> &str {
        match (&self.form, self.kind) {
            (Some(form), _) => form,
            (None, IdKind::String) => {
                let inner = self.json.len().saturating_sub(1);
                self.json.get(1..inner).unwrap_or_default()
            }
            (None, _) => &self.json,
        }
    }

    pub fn is_null(&self) -> bool {
        self.kind == IdKind::Null
    }

    pub fn bytes(&self) -> usize {
        self.json.len() + self.form.as_deref().map_or(0, str::len)
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.form() == other.form()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
        self.form().hash(state);
    }
}

/// Whether a text is a number as nearly all clients count, which needs no parser.
fn is_counted(text: &str) -> bool {
    (1..=16).contains(&text.len()) && !text.starts_with('0') && is_plain(text)
}

/// Whether the text of a number is its normal form: a small integer.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && !text.ends_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(json: &str) -> RequestId {
        RequestId::from_json(json).unwrap_or_else(|| panic!("{json} is JSON"))
    }

    #[test]
    fn ids_are_equal_by_type_and_exact_value() {
        for (a, b) in [
            ("1", "1.0"),
            ("10", "1e1"),
            ("0", "-0"),
            (r#""\u0061""#, r#""a""#),
        ] {
            assert_eq!(id(a), id(b), "{a} {b}");
        }
        for (a, b) in [
            ("1", "\"1\""),
            ("9007199254740992", "9007199254740993"),
            ("null", "\"null\""),
            ("true", "\"true\""),
            ("1", "-1"),
        ] {
            assert_ne!(id(a), id(b), "{a} {b}");
        }
    }

    #[test]
    fn what_is_read_without_a_parser_is_what_the_parser_reads() {
        for json in [
            "1",
            "42",
            "100",
            "0",
            "9007199254740993",
            "12345678901234567",
            "-7",
            "1.0",
        ] {
            let document = Document::parse(json.as_bytes()).unwrap();
            let parsed = RequestId::read(document.root(), From::Kept);
            assert_eq!((id(json), id(json).json()), (parsed.clone(), parsed.json()));
            assert_eq!(id(json).form(), parsed.form());
        }
        for json in ["", "007", "1a", "١"] {
            assert!(RequestId::from_json(json).is_none(), "{json}");
        }
    }
}
