//! Request ids and progress tokens: equal when JSON type and exact value are equal.

use super::json::{Document, Kind, Number, Value};
use std::hash::{Hash, Hasher};

/// A JSON-RPC id (or a progress token, which follows the same rules), with its JSON type.
///
/// Numbers compare by exact decimal value, never through floating point: `1` equals `1.0`, while
/// 2^53 and 2^53 + 1 differ, and `1` and `"1"` differ. The text as on the wire is kept.
#[derive(Clone, Debug)]
pub struct RequestId {
    json: Box<str>,
    key: IdKey,
}

/// What two ids are compared by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IdKey {
    /// Sign, digits and exponent in a normal form, for example `-12e3`.
    Number(Box<str>),
    /// The string's value with its escapes resolved.
    String(Box<str>),
    /// `null`: a request with it has no exchange.
    Null,
    /// Any other JSON value, by its text: the protocol forbids it.
    Other(Box<str>),
}

impl RequestId {
    /// An id with the JSON text `json` that compares by `key`.
    #[must_use]
    pub fn new(json: impl Into<Box<str>>, key: IdKey) -> Self {
        Self {
            json: json.into(),
            key,
        }
    }

    /// The id that `value` is.
    #[must_use]
    pub fn from_value(value: Value<'_>) -> Self {
        let text = value.raw_text();
        let key = match value.kind() {
            Kind::Null => IdKey::Null,
            Kind::Number => IdKey::Number(number_key(&text)),
            Kind::String => IdKey::String(value.as_str().unwrap_or_default().into()),
            Kind::Bool | Kind::Array | Kind::Object => IdKey::Other(text.clone().into()),
        };
        Self::new(text, key)
    }

    /// The id whose JSON text is `json`, for example one that was stored; `None` if that is no
    /// JSON.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        let document = Document::parse(json.as_bytes()).ok()?;
        Some(Self::from_value(document.root()))
    }

    /// Whether the protocol allows it: a string, or a number without a fractional part. `null` is
    /// not allowed either.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        match &self.key {
            IdKey::String(_) => true,
            // In the normal form only a fraction has an exponent below zero.
            IdKey::Number(form) => !form.contains("e-") && !form.contains("E-"),
            IdKey::Null | IdKey::Other(_) => false,
        }
    }

    /// The JSON text as on the wire: `7`, `"7"`, `1.0`.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// What this id is compared by.
    #[must_use]
    pub fn key(&self) -> &IdKey {
        &self.key
    }

    /// Whether this is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.key == IdKey::Null
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

/// The normal form of a number's text; of most ids, which are small integers, the text itself.
fn number_key(text: &str) -> Box<str> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.ends_with('0');
    if plain {
        return text.into();
    }
    match Number::parse(text) {
        Some(number) => number.to_string().into(),
        None => text.into(),
    }
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
    fn the_text_stays_as_on_the_wire() {
        assert_eq!(id("1.0").json(), "1.0");
        assert_eq!(id(r#""\u0061""#).json(), r#""\u0061""#);
        assert_eq!(*id("-12000").key(), IdKey::Number("-12e3".into()));
    }

    #[test]
    fn strings_and_whole_numbers_are_allowed() {
        for json in ["1", "1000.0", "-5", "\"\"", "\"x\""] {
            assert!(id(json).is_allowed(), "{json}");
        }
        for json in ["1.5", "null", "true", "[]", "{}"] {
            assert!(!id(json).is_allowed(), "{json}");
        }
    }
}
