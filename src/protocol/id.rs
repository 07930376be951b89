//! Request ids and progress tokens: equal when JSON type and exact value are equal.

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
