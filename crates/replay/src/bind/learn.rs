//! What two answers, or two requests of the server, tell about each other: values that the protocol
//! says the server chooses, handles, and values that rules bind.

use super::known::{Bound, Chosen, Slot};
use super::places::{From, LISTS, Place, each_string, places};
use super::{Binder, fresh_id, handle};
use crate::rules::{Bind, Calls, RuleId, Rules};
use mcpreel_redact::token;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edits, Kind, Path, Step, Value, canonical};
use mcpreel_wire::text::escape;
use std::borrow::Cow;
use std::ops::Range;

/// Values of a message that are looked at. A message of a hundred megabytes would keep the replay
/// waiting for handles that nobody sends.
const MOST_VALUES: u32 = 200_000;

/// Which exchange two messages belong to.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub seq: Seq,
    pub method: &'a str,
    pub name: Option<&'a str>,
}

impl Binder {
    /// Learns from what the server said then and says now. `later` says whether the recorded
    /// client, which did not know a text before, sends it later.
    pub fn learn(
        &mut self,
        about: About<'_>,
        then: Value<'_>,
        now: Value<'_>,
        later: &mut dyn FnMut(&str) -> bool,
    ) {
        let mut live = places(now, about.method, From::Server);
        for place in places(then, about.method, From::Server) {
            let slot = place.chosen.slot;
            let at = live.iter().position(|live| live.chosen.slot == slot);
            let value = at.map(|at| live.remove(at).chosen.value);
            self.known
                .bind(place.chosen, value.ok_or_else(|| slot.what().into()));
        }
        self.learn_ruled(about, then, Some(now));
        let mut walk = Walk {
            left: MOST_VALUES,
            path: Vec::new(),
            pairs: Vec::new(),
        };
        for half in ["result", "error", "params"] {
            if let (Some(then), Some(now)) = (then.get(half), now.get(half)) {
                walk.inside(Step::Member(half.into()), then, now);
            }
        }
        for (path, then, now) in walk.pairs {
            self.known.found_again(&then);
            if token::may_be_in(then.as_bytes()) {
                self.secrets.learn(&then, &now);
                continue;
            }
            if LISTS.contains(&about.method) {
                continue;
            }
            for (recorded, live) in handle::pairs(&then, &now) {
                if later(recorded) {
                    self.bind_handle(about, recorded, live, &path, None);
                }
            }
        }
    }

    fn bind_handle(
        &mut self,
        about: About<'_>,
        recorded: &str,
        live: &str,
        from: &Path,
        rule: Option<usize>,
    ) {
        let bound = Bound {
            recorded: recorded.into(),
            live: live.into(),
            seq: about.seq,
            from: from.clone(),
            uses: 0,
        };
        self.known.bind_handle(bound, rule);
    }

    /// What the server said then will not be said now: `then` is an answer that was not asked for.
    /// `is_known` says whether the recorded client knew a text before.
    pub fn lose(&mut self, about: About<'_>, then: &[u8], is_known: impl Fn(&str) -> bool) {
        let Ok(document) = Document::parse(then) else {
            return;
        };
        for place in places(document.root(), about.method, From::Server) {
            self.known.bind(place.chosen, Err(needs(about)));
        }
        self.learn_ruled(about, document.root(), None);
        let result = document.root().get("result");
        if let Some(result) = result.filter(|_| !LISTS.contains(&about.method)) {
            each_string(result, &mut Vec::new(), &mut |_, value| {
                let text = value.as_str().unwrap_or_default();
                self.known.lose(&text, &needs(about), &is_known);
            });
        }
    }

    /// A recorded answer as it would have been with what is known now: what the server chose
    /// another value for, and what was supplied, are no differences.
    pub fn as_now<'t>(&self, about: About<'_>, then: &'t [u8]) -> Cow<'t, [u8]> {
        self.now(about, then, false)
    }

    /// The same of a request: what it repeats of an answer by a rule is what the live answer said.
    pub fn request_as_now<'t>(&self, about: About<'_>, then: &'t [u8]) -> Cow<'t, [u8]> {
        self.now(about, then, true)
    }

    fn now<'t>(&self, about: About<'_>, then: &'t [u8], is_request: bool) -> Cow<'t, [u8]> {
        let secrets = token::may_be_in(then);
        if self.known.is_empty() && !secrets && !self.fresh_ids {
            return Cow::Borrowed(then);
        }
        let Ok(document) = Document::parse(then) else {
            return Cow::Borrowed(then);
        };
        let mut edits = Edits::default();
        if let Some(id) = document.root().get("id").filter(|_| self.fresh_ids) {
            let fresh = fresh_id(&RequestId::from_value(id));
            edits.replace(id, fresh.json());
        }
        let ruled = self.edit_ruled(document.root(), about, is_request, &mut edits);
        each_string(document.root(), &mut Vec::new(), &mut |_, value| {
            if ruled.contains(&value.span()) {
                return;
            }
            let text = value.as_str().unwrap_or_default();
            let filled = if secrets {
                Cow::Owned(self.secrets.fill_known(&text))
            } else {
                text.clone()
            };
            let bound = handle::replaced(&filled, |part| {
                self.known.pairs.said(None, part).map(Into::into)
            });
            let changed = bound.as_deref().unwrap_or(&filled);
            if *changed != *text {
                edits.replace_string(value, changed);
            }
        });
        edits.apply(then)
    }
}

/// What is missing where the exchange of a value was not had. Escaped.
fn needs(about: About<'_>) -> Box<str> {
    let what = escape(about.name.unwrap_or(about.method));
    format!("needs the answer of #{} {what}", about.seq.0).into()
}

/// Strings that stand at the same place of two values and differ.
struct Walk<'d> {
    left: u32,
    path: Vec<Step>,
    pairs: Vec<(Path, Cow<'d, str>, Cow<'d, str>)>,
}

impl<'d> Walk<'d> {
    fn inside(&mut self, step: Step, then: Value<'d>, now: Value<'d>) {
        if self.left == 0 || then.raw() == now.raw() {
            return;
        }
        self.left -= 1;
        self.path.push(step);
        match (then.kind(), now.kind()) {
            (Kind::String, Kind::String) => {
                if let (Some(then), Some(now)) = (then.as_str(), now.as_str()) {
                    self.pairs.push((Path::new(self.path.clone()), then, now));
                }
            }
            (Kind::Array, Kind::Array) => {
                for (at, (then, now)) in then.elements().zip(now.elements()).enumerate() {
                    self.inside(Step::Element(at), then, now);
                }
            }
            (Kind::Object, Kind::Object) => self.members(then, now),
            _ => {}
        }
        self.path.pop();
    }

    /// Members of the same name; those in the same order are found at once.
    fn members(&mut self, then: Value<'d>, now: Value<'d>) {
        let mut in_order = now.members();
        for (name, value) in then.members() {
            let text = name.as_str().unwrap_or_default();
            let next = in_order.next().filter(|(other, _)| other.is_str(&text));
            let other = match next {
                Some((_, other)) => Some(other),
                None if self.left > 0 => {
                    let looked_at = u32::try_from(now.members().count()).unwrap_or(u32::MAX);
                    self.left = self.left.saturating_sub(looked_at);
                    now.get(&text)
                }
                None => None,
            };
            if let Some(other) = other {
                self.inside(Step::Member((*text).into()), value, other);
            }
        }
    }
}

impl Binder {
    /// Binds as these rules say as well.
    pub fn bind_by(&mut self, rules: &Rules) {
        let binds = rules.binds().map(|(id, bind)| (id, bind.clone()));
        self.binds.extend(binds);
    }

    /// The server says `now` where it said `then`, wherever that is: a handle that was found.
    pub fn stands_for(&mut self, then: &str, now: &str) {
        self.known.pairs.everywhere(then, now);
    }

    /// Whether the answers to such a request have values that rules bind.
    pub fn binds_from(&self, about: About<'_>) -> bool {
        let mut binds = self.binds.iter();
        binds.any(|(_, bind)| bind.answer.include(about.method, about.name))
    }

    /// Learns from what two answers say what rules want to know of them, and nothing else. A rule
    /// that finds two different values is of use.
    pub fn learn_bound(&mut self, about: About<'_>, then: Value<'_>, now: Value<'_>) {
        self.learn_ruled(about, then, Some(now));
        for (rule, bind) in &self.binds {
            if bind.answer.include(about.method, about.name) {
                let mut both = bind.from.all(then).into_iter().zip(bind.from.all(now));
                if both.any(|(then, now)| canonical(then) != canonical(now)) {
                    self.fired.insert(*rule);
                }
            }
        }
    }

    /// The rules by which a value was sent in place of another, or taken for it.
    pub fn fired(&self) -> impl Iterator<Item = RuleId> {
        self.fired.iter().copied()
    }

    /// Learns from an answer, then and now, what rules want to know of it.
    fn learn_ruled(&mut self, about: About<'_>, then: Value<'_>, now: Option<Value<'_>>) {
        for (at, (_, bind)) in self.binds.clone().iter().enumerate() {
            if !bind.answer.include(about.method, about.name) {
                continue;
            }
            let live = now.map(|now| bind.from.all(now)).unwrap_or_default();
            for (nth, recorded) in bind.from.all(then).into_iter().enumerate() {
                let chosen = chosen(at, recorded);
                let live = match (live.get(nth), now) {
                    (Some(live), _) => {
                        self.pair_by_rule(about, at, &bind.from, recorded, *live);
                        Ok(live.raw_text().into())
                    }
                    (None, Some(_)) => Err(chosen.slot.what().into()),
                    (None, None) => Err(needs(about)),
                };
                self.known.bind(chosen, live);
            }
        }
    }

    /// A value that a rule binds is one wherever it stands if it cannot be taken for another.
    fn pair_by_rule(
        &mut self,
        about: About<'_>,
        rule: usize,
        from: &Path,
        then: Value<'_>,
        now: Value<'_>,
    ) {
        match then.as_str().zip(now.as_str()) {
            Some((then, now)) if handle::is_telling(&then) && handle::is_telling(&now) => {
                self.bind_handle(about, &then, &now, from, Some(rule));
            }
            _ => self.known.pairs.learn(rule, then, now),
        }
    }

    /// The values of a request that rules are about.
    pub(super) fn ruled<'d>(&self, message: Value<'d>, about: About<'_>) -> Vec<Place<'d>> {
        self.places(message, about, |bind| (&bind.request, &bind.to))
    }

    /// Puts live values where rules found recorded ones in an answer, or where a request repeats
    /// them. Returns where these stand.
    fn edit_ruled(
        &self,
        then: Value<'_>,
        about: About<'_>,
        is_request: bool,
        edits: &mut Edits,
    ) -> Vec<Range<usize>> {
        let mut edited = Vec::new();
        let places = if is_request {
            self.ruled(then, about)
        } else {
            self.places(then, about, |bind| (&bind.answer, &bind.from))
        };
        for place in places {
            let live = match place.chosen.slot {
                _ if edited.contains(&place.value.span()) => None,
                _ if is_request => self.known.chosen(&place.chosen).and_then(Result::ok),
                Slot::Rule(rule) => self.known.pairs.said(Some(rule), &place.chosen.value),
                _ => None,
            };
            if let Some(live) = live {
                edits.replace(place.value, live);
                edited.push(place.value.span());
            }
        }
        edited
    }

    fn places<'d>(
        &self,
        message: Value<'d>,
        about: About<'_>,
        end: impl Fn(&Bind) -> (&Calls, &Path),
    ) -> Vec<Place<'d>> {
        let mut places = Vec::new();
        for (at, (_, bind)) in self.binds.iter().enumerate() {
            let (calls, path) = end(bind);
            if calls.include(about.method, about.name) {
                let values = path.all(message).into_iter();
                places.extend(values.map(|value| Place {
                    chosen: chosen(at, value),
                    value,
                }));
            }
        }
        places
    }
}

fn chosen(rule: usize, value: Value<'_>) -> Chosen {
    Chosen {
        slot: Slot::Rule(rule),
        scope: "".into(),
        value: canonical(value).into(),
    }
}
