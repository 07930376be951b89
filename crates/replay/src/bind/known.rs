//! What the server chose, in the recording and now.

use super::handle;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Path, Value, canonical};
use std::collections::{HashMap, HashSet};

/// Values of a kind that are remembered.
pub const MOST: usize = 4096;

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

/// A recorded handle.
#[derive(Debug)]
enum Handle {
    /// What stands for it now, and the rule that says so, if one does.
    Found(Bound, Option<usize>),
    /// It came with an answer that was never asked for: what is missing.
    Lost(Box<str>),
}

/// [`MOST`] values of each kind; more are counted.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The live value, or why there is none.
    chosen: HashMap<Chosen, Result<Box<str>, Box<str>>>,
    handles: HashMap<Box<str>, Handle>,
    pub pairs: Pairs,
    pub forgotten: u64,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.handles.is_empty() && self.pairs.now.is_empty()
    }

    pub(super) fn bind(&mut self, chosen: Chosen, live: Result<Box<str>, Box<str>>) {
        if self.chosen.len() < MOST || self.chosen.contains_key(&chosen) {
            self.chosen.insert(chosen, live);
        } else {
            self.forgotten += 1;
        }
    }

    /// The live value, or what is missing; `None` where nothing is known: it is sent as it is.
    pub(super) fn chosen(&self, chosen: &Chosen) -> Option<Result<&str, &str>> {
        let live = self.chosen.get(chosen)?;
        Some(live.as_deref().map_err(|missing| &**missing))
    }

    pub(super) fn bind_handle(&mut self, bound: Bound, rule: Option<usize>) {
        self.pairs.everywhere(&bound.recorded, &bound.live);
        let is_full = self.handles.len() >= MOST;
        match self.handles.get_mut(&bound.recorded) {
            Some(Handle::Found(known, _)) => known.live = bound.live,
            None if is_full => self.forgotten += 1,
            _ => {
                let recorded = bound.recorded.clone();
                self.handles.insert(recorded, Handle::Found(bound, rule));
            }
        }
    }

    /// What is to be sent in place of a recorded handle, with the rule that says so; or what is
    /// missing. It counts as sent.
    pub(super) fn send(&mut self, recorded: &str) -> Option<Result<(&str, Option<usize>), &str>> {
        Some(match self.handles.get_mut(recorded)? {
            Handle::Found(bound, rule) => {
                bound.uses += 1;
                Ok((&bound.live, *rule))
            }
            Handle::Lost(missing) => Err(missing),
        })
    }

    /// A recorded text will not come; `why` says what its handles would have come with.
    pub(super) fn lose(&mut self, text: &str, why: &str, is_known: impl Fn(&str) -> bool) {
        for part in handle::candidates(text) {
            let is_new = !is_known(part) && !self.handles.contains_key(part);
            if is_new && self.handles.len() < MOST {
                self.handles.insert(part.into(), Handle::Lost(why.into()));
            }
        }
    }

    /// A recorded text has come all the same, with another answer.
    pub(super) fn found_again(&mut self, text: &str) {
        for part in handle::candidates(text) {
            if let Some(Handle::Lost(_)) = self.handles.get(part) {
                self.handles.remove(part);
            }
        }
    }

    /// The handles that were found and sent, in the order in which they were found.
    pub(super) fn bound(&self) -> Vec<Bound> {
        let found = self.handles.values().filter_map(|handle| match handle {
            Handle::Found(bound, None) if bound.uses > 0 => Some(bound.clone()),
            _ => None,
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| (one.seq, &one.recorded).cmp(&(other.seq, &other.recorded)));
        found
    }
}

/// Which values of the recording are which ones now, in messages that are compared.
///
/// * Texts that are no chance ([`handle::is_telling`]) are one value wherever they stand, as a whole
///   or as a word of a longer text.
/// * Others, a `7` or an `ok` that a rule binds, mean something else elsewhere: they are one value
///   at the places of the rule.
/// * A value that becomes two, and two that become one, are no pair. What was paired first stays,
///   so that the other shows as a difference.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// By the rule that binds the value, if it is no telling text; a JSON text then.
    now: HashMap<(Option<usize>, Box<str>), Box<str>>,
    taken: HashSet<(Option<usize>, Box<str>)>,
}

impl Pairs {
    fn insert(&mut self, rule: Option<usize>, then: &str, now: &str) {
        let (then, live) = ((rule, then.into()), (rule, now.into()));
        let is_free = !self.now.contains_key(&then) && !self.taken.contains(&live);
        if is_free && self.now.len() < MOST {
            self.taken.insert(live);
            self.now.insert(then, now.into());
        }
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
        if !is_other && !is_none(then) && !is_none(now) {
            self.insert(Some(rule), &canonical(then), &now.raw_text());
        }
    }

    /// The server says `now` where it said `then`, if both are telling.
    pub(super) fn everywhere(&mut self, then: &str, now: &str) {
        if [then, now].into_iter().all(handle::is_telling) {
            self.insert(None, then, now);
        }
    }

    /// What a text, or at a place of a rule a JSON text, is now.
    pub(super) fn said(&self, rule: Option<usize>, then: &str) -> Option<&str> {
        let now = self.now.get(&(rule, then.into()))?;
        Some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    #[test]
    fn what_was_paired_first_stays_and_no_value_has_two_others() {
        let mut pairs = Pairs::default();
        for (then, now) in [
            ("first-1", "again-1"),
            ("first-1", "again-2"),
            ("first-2", "again-1"),
            ("first-3", "failed"),
            ("7", "8"),
        ] {
            pairs.everywhere(then, now);
        }
        assert_eq!(pairs.said(None, "first-1"), Some("again-1"));
        for then in ["first-2", "first-3", "7"] {
            assert_eq!(pairs.said(None, then), None);
        }
        let json = [r#""7""#, r#""8""#].map(|json| Document::parse(json.as_bytes()).unwrap());
        pairs.learn(1, json[0].root(), json[1].root());
        assert_eq!(pairs.said(None, "7"), None);
        assert_eq!(pairs.said(Some(0), r#""7""#), None);
        assert_eq!(pairs.said(Some(1), r#""7""#), Some(r#""8""#));
    }
}
