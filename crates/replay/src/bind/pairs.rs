//! Which values of the recording are which ones now, in messages that are compared.
//!
//! * Texts that are no chance (`handle::is_telling`) are one value wherever they stand, as a whole or
//!   as a word of a longer text.
//! * Others, a `7` or an `ok` that a rule binds, mean something else elsewhere: they are one value
//!   at the places of the rule and where a member of that name has nothing but them.
//! * What was equal is equal and what was not is not: a value that becomes two, and two that become
//!   one, are no pair. What was paired first stays, so that the other shows as a difference.

use super::bounded::Bounded;
use super::handle;
use mcpreel_wire::json::{Kind, Value, canonical};
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Pairs {
    everywhere: OneToOne,
    /// JSON texts, by the rule that binds them.
    ruled: HashMap<usize, OneToOne>,
}

impl Pairs {
    pub(super) fn is_empty(&self) -> bool {
        self.everywhere.is_empty() && self.ruled.is_empty()
    }

    /// The server says `now` at the place of a rule where it said `then`. What is neither a text nor
    /// a number is no handle.
    pub(super) fn learn(&mut self, rule: usize, then: Value<'_>, now: Value<'_>) {
        let is_none = |value: Value<'_>| match value.kind() {
            Kind::String => value.is_str(""),
            Kind::Number => false,
            _ => true,
        };
        let is_other = then.kind() == Kind::String && now.kind() != Kind::String;
        if is_other || is_none(then) || is_none(now) {
            return;
        }
        let telling = then.as_str().zip(now.as_str());
        if !telling.is_some_and(|(then, now)| self.everywhere(&then, &now)) {
            let ruled = self.ruled.entry(rule).or_default();
            ruled.insert(&canonical(then), &now.raw_text());
        }
    }

    /// The server says `now` where it said `then`, if both are telling: whether they are.
    pub(super) fn everywhere(&mut self, then: &str, now: &str) -> bool {
        let are_telling = [then, now].into_iter().all(handle::is_telling);
        if are_telling {
            self.everywhere.insert(then, now);
        }
        are_telling
    }

    pub(super) fn said(&self, then: &str) -> Option<&str> {
        self.everywhere.now(then)
    }

    /// What the JSON text is now that stands at a place of the rule.
    pub(super) fn said_at(&self, rule: usize, then: &str) -> Option<&str> {
        self.ruled.get(&rule)?.now(then)
    }
}

/// Pairs of which no two have a side in common, as many as there may be of a kind.
#[derive(Debug, Default)]
struct OneToOne {
    now: Bounded<Box<str>, Box<str>>,
    then: HashMap<Box<str>, Box<str>>,
}

impl OneToOne {
    fn is_empty(&self) -> bool {
        self.then.is_empty()
    }

    fn insert(&mut self, then: &str, now: &str) {
        if self.now.map.contains_key(then) || self.then.contains_key(now) {
            return;
        }
        self.then.insert(now.into(), then.into());
        if let Some((_, forgotten)) = self.now.insert(then.into(), now.into()) {
            self.then.remove(&forgotten);
        }
    }

    fn now(&self, then: &str) -> Option<&str> {
        self.now.map.get(then).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::super::MOST;
    use super::*;
    use mcpreel_wire::json::Document;

    #[test]
    fn what_was_paired_first_stays_and_no_value_has_two_others() {
        let mut pairs = Pairs::default();
        for (then, now) in [
            ("first-1", "again-1"),
            ("first-1", "again-2"),
            ("first-2", "again-1"),
        ] {
            assert!(pairs.everywhere(then, now));
        }
        assert_eq!(pairs.said("first-1"), Some("again-1"));
        assert_eq!(pairs.said("first-2"), None);
    }

    #[test]
    fn what_is_no_telling_text_is_paired_at_its_rule_only() {
        let mut pairs = Pairs::default();
        assert!(!pairs.everywhere("7", "8"));
        assert!(!pairs.everywhere("first-1", "failed"));
        let json = [r#""7""#, r#""8""#].map(|json| Document::parse(json.as_bytes()).unwrap());
        pairs.learn(1, json[0].root(), json[1].root());
        assert_eq!((pairs.said("7"), pairs.said("first-1")), (None, None));
        assert_eq!(pairs.said_at(0, r#""7""#), None);
        assert_eq!(pairs.said_at(1, r#""7""#), Some(r#""8""#));
    }

    #[test]
    fn pairs_are_forgotten_on_both_sides() {
        let mut pairs = Pairs::default();
        for at in 0..=MOST {
            pairs.everywhere(&format!("then-{at:05}"), &format!("now-{at:05}"));
        }
        assert_eq!(pairs.everywhere.then.len(), MOST);
        assert_eq!(pairs.said("then-00000"), None);
        assert!(pairs.everywhere("then-x1", "now-00000"));
        assert_eq!(pairs.said("then-x1"), Some("now-00000"));
    }
}
