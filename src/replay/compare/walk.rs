//! Walking two messages side by side.

use super::align::{self, Numbers, Pair};
use super::equal::{Exhausted, Members, Work, equal};
use super::line::{Excerpt, Label, Line, Verdict};
use super::noise;
use super::texts::texts_of_lines;
use super::{Change, Class, Comparison, Half};
use crate::protocol::json::{Kind, Value};

/// Lines that are kept. More can be neither read nor held: each may carry two kilobytes.
const MAX_LINES: usize = 10_000;

/// Unchanged values that are kept of each container, to be shown on request.
const KEPT_IN_A_ROW: usize = 100;

/// Two messages, being compared.
pub(super) struct Walk {
    pub(super) half: Half,
    pub(super) wall_ns: [Option<u64>; 2],
    pub(super) work: Work,
    /// The members on the way to what is being compared; elements are left out.
    pub(super) names: Vec<Box<str>>,
    pub(super) out: Comparison,
}

impl Walk {
    pub(super) fn new(half: Half, wall_ns: [Option<u64>; 2]) -> Self {
        Self {
            half,
            wall_ns,
            work: Work::new(),
            names: Vec::new(),
            out: Comparison::default(),
        }
    }

    pub(super) fn finish(self) -> Comparison {
        self.out
    }

    /// One of the messages, or both, are not there.
    pub(super) fn one_side_missing(&mut self, left: Option<&[u8]>, right: Option<&[u8]>) {
        let (class, change) = match (left, right) {
            (None, None) => return,
            (Some(_), _) => (self.worse(), Change::Removed),
            (None, Some(_)) => (Class::Added, Change::Added),
        };
        let verdict = Verdict::Differs {
            class,
            change,
            left: left.map(Excerpt::new),
            right: right.map(Excerpt::new),
        };
        self.push(0, Label::Root, verdict);
    }

    /// Two messages of which one is no JSON.
    pub(super) fn bytes(&mut self, left: &[u8], right: &[u8]) {
        self.out.limits.as_bytes = true;
        if left == right {
            return self.push(0, Label::Root, Verdict::Same(Excerpt::unchanged(left)));
        }
        let [left, right] = Excerpt::pair(left, right).map(Some);
        let verdict = Verdict::Differs {
            class: Class::Changed,
            change: Change::Value,
            left,
            right,
        };
        self.push(0, Label::Root, verdict);
    }

    /// Two messages. A result beside an error is one difference, not two.
    pub(super) fn message(&mut self, left: Value<'_>, right: Value<'_>) {
        let (Some((l_word, l)), Some((r_word, r))) = (outcome(left), outcome(right)) else {
            return self.value(0, Label::Root, left, right);
        };
        if l_word == r_word {
            return self.value(0, Label::Root, left, right);
        }
        let class = match r_word {
            "error" => self.worse(),
            _ => Class::Changed,
        };
        self.push(0, Label::Root, Verdict::Within(Kind::Object));
        let verdict = Verdict::Differs {
            class,
            change: Change::Outcome,
            left: Some(Excerpt::of(l)),
            right: Some(Excerpt::of(r)),
        };
        self.push(1, Label::Member(l_word.into()), verdict);
        if self.members(1, left, right, &["result", "error"]).is_err() {
            self.not_compared(1, Label::Root, left, right);
        }
    }

    fn value(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        match equal(left, right, &mut self.work) {
            Ok(true) => self.same(depth, label, left.raw()),
            Ok(false) => self.different(depth, label, left, right),
            Err(Exhausted) => self.not_compared(depth, label, left, right),
        }
    }

    fn different(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
        if left.kind() != right.kind() {
            return self.scalar(depth, label, Change::Type, left, right);
        }
        let texts = match left.kind() {
            Kind::String => texts_of_lines(left, right),
            _ => None,
        };
        if texts.is_none() && !matches!(left.kind(), Kind::Object | Kind::Array) {
            return self.scalar(depth, label, Change::Value, left, right);
        }
        if noise::is_noise(&self.names, left, right, self.wall_ns) {
            return self.scalar(depth, label, Change::Value, left, right);
        }
        let begin = self.out.lines.len();
        self.push(depth, label.clone(), Verdict::Within(left.kind()));
        let done = match (left.kind(), &texts) {
            (Kind::Object, _) => self.members(depth + 1, left, right, &[]),
            (_, Some([left, right])) => self.text_lines(depth + 1, left, right),
            _ => self.elements(depth + 1, left, right),
        };
        if done.is_err() {
            self.out.lines.truncate(begin);
            self.not_compared(depth, label, left, right);
        }
    }

    fn members(
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
            self.names.push(Box::from(&**name));
            let label = Label::Member(Box::from(&**name));
            match right.get(name) {
                Some(other) => self.value(depth, label, value, other),
                None => self.removed(depth, label, value, true),
            }
            self.names.pop();
        }
        let added = right
            .in_order()
            .filter(|(name, _)| left.get(name).is_none());
        for (name, value) in added.filter(|(name, _)| wanted(name)) {
            self.names.push(Box::from(&**name));
            self.added(depth, Label::Member(Box::from(&**name)), value);
            self.names.pop();
        }
        Ok(())
    }

    fn elements(&mut self, depth: u16, left: Value<'_>, right: Value<'_>) -> Result<(), Exhausted> {
        let left: Vec<_> = left.elements().collect();
        let right: Vec<_> = right.elements().collect();
        let name = self.names.last().map(AsRef::as_ref);
        if let Some(keyed) = align::keyed(name, &left, &right) {
            self.keyed(depth, &keyed, &left, &right);
            return Ok(());
        }
        let mut numbers = Numbers::default();
        let a = align::numbered(&left, &mut numbers, &mut self.work)?;
        let b = align::numbered(&right, &mut numbers, &mut self.work)?;
        let alignment = align::align(&a, &b);
        self.out.limits.coarse += u64::from(alignment.coarse);
        for pair in alignment.pairs {
            let (l, r) = places(pair);
            let label = |left, right| Label::Element {
                left,
                right,
                key: None,
            };
            let (one, other) = (l.map(|at| left[at]), r.map(|at| right[at]));
            match (one, other) {
                (Some(one), Some(other)) if one.kind() == other.kind() => {
                    self.value(depth, label(l, r), one, other);
                }
                _ => {
                    if let Some(one) = one {
                        self.removed(depth, label(l, None), one, false);
                    }
                    if let Some(other) = other {
                        self.added(depth, label(None, r), other);
                    }
                }
            }
        }
        Ok(())
    }

    /// Lists whose elements are known by name: their order is worth a word, no more.
    fn keyed(&mut self, depth: u16, keyed: &align::Keyed, left: &[Value<'_>], right: &[Value<'_>]) {
        if !keyed.in_order {
            let verdict = Verdict::Differs {
                class: Class::Order,
                change: Change::Order,
                left: Some(names(keyed.pairs.iter().map(|(key, l, _)| (*l, key)))),
                right: Some(names(keyed.pairs.iter().map(|(key, _, r)| (*r, key)))),
            };
            self.push(depth, Label::Root, verdict);
        }
        for (key, l, r) in &keyed.pairs {
            let label = Label::Element {
                left: *l,
                right: *r,
                key: Some(key.clone()),
            };
            match (l.map(|at| left[at]), r.map(|at| right[at])) {
                (Some(one), Some(other)) => self.value(depth, label, one, other),
                (Some(one), None) => self.removed(depth, label, one, true),
                (None, Some(other)) => self.added(depth, label, other),
                (None, None) => {}
            }
        }
    }

    pub(super) fn same(&mut self, depth: u16, label: Label, raw: &[u8]) {
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

    fn not_compared(&mut self, depth: u16, label: Label, left: Value<'_>, right: Value<'_>) {
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

/// `result` or `error` of a response.
fn outcome(message: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    let error = message.get("error").filter(|error| !error.is_null());
    match (message.get("result"), error) {
        (Some(result), None) => Some(("result", result)),
        (None, Some(error)) => Some(("error", error)),
        _ => None,
    }
}

pub(super) fn places(pair: Pair) -> (Option<usize>, Option<usize>) {
    match pair {
        Pair::Same(left, right) | Pair::Other(left, right) => (Some(left), Some(right)),
        Pair::Left(left) => (Some(left), None),
        Pair::Right(right) => (None, Some(right)),
    }
}

/// The keys of one side in its order.
fn names<'k>(keys: impl Iterator<Item = (Option<usize>, &'k Box<str>)>) -> Excerpt {
    let mut keys: Vec<_> = keys
        .filter_map(|(place, key)| Some((place?, &**key)))
        .collect();
    keys.sort_unstable();
    let keys: Vec<_> = keys.into_iter().map(|(_, key)| key).collect();
    Excerpt::new(keys.join(", ").as_bytes())
}
