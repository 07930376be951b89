//! Tables of the values that a server chose: the recorded value of each and the live one.

use super::handle;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Path, Value, canonical};
use std::collections::{HashMap, HashSet};

/// Values that are remembered.
pub const MOST: usize = 16_384;

/// Kinds of values that a server chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// The cursor of a list: its scope is the method of the list.
    Cursor,
    Task,
    Elicitation,
    /// The progress token of a server's request; a JSON text.
    Token,
    /// A value that the rule at this place binds; a JSON text.
    Rule(usize),
    /// A text that looks made up, wherever it stands.
    Handle,
}

/// The reason why a value has no live one where there is a live answer.
pub(super) const UNSAID: &str = "needs what an answer does not say any more";

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Chosen {
    pub slot: Slot,
    pub scope: Box<str>,
    pub value: Box<str>,
}

impl Chosen {
    pub(super) fn new(slot: Slot, scope: &str, value: &str) -> Self {
        let (scope, value) = (scope.into(), value.into());
        Self { slot, scope, value }
    }

    pub(super) fn by_rule(rule: usize, value: Value<'_>) -> Self {
        Self::new(Slot::Rule(rule), "", &canonical(value))
    }

    pub(super) fn handle(recorded: &str) -> Self {
        Self::new(Slot::Handle, "", recorded)
    }
}

/// A handle that was sent in place of the recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub recorded: Box<str>,
    /// The handle that was sent instead, the latest.
    pub live: Box<str>,
    /// The request whose answer it was found in.
    pub seq: Seq,
    /// The place in the answer.
    pub from: Path,
    /// How often the live handle was sent.
    pub uses: u64,
}

/// The live value of a recorded one.
#[derive(Debug)]
struct Live {
    /// The value to be sent, the latest, or the reason why there is none.
    value: Result<Box<str>, Box<str>>,
    /// The value to be compared, the first; see [`Known::pair`].
    said: Option<Box<str>>,
    found: Option<Bound>,
}

/// The table of what the server chose: [`MOST`] values, more are counted.
#[derive(Debug, Default)]
pub(crate) struct Known {
    live: HashMap<Chosen, Live>,
    /// Live values that recorded ones are compared as.
    taken: HashSet<(Slot, Box<str>)>,
    /// Values that were not remembered because there were too many.
    pub forgotten: u64,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    pub(super) fn bind(&mut self, chosen: Chosen, value: Result<Box<str>, Box<str>>) {
        if self.live.len() >= MOST && !self.live.contains_key(&chosen) {
            self.forgotten += 1;
            return;
        }
        let live = self.live.entry(chosen).or_insert(Live {
            value: Ok(Box::default()),
            said: None,
            found: None,
        });
        live.value = value;
    }

    /// The live value, or what is missing; `None` where nothing is known: it is sent as it is.
    pub(super) fn chosen(&self, chosen: &Chosen) -> Option<Result<&str, &str>> {
        let live = self.live.get(chosen)?;
        Some(live.value.as_deref().map_err(|missing| &**missing))
    }

    /// The server says the text `now` where it said `then`. A text that is no chance
    /// ([`handle::is_telling`]) is one value wherever it stands, also in messages that are compared.
    pub(super) fn bind_text(&mut self, then: &str, now: &str) {
        let chosen = Chosen::handle(then);
        self.bind(chosen.clone(), Ok(now.into()));
        if [then, now].into_iter().all(handle::is_telling) {
            self.pair(&chosen, now);
        }
    }

    /// The same of a handle that was found, which no rule binds.
    pub(super) fn bind_handle(&mut self, bound: Bound) {
        let known = self.live.get(&Chosen::handle(&bound.recorded));
        let is_ruled = known.is_some_and(|live| live.value.is_ok() && live.found.is_none());
        self.bind_text(&bound.recorded, &bound.live);
        if let Some(live) = self.live.get_mut(&Chosen::handle(&bound.recorded)) {
            match &mut live.found {
                Some(first) => first.live = bound.live,
                found if !is_ruled => *found = Some(bound),
                None => {}
            }
        }
    }

    /// Compares a recorded value as the live one: a text wherever it stands, as a whole or as a word
    /// of a longer one; others, a `7` or an `ok` that a rule binds, mean something else elsewhere:
    /// they are one value at the places of the rule.
    ///
    /// A value that becomes two, and two that become one, are no pair. What was paired first stays,
    /// so that the other shows as a difference.
    pub(super) fn pair(&mut self, chosen: &Chosen, now: &str) {
        if let Some(live) = self.live.get_mut(chosen)
            && live.said.is_none()
            && self.taken.insert((chosen.slot, now.into()))
        {
            live.said = Some(now.into());
        }
    }

    /// The live text that a recorded value is compared as: a JSON text at the place of a rule.
    pub(super) fn said(&self, chosen: &Chosen) -> Option<&str> {
        self.live.get(chosen)?.said.as_deref()
    }

    /// The live handle of a recorded one, or the reason why there is none. It counts as sent.
    pub(super) fn send(&mut self, recorded: &str) -> Option<Result<&str, &str>> {
        let live = self.live.get_mut(&Chosen::handle(recorded))?;
        if let Some(bound) = &mut live.found {
            bound.uses += 1;
        }
        Some(live.value.as_deref().map_err(|missing| &**missing))
    }

    /// A recorded text will not come; `why` says what its handles would have come with.
    pub(super) fn lose(&mut self, text: &str, why: &str, is_known: impl Fn(&str) -> bool) {
        for part in handle::candidates(text) {
            let chosen = Chosen::handle(part);
            if !is_known(part) && !self.live.contains_key(&chosen) {
                self.bind(chosen, Err(why.into()));
            }
        }
    }

    /// The handles that were found and sent, in the order in which they were found.
    pub fn bound(&self) -> Vec<Bound> {
        let found = self.live.values().filter_map(|live| live.found.as_ref());
        let mut found: Vec<_> = found.filter(|bound| bound.uses > 0).cloned().collect();
        found.sort_by(|one, other| (one.seq, &one.recorded).cmp(&(other.seq, &other.recorded)));
        found
    }
}
