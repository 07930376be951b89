//! Learning from two answers, or two requests of the server: values that the protocol says the server
//! chooses, handles, and values that rules bind.

use super::handle::is_telling;
use super::known::{Bound, Chosen, UNSAID};
use super::places::{LISTS, each_string, places};
use super::{Binder, fresh_id, handle};
use crate::diff::{Half, members};

use mcpreel_redact::token;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edits, Kind, Path, Step, Value};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::escape;
use std::borrow::Cow;

/// Values of a message that are looked at. A message of a hundred megabytes would keep the replay
/// waiting for handles that nobody sends.
const MOST_VALUES: u32 = 200_000;

/// The exchange of two messages.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    pub seq: Seq,
    pub method: &'a str,
    pub name: Option<&'a str>,
}

impl<'a> About<'a> {
    /// The exchange that values belong to.
    pub fn of(exchange: &'a Exchange) -> Self {
        Self {
            seq: exchange.request.0,
            method: &exchange.method,
            name: exchange.name.as_deref(),
        }
    }
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
        let mut live = places(now, about.method, Direction::ServerToClient);
        for (chosen, _) in places(then, about.method, Direction::ServerToClient) {
            let at = live.iter().position(|(live, _)| live.slot == chosen.slot);
            let value = at.map(|at| live.remove(at).0.value);
            self.known.bind(chosen, value.ok_or_else(|| UNSAID.into()));
        }
        self.learn_ruled(about, then, Some(now));
        let mut left = MOST_VALUES;
        for half in ["result", "error", "params"] {
            let (Some(then), Some(now)) = (then.get(half), now.get(half)) else {
                continue;
            };
            let mut path = vec![Step::Member(half.into())];
            each_pair([then, now], &mut path, &mut left, &mut |path, then, now| {
                if token::may_be_in(then.as_bytes()) {
                    self.secrets.learn(then, now);
                } else if !LISTS.contains(&about.method) {
                    for (recorded, live) in handle::pairs(then, now) {
                        if later(recorded) {
                            self.known.bind_handle(Bound {
                                recorded: recorded.into(),
                                live: live.into(),
                                seq: about.seq,
                                from: Path::new(path.to_vec()),
                                uses: 0,
                            });
                        }
                    }
                }
            });
        }
    }

    /// Marks the values of `then` as lost: an answer of which the request is not sent.
    /// `is_known` says whether the recorded client knew a text before.
    pub fn lose(&mut self, about: About<'_>, then: &[u8], is_known: impl Fn(&str) -> bool) {
        let Ok(document) = Document::parse(then) else {
            return;
        };
        for (chosen, _) in places(document.root(), about.method, Direction::ServerToClient) {
            self.known.bind(chosen, Err(needs(about)));
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

    /// A recorded message as it would have been with what is known now: what the server chose
    /// another value for, and what was supplied, are no differences. What a request repeats of an
    /// answer by a rule is what the live answer said.
    pub fn as_now<'t>(&self, about: About<'_>, half: Half, then: &'t [u8]) -> Cow<'t, [u8]> {
        let has_secrets = token::may_be_in(then);
        if self.known.is_empty() && !has_secrets && !self.fresh_ids {
            return Cow::Borrowed(then);
        }
        let Ok(document) = Document::parse(then) else {
            return Cow::Borrowed(then);
        };
        let mut edits = Edits::default();
        if let Some(id) = document.root().get("id").filter(|_| self.fresh_ids) {
            edits.replace(id, fresh_id(&RequestId::from_value(id)).json());
        }
        let mut edited = Vec::new();
        for (rule, value) in self.ruled(document.root(), about, half) {
            if let Some(live) = self.known.said(&Chosen::by_rule(rule, value))
                && !edited.contains(&value.span())
            {
                edits.replace(value, live);
                edited.push(value.span());
            }
        }
        each_string(document.root(), &mut Vec::new(), &mut |_, value| {
            if edited.contains(&value.span()) {
                return;
            }
            let text = value.as_str().unwrap_or_default();
            let (filled, _) = self.secrets.fill(&text);
            let bound = handle::replaced(&filled, |part| {
                self.known.said(&Chosen::handle(part)).map(Into::into)
            });
            let changed = bound.as_deref().unwrap_or(&filled);
            if *changed != *text {
                edits.replace_string(value, changed);
            }
        });
        edits.apply(then)
    }
}

/// The reason why a value has no live one where its request is not sent. Escaped.
fn needs(about: About<'_>) -> Box<str> {
    let what = escape(about.name.unwrap_or(about.method));
    format!("needs the answer of #{} {what}", about.seq.0).into()
}

/// Gives `found` the strings that stand at the same place of two values and differ; so many values
/// are `left` to be looked at.
fn each_pair<'d>(
    [then, now]: [Value<'d>; 2],
    path: &mut Vec<Step>,
    left: &mut u32,
    found: &mut dyn FnMut(&[Step], &str, &str),
) {
    if *left == 0 || then.raw() == now.raw() {
        return;
    }
    *left -= 1;
    let mut inside = |step, both: [Value<'d>; 2]| {
        path.push(step);
        each_pair(both, path, left, found);
        path.pop();
    };
    match (then.kind(), now.kind()) {
        (Kind::Array, Kind::Array) => {
            for (at, (then, now)) in then.elements().zip(now.elements()).enumerate() {
                inside(Step::Element(at), [then, now]);
            }
        }
        (Kind::Object, Kind::Object) => {
            for (name, both) in members([Some(then), Some(now)]) {
                if let [Some(then), Some(now)] = both {
                    inside(Step::Member((*name).into()), [then, now]);
                }
            }
        }
        _ => {
            if let Some((then, now)) = then.as_str().zip(now.as_str()) {
                found(path, &then, &now);
            }
        }
    }
}

/// Values that rules bind.
impl Binder {
    /// The server says `now` where it said `then`, wherever that is: a handle that was found.
    pub fn stands_for(&mut self, then: &str, now: &str) {
        self.known.bind_text(then, now);
    }

    /// Whether the answers to such a request have values that rules bind.
    pub fn binds_from(&self, about: About<'_>) -> bool {
        let mut binds = self.binds.iter();
        binds.any(|bind| bind.answer.include(about.method, about.name))
    }

    /// Learns from an answer, then and now, what rules want to know of it, and nothing else. A value
    /// that a rule binds is one wherever it stands if it cannot be taken for another.
    pub fn learn_ruled(&mut self, about: About<'_>, then: Value<'_>, now: Option<Value<'_>>) {
        let live = now.map(|now| self.ruled(now, about, Half::Response));
        let mut live = live.unwrap_or_default().into_iter().peekable();
        for (rule, value) in self.ruled(then, about, Half::Response) {
            while live.next_if(|(other, _)| *other < rule).is_some() {}
            let chosen = Chosen::by_rule(rule, value);
            let Some((_, now)) = live.next_if(|(other, _)| *other == rule) else {
                let missing = now.map_or_else(|| needs(about), |_| UNSAID.into());
                self.known.bind(chosen, Err(missing));
                continue;
            };
            self.known.bind(chosen.clone(), Ok(now.raw_text().into()));
            match value.as_str().zip(now.as_str()) {
                Some((then, now)) if is_telling(&then) && is_telling(&now) => {
                    self.known.bind_text(&then, &now);
                }
                _ if may_pair(value, now) => self.known.pair(&chosen, &now.raw_text()),
                _ => {}
            }
        }
    }

    /// The values of a message that rules are about, rule by rule.
    pub(super) fn ruled<'d>(
        &self,
        message: Value<'d>,
        about: About<'_>,
        half: Half,
    ) -> Vec<(usize, Value<'d>)> {
        let mut found = Vec::new();
        for (at, bind) in self.binds.iter().enumerate() {
            let (calls, path) = match half {
                Half::Response => (&bind.answer, &bind.from),
                Half::Request => (&bind.request, &bind.to),
            };
            if calls.include(about.method, about.name) {
                found.extend(path.all(message).into_iter().map(|value| (at, value)));
            }
        }
        found
    }
}

/// Whether two values may be one and the same handle: what is neither a text nor a number is none,
/// and what was a text stays one.
fn may_pair(then: Value<'_>, now: Value<'_>) -> bool {
    let is_text = |value: Value<'_>| value.kind() == Kind::String && !value.is_str("");
    let is_number = then.kind() == Kind::Number;
    is_text(now) && (is_text(then) || is_number) || is_number && now.kind() == Kind::Number
}
