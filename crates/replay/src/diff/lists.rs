//! Lists that a server offers, before and after: tools, prompts and resources by name, tools by
//! their schemas.
//!
//! | what became of it | class |
//! |---|---|
//! | gone; takes less; may give more than was promised | breaking |
//! | another description, other hints | changed |
//! | new; takes more; promises more | added |
//! | listed in another order | order |
//!
//! A list that comes in several pages is compared as one, however it is cut.

use super::align;
use super::diff_report::{Counts, Difference, Ledger, List, Offer, name, value};
use super::judge::Occurrence;
use super::schema::{self, Role};
use super::values::{Sides, Terms, compare_values, members};
use super::{Change, Class, Excerpt, Half, Verdict};
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Path, Step, Value, canonical};

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
    pub fn of(list: List, one: &Occurrence<'_>) -> Option<Self> {
        let answer = Document::parse(one.response?).ok()?;
        let result = answer.root().get("result")?;
        result.get(list.member())?;
        let is_cursor = |cursor: Option<Value<'_>>| cursor.is_some_and(|it| !it.is_null());
        let asks_on = |request| {
            let request = Document::parse(request).ok();
            let params = request.as_ref().and_then(|it| it.root().get("params"));
            is_cursor(params.and_then(|params| params.get("cursor")))
        };
        Some(Self {
            seq: one.seq,
            answer: answer.text().to_vec(),
            is_first: one.request.is_some_and(|request| !asks_on(request)),
            is_last: !is_cursor(result.get("nextCursor")),
        })
    }
}

/// Both sides of a list, page by page.
#[derive(Debug, Default)]
pub(super) struct Listing([Vec<Page>; 2]);

impl Listing {
    /// Whether the last page of a side has not come.
    pub fn wants(&self, side: usize) -> bool {
        self.0[side].last().is_none_or(|page| !page.is_last)
    }

    /// Adds a page; returns whether the list is whole now, or too long for more pages.
    pub fn add(&mut self, side: usize, page: Page) -> bool {
        self.0[side].push(page);
        let bytes = self.0.iter().flatten().map(|page| page.answer.len());
        bytes.sum::<usize>() > MAX_BYTES || !(self.wants(0) || self.wants(1))
    }
}

/// Compares both sides of a list, and adds the differences to the report; returns how many are new.
pub(super) fn compare(
    list: List,
    listing: &Listing,
    terms: &Terms<'_>,
    ledger: &mut Ledger,
) -> Counts {
    let documents = listing.0.each_ref().map(|pages| {
        let read = pages.iter().map(|page| Document::parse(&page.answer));
        read.filter_map(Result::ok).collect::<Vec<_>>()
    });
    let elements = documents.each_ref().map(|pages| {
        let lists = pages
            .iter()
            .filter_map(|page| page.root().get("result")?.get(list.member()));
        lists.flat_map(|list| list.elements()).collect::<Vec<_>>()
    });
    let mut comparing = Comparing {
        list,
        is_whole: [!listing.wants(0), !listing.wants(1)],
        seqs: listing.0.each_ref().map(|pages| pages.first()?.seq),
        terms,
        name: Box::default(),
        place: ["result", list.member()]
            .map(|name| Step::Member(name.into()))
            .into(),
        ledger,
        counts: Counts::default(),
    };
    comparing.lists(&elements);
    comparing.counts
}

struct Comparing<'r> {
    list: List,
    /// Whether all pages of a side are there.
    is_whole: [bool; 2],
    seqs: [Option<Seq>; 2],
    terms: &'r Terms<'r>,
    /// The element that is being compared, empty for the list itself. Escaped.
    name: Box<str>,
    place: Vec<Step>,
    ledger: &'r mut Ledger,
    counts: Counts,
}

impl Comparing<'_> {
    fn lists(&mut self, [left, right]: &[Vec<Value<'_>>; 2]) {
        let key = |element: &Value<'_>| text(*element, self.list.key());
        let pairs = align::by_key([left, right], &[&key]);
        if !align::is_in_order(&pairs) && self.terms.scope.matching(&self.place).is_none() {
            let sentence = format!("the {}s are listed in another order", self.list.word());
            self.add(Class::Order, Change::Order, &sentence, [None, None]);
        }
        for [l, r] in pairs {
            let sides = [l.map(|at| left[at]), r.map(|at| right[at])];
            let element = sides[0].or(sides[1]);
            self.name = name(
                &element
                    .map(|one| text(one, self.list.key()))
                    .unwrap_or_default(),
            );
            self.place.extend(l.or(r).map(Step::Element));
            match (sides, self.is_whole) {
                ([Some(left), Some(right)], _) if left.raw() == right.raw() => {}
                ([Some(left), Some(right)], _) if left.kind() != right.kind() => {
                    self.say(Class::Breaking, "is of another type", sides);
                }
                ([Some(_), Some(_)], _) => self.element(sides),
                ([Some(_), _], [_, true]) => self.say(Class::Breaking, "is gone", sides),
                ([Some(_), _], _) => {
                    self.say(Class::Changed, "is on no page that was asked for", sides);
                }
                _ => self.say(Class::Added, "is new", sides),
            }
            self.place.pop();
        }
    }

    /// Compares the members of an element that both sides have.
    fn element(&mut self, sides: Sides<'_>) {
        for (name, sides) in members(sides) {
            self.place.push(Step::Member(Box::from(&*name)));
            match (self.list, &*name, sides) {
                (List::Tools, "inputSchema", _) => self.schemas(Role::Input, sides),
                (List::Tools, "outputSchema", _) => self.schemas(Role::Output, sides),
                (List::Prompts, "arguments", _) => self.arguments(sides),
                (_, name, [Some(left), Some(right)]) => self.values(name, left, right),
                (_, name, [Some(_), None]) => {
                    self.say(Class::Changed, &format!("no `{name}` any more"), sides);
                }
                (_, name, _) => self.say(Class::Added, &format!("`{name}` is new"), sides),
            }
            self.place.pop();
        }
    }

    fn schemas(&mut self, role: Role, sides: Sides<'_>) {
        let length = self.place.len();
        schema::compare(role, sides, &mut |place, class, sentence, sides| {
            self.place.extend_from_slice(place);
            self.say(class, sentence, sides);
            self.place.truncate(length);
        });
    }

    /// Compares the arguments of a prompt, some of them required.
    fn arguments(&mut self, sides: Sides<'_>) {
        let [left, right] = sides.map(|side| {
            let all = side.into_iter().flat_map(|side| side.elements());
            all.collect::<Vec<_>>()
        });
        let key = |argument: &Value<'_>| text(*argument, "name");
        for [l, r] in align::by_key([&left, &right], &[&key]) {
            let sides = [l.map(|at| left[at]), r.map(|at| right[at])];
            let is_required = sides.map(|side| {
                let required = side.and_then(|value| value.get("required"));
                required.and_then(|value| value.as_bool()) == Some(true)
            });
            let (class, sentence) = match (sides, is_required) {
                ([Some(l), Some(r)], _) if canonical(l) == canonical(r) => continue,
                ([Some(_), None], _) => (Class::Breaking, "is gone"),
                ([None, _], [_, true]) => (Class::Breaking, "is new and required"),
                ([None, _], _) => (Class::Added, "is new and optional"),
                (_, [false, true]) => (Class::Breaking, "is required now"),
                (_, [true, false]) => (Class::Added, "is optional now"),
                _ => (Class::Changed, "is described in another way"),
            };
            let name = sides[0].or(sides[1]).map(|one| text(one, "name"));
            let sentence = format!("argument `{}` {sentence}", name.unwrap_or_default());
            self.say(class, &sentence, sides);
        }
    }

    /// Compares a member that has no rule of its own: nobody fails by another one.
    fn values(&mut self, name: &str, left: Value<'_>, right: Value<'_>) {
        let found = compare_values(self.terms, &self.place, left, right);
        self.ledger.report.left_out.passed_over += found.passed_over;
        self.ledger.report.left_out.values += found.limits.not_compared;
        let length = self.place.len();
        for (at, _) in found.differences() {
            let Verdict::Differs {
                class,
                change,
                left,
                right,
            } = &found.lines[at].verdict
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
            self.place.extend(inner.steps().iter().cloned());
            let sides = [left, right].map(Option::as_ref);
            self.add((*class).max(Class::Changed), *change, &sentence, sides);
            self.place.truncate(length);
        }
    }

    /// Adds a difference of two values, or one that only one side has.
    fn say(&mut self, class: Class, sentence: &str, sides: Sides<'_>) {
        let change = match sides {
            [None, Some(_)] => Change::Added,
            [Some(_), None] => Change::Removed,
            _ => Change::Value,
        };
        let sides = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
        self.add(
            class,
            change,
            sentence,
            sides.each_ref().map(Option::as_ref),
        );
    }

    fn add(&mut self, class: Class, change: Change, sentence: &str, sides: [Option<&Excerpt>; 2]) {
        let only = match sides {
            [Some(_), None] => Some(Side::Left),
            [None, Some(_)] => Some(Side::Right),
            _ => None,
        };
        // A rule covers what is below its path too; one about one side, what only that side has.
        let length = self.place.len();
        let is_ignored = (1..=length).any(|end| {
            let only = only.filter(|_| end == length);
            self.terms.scope.ignores(&self.place[..end], only)
        });
        if is_ignored {
            self.ledger.report.left_out.passed_over += 1;
            return;
        }
        let [left, right] = sides.map(|side| side.map(value));
        let is_new = self.ledger.offer(Offer {
            list: self.list,
            name: self.name.clone(),
            left: self.seqs[0],
            right: self.seqs[1],
            difference: Difference {
                half: Half::Response,
                path: name(&Path::new(self.place.clone()).to_string()),
                class,
                change,
                left,
                right,
                note: Some(name(sentence)),
            },
            times: 1,
        });
        // A list may be asked for again and again: it differs but once.
        self.counts.add(class, u64::from(is_new));
    }
}

/// The text of a member by which an element is known.
fn text(element: Value<'_>, key: &str) -> Box<str> {
    let name = element.get(key).and_then(|name| name.as_str());
    name.unwrap_or_default().into()
}

#[cfg(test)]
mod lists_tests;
