//! What a JSON schema takes, beside what another one takes.
//!
//! ```text
//!  schema ─▶ View (with what `$ref` and `allOf` add) ─┐
//!                                                     ├─ types, enum ─ bounds ─ objects ─ arrays
//!  schema ─▶ View ────────────────────────────────────┘     ─ variants ─ whatever else differs
//! ```
//!
//! Every keyword is judged by itself: whether the right schema takes fewer values by it, more, or
//! nobody can say. That is more than what a proof would find (a keyword may not matter beside
//! another one), and what a person wants to know of an upgrade. The work is bounded: schemas are
//! somebody else's, may refer to themselves, and be as large as a message.

mod array;
mod bounds;
mod keywords;
mod object;
mod types;
mod variants;
mod view;

use mcpreel_wire::json::{Number, Step, Value, canonical};
use std::collections::{BTreeMap, HashSet};
use view::View;

/// Members that are looked at in a list of tools, and one for every [`BYTES`] of text. Where both
/// sides refer to themselves in different ways, each part may be held against each.
const MAX_WORK: usize = 4_000_000;

/// Bytes of text that count as one member.
const BYTES: usize = 32;

/// How deep properties may nest: what refers to itself is seen before.
const MAX_NESTING: usize = 200;

/// Findings that are kept of one schema; the rest are counted.
const MAX_FOUND: usize = 100;

/// What the right schema takes, compared with the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    Narrowed,
    Widened,
    /// Something optional that was not described before.
    Offered,
    /// Something is not described any more.
    Dropped,
    /// Something else, or nobody can say.
    Changed,
}

/// What a schema is for, which decides the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    Output,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it does to the values that are taken.
    pub effect: Effect,
    /// What it means, with the property that it is about. Not escaped.
    pub sentence: String,
    pub steps: Vec<Step>,
    /// The keyword's value on both sides, JSON as on the wire.
    pub sides: [Option<Vec<u8>>; 2],
}

/// What was found between two schemas.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The differences, in the order of the schema.
    pub found: Vec<Found>,
    /// Differences that are not kept, by what they do.
    pub more: BTreeMap<Effect, u64>,
}

#[derive(Debug)]
pub struct Work(usize);

impl Default for Work {
    fn default() -> Self {
        Self(MAX_WORK)
    }
}

impl Work {
    /// Whether so much could still be done; if so, it is taken off.
    fn take(&mut self, amount: usize) -> bool {
        let left = self.0.checked_sub(amount);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }

    /// Whether two values say the same; where there is no room to find out, they do not.
    pub(super) fn same(&mut self, left: Option<Value<'_>>, right: Option<Value<'_>>) -> bool {
        match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) if left.raw() == right.raw() => true,
            (Some(left), Some(right)) => {
                let texts = [left, right].map(|value| self.canonical(value));
                texts[0].is_some() && texts[0] == texts[1]
            }
            _ => false,
        }
    }

    /// The canonical text of a value, if there is still room for so many bytes.
    fn canonical(&mut self, value: Value<'_>) -> Option<String> {
        self.take(1 + value.raw().len() / BYTES)
            .then(|| canonical(value))
    }
}

/// Compares two schemas; `None` is one that takes anything.
pub fn compare(
    role: Role,
    left: Option<Value<'_>>,
    right: Option<Value<'_>>,
    work: &mut Work,
) -> Outcome {
    let mut comparing = Comparing {
        role,
        roots: [left, right],
        work,
        told: false,
        seen: HashSet::new(),
        steps: Vec::new(),
        subject: Vec::new(),
        out: Outcome::default(),
    };
    comparing.schemas(left, right);
    comparing.out
}

struct Comparing<'d, 'w> {
    role: Role,
    roots: [Option<Value<'d>>; 2],
    work: &'w mut Work,
    /// Whether it was told that there are too many.
    told: bool,
    /// Pairs that were compared, by where they stand.
    seen: HashSet<[usize; 2]>,
    steps: Vec<Step>,
    /// The properties on the way: what a person calls the place.
    subject: Vec<Box<str>>,
    out: Outcome,
}

impl<'d> Comparing<'d, '_> {
    fn schemas(&mut self, left: Option<Value<'d>>, right: Option<Value<'d>>) {
        let at = |side: Option<Value<'_>>| side.map_or(usize::MAX, |value| value.span().start);
        if !self.seen.insert([at(left), at(right)]) {
            return;
        }
        if self.steps.len() > MAX_NESTING {
            return self.too_much(left, right);
        }
        let views = [self.view(left, 0), self.view(right, 1)];
        if !self.work.take(1) {
            return self.too_much(left, right);
        }
        match &views {
            [View::Never, View::Never] => {}
            [View::Never, View::Takes(_)] => {
                self.add(Effect::Widened, "nothing was possible here", [left, right]);
            }
            [View::Takes(_), View::Never] => {
                self.add(Effect::Narrowed, "nothing is possible here", [left, right]);
            }
            [View::Takes(l), View::Takes(r)] => self.parts([l, r]),
        }
    }

    fn view(&mut self, value: Option<Value<'d>>, side: usize) -> View<'d> {
        View::of(value, self.roots[side], self.work)
    }

    fn same(&mut self, [left, right]: [Option<Value<'_>>; 2]) -> bool {
        self.work.same(left, right)
    }

    fn parts(&mut self, sides: [&view::Parts<'d>; 2]) {
        if sides.iter().any(|side| side.opaque().is_some()) {
            return self.opaque(sides);
        }
        self.types(sides);
        match self.chosen(sides) {
            Some((0, left)) => self.keywords([&left, sides[1]]),
            Some((_, right)) => self.keywords([sides[0], &right]),
            None => self.keywords(sides),
        }
    }

    fn keywords(&mut self, sides: [&view::Parts<'d>; 2]) {
        self.enums(sides);
        self.bounds(sides);
        self.texts(sides);
        self.objects(sides);
        self.arrays(sides);
        self.variants(sides);
        self.others(sides);
    }

    /// A reference that leads nowhere in the schema: there is only its text.
    fn opaque(&mut self, sides: [&view::Parts<'d>; 2]) {
        let [l, r] = sides.map(view::Parts::opaque);
        if !self.same([l, r]) {
            let sentence = "refers to another schema, which was not looked at";
            self.add(Effect::Changed, sentence, [l, r]);
        }
    }

    fn too_much(&mut self, left: Option<Value<'_>>, right: Option<Value<'_>>) {
        if !self.told {
            self.told = true;
            let sentence = "there is too much of the schema to compare it all";
            self.add(Effect::Changed, sentence, [left, right]);
        }
    }

    /// Does `work` at the member `name` of the schema.
    fn at(&mut self, name: &str, work: impl FnOnce(&mut Self)) {
        self.steps.push(Step::Member(name.into()));
        work(self);
        self.steps.pop();
    }

    /// Does `work` at a property, an element or a variant, which people call `name`.
    fn within(&mut self, steps: &[Step], name: &str, work: impl FnOnce(&mut Self)) {
        let length = self.steps.len();
        self.steps.extend_from_slice(steps);
        self.subject.push(name.into());
        work(self);
        self.subject.pop();
        self.steps.truncate(length);
    }

    fn add(&mut self, effect: Effect, said: &str, sides: [Option<Value<'_>>; 2]) {
        if self.out.found.len() == MAX_FOUND {
            *self.out.more.entry(effect).or_default() += 1;
            return;
        }
        let sentence = match self.subject() {
            subject if subject.is_empty() => said.to_owned(),
            subject => format!("`{subject}`: {said}"),
        };
        self.out.found.push(Found {
            effect,
            sentence,
            steps: self.steps.clone(),
            sides: sides.map(|side| side.map(|value| shortened(value.raw()))),
        });
    }

    fn subject(&self) -> String {
        let mut subject = String::new();
        for part in &self.subject {
            if !subject.is_empty() && !part.starts_with(['[', '(']) {
                subject.push('.');
            }
            subject.push_str(part);
        }
        subject
    }
}

/// As much of a value as is worth keeping: what is shown is less.
fn shortened(raw: &[u8]) -> Vec<u8> {
    const KEPT: usize = 1024;
    raw[..raw.len().min(KEPT)].to_vec()
}

/// The number that a keyword gives.
fn number(value: Option<Value<'_>>) -> Option<Number> {
    value.and_then(|value| value.number())
}

#[cfg(test)]
mod tests;
