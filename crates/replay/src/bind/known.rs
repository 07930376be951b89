//! What the server chose, in the recording and now.

use super::{MOST, handle};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Path, Value, canonical};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Which of the values that a server chooses by the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// Where a list goes on: its scope is the method of the list.
    Cursor,
    Task,
    Elicitation,
    /// What progress of a server's request is told by; a JSON text.
    Token,
    /// What the rule at this place binds; a JSON text.
    Rule(usize),
}

impl Slot {
    /// What is missing where a live answer does not say it.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Cursor => "needs the page before it",
            Self::Task => "needs the task that it is about",
            Self::Elicitation => "needs the elicitation that it is about",
            Self::Token => "needs the request that it tells progress of",
            Self::Rule(_) => "needs what the answer that a rule binds it to does not say now",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Chosen {
    pub slot: Slot,
    pub scope: Box<str>,
    pub value: Box<str>,
}

/// A handle that was sent in place of the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub recorded: Box<str>,
    /// What was sent instead, the latest.
    pub live: Box<str>,
    /// The request whose answer it was found in.
    pub seq: Seq,
    /// Where in the answer.
    pub from: Path,
    /// How often it was sent.
    pub uses: u64,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    /// The live value, or why there is none.
    chosen: Bounded<Chosen, Result<Box<str>, Box<str>>>,
    handles: Bounded<Box<str>, Bound>,
    /// What those and the values of rules are in the messages that are compared.
    pub pairs: Pairs,
    /// Handles that came with answers that were never asked for: with which.
    orphans: HashMap<Box<str>, Box<str>>,
    pub forgotten: u64,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.chosen.map.is_empty()
            && self.handles.map.is_empty()
            && self.pairs.is_empty()
            && self.orphans.is_empty()
    }

    pub(super) fn bind(&mut self, chosen: Chosen, live: Result<Box<str>, Box<str>>) {
        self.forgotten += u64::from(self.chosen.insert(chosen, live).is_some());
    }

    /// The live value, or what is missing; `None` where nothing is known: it is sent as it is.
    pub(super) fn chosen(&self, chosen: &Chosen) -> Option<Result<&str, &str>> {
        let live = self.chosen.map.get(chosen)?;
        Some(live.as_deref().map_err(|missing| &**missing))
    }

    pub(super) fn bind_handle(&mut self, bound: Bound) {
        self.orphans.remove(&bound.recorded);
        self.pairs.everywhere(&bound.recorded, &bound.live);
        if let Some(known) = self.handles.map.get_mut(&bound.recorded) {
            known.live = bound.live;
            return;
        }
        let recorded = bound.recorded.clone();
        self.forgotten += u64::from(self.handles.insert(recorded, bound).is_some());
    }

    /// What is to be sent in place of a recorded handle.
    pub(super) fn handle(&self, recorded: &str) -> Option<&str> {
        let bound = self.handles.map.get(recorded)?;
        Some(&bound.live)
    }

    /// Such a handle is sent.
    pub(super) fn use_handle(&mut self, recorded: &str) {
        if let Some(bound) = self.handles.map.get_mut(recorded) {
            bound.uses += 1;
        }
    }

    /// A recorded text that will not come has this in it; `why` says what it would have come with.
    pub(super) fn lose(&mut self, text: &str, why: &str, is_known: impl Fn(&str) -> bool) {
        for part in handle::candidates(text) {
            let new = !is_known(part) && !self.handles.map.contains_key(part);
            if new && self.orphans.len() < MOST {
                self.orphans.insert(part.into(), why.into());
            }
        }
    }

    /// What is missing for a text that is such a handle.
    pub(super) fn orphan(&self, text: &str) -> Option<&str> {
        self.orphans.get(text).map(AsRef::as_ref)
    }

    /// What has come all the same, with another answer.
    pub(super) fn found_again(&mut self, text: &str) {
        if !self.orphans.is_empty() {
            for part in handle::candidates(text) {
                self.orphans.remove(part);
            }
        }
    }

    pub(super) fn bound(&self) -> Vec<Bound> {
        let order = self.handles.order.iter();
        let all = order.filter_map(|recorded| self.handles.map.get(recorded));
        all.filter(|bound| bound.uses > 0).cloned().collect()
    }
}

/// A map of [`MOST`] entries, of which the oldest go first.
#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    pub map: HashMap<K, V>,
    pub order: VecDeque<K>,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self {
            map: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V> Bounded<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if self.map.insert(key.clone(), value).is_some() {
            return None;
        }
        self.order.push_back(key);
        if self.order.len() <= MOST {
            return None;
        }
        let oldest = self.order.pop_front()?;
        self.map.remove_entry(&oldest)
    }
}

/// Which values of the recording are which ones now, in messages that are compared.
///
/// * Texts that are no chance ([`handle::is_telling`]) are one value wherever they stand, as a whole
///   or as a word of a longer text.
/// * Others, a `7` or an `ok` that a rule binds, mean something else elsewhere: they are one value
///   at the places of the rule, and where a member of that name has nothing but them.
/// * A value that becomes two, and two that become one, are no pair. What was paired first stays,
///   so that the other shows as a difference.
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
    use super::*;
    use mcpreel_wire::json::Document;

    fn task(value: &str) -> Chosen {
        Chosen {
            slot: Slot::Task,
            scope: "".into(),
            value: value.into(),
        }
    }

    #[test]
    fn the_oldest_values_are_forgotten_and_counted() {
        let mut known = Known::default();
        for n in 0..MOST + 3 {
            known.bind(task(&n.to_string()), Ok("live".into()));
        }
        assert_eq!(known.forgotten, 3);
        assert_eq!(known.chosen(&task("2")), None);
        assert_eq!(known.chosen(&task("3")), Some(Ok("live")));
        known.bind(task("3"), Err("needs the task".into()));
        assert_eq!(known.chosen(&task("3")), Some(Err("needs the task")));
        assert_eq!(known.forgotten, 3);
    }

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
