//! Which request is which: digests of what it asks for.
//!
//! A key covers the method and the canonical params: sorted members, numbers by value, `_meta`
//! dropped but for what a rule keeps. It has two digests: the exact one, and the normalised one,
//! in which whatever two runs never share (tokens, cursors, times, temporary files), what a rule
//! ignores, and what a rule normalises makes no difference. Where nothing of that is in a request
//! the two are equal. Digests are the same in every run and on every machine.

use super::noise;
use super::rewrite::Rewrites;
use super::rules::{Scope, Side, Spot};
use crate::protocol::json::{Kind, Value, canonical, quoted};
use std::borrow::Cow;
use std::fmt;

/// Tells texts apart: FNV-1a of 128 bits. Whoever makes two requests collide on purpose gets the
/// one compared with the other, and sees that they differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// As it was sent.
    pub exact: Digest,
    /// Without what two runs never share.
    pub normalised: Digest,
}

/// By what a request is told apart.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'r> {
    /// The rules about it.
    pub scope: &'r Scope<'r>,
    /// Which side it is on.
    pub side: Side,
    /// Paths that stand for others on the right.
    pub rewrites: &'r Rewrites,
    /// When it was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
}

/// The key of a request or notification, `message` being all of it.
#[must_use]
pub fn key(message: Value<'_>, terms: Terms<'_>) -> Key {
    let digest = |level| {
        let mut writing = Writing::new(level, terms);
        if let Some(method) = message.get("method") {
            writing.out.push(canonical(method).as_bytes());
        }
        match message.get("params") {
            Some(params) => writing.within(Spot::Member("params".into()), params),
            // No params and none in them ask for the same.
            None => writing.out.push(b"{}"),
        }
        Digest(writing.out.0)
    };
    Key {
        exact: digest(Level::Exact),
        normalised: digest(Level::Normalised),
    }
}

impl Key {
    /// The key of what is no JSON, or nested too deeply to be read.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let digest = Digest::of(bytes);
        Self {
            exact: digest,
            normalised: digest,
        }
    }
}

impl Digest {
    /// The digest of a text.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let mut digesting = Digesting::default();
        digesting.push(text);
        digesting.finish()
    }
}

/// A digest of a text that comes in pieces.
#[derive(Debug)]
pub struct Digesting(Fnv);

impl Default for Digesting {
    fn default() -> Self {
        Self(Fnv(Fnv::BASIS))
    }
}

impl Digesting {
    /// The next piece.
    pub fn push(&mut self, piece: &[u8]) {
        self.0.push(piece);
    }

    /// The digest of all pieces.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The state of FNV-1a with 128 bits.
#[derive(Debug)]
struct Fnv(u128);

impl Fnv {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    fn push(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Exact,
    Normalised,
}

/// A message on its way into a digest.
struct Writing<'r> {
    level: Level,
    terms: Terms<'r>,
    place: Vec<Spot>,
    /// The members on the way, elements left out.
    names: Vec<Box<str>>,
    out: Fnv,
}

impl<'r> Writing<'r> {
    fn new(level: Level, terms: Terms<'r>) -> Self {
        Self {
            level,
            terms,
            place: Vec::new(),
            names: Vec::new(),
            out: Fnv(Fnv::BASIS),
        }
    }

    /// What is at the next step of the way. Recursion is bounded by the depth of a document.
    fn within(&mut self, spot: Spot, value: Value<'_>) {
        let name = match &spot {
            Spot::Member(name) => Some(name.clone()),
            Spot::Element(_) => None,
        };
        let names = self.names.len();
        self.names.extend(name);
        self.place.push(spot);
        self.value(value);
        self.place.pop();
        self.names.truncate(names);
    }

    fn value(&mut self, value: Value<'_>) {
        match value.kind() {
            Kind::Object => self.members(value),
            Kind::Array => {
                self.out.push(b"[");
                for (at, element) in value.elements().enumerate() {
                    self.within(Spot::Element(at), element);
                    self.out.push(b",");
                }
                self.out.push(b"]");
            }
            Kind::String if self.level == Level::Normalised => self.text(value),
            Kind::Number if self.is_now(value) => self.out.push(b"\0now"),
            _ => self.out.push(canonical(value).as_bytes()),
        }
    }

    fn members(&mut self, object: Value<'_>) {
        self.out.push(b"{");
        for (name, value) in sorted(object) {
            self.place.push(Spot::Member(name.as_ref().into()));
            self.names.push(name.as_ref().into());
            if name == "_meta" && self.place.len() == 2 {
                self.kept(value);
            } else if self.counts(value) {
                self.name(&name);
                if self.level == Level::Normalised && noise::is_made_up(&self.names) {
                    self.out.push(b"\0made up");
                } else {
                    self.value(value);
                }
            }
            self.names.pop();
            self.place.pop();
        }
        self.out.push(b"}");
    }

    /// What rules keep of `params._meta`.
    fn kept(&mut self, value: Value<'_>) {
        if self.terms.scope.is_empty() {
            return;
        }
        if self.terms.scope.keeps(&self.place) {
            for spot in self.place.clone() {
                if let Spot::Member(name) = spot {
                    self.name(&name);
                }
            }
            return self.value(value);
        }
        for (name, value) in sorted(value) {
            self.place.push(Spot::Member(name.into()));
            self.kept(value);
            self.place.pop();
        }
    }

    /// Whether a member says which request it is.
    fn counts(&self, value: Value<'_>) -> bool {
        // A call without arguments and one with none are one and the same.
        let empty = value.is_object() && value.members().next().is_none();
        if empty && matches!(self.names.as_slice(), [_, name] if &**name == "arguments") {
            return false;
        }
        self.level == Level::Exact
            || !(noise::may_be_missing(&self.names) || self.terms.scope.ignores(&self.place, None))
    }

    fn name(&mut self, name: &str) {
        // The length keeps names and values apart, whatever is in them.
        self.out.push(&(name.len() as u64).to_le_bytes());
        self.out.push(name.as_bytes());
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
            self.out.push(canonical(value).as_bytes());
        } else {
            self.out.push(quoted(&shape).as_bytes());
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
mod tests;
