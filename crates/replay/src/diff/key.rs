//! Which request is which: digests of what it asks for.
//!
//! A key covers the method and the canonical params: sorted members, numbers by value, `_meta`
//! dropped but for what a rule keeps. The exact digest covers all of that. The normalised one leaves
//! out what two runs never share (tokens, cursors, times, temporary files), what a rule ignores, and
//! what a rule normalises. Digests are the same in every run and on every machine.

use super::noise;
use crate::rewrite::Rewrites;
use crate::rules::{Scope, Side};
use mcpreel_wire::json::{Kind, Path, Step, Value, canonical, quoted};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub exact: Digest,
    /// Without what two runs never share.
    pub normalised: Digest,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Exact,
    Normalised,
}

impl Key {
    /// The key of a request or notification, `message` being all of it.
    pub fn of(message: Value<'_>, terms: Terms<'_>) -> Self {
        let digest = |level| {
            let mut all = message.get("method").map(canonical).unwrap_or_default();
            all += &text(message.get("params"), level, terms);
            Digest::of(all.as_bytes())
        };
        Self {
            exact: digest(Level::Exact),
            normalised: digest(Level::Normalised),
        }
    }

    /// The key of bytes that were not read as JSON.
    pub fn of_bytes(digest: Digest) -> Self {
        Self {
            exact: digest,
            normalised: digest,
        }
    }
}

/// The digest by which a question of the server is recognised on `side`, wherever it stands and
/// whatever it is called.
pub fn words(question: Value<'_>, side: Side, rewrites: &Rewrites, wall_ns: Option<u64>) -> Digest {
    let terms = Terms {
        scope: &Scope::default(),
        side,
        rewrites,
        wall_ns,
    };
    Key::of(question, terms).normalised
}

/// What a request with these params asks for, as a text: canonical JSON, with a bare `…` for each
/// value that is left out.
pub fn text(params: Option<Value<'_>>, level: Level, terms: Terms<'_>) -> String {
    let mut writing = Writing {
        level,
        terms,
        place: vec![Step::Member("params".into())],
        out: String::new(),
    };
    match params {
        Some(params) => writing.value(params),
        // A request without params asks for the same as one with empty params.
        None => writing.out.push_str("{}"),
    }
    writing.out
}

struct Writing<'r> {
    level: Level,
    terms: Terms<'r>,
    place: Vec<Step>,
    out: String,
}

impl Writing<'_> {
    /// Recursion is bounded by the depth of a document.
    fn value(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Object => self.members(value),
            Kind::Array => {
                self.out.push('[');
                for (at, element) in value.elements().enumerate() {
                    self.separate();
                    self.place.push(Step::Element(at));
                    self.value(element);
                    self.place.pop();
                }
                self.out.push(']');
            }
            Kind::String if self.level == Level::Normalised => self.text(value),
            Kind::Number if self.is_now(value) => self.out.push_str("…now"),
            _ => self.out.push_str(&canonical(value)),
        }
    }

    /// Writes a comma, unless a container has just been opened.
    fn separate(&mut self) {
        if !self.out.ends_with(['{', '[']) {
            self.out.push(',');
        }
    }

    fn members(&mut self, object: Value<'_>) {
        self.out.push('{');
        for (name, value) in sorted(object) {
            self.place.push(Step::Member(name.as_ref().into()));
            if name == "_meta" && self.place.len() == 2 {
                self.kept(value);
            } else if self.counts(value) {
                self.name(&name);
                if self.level == Level::Normalised && noise::is_made_up(&self.place) {
                    self.out.push('…');
                } else {
                    self.value(value);
                }
            }
            self.place.pop();
        }
        self.out.push('}');
    }

    /// Writes what rules keep of `params._meta`.
    fn kept(&mut self, value: Value<'_>) {
        if self.terms.scope.is_empty() {
            return;
        }
        if self.terms.scope.keeps(&self.place) {
            self.name(&Path::new(self.place.clone()).to_string());
            return self.value(value);
        }
        for (name, value) in sorted(value) {
            self.place.push(Step::Member(name.into()));
            self.kept(value);
            self.place.pop();
        }
    }

    /// Whether a member says which request it is.
    fn counts(&self, value: Value<'_>) -> bool {
        // A call without arguments and one with none are one and the same.
        let empty = value.is_object() && value.members().next().is_none();
        let is_arguments =
            matches!(self.place.as_slice(), [_, Step::Member(name)] if &**name == "arguments");
        if empty && is_arguments {
            return false;
        }
        self.level == Level::Exact
            || !(noise::may_be_missing(&self.place) || self.terms.scope.ignores(&self.place, None))
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.out.push_str(&quoted(name));
        self.out.push(':');
    }

    fn text(&mut self, value: Value<'_>) {
        let terms = self.terms;
        let text = value.as_str().unwrap_or_default();
        let rewritten = match terms.side {
            Side::Left => terms.rewrites.apply(&text),
            Side::Right => Cow::Borrowed(&*text),
        };
        let normalised = terms.scope.normalised(&self.place, terms.side, &rewritten);
        let shape = noise::shape(normalised.as_deref().unwrap_or(&rewritten));
        // What a text cannot hold, lone surrogates, still counts.
        let is_same = shape == text;
        self.out.push_str(&if is_same {
            canonical(value)
        } else {
            quoted(&shape)
        });
    }

    fn is_now(&self, value: Value<'_>) -> bool {
        let wall_ns = self.terms.wall_ns;
        let wall_ns = wall_ns.filter(|_| self.level == Level::Normalised);
        wall_ns.is_some_and(|wall_ns| noise::is_this_day(value, wall_ns))
    }
}

/// The members of an object in the order of their names, each once: the last one counts.
fn sorted(object: Value<'_>) -> BTreeMap<Cow<'_, str>, Value<'_>> {
    let members = object.members();
    members
        .map(|(name, value)| (name.as_str().unwrap_or_default(), value))
        .collect()
}

#[cfg(test)]
mod key_tests;
