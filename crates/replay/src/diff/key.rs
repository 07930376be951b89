//! Digests by which equal requests are recognised.
//!
//! A key covers the method and the canonical params: sorted members, numbers by value, `_meta`
//! dropped but for what a rule keeps. The exact digest covers all of that. The normalised one leaves
//! out what two runs never share (tokens, cursors, times, temporary files), what a rule ignores, and
//! what a rule normalises. Digests are the same in every run and on every machine.

use super::noise;
use super::values::members;
use crate::rewrite::Rewrites;
use crate::rules::{Scope, Side};
use mcpreel_wire::json::{Kind, Path, Step, Value, canonical, quoted};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// A digest of a text: the first half of its SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    pub fn of(text: &[u8]) -> Self {
        let whole: [u8; 32] = Sha256::digest(text).into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Self(half)
    }
}

/// By what a request is told apart.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'r> {
    pub scope: &'r Scope<'r>,
    pub side: Side,
    /// Paths that stand for others on the right.
    pub rewrites: &'r Rewrites,
    /// When it was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
    /// Whether what two runs never share counts.
    pub is_exact: bool,
}

/// The digest of a request or notification, `message` being all of it.
pub fn digest(message: Value<'_>, terms: Terms<'_>) -> Digest {
    let mut all = message.get("method").map(canonical).unwrap_or_default();
    all += &text(message.get("params"), terms);
    Digest::of(all.as_bytes())
}

/// The digest by which a question of the server is recognised on `side`, wherever it stands and
/// whatever it is called.
pub fn words(question: Value<'_>, side: Side, rewrites: &Rewrites, wall_ns: Option<u64>) -> Digest {
    let terms = Terms {
        scope: &Scope::default(),
        side,
        rewrites,
        wall_ns,
        is_exact: false,
    };
    digest(question, terms)
}

/// The params of a request as canonical JSON, with a bare `…` for each value that is left out.
pub fn text(params: Option<Value<'_>>, terms: Terms<'_>) -> String {
    let mut writing = Writing {
        terms,
        place: vec![Step::Member("params".into())],
    };
    // A request without params asks for the same as one with empty params.
    params.map_or_else(|| "{}".to_owned(), |params| writing.value(params))
}

struct Writing<'r> {
    terms: Terms<'r>,
    place: Vec<Step>,
}

impl Writing<'_> {
    /// Recursion is bounded by the depth of a document.
    fn value(&mut self, value: Value<'_>) -> String {
        let terms = self.terms;
        let is_now = |now| noise::is_this_day(value, now);
        match value.kind() {
            Kind::Object => format!("{{{}}}", self.members(value).join(",")),
            Kind::Array => {
                let elements = value.elements().enumerate();
                let all = elements.map(|(at, element)| self.at(Step::Element(at), element));
                format!("[{}]", all.collect::<Vec<_>>().join(","))
            }
            Kind::Number if !self.terms.is_exact && terms.wall_ns.is_some_and(is_now) => {
                "…now".into()
            }
            Kind::String if !self.terms.is_exact => {
                let text = value.as_str().unwrap_or_default();
                let rewritten = match terms.side {
                    Side::Left => terms.rewrites.apply(&text),
                    Side::Right => Cow::Borrowed(&*text),
                };
                let normalised = terms.scope.normalised(&self.place, terms.side, &rewritten);
                let shape = noise::shape(normalised.as_deref().unwrap_or(&rewritten));
                // What a text cannot hold, lone surrogates, still counts.
                let is_same = shape == text;
                if is_same {
                    canonical(value)
                } else {
                    quoted(&shape)
                }
            }
            _ => canonical(value),
        }
    }

    fn at(&mut self, step: Step, value: Value<'_>) -> String {
        self.place.push(step);
        let text = self.value(value);
        self.place.pop();
        text
    }

    fn members(&mut self, object: Value<'_>) -> Vec<String> {
        let mut written = Vec::new();
        for (name, sides) in members([Some(object), None]) {
            let Some(value) = sides[0] else { continue };
            self.place.push(Step::Member(name.as_ref().into()));
            if name == "_meta" && self.place.len() == 2 {
                self.kept(value, &mut written);
            } else if !self.is_left_out(value) {
                let is_made_up = !self.terms.is_exact && noise::is_made_up(&self.place);
                let text = if is_made_up {
                    "…".into()
                } else {
                    self.value(value)
                };
                written.push(format!("{}:{text}", quoted(&name)));
            }
            self.place.pop();
        }
        written.sort_unstable();
        written
    }

    /// Writes what rules keep of `params._meta`.
    fn kept(&mut self, value: Value<'_>, written: &mut Vec<String>) {
        if self.terms.scope.is_empty() {
            return;
        }
        if self.terms.scope.keeps(&self.place) {
            let name = quoted(&Path::new(self.place.clone()).to_string());
            return written.push(format!("{name}:{}", self.value(value)));
        }
        for (name, value) in value.members() {
            let name = name.as_str().unwrap_or_default();
            self.place.push(Step::Member(name.into()));
            self.kept(value, written);
            self.place.pop();
        }
    }

    /// Whether a member does not say which request it is.
    fn is_left_out(&self, value: Value<'_>) -> bool {
        let place = self.place.as_slice();
        // A call without arguments and one with none are one and the same.
        let is_arguments = matches!(place, [_, Step::Member(name)] if &**name == "arguments");
        let is_empty = is_arguments && value.is_object() && value.members().next().is_none();
        let is_noise =
            || noise::may_be_missing(place, None) || self.terms.scope.ignores(place, None);
        is_empty || !self.terms.is_exact && is_noise()
    }
}

#[cfg(test)]
mod key_tests;
