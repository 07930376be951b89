//! What two answers, or two requests of the server, tell about each other: values that the protocol
//! says the server chooses, handles, and values that rules bind.

use super::handle;
use super::known::{Bound, Chosen, Slot};
use super::places::{From, Place, each_string, places};
use super::{Binder, fresh_id};
use crate::rules::{Bind, Calls, RuleId, Rules};
use mcpreel_redact::token;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edits, Kind, Path, Step, Value, canonical, quoted};
use mcpreel_wire::text::escape;
use std::borrow::Cow;
use std::ops::Range;

/// Values of a message that are looked at. A message of a hundred megabytes would keep the replay
/// waiting for handles that nobody sends.
const MOST_VALUES: u32 = 200_000;

/// Lists whose entries stand in any order: what stands at the same place is not the same thing.
pub(super) const LISTS: [&str; 4] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

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
        self.learn_chosen(about, then, now);
        self.learn_ruled(about, then, Some(now));
        let handles = !LISTS.contains(&about.method);
        let mut walk = Walk {
            left: MOST_VALUES,
            path: Vec::new(),
            pairs: Vec::new(),
        };
        for half in ["result", "error", "params"] {
            if let (Some(then), Some(now)) = (then.get(half), now.get(half)) {
                walk.inside(half, then, now);
            }
        }
        for (path, then, now) in walk.pairs {
            self.known.found_again(&then);
            if token::may_be_in(then.as_bytes()) {
                self.secrets.learn(&then, &now);
                continue;
            }
            if handles {
                self.learn_handles(about, &path, (&then, &now), later);
            }
        }
    }

    /// What looks like handles in two texts that stand at the same place.
    fn learn_handles(
        &mut self,
        about: About<'_>,
        path: &Path,
        (then, now): (&str, &str),
        later: &mut dyn FnMut(&str) -> bool,
    ) {
        for (recorded, live) in handle::pairs(then, now) {
            if later(recorded) {
                self.known.bind_handle(Bound {
                    recorded: recorded.into(),
                    live: live.into(),
                    seq: about.seq,
                    from: path.clone(),
                    uses: 0,
                });
            }
        }
    }

    fn learn_chosen(&mut self, about: About<'_>, then: Value<'_>, now: Value<'_>) {
        let live = places(now, about.method, From::Server);
        let mut taken = vec![false; live.len()];
        for place in places(then, about.method, From::Server) {
            let same = |at: &usize| !taken[*at] && live[*at].chosen.slot == place.chosen.slot;
            let at = (0..live.len()).find(same);
            if let Some(at) = at {
                taken[at] = true;
            }
            let value = at.map(|at| live[at].chosen.value.clone());
            let value = value.ok_or_else(|| place.chosen.slot.what().into());
            self.known.bind(place.chosen, value);
        }
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
        let result = result.filter(|_| !LISTS.contains(&about.method));
        if let Some(result) = result {
            let lost = each_string(result, &mut Vec::new(), &mut |_, value| {
                let text = value.as_str().unwrap_or_default();
                self.known.lose(&text, &needs(about), &is_known);
                Ok::<(), ()>(())
            });
            debug_assert!(lost.is_ok(), "nothing stops it");
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
        let ruled = if is_request {
            self.edit_repeated(document.root(), about, &mut edits)
        } else {
            self.edit_ruled(document.root(), about, &mut edits)
        };
        let visited = each_string(document.root(), &mut Vec::new(), &mut |names, value| {
            if ruled.contains(&value.span()) {
                return Ok(());
            }
            let text = value.as_str().unwrap_or_default();
            let filled = if secrets {
                Cow::Owned(self.secrets.fill_known(&text))
            } else {
                text.clone()
            };
            let bound = handle::replaced(&filled, |part| self.known.pairs.said(part));
            let changed = bound.as_deref().unwrap_or(&filled);
            if *changed != *text {
                edits.replace_string(value, changed);
            } else if let Some(live) = self.said_by_name(names, value) {
                edits.replace(value, live);
            }
            Ok::<(), ()>(())
        });
        debug_assert!(visited.is_ok(), "nothing stops it");
        edits.apply(then)
    }
}

/// What is missing where the exchange of a value was not had. Escaped.
pub(super) fn needs(about: About<'_>) -> Box<str> {
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
    fn inside(&mut self, name: &str, then: Value<'d>, now: Value<'d>) {
        self.path.push(Step::Member(name.into()));
        self.values(then, now);
        self.path.pop();
    }

    fn values(&mut self, then: Value<'d>, now: Value<'d>) {
        if self.left == 0 || then.raw() == now.raw() {
            return;
        }
        self.left -= 1;
        match (then.kind(), now.kind()) {
            (Kind::String, Kind::String) => {
                if let (Some(then), Some(now)) = (then.as_str(), now.as_str()) {
                    self.pairs.push((Path::new(self.path.clone()), then, now));
                }
            }
            (Kind::Array, Kind::Array) => {
                for (at, (then, now)) in then.elements().zip(now.elements()).enumerate() {
                    self.path.push(Step::Element(at));
                    self.values(then, now);
                    self.path.pop();
                }
            }
            (Kind::Object, Kind::Object) => self.members(then, now),
            _ => {}
        }
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
                self.inside(&text, value, other);
            }
        }
    }
}

/// The member of what a tool says in words, which are about anything.
const ANYTHING: &str = "text";

/// What stands for a word by a rule.
pub(super) struct Ruled {
    pub rule: RuleId,
    pub now: Box<str>,
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

    /// What a word that can be told anywhere is now by one of these rules, or what is missing for it.
    pub(super) fn ruled_word(
        &self,
        word: &str,
        rules: &[usize],
    ) -> Option<Result<Ruled, Box<str>>> {
        rules.iter().find_map(|rule| {
            let chosen = Chosen {
                slot: Slot::Rule(*rule),
                scope: "".into(),
                value: quoted(word).into(),
            };
            let rule = self.binds.get(*rule)?.0;
            Some(match self.known.chosen(&chosen)? {
                Ok(live) => {
                    let live = Document::parse(live.as_bytes()).ok()?;
                    let live = live
                        .root()
                        .as_str()
                        .filter(|live| handle::is_telling(live))?;
                    Ok(Ruled {
                        rule,
                        now: live.into(),
                    })
                }
                Err(missing) => Err(missing.into()),
            })
        })
    }

    /// Learns from an answer, then and now, what rules want to know of it.
    pub(super) fn learn_ruled(
        &mut self,
        about: About<'_>,
        then: Value<'_>,
        now: Option<Value<'_>>,
    ) {
        for (at, (_, bind)) in self.binds.iter().enumerate() {
            if !bind.answer.include(about.method, about.name) {
                continue;
            }
            let live = now.map(|now| bind.from.all(now)).unwrap_or_default();
            for (nth, recorded) in bind.from.all(then).into_iter().enumerate() {
                let live = live.get(nth);
                if let Some(live) = live {
                    self.known.pairs.learn(at, recorded, *live);
                }
                let chosen = chosen(at, recorded);
                let live = match (live, now) {
                    (Some(live), _) => Ok(live.raw_text().into()),
                    (None, Some(_)) => Err(chosen.slot.what().into()),
                    (None, None) => Err(needs(about)),
                };
                self.known.bind(chosen, live);
            }
        }
    }

    /// The values of a request that rules are about.
    pub(super) fn ruled<'d>(&self, message: Value<'d>, about: About<'_>) -> Vec<Place<'d>> {
        self.places(message, about, |bind| (&bind.request, &bind.to))
    }

    /// What rules found in an answer is what they found in the live one. Where that stands.
    pub(super) fn edit_ruled(
        &self,
        then: Value<'_>,
        about: About<'_>,
        edits: &mut Edits,
    ) -> Vec<Range<usize>> {
        let mut edited = Vec::new();
        for place in self.places(then, about, |bind| (&bind.answer, &bind.from)) {
            let Slot::Rule(rule) = place.chosen.slot else {
                continue;
            };
            let live = self.known.pairs.said_at(rule, &place.chosen.value);
            if let Some(live) = live.filter(|_| !edited.contains(&place.value.span())) {
                edits.replace(place.value, live);
                edited.push(place.value.span());
            }
        }
        edited
    }

    /// What a text is now that is all that a member has of which a rule has the name.
    pub(super) fn said_by_name(&self, names: &[Value<'_>], text: Value<'_>) -> Option<&str> {
        let name = names.last()?.as_str()?;
        let is_named = |bind: &Bind| {
            [&bind.from, &bind.to]
                .into_iter()
                .any(|path| member(path) == Some(&name))
        };
        if name == ANYTHING {
            return None;
        }
        let mut binds = self.binds.iter().enumerate();
        binds.find_map(|(rule, (_, bind))| {
            let value = is_named(bind).then(|| canonical(text))?;
            self.known.pairs.said_at(rule, &value)
        })
    }

    /// What a request repeats by rules is what the live answer said. Where that stands.
    pub(super) fn edit_repeated(
        &self,
        then: Value<'_>,
        about: About<'_>,
        edits: &mut Edits,
    ) -> Vec<Range<usize>> {
        let mut edited = Vec::new();
        for place in self.ruled(then, about) {
            if let Some(Ok(live)) = self.known.chosen(&place.chosen) {
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

/// The name of the member at the end of a path.
fn member(path: &Path) -> Option<&str> {
    path.steps().iter().rev().find_map(|step| match step {
        Step::Member(name) => Some(&**name),
        _ => None,
    })
}
