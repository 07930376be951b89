//! What a server offers before and after: tools, prompts and resources by name, tools by what
//! their schemas take and give.
//!
//! | what became of it | class |
//! |---|---|
//! | gone; takes less; may give more than was promised | breaking |
//! | another description, other hints, a property that is no longer described | changed |
//! | new; takes more; promises more | added |
//! | listed in another order | order |
//!
//! A list that comes in several pages is compared as one, however it is cut.

use super::align::Matching as Pairing;
use super::diff_report::{self, Counts, Difference, Ledger, List, Offer};
use super::equal::{Sides, members};
use super::schema::{self, Role};
use super::values::{Terms, compare_values};
use super::{Change, Class, Excerpt, Half, Verdict};
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Path, Step, Value, canonical};
use std::collections::BTreeMap;

/// Bytes of pages that are kept of a list, on both sides together.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page {
    seq: Option<Seq>,
    answer: Vec<u8>,
    /// Whether it was asked for as the beginning of its list, as far as that is known.
    pub is_first: bool,
    is_last: bool,
}

impl Page {
    /// The page that an answer is, if it is one.
    pub fn of(
        list: List,
        seq: Option<Seq>,
        request: Option<&[u8]>,
        answer: Option<&[u8]>,
    ) -> Option<Self> {
        let answer = answer?;
        let document = Document::parse(answer).ok()?;
        let result = document.root().get("result")?;
        result.get(list.member())?;
        let is_cursor = |cursor: Option<Value<'_>>| cursor.is_some_and(|it| !it.is_null());
        let asks_on = |request| {
            let request = Document::parse(request).ok();
            let params = request.as_ref().and_then(|it| it.root().get("params"));
            is_cursor(params.and_then(|params| params.get("cursor")))
        };
        Some(Self {
            seq,
            answer: answer.to_vec(),
            is_first: request.is_some_and(|request| !asks_on(request)),
            is_last: !is_cursor(result.get("nextCursor")),
        })
    }
}

/// Both sides of a list, page by page.
pub(super) type Listing = [Vec<Page>; 2];

/// The lists of which pages are kept.
#[derive(Debug, Default)]
pub(super) struct Pages(BTreeMap<List, Listing>);

impl Pages {
    /// Whether pages of the list are kept and the last one of the side has not come.
    pub fn wants(&self, list: List, side: usize) -> bool {
        let listing = self.0.get(&list);
        listing.is_some_and(|listing| listing[side].last().is_none_or(|page| !page.is_last))
    }

    /// Adds a page; returns whether the list is whole now, or too long for more pages.
    pub fn add(&mut self, list: List, side: usize, page: Page) -> bool {
        let listing = self.0.entry(list).or_default();
        listing[side].push(page);
        let bytes = listing.iter().flatten().map(|page| page.answer.len());
        is_whole(&listing[0]) && is_whole(&listing[1]) || bytes.sum::<usize>() > MAX_BYTES
    }

    pub fn take(&mut self, list: List) -> Option<Listing> {
        self.0.remove(&list)
    }

    /// The lists of which pages are kept.
    pub fn open(&self) -> Vec<List> {
        self.0.keys().copied().collect()
    }
}

/// Whether the last page is there.
fn is_whole(pages: &[Page]) -> bool {
    pages.last().is_some_and(|page| page.is_last)
}

/// Compares both sides of a list, and adds the differences to the report; returns how many are new.
pub(super) fn compare(
    list: List,
    listing: &Listing,
    terms: &Terms<'_>,
    ledger: &mut Ledger,
) -> Counts {
    let documents = listing.each_ref().map(|pages| {
        let read = pages
            .iter()
            .filter_map(|page| Document::parse(&page.answer).ok());
        read.collect::<Vec<_>>()
    });
    let elements = documents.each_ref().map(|pages| {
        let results = pages.iter().filter_map(|page| page.root().get("result"));
        let lists = results.filter_map(|result| result.get(list.member()));
        lists.flat_map(|list| list.elements()).collect::<Vec<_>>()
    });
    let mut comparing = Comparing {
        list,
        is_whole: listing.each_ref().map(|pages| is_whole(pages)),
        seqs: listing
            .each_ref()
            .map(|pages| pages.first().and_then(|page| page.seq)),
        terms,
        name: Box::default(),
        place: ["result", list.member()]
            .map(|name| Step::Member(name.into()))
            .into(),
        ledger,
        counts: Counts::default(),
    };
    comparing.lists([&elements[0], &elements[1]]);
    comparing.counts
}

struct Comparing<'r> {
    list: List,
    /// Whether all pages of a side are there.
    is_whole: [bool; 2],
    seqs: [Option<Seq>; 2],
    terms: &'r Terms<'r>,
    /// The element that is being compared. Escaped.
    name: Box<str>,
    place: Vec<Step>,
    ledger: &'r mut Ledger,
    counts: Counts,
}

impl Comparing<'_> {
    fn lists(&mut self, [left, right]: [&[Value<'_>]; 2]) {
        let pairing = by_name(left, right, self.list.key());
        if !pairing.is_in_order() && self.terms.scope.matching(&self.place).is_none() {
            let sentence = format!("the {}s are listed in another order", self.list.word());
            self.add(Class::Order, Change::Order, &sentence, [None, None]);
        }
        for [l, r] in pairing.right_last() {
            let sides = [l.map(|at| left[at]), r.map(|at| right[at])];
            let Some(element) = sides[0].or(sides[1]) else {
                continue;
            };
            self.name = diff_report::name(&name(element, self.list.key()));
            self.place.extend(l.or(r).map(Step::Element));
            match sides {
                [Some(left), Some(right)] if left.raw() == right.raw() => {}
                [Some(left), Some(right)] => self.element(left, right),
                _ => self.alone(sides),
            }
            self.place.pop();
        }
    }

    /// Only one side has the element.
    fn alone(&mut self, sides: Sides<'_>) {
        let (class, sentence) = match (sides[0], self.is_whole) {
            (Some(_), [_, true]) => (Class::Breaking, "is gone"),
            (Some(_), _) => (Class::Changed, "is not on the pages that were asked for"),
            (None, [true, _]) => (Class::Added, "is new"),
            (None, _) => (
                Class::Added,
                "is new, or was on pages that were not asked for",
            ),
        };
        self.add(class, change(sides), sentence, excerpts(sides));
    }

    /// Both sides have the element, and it is not the same.
    fn element(&mut self, left: Value<'_>, right: Value<'_>) {
        let both = [Some(left), Some(right)];
        if left.kind() != right.kind() {
            let sentence = "is of another type";
            return self.add(Class::Breaking, Change::Type, sentence, excerpts(both));
        }
        for (name, sides) in members(both) {
            self.place.push(Step::Member(Box::from(&*name)));
            match (self.list, &*name) {
                (List::Tools, "inputSchema") => self.schemas(Role::Input, sides),
                (List::Tools, "outputSchema") => self.schemas(Role::Output, sides),
                (List::Prompts, "arguments") => self.arguments(sides),
                _ => self.other(&name, sides),
            }
            self.place.pop();
        }
    }

    fn schemas(&mut self, role: Role, sides: Sides<'_>) {
        let length = self.place.len();
        schema::compare(role, sides, &mut |found| {
            self.place.extend(found.place);
            let sides = excerpts(found.sides);
            self.add(found.class, change(found.sides), &found.sentence, sides);
            self.place.truncate(length);
        });
    }

    /// Compares the arguments of a prompt, some of them required.
    fn arguments(&mut self, sides: Sides<'_>) {
        let [left, right] = sides.map(|side| {
            let all = side.into_iter().flat_map(|side| side.elements());
            all.collect::<Vec<_>>()
        });
        for [l, r] in by_name(&left, &right, "name").right_last() {
            let values = [l.map(|at| left[at]), r.map(|at| right[at])];
            let is_required = values.map(|value| {
                let required = value.and_then(|value| value.get("required"));
                required.and_then(|value| value.as_bool()) == Some(true)
            });
            let (class, sentence) = match (values, is_required) {
                ([Some(l), Some(r)], _) if canonical(l) == canonical(r) => continue,
                ([Some(_), None], _) => (Class::Breaking, "is gone"),
                ([None, _], [_, true]) => (Class::Breaking, "is new and required"),
                ([None, _], _) => (Class::Added, "is new and optional"),
                (_, [false, true]) => (Class::Breaking, "is required now"),
                (_, [true, false]) => (Class::Added, "is optional now"),
                _ => (Class::Changed, "is described in another way"),
            };
            let name = values[0].or(values[1]).map(|value| name(value, "name"));
            let sentence = format!("argument `{}` {sentence}", name.unwrap_or_default());
            self.add(class, change(values), &sentence, excerpts(values));
        }
    }

    /// Compares a member that has no rule of its own: nobody fails by another one.
    fn other(&mut self, name: &str, sides: Sides<'_>) {
        match sides {
            [Some(left), Some(right)] => self.values(name, left, right),
            [Some(_), None] => {
                let sentence = format!("no `{name}` any more");
                self.add(Class::Changed, Change::Removed, &sentence, excerpts(sides));
            }
            [None, _] => {
                let sentence = format!("`{name}` is new");
                self.add(Class::Added, Change::Added, &sentence, excerpts(sides));
            }
        }
    }

    fn values(&mut self, name: &str, left: Value<'_>, right: Value<'_>) {
        let found = compare_values(self.terms, &self.place, left, right);
        self.ledger.report.left_out.passed_over += found.passed_over;
        self.ledger.report.left_out.values += found.limits.not_compared;
        if found.limits.not_compared > 0 {
            let sentence = format!("there is too much in `{name}` to compare it all");
            let sides = excerpts([Some(left), Some(right)]);
            self.add(Class::Changed, Change::Value, &sentence, sides);
        }
        for (at, class) in found.differences() {
            let Verdict::Differs {
                change,
                left,
                right,
                ..
            } = found.lines[at].verdict.clone()
            else {
                continue;
            };
            let inner = found.path(at);
            let is_member = matches!(inner.steps().first(), Some(Step::Member(_)));
            let what = format!("`{name}{}{inner}`", if is_member { "." } else { "" });
            let sentence = match change {
                Change::Added => format!("{what} is new"),
                Change::Removed => format!("no {what} any more"),
                Change::Order => format!("{what} is in another order"),
                _ => format!("another {what}"),
            };
            let length = self.place.len();
            self.place.extend(inner.steps().iter().cloned());
            self.add(class.max(Class::Changed), change, &sentence, [left, right]);
            self.place.truncate(length);
        }
    }

    fn add(&mut self, class: Class, change: Change, sentence: &str, sides: [Option<Excerpt>; 2]) {
        let only = match sides {
            [Some(_), None] => Some(Side::Left),
            [None, Some(_)] => Some(Side::Right),
            _ => None,
        };
        if self.is_ignored(only) {
            self.ledger.report.left_out.passed_over += 1;
            return;
        }
        let is_of_the_list = self.place.len() == 2;
        let [left, right] = sides.map(|side| side.as_ref().map(diff_report::value));
        let is_new = self.ledger.offer(Offer {
            list: self.list,
            name: if is_of_the_list {
                Box::default()
            } else {
                self.name.clone()
            },
            left: self.seqs[0],
            right: self.seqs[1],
            difference: Difference {
                half: Half::Response,
                path: diff_report::name(&Path::new(self.place.clone()).to_string()),
                class,
                change,
                left,
                right,
                note: Some(diff_report::name(sentence)),
            },
            times: 1,
        });
        // A list may be asked for again and again: it differs but once.
        self.counts.add(class, u64::from(is_new));
    }

    /// Whether a rule covers the place: there, or anywhere above within the list.
    fn is_ignored(&self, only: Option<Side>) -> bool {
        let scope = &self.terms.scope;
        !scope.is_empty()
            && (1..=self.place.len()).any(|length| {
                // A rule about one side is about what only that side has.
                let only = only.filter(|_| length == self.place.len());
                scope.ignores(&self.place[..length], only)
            })
    }
}

fn name(element: Value<'_>, key: &str) -> Box<str> {
    let name = element.get(key).and_then(|name| name.as_str());
    name.unwrap_or_default().into()
}

/// Pairs the elements of two lists by their names; of several with one name the first with the
/// first.
fn by_name(left: &[Value<'_>], right: &[Value<'_>], key: &str) -> Pairing {
    let mut pairing = Pairing::new(left.len(), right.len());
    pairing.pass(|at| name(left[at], key), |at| name(right[at], key));
    pairing
}

/// How a value changed that is on both sides, or on one.
fn change(sides: Sides<'_>) -> Change {
    match sides {
        [None, Some(_)] => Change::Added,
        [Some(_), None] => Change::Removed,
        _ => Change::Value,
    }
}

fn excerpts(sides: Sides<'_>) -> [Option<Excerpt>; 2] {
    sides.map(|side| side.map(|value| Excerpt::new(value.raw())))
}

#[cfg(test)]
mod lists_tests;
