//! Tables of the values that a server chose: the recorded value of each and the live one.

use super::handle;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Kind, Path, Value, canonical};
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
    pub(super) fn by_rule(rule: usize, value: Value<'_>) -> Self {
        Self {
            slot: Slot::Rule(rule),
            scope: "".into(),
            value: canonical(value).into(),
        }
    }

    fn handle(recorded: &str) -> Self {
        Self {
            slot: Slot::Handle,
            scope: "".into(),
            value: recorded.into(),
        }
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
    /// The live value, or what is missing.
    value: Result<Box<str>, Box<str>>,
    /// The place of a handle, and the rule that binds it, if one does.
    found: Option<(Bound, Option<usize>)>,
}

/// The table of what the server chose: [`MOST`] values, more are counted.
#[derive(Debug, Default)]
pub(super) struct Known {
    live: HashMap<Chosen, Live>,
    pub pairs: Pairs,
    pub forgotten: u64,
}

impl Known {
    pub(super) fn is_empty(&self) -> bool {
        self.live.is_empty() && self.pairs.now.is_empty()
    }

    pub(super) fn bind(&mut self, chosen: Chosen, value: Result<Box<str>, Box<str>>) {
        self.insert(chosen, Live { value, found: None });
    }

    fn insert(&mut self, chosen: Chosen, live: Live) {
        if self.live.len() < MOST || self.live.contains_key(&chosen) {
            self.live.insert(chosen, live);
        } else {
            self.forgotten += 1;
        }
    }

    /// The live value, or what is missing; `None` where nothing is known: it is sent as it is.
    pub(super) fn chosen(&self, chosen: &Chosen) -> Option<Result<&str, &str>> {
        let live = self.live.get(chosen)?;
        Some(live.value.as_deref().map_err(|missing| &**missing))
    }

    pub(super) fn bind_handle(&mut self, bound: Bound, rule: Option<usize>) {
        self.pairs.everywhere(&bound.recorded, &bound.live);
        let chosen = Chosen::handle(&bound.recorded);
        let value = Ok(bound.live.clone());
        if let Some(known) = self.live.get_mut(&chosen)
            && let Some((first, _)) = &mut known.found
        {
            first.live = bound.live;
            known.value = value;
            return;
        }
        let found = Some((bound, rule));
        self.insert(chosen, Live { value, found });
    }

    /// The live handle of a recorded one, with the rule that binds it, or the reason why there is
    /// none. It counts as sent.
    pub(super) fn send(&mut self, recorded: &str) -> Option<Result<(&str, Option<usize>), &str>> {
        let live = self.live.get_mut(&Chosen::handle(recorded))?;
        let rule = live.found.as_mut().and_then(|(bound, rule)| {
            bound.uses += 1;
            *rule
        });
        let value = live.value.as_deref().map_err(|missing| &**missing);
        Some(value.map(|value| (value, rule)))
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
    pub(super) fn bound(&self) -> Vec<Bound> {
        let found = self.live.values().filter_map(|live| match &live.found {
            Some((bound, None)) if bound.uses > 0 => Some(bound.clone()),
            _ => None,
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by(|one, other| (one.seq, &one.recorded).cmp(&(other.seq, &other.recorded)));
        found
    }
}

/// Recorded values and their live ones in messages that are compared.
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
        let is_handle = |value: Value<'_>| match value.kind() {
            Kind::String => !value.is_str(""),
            kind => kind == Kind::Number,
        };
        let is_other = then.kind() == Kind::String && now.kind() != Kind::String;
        if is_handle(then) && is_handle(now) && !is_other {
            self.insert(Some(rule), &canonical(then), &now.raw_text());
        }
    }

    /// The server says `now` where it said `then`, if both are telling.
    pub(super) fn everywhere(&mut self, then: &str, now: &str) {
        if [then, now].into_iter().all(handle::is_telling) {
            self.insert(None, then, now);
        }
    }

    /// The live text of a recorded one: JSON texts at the place of a rule.
    pub(super) fn said(&self, rule: Option<usize>, then: &str) -> Option<&str> {
        let now = self.now.get(&(rule, then.into()))?;
        Some(now)
    }
}
