//! Members of an object: what their names say, without what is secret in those.

use super::{Under, Walk};
use crate::beside::is_beside;
use crate::code;
use crate::more;
use crate::names::Class;
use crate::pairs;
use crate::token;
use mcpreel_wire::json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Members that say what a value beside them is.
const NAMES: [&str; 5] = ["name", "key", "header", "variable", "field"];

impl Walk<'_, '_> {
    /// The name of a member, and whether something in it is secret: without that, and without what
    /// stands in place of it already, so that it says the same once it is replaced.
    pub(super) fn key<'v>(&mut self, key: Value<'v>, under: Under) -> (Cow<'v, [u8]>, bool) {
        let mark = self.found.hits.len();
        let name = key.str_bytes();
        let is_held = matches!(under, Under::Within(_)) && more::is_value(&name);
        self.string(key, if is_held { under } else { Under::Nothing });
        let hits = &self.found.hits[mark..];
        if hits.is_empty() {
            return (without(name, Vec::new()), false);
        }
        let start = key.span().start + 1;
        let spans = hits
            .iter()
            .map(|hit| hit.span.start - start..hit.span.end - start);
        let inner = Cow::Borrowed(key.string_bytes().unwrap_or_default());
        (without(inner, spans.collect()), true)
    }

    /// What is known of a member with this name.
    pub(super) fn below(
        &self,
        name: &[u8],
        value: Value<'_>,
        under: Under,
        told: Option<Class>,
    ) -> Under {
        let is_file = || {
            value
                .string_bytes()
                .is_some_and(|said| code::is_file(name, said))
        };
        let class = self.finder.policy.class(name).filter(|_| !is_file());
        match (under, class, told) {
            (Under::Ruled, ..) => Under::Ruled,
            (_, Some(class), _) => Under::Named(class),
            (_, None, Some(class)) if name.eq_ignore_ascii_case(b"value") => Under::Named(class),
            (Under::Within(class), ..) if !is_beside(name) => Under::Within(class),
            _ => Under::Nothing,
        }
    }

    /// What `{"name":"TOKEN","value":…}` says of its value.
    pub(super) fn told(&self, object: Value<'_>) -> Option<Class> {
        let is_one = |key: &Value<'_>, word: &str| {
            let key = key.string_bytes().unwrap_or_default();
            key.eq_ignore_ascii_case(word.as_bytes())
        };
        object.members().find(|(key, _)| is_one(key, "value"))?;
        let is_name = |key: &Value<'_>| NAMES.iter().any(|name| is_one(key, name));
        let mut names = object.members().filter(|(key, _)| is_name(key));
        names.find_map(|(_, name)| self.finder.policy.class(&name.str_bytes()))
    }
}

/// Whether a list is one of a user and a password.
pub(super) fn is_pair(array: Value<'_>) -> bool {
    let mut both = array.elements();
    let password = both.by_ref().nth(1).and_then(|second| second.as_str());
    both.next().is_none() && password.is_some_and(|said| pairs::is_made(&said))
}

/// Members beside a code that is given back for a token.
const GRANT: [&str; 6] = [
    "grant_type",
    "grantType",
    "redirect_uri",
    "redirectUri",
    "code_verifier",
    "codeVerifier",
];

/// Whether an object asks for a token.
pub(super) fn is_grant(object: Value<'_>) -> bool {
    GRANT.iter().any(|name| object.get(name).is_some())
}

/// A name without what stands at these places, and without placeholders.
fn without(name: Cow<'_, [u8]>, mut spans: Vec<Range<usize>>) -> Cow<'_, [u8]> {
    if token::may_be_in(&name) {
        spans.extend(token::places(&name));
    }
    if spans.is_empty() {
        return name;
    }
    spans.sort_by_key(|span| span.start);
    let (mut kept, mut at) = (Vec::new(), 0);
    for span in spans {
        kept.extend_from_slice(name.get(at..span.start).unwrap_or_default());
        at = at.max(span.end);
    }
    kept.extend_from_slice(name.get(at..).unwrap_or_default());
    Cow::Owned(kept)
}
