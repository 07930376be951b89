//! Values that rules bind: what an answer says is what a later request has to say.

use super::handle;
use super::known::{Chosen, Slot};
use super::learn::needs;
use super::message::Place;
use super::{About, Binder, Edits};
use crate::rules::{Bind, RuleId, Rules};
use mcpreel_wire::json::{Document, Path, Step, Value, canonical, quoted};
use std::ops::Range;

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
        end: impl Fn(&Bind) -> (&crate::rules::Calls, &mcpreel_wire::json::Path),
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
