//! Two messages, side by side.
//!
//! * The order of members and the spelling of numbers and strings make no difference.
//! * A text that is JSON itself is compared by what it says, a text in base64 by the text it holds.
//! * Lists of tools, resources and prompts are compared by name or URI, other arrays by a longest
//!   common subsequence, texts of several lines line by line.
//! * What is expected to differ (ids, tokens, times) is shown as [`Class::Noise`], not hidden.
//! * Work is bounded: each value is looked at once, [`Limits`](super::Limits) says what was not
//!   compared in full.

use super::align::{self, Pair};
use super::diff_report::List;
use super::line::{Comparison, Excerpt, Label, Line, Verdict};
use super::noise::{self, Beside};
use super::{Change, Class, Half};
use crate::rewrite::Rewrites;
use crate::rules::{Matching, Scope, Side as Which};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foldhash::HashMap;
use mcpreel_wire::json::{Document, Kind, Step, Value, canonical};
use std::borrow::Cow;

/// Lines that are kept. More can be neither read nor held: each may carry two kilobytes.
const MAX_LINES: usize = 10_000;

/// Unchanged values that are kept of each container, to be shown on request.
const KEPT_IN_A_ROW: usize = 100;

/// Longer texts are compared as a whole, not line by line.
const MAX_TEXT: usize = 1 << 20;

/// Bytes of lists that are aligned, those within lists counted again; lists beyond that are paired
/// by place. Hundreds of lists within each other would take minutes.
const MAX_ALIGNED: usize = 64 << 20;

/// One of two messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side<'t> {
    /// The bytes of the message; `None` where there is none.
    pub text: Option<&'t [u8]>,
    /// When it was sent, nanoseconds since the Unix epoch: numbers that mean this day are noise.
    pub wall_ns: Option<u64>,
}

/// A value of the left side and the one of the right side.
pub(crate) type Sides<'d> = [Option<Value<'d>>; 2];

/// By what two messages are compared; the default is for showing them side by side.
#[derive(Clone, Debug)]
pub struct Terms<'r> {
    /// The rules about these messages.
    pub scope: Scope<'r>,
    /// Paths of the left side that stand for others on the right.
    pub rewrites: &'r Rewrites,
    /// Whether numbers are equal only if written alike.
    pub exact_numbers: bool,
    /// Whether equal values are left out of the lines.
    pub differences_only: bool,
    /// The list of which the messages are pages: it is compared elsewhere, as is its cursor.
    pub page_of: Option<List>,
}

static NO_REWRITES: Rewrites = Rewrites::NONE;

impl Default for Terms<'_> {
    fn default() -> Self {
        Self {
            scope: Scope::default(),
            rewrites: &NO_REWRITES,
            exact_numbers: false,
            differences_only: false,
            page_of: None,
        }
    }
}

/// Compares two messages, the left one being the reference.
pub fn compare(half: Half, left: Side<'_>, right: Side<'_>) -> Comparison {
    compare_by(&Terms::default(), half, left, right)
}

/// [`compare`] with other terms than the usual ones.
pub fn compare_by(terms: &Terms<'_>, half: Half, left: Side<'_>, right: Side<'_>) -> Comparison {
    let mut walk = Walk::new(terms, half, [left.wall_ns, right.wall_ns]);
    let sides = [left.text, right.text].map(|text| text.map(Excerpt::new));
    match (left.text, right.text) {
        (Some(left), Some(right)) => match (Document::parse(left), Document::parse(right)) {
            (Ok(left), Ok(right)) => walk.message(left.root(), right.root()),
            _ => walk.bytes(left, right),
        },
        (Some(_), None) => walk.differs(Label::Root, walk.worse, Change::Removed, sides),
        (None, Some(_)) => walk.differs(Label::Root, Class::Added, Change::Added, sides),
        (None, None) => {}
    }
    walk.out
}

/// Compares two values that stand at `place` of two answers.
pub(super) fn compare_values(
    terms: &Terms<'_>,
    place: &[Step],
    left: Value<'_>,
    right: Value<'_>,
) -> Comparison {
    let mut walk = Walk::new(terms, Half::Response, [None; 2]);
    walk.place = place.to_vec();
    walk.value(Label::Root, left, right);
    walk.out
}

/// The members of two objects by their names, in the order of the left one; what only the right one
/// has comes last. Of several members of one name the last counts.
pub(crate) fn members(objects: Sides<'_>) -> Vec<(Cow<'_, str>, Sides<'_>)> {
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::default();
    let mut all: Vec<(Cow<'_, str>, Sides<'_>)> = Vec::new();
    for (side, object) in objects.into_iter().enumerate() {
        for (name, value) in object.into_iter().flat_map(|object| object.members()) {
            let name = name.as_str().unwrap_or_default();
            let at = *places.entry(name.clone()).or_insert(all.len());
            if at == all.len() {
                all.push((name, [None; 2]));
            }
            all[at].1[side] = Some(value);
        }
    }
    all
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

/// Whether an answer says that the call failed.
fn is_tool_error(message: Value<'_>) -> bool {
    let failed = message.get("result").and_then(|it| it.get("isError"));
    failed.and_then(|it| it.as_bool()) == Some(true)
}

/// The object or the list that a text is.
fn document(text: &str) -> Option<Document<'_>> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| Document::parse(text.as_bytes()).ok())?
        .filter(|document| matches!(document.root().kind(), Kind::Object | Kind::Array))
}

struct Walk<'r> {
    terms: &'r Terms<'r>,
    /// The class of what is missing, or of another type, on the right.
    worse: Class,
    wall_ns: [Option<u64>; 2],
    /// The path of the values that are being compared.
    place: Vec<Step>,
    depth: u16,
    /// Whether the values are within a text that is JSON itself.
    is_in_text: bool,
    /// Bytes of lists that may still be aligned.
    alignable: usize,
    /// Differences that were found, those without a line included.
    found: u64,
    out: Comparison,
}

impl<'r> Walk<'r> {
    fn new(terms: &'r Terms<'r>, half: Half, wall_ns: [Option<u64>; 2]) -> Self {
        Self {
            terms,
            worse: match half {
                Half::Request => Class::Changed,
                Half::Response => Class::Breaking,
            },
            wall_ns,
            place: Vec::new(),
            depth: 0,
            is_in_text: false,
            alignable: MAX_ALIGNED,
            found: 0,
            out: Comparison::default(),
        }
    }

    /// Two messages of which one is no JSON.
    fn bytes(&mut self, left: &[u8], right: &[u8]) {
        self.out.limits.as_bytes = true;
        if left == right {
            return self.same(Label::Root, left);
        }
        let sides = Excerpt::pair(left, right).map(Some);
        self.differs(Label::Root, Class::Changed, Change::Value, sides);
    }

    /// Two messages. A result beside an error is one difference, not two; and nobody relied on what
    /// a call said that failed.
    fn message(&mut self, left: Value<'_>, right: Value<'_>) {
        if is_tool_error(left) && !is_tool_error(right) {
            self.worse = Class::Changed;
        }
        let (l, r) = match (outcome(left), outcome(right)) {
            (Some(l), Some(r)) if l.0 != r.0 => (l, r),
            _ => return self.value(Label::Root, left, right),
        };
        let class = match r.0 {
            "error" => Class::Breaking,
            _ => Class::Changed,
        };
        self.within(Label::Root, left, |walk| {
            let sides = [l.1, r.1].map(|side| Some(Excerpt::new(side.raw())));
            walk.differs(Label::Member(l.0.into()), class, Change::Outcome, sides);
            walk.members(left, right, &["result", "error"]);
        });
    }

    /// Recursion is bounded by the depth of a document.
    fn value(&mut self, label: Label, left: Value<'_>, right: Value<'_>) {
        let kind = left.kind();
        if self.is_same(left, right) {
            return self.same(label, left.raw());
        }
        if self.is_elsewhere() {
            return;
        }
        if self.terms.scope.ignores(&self.place, None) {
            self.out.passed_over += 1;
        } else if kind != right.kind() {
            self.scalar(label, Change::Type, left, right);
        } else if kind == Kind::String {
            self.strings(label, left, right);
        } else if !matches!(kind, Kind::Object | Kind::Array)
            || self.beside().is_noise(left, right) && canonical(left) != canonical(right)
        {
            self.scalar(label, Change::Value, left, right);
        } else {
            self.within(label, left, |walk| walk.contents(left, right));
        }
    }

    /// Whether two values are equal to the byte, or scalars that mean the same.
    fn is_same(&self, left: Value<'_>, right: Value<'_>) -> bool {
        left.raw() == right.raw()
            || match (left.kind(), right.kind()) {
                (Kind::Number, Kind::Number) => {
                    !self.terms.exact_numbers && left.number() == right.number()
                }
                (Kind::String, Kind::String) => left.units().eq(right.units()),
                _ => false,
            }
    }

    /// Compares the contents of two objects or two lists.
    fn contents(&mut self, left: Value<'_>, right: Value<'_>) {
        match left.kind() {
            Kind::Object => self.members(left, right, &[]),
            _ => self.elements(left, right),
        }
    }

    fn members(&mut self, left: Value<'_>, right: Value<'_>, without: &[&str]) {
        for (name, sides) in members([Some(left), Some(right)]) {
            if without.contains(&&*name) {
                continue;
            }
            let label = Label::Member(Box::from(&*name));
            self.place.push(Step::Member(Box::from(&*name)));
            match sides {
                [Some(left), Some(right)] => self.value(label, left, right),
                _ => self.alone(label, sides, true),
            }
            self.place.pop();
        }
    }

    fn elements(&mut self, left: Value<'_>, right: Value<'_>) {
        let bytes = left.raw().len() + right.raw().len();
        let lists = [left, right].map(|list| list.elements().collect::<Vec<_>>());
        let matching = self.terms.scope.matching(&self.place);
        let key = match matching {
            Some(Matching::Keyed(member)) => Some(&**member),
            Some(Matching::Set) => None,
            None => noise::members(&self.place).last().and_then(align::key_of),
        };
        let keys = key.and_then(|key| align::keys(&lists[0], key).zip(align::keys(&lists[1], key)));
        if let Some((left, right)) = keys {
            let pairs = align::by_key([&left, &right], &[&Clone::clone]);
            if matching.is_none() && !align::is_in_order(&pairs) {
                let names = [&left, &right].map(|keys| Excerpt::new(keys.join(", ").as_bytes()));
                self.differs(Label::Root, Class::Order, Change::Order, names.map(Some));
            }
            for pair @ [l, r] in pairs {
                let key = l.map(|at| &left[at]).or(r.map(|at| &right[at]));
                self.pair(pair, key.map(|key| &**key), &lists);
            }
            return;
        }
        let pairs = if let Some(rest) = self.alignable.checked_sub(bytes) {
            self.alignable = rest;
            let texts = lists.each_ref().map(|list| {
                let texts = list.iter().map(|element| canonical(*element));
                texts.collect::<Vec<_>>()
            });
            self.aligned([&texts[0], &texts[1]], matching.is_some())
        } else {
            self.out.limits.coarse += 1;
            align::by_place(0..lists[0].len(), 0..lists[1].len()).collect()
        };
        for pair in pairs {
            self.pair(pair, None, &lists);
        }
    }

    /// Pairs elements by their texts, in any order if the lists are sets.
    fn aligned<K: AsRef<str> + std::hash::Hash + Eq>(
        &mut self,
        lists: [&[K]; 2],
        are_sets: bool,
    ) -> Vec<Pair> {
        if are_sets {
            // What has no equal is paired in order.
            let [left, right] =
                lists.map(|list| list.iter().map(AsRef::as_ref).collect::<Vec<_>>());
            return align::by_key([&left, &right], &[&|text| Some(*text), &|_| None]);
        }
        let (pairs, is_coarse) = align::in_sequence(lists[0], lists[1]);
        self.out.limits.coarse += u64::from(is_coarse);
        pairs
    }

    fn pair(&mut self, [l, r]: Pair, key: Option<&str>, [left, right]: &[Vec<Value<'_>>; 2]) {
        let label = |left, right| Label::Element {
            left,
            right,
            key: key.map(Box::from),
        };
        self.place.extend(l.or(r).map(Step::Element));
        match [l.map(|at| left[at]), r.map(|at| right[at])] {
            [Some(one), Some(other)] if key.is_some() || one.kind() == other.kind() => {
                self.value(label(l, r), one, other);
            }
            [one, other] => {
                if one.is_some() {
                    self.alone(label(l, None), [one, None], key.is_some());
                }
                if other.is_some() {
                    self.alone(label(None, r), [None, other], false);
                }
            }
        }
        self.place.pop();
    }

    fn strings(&mut self, label: Label, left: Value<'_>, right: Value<'_>) {
        let fits = left.raw().len().max(right.raw().len()) <= MAX_TEXT;
        let Some((l, r)) = left.as_str().zip(right.as_str()).filter(|_| fits) else {
            return self.scalar(label, Change::Value, left, right);
        };
        let decoded = self.decoded(&l, &r);
        let is_decoded = decoded.is_some();
        let mut texts = decoded.unwrap_or_else(|| [l.into_owned(), r.into_owned()]);
        for (text, side) in texts.iter_mut().zip([Which::Left, Which::Right]) {
            if let Some(normalised) = self.terms.scope.normalised(&self.place, side, text) {
                *text = normalised;
            }
        }
        let [l, r] = &texts;
        if !self.beside().is_noise(left, right) {
            if self.as_json(&label, left, [l, r]) {
                return;
            }
            // Texts in base64 are shown as what they say. Texts that differ only in what a text
            // does not show would be the same, line by line.
            if l != r && (is_decoded || l.contains('\n') && r.contains('\n')) {
                return self.within(label, left, |walk| walk.text_lines(l, r));
            }
        }
        let is_as_it_was = left.is_str(l) && right.is_str(r);
        if is_as_it_was || !self.beside().same_shape(l, r) {
            self.scalar(label, Change::Value, left, right);
        } else if l == r {
            self.out.passed_over += 1;
        } else {
            let sides = Excerpt::pair(left.raw(), right.raw()).map(Some);
            self.differs(label, Class::Noise, Change::Value, sides);
        }
    }

    /// The texts that two strings in base64 hold, at a member for such.
    fn decoded(&self, left: &str, right: &str) -> Option<[String; 2]> {
        if self.is_in_text || !noise::is_coded(&self.place) {
            return None;
        }
        let is_shown = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
        let text = |coded: &str| {
            let text = String::from_utf8(BASE64.decode(coded).ok()?).ok()?;
            text.chars().all(is_shown).then_some(text)
        };
        Some([text(left)?, text(right)?])
    }

    /// Compares two texts that both are a JSON object or both a list; returns whether they are.
    /// The contents have the place of the text, and their own behind that.
    fn as_json(&mut self, label: &Label, left: Value<'_>, texts: [&str; 2]) -> bool {
        let documents = texts.map(|text| document(text).filter(|_| !self.is_in_text));
        let [Some(l), Some(r)] = &documents else {
            return false;
        };
        let (l, r) = (l.root(), r.root());
        if l.kind() == r.kind() {
            self.is_in_text = true;
            self.within(label.clone(), left, |walk| walk.contents(l, r));
            self.is_in_text = false;
        }
        l.kind() == r.kind()
    }

    fn text_lines(&mut self, left: &str, right: &str) {
        let lines = [left, right].map(|text| text.split('\n').collect::<Vec<_>>());
        for [l, r] in self.aligned([&lines[0], &lines[1]], false) {
            let label = Label::TextLine { left: l, right: r };
            let excerpt = |text: &str| Excerpt::new(text.as_bytes());
            match (l.map(|at| lines[0][at]), r.map(|at| lines[1][at])) {
                (Some(left), Some(right)) if left == right => self.same(label, left.as_bytes()),
                (Some(left), Some(right)) => {
                    let is_noise = self.beside().same_shape(left, right);
                    let class = Class::Changed.unless(is_noise);
                    let sides = Excerpt::pair(left.as_bytes(), right.as_bytes());
                    self.differs(label, class, Change::Value, sides.map(Some));
                }
                (Some(left), None) => {
                    let sides = [Some(excerpt(left)), None];
                    self.differs(label, Class::Changed, Change::Removed, sides);
                }
                (None, right) => {
                    let sides = [None, right.map(excerpt)];
                    self.differs(label, Class::Added, Change::Added, sides);
                }
            }
        }
    }

    fn scalar(&mut self, label: Label, change: Change, left: Value<'_>, right: Value<'_>) {
        let class = if self.beside().is_noise(left, right) {
            Class::Noise
        } else if change == Change::Type || self.is_outcome([Some(left), Some(right)]) {
            self.worse
        } else {
            Class::Changed
        };
        let sides = match change {
            Change::Value => Excerpt::pair(left.raw(), right.raw()),
            _ => [left, right].map(|side| Excerpt::new(side.raw())),
        };
        self.differs(label, class, change, sides.map(Some));
    }

    /// Only one side has the value. `is_named` says whether readers ask for it by name.
    fn alone(&mut self, label: Label, sides: Sides<'_>, is_named: bool) {
        let is_member = matches!(label, Label::Member(_));
        let (side, change, class) = match sides {
            [Some(_), _] if is_named => (Which::Left, Change::Removed, self.worse),
            [Some(_), _] => (Which::Left, Change::Removed, Class::Changed),
            _ if is_member && self.is_outcome(sides) => (Which::Right, Change::Added, self.worse),
            _ => (Which::Right, Change::Added, Class::Added),
        };
        if self.terms.scope.ignores(&self.place, Some(side)) {
            self.out.passed_over += 1;
        } else if !self.is_elsewhere() {
            let value = sides[0].or(sides[1]).and_then(|it| it.as_bool());
            let is_noise = is_member && noise::may_be_missing(&self.place, value);
            let class = class.unless(is_noise);
            let sides = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
            self.differs(label, class, change, sides);
        }
    }

    fn is_elsewhere(&self) -> bool {
        self.terms.page_of.is_some_and(|list| {
            let names = [list.member(), "nextCursor"];
            names
                .iter()
                .any(|name| noise::members(&self.place).eq(["result", name]))
        })
    }

    /// Whether the change means that the right side no longer answers as the left one did:
    /// `isError` came up, or the result is of another type.
    fn is_outcome(&self, [left, right]: Sides<'_>) -> bool {
        let is_true = |value: Option<Value<'_>>| value.and_then(|it| it.as_bool()) == Some(true);
        let mut names = noise::members(&self.place);
        match (names.next(), names.next(), names.next()) {
            (Some("result"), Some("isError"), None) => !is_true(left) && is_true(right),
            (Some("result"), Some("resultType"), None) => {
                left.is_some() || right.is_some_and(|right| !right.is_str("complete"))
            }
            _ => false,
        }
    }

    fn beside(&self) -> Beside<'_> {
        Beside {
            place: &self.place,
            wall_ns: self.wall_ns,
            rewrites: self.terms.rewrites,
        }
    }

    /// Pushes a container and what `compare` finds in it, or that nothing differs in it.
    fn within(&mut self, label: Label, left: Value<'_>, compare: impl FnOnce(&mut Self)) {
        let (begin, found) = (self.out.lines.len(), self.found);
        self.push(label.clone(), Verdict::Within(left.kind()));
        self.depth += 1;
        compare(self);
        self.depth -= 1;
        if self.found == found {
            self.out.lines.truncate(begin);
            self.same(label, left.raw());
        }
    }

    fn same(&mut self, label: Label, raw: &[u8]) {
        if self.terms.differences_only {
            return;
        }
        let depth = self.depth;
        let last = self.out.lines.last_mut().filter(|last| last.depth == depth);
        if let Some(Verdict::SameUnkept(values)) = last.map(|last| &mut last.verdict) {
            *values += 1;
            return;
        }
        let run = self.out.lines.iter().rev().take(KEPT_IN_A_ROW);
        let run = run.take_while(|line| line.depth == depth && line.verdict.is_same());
        let verdict = match run.count() {
            ..KEPT_IN_A_ROW => Verdict::Same(Excerpt::new(raw)),
            _ => Verdict::SameUnkept(1),
        };
        self.push(label, verdict);
    }

    fn differs(
        &mut self,
        label: Label,
        class: Class,
        change: Change,
        [left, right]: [Option<Excerpt>; 2],
    ) {
        self.found += 1;
        if self.out.lines.len() >= MAX_LINES {
            self.out.limits.not_compared += 1;
        }
        let verdict = Verdict::Differs {
            class,
            change,
            left,
            right,
        };
        self.push(label, verdict);
    }

    fn push(&mut self, label: Label, verdict: Verdict) {
        if self.out.lines.len() < MAX_LINES {
            self.out.lines.push(Line {
                depth: self.depth,
                label,
                verdict,
            });
        }
    }
}

#[cfg(test)]
mod values_tests;
