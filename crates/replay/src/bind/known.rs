//! What the server chose, in the recording and now.

use super::MOST;
use super::bounded::Bounded;
use super::handle;
use super::pairs::Pairs;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Path;
use std::collections::HashMap;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
