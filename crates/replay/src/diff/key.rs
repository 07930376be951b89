//! Which request is which: digests of what it asks for.
//!
//! A key covers the method and the canonical params: sorted members, numbers by value, `_meta`
//! dropped but for what a rule keeps. It has two digests: the exact one, and the normalised one,
//! in which whatever two runs never share (tokens, cursors, times, temporary files), what a rule
//! ignores, and what a rule normalises makes no difference. Where nothing of that is in a request
//! the two are equal. Digests are the same in every run and on every machine.

use super::noise;
use crate::rewrite::Rewrites;
use crate::rules::{Scope, Side};
use mcpreel_wire::json::{Kind, Path, Step, Value, canonical, quoted};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::fmt;

/// A digest of a text: the first half of its SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 16]);

impl Digest {
    pub fn of(text: &[u8]) -> Self {
        let mut digesting = Digesting::default();
        digesting.push(text);
        digesting.finish()
    }
}

/// A digest of a text that comes in pieces.
#[derive(Debug, Default)]
pub struct Digesting(Sha256);

impl Digesting {
    pub fn push(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub fn finish(self) -> Digest {
        let whole: [u8; 32] = self.0.finalize().into();
        let mut half = [0; 16];
        half.copy_from_slice(&whole[..16]);
        Digest(half)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

/// The key of a request or notification, `message` being all of it.
pub fn key(message: Value<'_>, terms: Terms<'_>) -> Key {
    let digest = |level| {
        let mut writing = Writing::new(level, terms, Digesting::default());
        if let Some(method) = message.get("method") {
            writing.out.text(&canonical(method));
        }
        writing.params(message.get("params"));
        writing.out.finish()
    };
    Key {
        exact: digest(Level::Exact),
        normalised: digest(Level::Normalised),
    }
}

/// The words by which a question of the server is known on `side`, wherever it stands and whatever
/// it is called.
pub fn words(question: Value<'_>, side: Side, rewrites: &Rewrites, wall_ns: Option<u64>) -> Digest {
    let terms = Terms {
        scope: &Scope::default(),
        side,
        rewrites,
        wall_ns,
    };
    key(question, terms).normalised
}

/// What a request with these params asks for, as a text: canonical JSON, with a bare `…` for each
/// value that is left out. Two requests of a method have the same digest where they have the same
/// text.
pub fn text(params: Option<Value<'_>>, level: Level, terms: Terms<'_>) -> String {
    let mut writing = Writing::new(level, terms, String::new());
    writing.params(params);
    writing.out
}

impl Key {
    /// The key of a request that is one of several of its kind, as `word` says.
    pub fn of_kind(self, word: &str) -> Self {
        let with = |digest: Digest| Digest::of(format!("{digest} {word}").as_bytes());
        Self {
            exact: with(self.exact),
            normalised: with(self.normalised),
        }
    }

    /// The key of what is no JSON, or nested too deeply to be read.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let digest = Digest::of(bytes);
        Self {
            exact: digest,
            normalised: digest,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Exact,
    Normalised,
}

/// What a message is written into.
trait Sink {
    fn text(&mut self, text: &str);
}

impl Sink for Digesting {
    fn text(&mut self, text: &str) {
        self.push(text.as_bytes());
    }
}

impl Sink for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// A message on its way into a digest or a text.
struct Writing<'r, S> {
    level: Level,
    terms: Terms<'r>,
    place: Vec<Step>,
    /// Whether a container has just been opened.
    fresh: bool,
    out: S,
}

impl<'r, S: Sink> Writing<'r, S> {
    fn new(level: Level, terms: Terms<'r>, out: S) -> Self {
        Self {
            level,
            terms,
            place: Vec::new(),
            fresh: true,
            out,
        }
    }

    fn params(&mut self, params: Option<Value<'_>>) {
        match params {
            Some(params) => self.within(Step::Member("params".into()), params),
            // No params and none in them ask for the same.
            None => self.out.text("{}"),
        }
    }

    /// What is at the next step of the way. Recursion is bounded by the depth of a document.
    fn within(&mut self, step: Step, value: Value<'_>) {
        self.place.push(step);
        self.value(value);
        self.place.pop();
    }

    fn value(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Object => self.members(value),
            Kind::Array => {
                self.open("[");
                for (at, element) in value.elements().enumerate() {
                    self.separate();
                    self.within(Step::Element(at), element);
                }
                self.close("]");
            }
            Kind::String if self.level == Level::Normalised => self.text(value),
            Kind::Number if self.is_now(value) => self.out.text("…now"),
            _ => self.out.text(&canonical(value)),
        }
    }

    fn open(&mut self, bracket: &str) {
        self.out.text(bracket);
        self.fresh = true;
    }

    fn close(&mut self, bracket: &str) {
        self.out.text(bracket);
        self.fresh = false;
    }

    /// What stands before a value in a container.
    fn separate(&mut self) {
        if !std::mem::take(&mut self.fresh) {
            self.out.text(",");
        }
    }

    fn members(&mut self, object: Value<'_>) {
        self.open("{");
        for (name, value) in sorted(object) {
            self.place.push(Step::Member(name.as_ref().into()));
            if name == "_meta" && self.place.len() == 2 {
                self.kept(value);
            } else if self.counts(value) {
                self.name(&name);
                if self.level == Level::Normalised && noise::is_made_up(&self.place) {
                    self.out.text("…");
                } else {
                    self.value(value);
                }
            }
            self.place.pop();
        }
        self.close("}");
    }

    /// What rules keep of `params._meta`.
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
        if empty
            && matches!(self.place.as_slice(), [_, Step::Member(name)] if &**name == "arguments")
        {
            return false;
        }
        self.level == Level::Exact
            || !(noise::may_be_missing(&self.place) || self.terms.scope.ignores(&self.place, None))
    }

    fn name(&mut self, name: &str) {
        self.separate();
        self.out.text(&quoted(name));
        self.out.text(":");
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
        if shape == text {
            // What a text cannot hold, lone surrogates, still counts.
            self.out.text(&canonical(value));
        } else {
            self.out.text(&quoted(&shape));
        }
    }

    fn is_now(&self, value: Value<'_>) -> bool {
        let wall_ns = self.terms.wall_ns;
        let wall_ns = wall_ns.filter(|_| self.level == Level::Normalised);
        wall_ns.is_some_and(|wall_ns| noise::is_this_day(value, wall_ns))
    }
}

/// The members of an object in the order of their names, each once: the last one counts.
fn sorted(object: Value<'_>) -> Vec<(Cow<'_, str>, Value<'_>)> {
    let mut members: Vec<_> = object
        .members()
        .map(|(name, value)| (name.as_str().unwrap_or_default(), value))
        .collect();
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    // The last of equal names comes first, so that it stays.
    members.reverse();
    members.dedup_by(|(one, _), (other, _)| one == other);
    members.reverse();
    members
}

#[cfg(test)]
mod key_tests;
