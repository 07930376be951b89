//! Walking two messages side by side.

use super::align::Pair;
use super::equal::{Exhausted, Members, Work, equal};
use super::line::{Excerpt, Label, Line, Verdict};
use super::terms::Terms;
use super::texts::{have_lines, texts};
use super::{Change, Comparison, Half};
use crate::noise::Beside;
use crate::rules::{Side, Spot};
use mcpreel_wire::json::{Kind, Value};

/// Lines that are kept. More can be neither read nor held: each may carry two kilobytes.
const MAX_LINES: usize = 10_000;

/// Unchanged values that are kept of each container, to be shown on request.
const KEPT_IN_A_ROW: usize = 100;

pub(super) struct Walk<'r> {
    pub(super) terms: &'r Terms<'r>,
    pub(super) half: Half,
    pub(super) wall_ns: [Option<u64>; 2],
    pub(super) work: Work,
    /// The members on the way to what is being compared; elements are left out.
    pub(super) names: Vec<Box<str>>,
    /// The whole way, as rules see it.
    pub(super) place: Vec<Spot>,
    /// Whether that is within a text that is JSON itself.
    pub(super) is_in_text: bool,
    pub(super) out: Comparison,
}

impl<'r> Walk<'r> {
    pub(super) fn new(terms: &'r Terms<'r>, half: Half, wall_ns: [Option<u64>; 2]) -> Self {
        Self {
            terms,
            half,
            wall_ns,
            work: Work::new(terms.exact_numbers),
            names: Vec::new(),
            place: Vec::new(),
            is_in_text: false,
            out: Comparison::default(),
        }
    }

    pub(super) fn finish(self) -> Comparison {
        self.out
    }

    /// Two values that stand at `place` of two messages.
    pub(super) fn value_at(&mut self, place: &[Spot], left: Value<'_>, right: Value<'_>) {
        self.place = place.to_vec();
        let names = place.iter().filter_map(|spot| match spot {
            Spot::Member(name) => Some(name.clone()),
            Spot::Element(_) => None,
        });
        self.names = names.collect();
        self.value(0, Label::Root, left, right);
    }

    pub(super) fn value(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        match equal(left, right, &mut self.work) {
            Ok(true) => self.same(depth, label, left.raw()),
            Ok(false) if self.is_elsewhere() => {}
            Ok(false) if self.terms.scope.ignores(&self.place, None) => self.out.passed_over += 1,
            Ok(false) => self.different(depth, label, left, right),
            Err(Exhausted) => self.not_compared(depth, label, left, right),
        }
    }

    fn different(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        if left.kind() != right.kind() {
            return self.scalar(depth, label, Change::Type, left, right);
        }
        match left.kind() {
            Kind::Object | Kind::Array => self.containers(depth, label, left, right),
            Kind::String => self.strings(depth, label, left, right),
            _ => self.scalar(depth, label, Change::Value, left, right),
        }
    }

    fn containers(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        if self.beside().is_noise(left, right) {
            return self.scalar(depth, label, Change::Value, left, right);
        }
        self.within(depth, label, [left, right], |walk| {
            walk.inside(depth, left, right)
        });
    }

    /// What two objects or two lists have that stand so deep.
    pub(super) fn inside(
        &mut self,
        depth: u16,
        left: Value<'_>,
        right: Value<'_>,
    ) -> Result<(), Exhausted> {
        match left.kind() {
            Kind::Object => self.members(depth + 1, left, right, &[]),
            _ => self.elements(depth + 1, left, right),
        }
    }

    fn strings(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        let Some(mut texts) = texts(left, right) else {
            return self.scalar(depth, label, Change::Value, left, right);
        };
        let decoded = self.decoded(&texts);
        let is_decoded = decoded.is_some();
        texts = decoded.unwrap_or(texts);
        let sides = [Side::Left, Side::Right];
        for (text, side) in texts.iter_mut().zip(sides) {
            let normalised = self.terms.scope.normalised(&self.place, side, text);
            if let Some(normalised) = normalised {
                *text = normalised;
            }
        }
        let noise = self.beside().is_noise(left, right);
        if !noise && self.written(depth, &label, [left, right], &texts) {
            return;
        }
        // What is in base64 on the wire is shown as what it says.
        let differ = is_decoded && texts[0] != texts[1];
        if noise || !(differ || have_lines(&texts)) {
            return self.text(depth, label, [left, right], &texts);
        }
        let [l, r] = &texts;
        self.within(depth, label, [left, right], |walk| {
            walk.text_lines(depth + 1, l, r)
        });
    }

    /// What `compare` finds between two values, or that there was too much to compare.
    pub(super) fn within(
        &mut self,
        depth: u16,
        label: Label,
        [left, right]: [Value<'_>; 2],
        compare: impl FnOnce(&mut Self) -> Result<(), Exhausted>,
    ) {
        let begin = self.out.lines.len();
        self.push(depth, label.clone(), Verdict::Within(left.kind()));
        if compare(self).is_err() {
            self.out.lines.truncate(begin);
            self.not_compared(depth, label, left, right);
        }
    }

    /// What differs between two values at the place that is being compared.
    pub(super) fn beside(&self) -> Beside<'_> {
        Beside {
            names: &self.names,
            wall_ns: self.wall_ns,
            rewrites: self.terms.rewrites,
        }
    }

    pub(super) fn is_elsewhere(&self) -> bool {
        let names = self.names.iter().map(AsRef::as_ref);
        let mut elsewhere = self.terms.elsewhere.iter();
        elsewhere.any(|place| names.clone().eq(place.iter().copied()))
    }

    pub(super) fn members(
        &mut self,
        depth: u16,
        left: Value<'_>,
        right: Value<'_>,
        without: &[&str],
    ) -> Result<(), Exhausted> {
        let left = Members::of(left, &mut self.work)?;
        let right = Members::of(right, &mut self.work)?;
        let wanted = |name: &str| !without.contains(&name);
        for (name, value) in left.in_order().filter(|(name, _)| wanted(name)) {
            let label = Label::Member(Box::from(&**name));
            self.enter(name);
            match right.get(name) {
                Some(other) => self.value(depth, label, value, other),
                None => self.removed(depth, label, value, true),
            }
            self.leave();
        }
        let added = right
            .in_order()
            .filter(|(name, _)| left.get(name).is_none());
        for (name, value) in added.filter(|(name, _)| wanted(name)) {
            self.enter(name);
            self.added(depth, Label::Member(Box::from(&**name)), value);
            self.leave();
        }
        Ok(())
    }

    fn enter(&mut self, name: &str) {
        self.names.push(name.into());
        self.place.push(Spot::Member(name.into()));
    }

    fn leave(&mut self) {
        self.names.pop();
        self.place.pop();
    }

    pub(super) fn same(&mut self, depth: u16, label: Label, raw: &[u8]) {
        if self.terms.differences_only {
            return;
        }
        let run = self.out.lines.iter().rev().take(KEPT_IN_A_ROW);
        let run = run.take_while(|line| line.depth == depth && line.verdict.is_same());
        let kept = run.count();
        if let Some(Line {
            depth: same_depth,
            verdict: Verdict::SameUnkept(values),
            ..
        }) = self.out.lines.last_mut()
            && *same_depth == depth
        {
            *values += 1;
            return;
        }
        let verdict = match kept {
            ..KEPT_IN_A_ROW => Verdict::Same(Excerpt::unchanged(raw)),
            _ => Verdict::SameUnkept(1),
        };
        if self.out.lines.len() < MAX_LINES {
            self.out.lines.push(Line {
                depth,
                label,
                verdict,
            });
        }
    }

    pub(super) fn not_compared(
        &mut self,
        depth: u16,
        label: Label,
        left: Value<'_>,
        right: Value<'_>,
    ) {
        let verdict = Verdict::NotCompared {
            left: Excerpt::unchanged(left.raw()),
            right: Excerpt::unchanged(right.raw()),
        };
        if self.out.lines.len() < MAX_LINES {
            self.out.limits.not_compared += 1;
        }
        self.push(depth, label, verdict);
    }

    pub(super) fn push(&mut self, depth: u16, label: Label, verdict: Verdict) {
        if self.out.lines.len() >= MAX_LINES {
            self.out.limits.not_compared += 1;
            return;
        }
        self.out.lines.push(Line {
            depth,
            label,
            verdict,
        });
    }
}

pub(super) fn places(pair: Pair) -> (Option<usize>, Option<usize>) {
    match pair {
        Pair::Same(left, right) | Pair::Other(left, right) => (Some(left), Some(right)),
        Pair::Left(left) => (Some(left), None),
        Pair::Right(right) => (None, Some(right)),
    }
}
