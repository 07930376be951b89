//! Redacted values: placeholders in a recording, and what stands for them in a live session.

use mcpreel_redact::token::{self, spellings};
use mcpreel_wire::json::quoted;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Placeholders that are remembered: names of more could not be told.
const MOST: usize = 1000;

/// The values of redacted placeholders, by name: `secret:1`.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: BTreeMap<String, String>,
}

impl Secrets {
    /// Bytes of the longest placeholder: a name, and six for each of its two signs.
    pub const LONGEST: usize = token::LONGEST + 12;

    /// `value` stands for the placeholder `name`.
    pub fn bind(&mut self, name: String, value: String) {
        self.values.insert(name, value);
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Adds the names of the placeholders in `bytes` to `found`.
    pub fn find(bytes: &[u8], found: &mut BTreeSet<String>) {
        token::names_in(bytes, MOST, found);
    }

    /// Those of `names` that have no value.
    pub fn lacks(&self, names: &BTreeSet<String>) -> Vec<String> {
        let unbound = names.iter().filter(|name| !self.values.contains_key(*name));
        unbound.cloned().collect()
    }

    /// JSON text with the values in place of their placeholders.
    fn fill<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut filled = Cow::Borrowed(text);
        for (name, value) in &self.values {
            let value = escaped(value);
            for (open, close) in spellings() {
                let placeholder = format!("{open}{name}{close}");
                if filled.contains(&placeholder) {
                    filled = Cow::Owned(filled.replace(&placeholder, &value));
                }
            }
        }
        filled
    }

    /// The same in bytes that may be no UTF-8, which then stay as they are.
    pub fn fill_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.values.is_empty() {
            return bytes;
        }
        match String::from_utf8(bytes) {
            Ok(text) => match self.fill(&text) {
                Cow::Borrowed(_) => text.into_bytes(),
                Cow::Owned(filled) => filled.into_bytes(),
            },
            Err(error) => error.into_bytes(),
        }
    }
}

/// `value` as it stands within a JSON string.
fn escaped(value: &str) -> String {
    let json = quoted(value);
    json[1..json.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        Secrets::find(text.as_bytes(), &mut found);
        found.into_iter().collect()
    }

    #[test]
    fn placeholders_are_found_as_they_are_and_escaped() {
        let text = r#"{"a":"‹secret:1› and ‹api-key:22›","b":"\u2039secret:3\u203A"}"#;
        assert_eq!(found(text), ["api-key:22", "secret:1", "secret:3"]);
        for none in [
            "‹secret›",
            "‹secret:x›",
            "‹:1›",
            "‹secret:1",
            "< secret:1 >",
        ] {
            assert_eq!(found(none), Vec::<String>::new(), "{none}");
        }
    }

    #[test]
    fn a_value_is_filled_in_as_json() {
        let mut secrets = Secrets::default();
        secrets.bind("secret:1".into(), "a\"b\n".into());
        let filled =
            secrets.fill(r#"{"k":"<‹secret:1›>","l":"\u2039secret:1\u203a","m":"‹secret:2›"}"#);
        assert_eq!(filled, r#"{"k":"<a\"b\n>","l":"a\"b\n","m":"‹secret:2›"}"#);
        let names = BTreeSet::from(["secret:1".to_owned(), "secret:2".to_owned()]);
        assert_eq!(secrets.lacks(&names), ["secret:2"]);
        assert_eq!(secrets.fill_bytes(b"\xff".to_vec()), b"\xff");
    }
}
