//! What stands for placeholders of redacted values: `‹secret:1›`.

use mcpreel_redact::gaps;
use mcpreel_redact::token::{OPEN, Piece, Pieces};
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    supplied: HashMap<Box<str>, Box<str>>,
    learned: HashMap<Box<str>, Box<str>>,
}

impl Secrets {
    pub(super) fn supply(&mut self, name: Box<str>, value: Box<str>) {
        self.supplied.insert(name, value);
    }

    /// A live text stands where the recording has one with placeholders in it.
    pub(super) fn learn(&mut self, recorded: &str, live: &str) {
        if !recorded.contains(OPEN) {
            return;
        }
        for (name, value) in gaps::values(recorded, live).unwrap_or_default() {
            if self.learned.len() < super::MOST || self.learned.contains_key(name) {
                self.learned.insert(name.into(), value.into());
            }
        }
    }

    /// The text with all placeholders replaced, or the names of those that are not known.
    pub(super) fn fill<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Vec<Box<str>>> {
        if !text.contains(OPEN) {
            return Ok(Cow::Borrowed(text));
        }
        let (mut filled, mut missing) = (String::new(), Vec::new());
        for piece in Pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder { name, .. } => match self.value(name) {
                    Some(value) => filled.push_str(value),
                    None => missing.push(name.into()),
                },
            }
        }
        if missing.is_empty() {
            Ok(Cow::Owned(filled))
        } else {
            Err(missing)
        }
    }

    /// The text with those placeholders replaced that are known.
    pub(super) fn fill_known(&self, text: &str) -> String {
        Pieces(text)
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Placeholder { name, whole } => self.value(name).unwrap_or(whole),
            })
            .collect()
    }

    fn value(&self, name: &str) -> Option<&str> {
        let value = self.supplied.get(name).or_else(|| self.learned.get(name));
        value.map(|value| &**value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_filled_or_named() {
        let mut secrets = Secrets::default();
        secrets.supply("secret:1".into(), "hunter2".into());
        assert_eq!(
            secrets.fill("Bearer ‹secret:1›!").unwrap(),
            "Bearer hunter2!"
        );
        assert_eq!(
            secrets.fill("‹no placeholder› ‹").unwrap(),
            "‹no placeholder› ‹"
        );
        let missing = secrets.fill("‹secret:1›‹email:2›‹secret:3›").unwrap_err();
        assert_eq!(missing, ["email:2".into(), "secret:3".into()]);
        assert_eq!(
            secrets.fill_known("‹secret:1›‹email:2›"),
            "hunter2‹email:2›"
        );
    }

    #[test]
    fn the_live_text_in_its_place_tells_what_it_stands_for() {
        let mut secrets = Secrets::default();
        secrets.learn("token=‹secret:7›;", "token=abc;");
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "abc");
        // Once of several nothing was learned, and what they stand for was a difference.
        secrets.learn("of ‹email:1› and ‹email:2›.", "of a@b and c@d.");
        assert_eq!(secrets.fill("‹email:2›‹email:1›").unwrap(), "c@da@b");
        secrets.learn("x‹secret:8›", "token");
        assert!(secrets.fill("‹secret:8›").is_err());
        secrets.supply("secret:7".into(), "mine".into());
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "mine");
    }
}
