//! What of an object with a secret name is none.

use mcpreel_wire::json::Value;

/// Names in what is secret as a whole of what is none.
const BESIDE: [&str; 22] = [
    "type",
    "kind",
    "name",
    "title",
    "description",
    "scope",
    "scopes",
    "id",
    "url",
    "uri",
    "format",
    "alg",
    "algorithm",
    "username",
    "user",
    "login",
    "host",
    "hostname",
    "region",
    "expires",
    "expiresAt",
    "tokenType",
];

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// Whether an object describes values instead of being one.
pub(super) fn is_schema(object: Value<'_>) -> bool {
    let words = [
        "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "$schema",
    ];
    let is_typed = object.get("type").is_some_and(|kind| {
        let mut kinds = kind.elements().chain(std::iter::once(kind));
        kinds.any(|kind| TYPES.iter().any(|word| kind.is_str(word)))
    });
    is_typed || words.iter().any(|word| object.get(word).is_some())
}

/// Whether a member of what is secret as a whole says something else.
pub(super) fn is_beside(name: &[u8]) -> bool {
    BESIDE
        .iter()
        .any(|beside| beside.as_bytes().eq_ignore_ascii_case(name))
}
