//! What a request is told apart by: its params in one text, whatever it is called and numbered.

use super::compare::shape;
use crate::protocol::json::{Kind, Value, canonical};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The canonical text of `params` without its `_meta`; `{}` where there are none.
#[must_use]
pub fn exact(params: Option<Value<'_>>) -> String {
    let Some(params) = params else {
        return "{}".to_owned();
    };
    if params.kind() != Kind::Object {
        return canonical(params);
    }
    let members = params.members().filter(|(name, _)| !name.is_str("_meta"));
    let mut members: Vec<_> = members
        .map(|(name, value)| (canonical(name), value))
        .collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    let counting = members.chunk_by(|(a, _), (b, _)| a == b);
    let counting = counting.filter_map(<[_]>::last);
    let texts: Vec<_> = counting
        .map(|(name, value)| format!("{name}:{}", canonical(*value)))
        .collect();
    format!("{{{}}}", texts.join(","))
}

/// The same text with what no two runs share (ids, moments, durations, ports, temporary files)
/// reduced to its shape.
#[must_use]
pub fn normalised(exact: &str) -> Cow<'_, str> {
    shape(exact)
}

/// The same number for the same method and text.
#[must_use]
pub fn digest(method: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (method, text).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::Document;

    fn of(params: &str) -> String {
        exact(Some(Document::parse(params.as_bytes()).unwrap().root()))
    }

    #[test]
    fn spelling_order_and_meta_make_no_difference() {
        let one =
            of(r#"{"name":"a","arguments":{"x":1.0,"y":"\u00e9"},"_meta":{"progressToken":1}}"#);
        assert_eq!(one, of(r#" { "arguments" : {"y":"é","x":1}, "name":"a" }"#));
        assert_eq!(one, r#"{"arguments":{"x":1,"y":"é"},"name":"a"}"#);
        assert_ne!(one, of(r#"{"name":"a","arguments":{"x":2,"y":"é"}}"#));
        // Only at the top: further in it is anybody's own.
        assert!(of(r#"{"arguments":{"_meta":1}}"#).contains("_meta"));
    }

    #[test]
    fn no_params_are_empty_params() {
        assert_eq!(exact(None), of("{}"));
        assert_eq!(exact(None), of(r#"{"_meta":{}}"#));
        assert_eq!(of("[1]"), "[1]");
    }

    #[test]
    fn what_no_two_runs_share_is_left_out_of_the_normalised_text() {
        let one = of(r#"{"since":"2026-11-20T15:17:03Z","q":"rust"}"#);
        let other = of(r#"{"since":"2026-11-21T09:00:00Z","q":"rust"}"#);
        assert_ne!(one, other);
        assert_eq!(normalised(&one), normalised(&other));
        assert_ne!(normalised(&one), normalised(&other.replace("rust", "go")));
    }
}
