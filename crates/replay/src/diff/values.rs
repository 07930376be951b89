//! Two messages, side by side.
//!
//! * The order of members and the spelling of numbers and strings make no difference.
//! * A text that is JSON itself is compared by what it says, a text in base64 by the text it holds.
//! * Lists of tools, resources and prompts are compared by name or URI, other arrays by a longest
//!   common subsequence, texts of several lines line by line.
//! * What is expected to differ (ids, tokens, times) is shown as [`Class::Noise`], not hidden.
//! * Work is bounded: [`Comparison::limits`] says what was not compared, or only coarsely.

use super::align::{self, Matching as Pairing, Numbers};
use super::equal::{Exhausted, Sides, Work, equal};
use super::line::{Comparison, Excerpt, Label, Line, Verdict};
use super::noise::{self, Beside};
use super::{Change, Class, Half};
use crate::rewrite::Rewrites;
use crate::rules::{Matching, Scope, Side as Which};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcpreel_wire::json::{Document, Kind, Step, Value, canonical};

/// Lines that are kept. More can be neither read nor held: each may carry two kilobytes.
const MAX_LINES: usize = 10_000;

/// Unchanged values that are kept of each container, to be shown on request.
const KEPT_IN_A_ROW: usize = 100;

/// Longer texts are compared as a whole, not line by line.
const MAX_TEXT: usize = 1 << 20;

/// One of two messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side<'t> {
    /// Its bytes; `None` where there is no message.
    pub text: Option<&'t [u8]>,
    /// When it was sent, nanoseconds since the Unix epoch: numbers that mean this day are noise.
    pub wall_ns: Option<u64>,
}

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
    /// Values that are compared elsewhere: the members on the way to each.
    pub elsewhere: &'r [&'r [&'r str]],
}

static NO_REWRITES: Rewrites = Rewrites::NONE;

impl Default for Terms<'_> {
    fn default() -> Self {
        Self {
            scope: Scope::default(),
            rewrites: &NO_REWRITES,
            exact_numbers: false,
            differences_only: false,
            elsewhere: &[],
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
    match (left.text, right.text) {
        (Some(left), Some(right)) => match (Document::parse(left), Document::parse(right)) {
            (Ok(left), Ok(right)) => walk.message(left.root(), right.root()),
            _ => walk.bytes(left, right),
        },
        (Some(left), None) => {
            let (class, sides) = (walk.worse(), [Some(Excerpt::new(left)), None]);
            walk.differs(Label::Root, class, Change::Removed, sides);
        }
        (None, Some(right)) => {
            let sides = [None, Some(Excerpt::new(right))];
            walk.differs(Label::Root, Class::Added, Change::Added, sides);
        }
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

/// `result` or `error` of a response.
fn outcome(message: Value<'_>) -> Option<(&'static str, Value<'_>)> {
    let error = message.get("error").filter(|error| !error.is_null());
    match (message.get("result"), error) {
        (Some(result), None) => Some(("result", result)),
        (None, Some(error)) => Some(("error", error)),
        _ => None,
    }
}

struct Walk<'r> {
    terms: &'r Terms<'r>,
    half: Half,
    wall_ns: [Option<u64>; 2],
    work: Work,
    /// Where the values stand that are being compared.
    place: Vec<Step>,
    depth: u16,
    /// Whether the values are within a text that is JSON itself.
    is_in_text: bool,
    out: Comparison,
}

impl<'r> Walk<'r> {
    fn new(terms: &'r Terms<'r>, half: Half, wall_ns: [Option<u64>; 2]) -> Self {
        Self {
            terms,
            half,
            wall_ns,
            work: Work::new(terms.exact_numbers),
            place: Vec::new(),
            depth: 0,
            is_in_text: false,
            out: Comparison::default(),
        }
    }

    /// Two messages of which one is no JSON.
    fn bytes(&mut self, left: &[u8], right: &[u8]) {
        self.out.limits.as_bytes = true;
        if left == right {
            return self.push(Label::Root, Verdict::Same(Excerpt::unchanged(left)));
        }
        let sides = Excerpt::pair(left, right).map(Some);
        self.differs(Label::Root, Class::Changed, Change::Value, sides);
    }

    /// Two messages. A result beside an error is one difference, not two.
    fn message(&mut self, left: Value<'_>, right: Value<'_>) {
        let (l, r) = match (outcome(left), outcome(right)) {
            (Some(l), Some(r)) if l.0 != r.0 => (l, r),
            _ => return self.value(Label::Root, left, right),
        };
        let class = if r.0 == "error" {
            self.worse()
        } else {
            Class::Changed
        };
        self.within(Label::Root, left, right, |walk| {
            let sides = [l.1, r.1].map(|side| Some(Excerpt::new(side.raw())));
            walk.differs(Label::Member(l.0.into()), class, Change::Outcome, sides);
            walk.members(left, right, &["result", "error"])
        });
    }

    fn value(&mut self, label: Label, left: Value<'_>, right: Value<'_>) {
        match equal(left, right, &mut self.work) {
            Ok(true) => self.same(label, left.raw()),
            Ok(false) if self.is_elsewhere() => {}
            Ok(false) if self.terms.scope.ignores(&self.place, None) => self.out.passed_over += 1,
            Ok(false) => self.different(label, left, right),
            Err(Exhausted) => self.not_compared(label, left, right),
        }
    }

    fn different(&mut self, label: Label, left: Value<'_>, right: Value<'_>) {
        if left.kind() != right.kind() {
            return self.scalar(label, Change::Type, left, right);
        }
        match left.kind() {
            Kind::Object | Kind::Array if !self.beside().is_noise(left, right) => {
                self.within(label, left, right, |walk| walk.contents(left, right));
            }
            Kind::String => self.strings(label, left, right),
            _ => self.scalar(label, Change::Value, left, right),
        }
    }

    /// Compares the contents of two objects or two lists.
    fn contents(&mut self, left: Value<'_>, right: Value<'_>) -> Result<(), Exhausted> {
        match left.kind() {
            Kind::Object => self.members(left, right, &[]),
            _ => self.elements(left, right),
        }
    }

    fn members(
        &mut self,
        left: Value<'_>,
        right: Value<'_>,
        without: &[&str],
    ) -> Result<(), Exhausted> {
        for (name, sides) in self.work.members(left, right)? {
            if without.contains(&&*name) {
                continue;
            }
            let label = Label::Member(Box::from(&*name));
            self.place.push(Step::Member(Box::from(&*name)));
            match sides {
                [Some(left), Some(right)] => self.value(label, left, right),
                [Some(left), None] => self.removed(label, left, true),
                [None, right] => self.added(label, right),
            }
            self.place.pop();
        }
        Ok(())
    }

    fn elements(&mut self, left: Value<'_>, right: Value<'_>) -> Result<(), Exhausted> {
        let left: Vec<_> = left.elements().collect();
        let right: Vec<_> = right.elements().collect();
        let matching = self.terms.scope.matching(&self.place);
        let key = match matching {
            Some(Matching::Keyed(member)) => Some(&**member),
            Some(Matching::Set) => None,
            None => noise::members(&self.place).last().and_then(align::key_of),
        };
        let keys = key.and_then(|key| align::keys(&left, key).zip(align::keys(&right, key)));
        if let Some(keys) = keys {
            self.keyed(&keys, [&left, &right], matching.is_none());
            return Ok(());
        }
        let mut numbers = Numbers::default();
        let mut numbered = |elements: &[Value<'_>]| {
            let number = |element: &Value<'_>| {
                self.work.on_bytes(element.raw().len())?;
                Ok(numbers.of(canonical(*element)))
            };
            elements.iter().map(number).collect::<Result<Vec<_>, _>>()
        };
        let (a, b) = (numbered(&left)?, numbered(&right)?);
        let pairs = if matching == Some(&Matching::Set) {
            let mut pairing = Pairing::new(a.len(), b.len());
            pairing.pass(|at| a[at], |at| b[at]);
            // What has no equal is paired in order.
            pairing.pass(|_| (), |_| ());
            pairing.right_last()
        } else {
            self.in_sequence(&a, &b)
        };
        for places in pairs {
            self.pair(places, None, [&left, &right]);
        }
        Ok(())
    }

    fn in_sequence(&mut self, left: &[u32], right: &[u32]) -> Vec<align::Pair> {
        let (pairs, coarse) = align::in_sequence(left, right);
        self.out.limits.coarse += u64::from(coarse);
        pairs
    }

    /// Two lists whose elements have a name or URI.
    fn keyed(
        &mut self,
        (left, right): &(Vec<Box<str>>, Vec<Box<str>>),
        elements: [&[Value<'_>]; 2],
        order_matters: bool,
    ) {
        let mut pairing = Pairing::new(left.len(), right.len());
        pairing.pass(|at| &left[at], |at| &right[at]);
        if order_matters && !pairing.is_in_order() {
            let names = [left, right].map(|keys| Some(Excerpt::new(keys.join(", ").as_bytes())));
            self.differs(Label::Root, Class::Order, Change::Order, names);
        }
        for places in pairing.right_last() {
            let key = match places {
                [Some(at), _] => &left[at],
                [None, at] => &right[at.unwrap_or_default()],
            };
            self.pair(places, Some(key), elements);
        }
    }

    fn pair(&mut self, [l, r]: align::Pair, key: Option<&str>, [left, right]: [&[Value<'_>]; 2]) {
        let label = |left, right| Label::Element {
            left,
            right,
            key: key.map(Into::into),
        };
        self.place.extend(l.or(r).map(Step::Element));
        match (l.map(|at| left[at]), r.map(|at| right[at])) {
            (Some(one), Some(other)) if key.is_some() || one.kind() == other.kind() => {
                self.value(label(l, r), one, other);
            }
            (one, other) => {
                if let Some(one) = one {
                    self.removed(label(l, None), one, key.is_some());
                }
                if other.is_some() {
                    self.added(label(None, r), other);
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
        let is_noise = self.beside().is_noise(left, right);
        if !is_noise && self.as_json(&label, [left, right], [l, r]) {
            return;
        }
        // Texts in base64 are shown as what they say. Texts that differ only in what a text does
        // not show would be the same, line by line.
        let by_line = l != r && (is_decoded || l.contains('\n') && r.contains('\n'));
        if !is_noise && by_line {
            return self.within(label, left, right, |walk| walk.text_lines(l, r));
        }
        let as_they_are = left.is_str(l) && right.is_str(r);
        if as_they_are || !self.beside().same_shape(l, r) {
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
    fn as_json(&mut self, label: &Label, [left, right]: [Value<'_>; 2], texts: [&str; 2]) -> bool {
        let [Some(l), Some(r)] = texts.map(|text| document(text).filter(|_| !self.is_in_text))
        else {
            return false;
        };
        let (l, r) = (l.root(), r.root());
        if l.kind() != r.kind() {
            return false;
        }
        self.is_in_text = true;
        match equal(l, r, &mut self.work) {
            Ok(true) => self.same(label.clone(), left.raw()),
            Ok(false) => self.within(label.clone(), left, right, |walk| {
                walk.work.on_bytes(left.raw().len() + right.raw().len())?;
                walk.contents(l, r)
            }),
            Err(Exhausted) => self.not_compared(label.clone(), left, right),
        }
        self.is_in_text = false;
        true
    }

    fn text_lines(&mut self, left: &str, right: &str) -> Result<(), Exhausted> {
        self.work.on_bytes(left.len() + right.len())?;
        let [left, right] = [left, right].map(|text| text.split('\n').collect::<Vec<_>>());
        let mut numbers = Numbers::default();
        let [a, b] = [&left, &right].map(|lines| {
            let all = lines.iter().map(|line| numbers.of(*line));
            all.collect::<Vec<_>>()
        });
        for [l, r] in self.in_sequence(&a, &b) {
            let label = Label::TextLine { left: l, right: r };
            self.text_line(label, l.map(|at| left[at]), r.map(|at| right[at]));
        }
        Ok(())
    }

    fn text_line(&mut self, label: Label, left: Option<&str>, right: Option<&str>) {
        let excerpt = |text: &str| Excerpt::new(text.as_bytes());
        let (class, change, sides) = match (left, right) {
            (Some(left), Some(right)) if left == right => return self.same(label, left.as_bytes()),
            (Some(left), Some(right)) => {
                let is_noise = self.beside().same_shape(left, right);
                let class = if is_noise {
                    Class::Noise
                } else {
                    Class::Changed
                };
                let sides = Excerpt::pair(left.as_bytes(), right.as_bytes());
                (class, Change::Value, sides.map(Some))
            }
            (Some(left), None) => (Class::Changed, Change::Removed, [Some(excerpt(left)), None]),
            (None, right) => (Class::Added, Change::Added, [None, right.map(excerpt)]),
        };
        self.differs(label, class, change, sides);
    }

    fn scalar(&mut self, label: Label, change: Change, left: Value<'_>, right: Value<'_>) {
        let class = if self.beside().is_noise(left, right) {
            Class::Noise
        } else if change == Change::Type || self.is_outcome([Some(left), Some(right)]) {
            self.worse()
        } else {
            Class::Changed
        };
        let sides = match change {
            Change::Value => Excerpt::pair(left.raw(), right.raw()),
            _ => [left, right].map(|side| Excerpt::new(side.raw())),
        };
        self.differs(label, class, change, sides.map(Some));
    }

    /// Only the left side has the value. `relied_on` says whether readers ask for it by name.
    fn removed(&mut self, label: Label, value: Value<'_>, relied_on: bool) {
        let class = match &label {
            Label::Member(_) if noise::may_be_missing(&self.place) => Class::Noise,
            _ if relied_on => self.worse(),
            _ => Class::Changed,
        };
        self.alone(label, class, Change::Removed, [Some(value), None]);
    }

    /// Only the right side has the value.
    fn added(&mut self, label: Label, value: Option<Value<'_>>) {
        let class = match &label {
            Label::Member(_) if noise::may_be_missing(&self.place) => Class::Noise,
            Label::Member(_) if self.is_outcome([None, value]) => self.worse(),
            _ => Class::Added,
        };
        self.alone(label, class, Change::Added, [None, value]);
    }

    fn alone(&mut self, label: Label, class: Class, change: Change, sides: Sides<'_>) {
        let side = if sides[0].is_some() {
            Which::Left
        } else {
            Which::Right
        };
        if self.terms.scope.ignores(&self.place, Some(side)) {
            self.out.passed_over += 1;
        } else if !self.is_elsewhere() {
            let sides = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
            self.differs(label, class, change, sides);
        }
    }

    fn is_elsewhere(&self) -> bool {
        let mut elsewhere = self.terms.elsewhere.iter();
        elsewhere.any(|place| noise::members(&self.place).eq(place.iter().copied()))
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

    fn worse(&self) -> Class {
        match self.half {
            Half::Request => Class::Changed,
            Half::Response => Class::Breaking,
        }
    }

    fn beside(&self) -> Beside<'_> {
        Beside {
            place: &self.place,
            wall_ns: self.wall_ns,
            rewrites: self.terms.rewrites,
        }
    }

    /// Pushes a container and what `compare` finds in it, or that there was too much to compare.
    fn within(
        &mut self,
        label: Label,
        left: Value<'_>,
        right: Value<'_>,
        compare: impl FnOnce(&mut Self) -> Result<(), Exhausted>,
    ) {
        let begin = self.out.lines.len();
        self.push(label.clone(), Verdict::Within(left.kind()));
        self.depth += 1;
        let compared = compare(self);
        self.depth -= 1;
        if compared.is_err() {
            self.out.lines.truncate(begin);
            self.not_compared(label, left, right);
        }
    }

    fn same(&mut self, label: Label, raw: &[u8]) {
        if self.terms.differences_only {
            return;
        }
        let depth = self.depth;
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
        let run = self.out.lines.iter().rev().take(KEPT_IN_A_ROW);
        let run = run.take_while(|line| line.depth == depth && line.verdict.is_same());
        let verdict = match run.count() {
            ..KEPT_IN_A_ROW => Verdict::Same(Excerpt::unchanged(raw)),
            _ => Verdict::SameUnkept(1),
        };
        if self.out.lines.len() < MAX_LINES {
            self.push(label, verdict);
        }
    }

    fn not_compared(&mut self, label: Label, left: Value<'_>, right: Value<'_>) {
        if self.out.lines.len() < MAX_LINES {
            self.out.limits.not_compared += 1;
        }
        let [left, right] = [left, right].map(|side| Excerpt::unchanged(side.raw()));
        self.push(label, Verdict::NotCompared { left, right });
    }

    fn differs(
        &mut self,
        label: Label,
        class: Class,
        change: Change,
        [left, right]: [Option<Excerpt>; 2],
    ) {
        let verdict = Verdict::Differs {
            class,
            change,
            left,
            right,
        };
        self.push(label, verdict);
    }

    fn push(&mut self, label: Label, verdict: Verdict) {
        if self.out.lines.len() >= MAX_LINES {
            self.out.limits.not_compared += 1;
            return;
        }
        self.out.lines.push(Line {
            depth: self.depth,
            label,
            verdict,
        });
    }
}

/// The object or the list that a text is.
fn document(text: &str) -> Option<Document<'_>> {
    text.trim_start()
        .starts_with(['{', '['])
        .then(|| Document::parse(text.as_bytes()).ok())?
        .filter(|document| matches!(document.root().kind(), Kind::Object | Kind::Array))
}

#[cfg(test)]
mod values_tests;
