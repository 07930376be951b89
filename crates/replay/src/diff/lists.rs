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
//! A list that comes in several pages is compared as one, however it is cut: the pages of both sides
//! are kept until both have their last one. What is too long to be kept is compared in parts.

use super::align::{Matching as Pairing, Pair};
use super::diff_report::{self, Counts, Difference, Offer};
use super::equal::{Members, Work};
use super::exchanges::{Draft, Judge, Missing, Occurrence, Skip};
use super::schema::{self, Role};
use super::values::{Terms, compare_values};
use super::{Change, Class, Excerpt, Half, Verdict};
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Path, Step, Value, canonical};
use std::collections::{BTreeMap, HashMap};

/// Differences that are kept of a pair of lists; the rest are counted.
const MAX_FINDINGS: usize = 1000;

/// Bytes of an element's name that are kept.
const MAX_NAME: usize = 256;

/// Bytes of pages that are kept of a list, on both sides together.
const MAX_BYTES: usize = 32 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method asks for.
    pub fn of(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == method)
    }

    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Prompts => "prompts/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
        }
    }

    /// The member of the result that holds it.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// `tool`, `prompt`, `resource` or `resource template`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::Templates => "resource template",
        }
    }

    /// The member by which an element is known.
    fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// The lists of which pages are kept.
#[derive(Debug, Default)]
pub(super) struct Pages {
    open: BTreeMap<List, [Pile; 2]>,
}

#[derive(Debug, Default)]
struct Pile {
    first: Option<Seq>,
    pages: Vec<Vec<u8>>,
    done: bool,
}

impl Judge {
    /// Compares two pages of a list; `false` if they are none.
    pub(super) fn pages(
        &mut self,
        left: &Occurrence<'_>,
        right: &Occurrence<'_>,
        draft: &mut Draft,
    ) -> bool {
        let Some(list) = List::of(left.method) else {
            return false;
        };
        if is_first(left) || is_first(right) {
            self.close(list, draft);
        }
        let [Some(l), Some(r)] = [left, right].map(|side| goes_on(list, side.response)) else {
            // An error, or no list at all: the pages before it are all there is.
            self.close(list, draft);
            return false;
        };
        let new = [left, right].map(|side| side.response.map_or(0, <[u8]>::len));
        if self.pages.bytes(list) + new[0] + new[1] > MAX_BYTES {
            self.close(list, draft);
        }
        let piles = self.pages.open.entry(list).or_default();
        piles[0].add(left, l);
        piles[1].add(right, r);
        let is_done = !l && piles[1].done;
        let elsewhere: &[&[&str]] = &[&["result", list.member()], &["result", "nextCursor"]];
        self.responses(left, right, draft, elsewhere);
        if is_done {
            self.close(list, draft);
        }
        true
    }

    /// Whether an exchange of the left side is a page that the right side has no page for.
    pub(super) fn takes_left(&mut self, left: &Occurrence<'_>, why: &Missing) -> bool {
        let apart = matches!(
            why,
            Missing::Removed | Missing::NeverAnswered | Missing::Skipped(Skip::Unreached(_))
        );
        apart && self.takes(0, left)
    }

    /// Whether an exchange of one side is a page that the other side has no page for.
    pub(super) fn takes(&mut self, side: usize, one: &Occurrence<'_>) -> bool {
        let Some(list) = List::of(one.method).filter(|_| !is_first(one)) else {
            return false;
        };
        let Some(goes_on) = goes_on(list, one.response) else {
            return false;
        };
        let bytes = self.pages.bytes(list) + one.response.map_or(0, <[u8]>::len);
        let piles = self.pages.open.get_mut(&list);
        let Some(piles) = piles.filter(|piles| bytes <= MAX_BYTES && !piles[side].done) else {
            return false;
        };
        piles[side].add(one, goes_on);
        if piles.iter().all(|pile| pile.done) {
            self.close_outside(list);
        }
        true
    }

    /// Compares the lists whose last pages never came.
    pub(super) fn close_lists(&mut self) {
        for list in List::ALL {
            self.close_outside(list);
        }
    }

    /// Compares a list outside of an exchange.
    fn close_outside(&mut self, list: List) {
        let mut draft = Draft::default();
        self.close(list, &mut draft);
        let call = (list.method().into(), None);
        self.ledger.found(call, draft.counts);
    }

    /// Compares the pages of a list that are there.
    fn close(&mut self, list: List, draft: &mut Draft) {
        let Some(piles) = self.pages.open.remove(&list) else {
            return;
        };
        if piles[0].pages == piles[1].pages {
            return;
        }
        let documents = piles.each_ref().map(|pile| {
            let read = pile
                .pages
                .iter()
                .filter_map(|page| Document::parse(page).ok());
            read.collect::<Vec<_>>()
        });
        let [left, right] = documents.each_ref().map(|pages| {
            let lists = pages.iter().filter_map(|page| elements(list, page.root()));
            lists.flat_map(|list| list.elements()).collect::<Vec<_>>()
        });
        let scope = self.rules.scope(list.method(), None);
        let terms = self.terms(scope, &[]);
        let whole = piles.each_ref().map(|pile| pile.done);
        let found = compare(list, [&left, &right], whole, &terms);
        let mut counts = found.counts;
        self.ledger.report().passed_over += found.passed_over;
        for finding in found.findings {
            let class = finding.class;
            let is_new = self.ledger.offer(Offer {
                list,
                name: diff_report::name(&finding.name),
                left: piles[0].first,
                right: piles[1].first,
                difference: finding.difference(),
                times: 1,
            });
            // A list may be asked for again and again: it differs but once.
            if !is_new {
                counts.remove(class);
            }
        }
        draft.counts.add_all(counts);
    }
}

/// Whether an answer is a page of the list, and says that there is another one.
fn goes_on(list: List, response: Option<&[u8]>) -> Option<bool> {
    let document = Document::parse(response?).ok()?;
    elements(list, document.root())?;
    let cursor = document.root().get("result")?.get("nextCursor");
    Some(cursor.is_some_and(|cursor| !cursor.is_null()))
}

fn elements(list: List, page: Value<'_>) -> Option<Value<'_>> {
    page.get("result")?.get(list.member())
}

/// Whether a request asks for the beginning of its list, as far as it is known.
fn is_first(one: &Occurrence<'_>) -> bool {
    let asks_on = |request: &[u8]| {
        let document = Document::parse(request).ok()?;
        let cursor = document.root().get("params")?.get("cursor")?;
        (!cursor.is_null()).then_some(())
    };
    one.request
        .is_some_and(|request| asks_on(request).is_none())
}

impl Pages {
    fn bytes(&self, list: List) -> usize {
        let piles = self.open.get(&list).into_iter().flatten();
        piles.flat_map(|pile| &pile.pages).map(Vec::len).sum()
    }
}

impl Pile {
    fn add(&mut self, one: &Occurrence<'_>, goes_on: bool) {
        self.first = self.first.or(one.seq);
        self.pages.push(one.response.unwrap_or_default().to_vec());
        self.done = !goes_on;
    }
}

/// One difference between two lists.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// The element that it is about; empty for the list itself. Not escaped.
    name: Box<str>,
    /// Where in the answer, by the place on the left where there is one.
    path: Path,
    class: Class,
    change: Change,
    sentence: String,
    sides: [Option<Excerpt>; 2],
}

impl Finding {
    fn difference(&self) -> Difference {
        let [left, right] = self
            .sides
            .each_ref()
            .map(|side| side.as_ref().map(diff_report::value));
        Difference {
            half: Half::Response,
            path: diff_report::name(&self.path.to_string()),
            class: self.class,
            change: self.change,
            left,
            right,
            note: Some(diff_report::name(&self.sentence)),
        }
    }
}

/// What differs between two lists.
#[derive(Clone, Debug, Default)]
struct Found {
    /// The differences, in the order of the left list; what is new comes last.
    findings: Vec<Finding>,
    /// How many there are of each class, those that are not kept included.
    counts: Counts,
    passed_over: u64,
}

/// Compares two lists of the same kind; `whole` says whether all of a side is there.
fn compare(
    list: List,
    [left, right]: [&[Value<'_>]; 2],
    whole: [bool; 2],
    terms: &Terms<'_>,
) -> Found {
    let mut comparing = Comparing::new(list, whole, terms);
    comparing.lists(left, right);
    comparing.out
}

pub(super) struct Comparing<'r> {
    list: List,
    /// Whether all of a side is there.
    whole: [bool; 2],
    terms: &'r Terms<'r>,
    name: Box<str>,
    pub(super) place: Vec<Step>,
    work: Work,
    out: Found,
}

type Sides<'d> = [Option<Value<'d>>; 2];

impl<'r> Comparing<'r> {
    fn new(list: List, whole: [bool; 2], terms: &'r Terms<'r>) -> Self {
        Self {
            list,
            whole,
            terms,
            name: Box::default(),
            place: ["result", list.member()]
                .map(|name| Step::Member(name.into()))
                .into(),
            work: Work::new(false),
            out: Found::default(),
        }
    }

    fn lists(&mut self, left: &[Value<'_>], right: &[Value<'_>]) {
        let pairing = by_name(left, right, self.list.key());
        if !pairing.is_in_order() && self.terms.scope.matching(&self.place).is_none() {
            let sentence = format!("the {}s are listed in another order", self.list.word());
            self.add(Class::Order, Change::Order, sentence, [None, None]);
        }
        for pair in pairing.right_last() {
            let (at, value) = match pair {
                Pair::Both(at, _) | Pair::Left(at) => (at, left[at]),
                Pair::Right(at) => (at, right[at]),
            };
            self.name = name(value, self.list.key());
            if let Some((end, _)) = self.name.char_indices().find(|(at, _)| *at >= MAX_NAME) {
                self.name = format!("{}…", &self.name[..end]).into();
            }
            self.place.push(Step::Element(at));
            match pair {
                Pair::Both(_, other) if right[other].raw() == value.raw() => {}
                Pair::Both(_, other) => self.element(value, right[other]),
                Pair::Left(_) => self.alone(Side::Left, value),
                Pair::Right(_) => self.alone(Side::Right, value),
            }
            self.place.pop();
        }
    }

    fn alone(&mut self, side: Side, value: Value<'_>) {
        let excerpt = Some(Excerpt::new(value.raw()));
        let (class, change, said, sides) = match (side, self.whole) {
            (Side::Left, [_, true]) => {
                let sides = [excerpt, None];
                (Class::Breaking, Change::Removed, "is gone", sides)
            }
            (Side::Left, _) => {
                let said = "is not on the pages that were asked for";
                (Class::Changed, Change::Removed, said, [excerpt, None])
            }
            (Side::Right, [true, _]) => (Class::Added, Change::Added, "is new", [None, excerpt]),
            (Side::Right, _) => {
                let said = "is new, or was on pages that were not asked for";
                (Class::Added, Change::Added, said, [None, excerpt])
            }
        };
        self.add(class, change, said.to_owned(), sides);
    }

    /// Both sides have the element, and it is not the same.
    fn element(&mut self, left: Value<'_>, right: Value<'_>) {
        if left.kind() != right.kind() {
            let sides = [left, right].map(|side| Some(Excerpt::new(side.raw())));
            let sentence = "is of another type".to_owned();
            return self.add(Class::Breaking, Change::Type, sentence, sides);
        }
        for (name, sides) in self.members([Some(left), Some(right)]) {
            self.within(&name, |this| match (this.list, &*name) {
                (List::Tools, "inputSchema") => schema::compare(this, Role::Input, sides),
                (List::Tools, "outputSchema") => this.output(sides),
                (List::Tools, "annotations") => this.hints(sides),
                (List::Tools, "execution") => this.execution(sides),
                (List::Prompts, "arguments") => this.arguments(sides),
                _ => this.other(&name, sides),
            });
        }
    }

    /// The members of two objects, in the order of the left one.
    pub(super) fn members<'d>(&mut self, sides: Sides<'d>) -> Vec<(Box<str>, Sides<'d>)> {
        let mut read = || {
            let mut of = |side: Option<Value<'d>>| {
                side.map(|side| Members::of(side, &mut self.work))
                    .transpose()
            };
            Ok::<_, super::equal::Exhausted>([of(sides[0])?, of(sides[1])?])
        };
        let Ok([left, right]) = read() else {
            let sentence = "there is too much to compare it all".to_owned();
            let sides = sides.map(|side| side.map(|side| Excerpt::new(side.raw())));
            self.add(Class::Changed, Change::Value, sentence, sides);
            return Vec::new();
        };
        let get = |side: &Option<Members<'d>>, name: &str| side.as_ref().and_then(|s| s.get(name));
        let names = |side: &Option<Members<'d>>| {
            let names = side.iter().flat_map(Members::in_order);
            names
                .map(|(name, _)| Box::from(&**name))
                .collect::<Vec<Box<str>>>()
        };
        let added = names(&right)
            .into_iter()
            .filter(|name| get(&left, name).is_none());
        let all = names(&left).into_iter().chain(added);
        all.map(|name| {
            let sides = [get(&left, &name), get(&right, &name)];
            (name, sides)
        })
        .collect()
    }

    fn output(&mut self, sides: Sides<'_>) {
        let (class, change, said) = match sides {
            [Some(_), Some(_)] => return schema::compare(self, Role::Output, sides),
            [Some(_), None] => (
                Class::Breaking,
                Change::Removed,
                "gives no structured content that is described any more",
            ),
            [None, _] => (
                Class::Added,
                Change::Added,
                "describes its structured content now",
            ),
        };
        self.add(class, change, said.to_owned(), sides.map(excerpt));
    }

    /// Whether the tool may be, or has to be, called as a task (2025-11-25).
    fn execution(&mut self, sides: Sides<'_>) {
        let support = |side: Option<Value<'_>>| {
            let word = side?.get("taskSupport")?.as_str()?.into_owned();
            Some(word)
        };
        let [l, r] = sides.map(|side| support(side).unwrap_or_else(|| "forbidden".to_owned()));
        if l == r {
            return self.other("execution", sides);
        }
        let (class, said) = match (l.as_str(), r.as_str()) {
            (_, "required") => (Class::Breaking, "has to be called as a task now"),
            (_, "forbidden") => (Class::Breaking, "may no longer be called as a task"),
            ("required", "optional") => (Class::Added, "need not be called as a task any more"),
            ("forbidden", "optional") => (Class::Added, "may be called as a task now"),
            _ => (Class::Changed, "another `taskSupport`"),
        };
        self.within("taskSupport", |this| {
            this.add(class, Change::Value, said.to_owned(), sides.map(excerpt));
        });
    }

    /// What a tool says about what it does. A hint that is not there has a value as well.
    fn hints(&mut self, sides: Sides<'_>) {
        for (name, default, now_true, now_false) in HINTS {
            let values = sides.map(|side| side.and_then(|side| side.get(name)));
            let means = |value: Option<Value<'_>>| value.and_then(|value| value.as_bool());
            let [l, r] = values.map(|value| means(value).unwrap_or(default));
            let (class, change, said) = match (l == r, values) {
                (false, _) if r => (Class::Changed, Change::Value, now_true),
                (false, _) => (Class::Changed, Change::Value, now_false),
                (true, [None, Some(_)]) => (Class::Noise, Change::Added, "says what was so before"),
                (true, [Some(_), None]) => {
                    (Class::Noise, Change::Removed, "no longer says what is so")
                }
                (true, _) => continue,
            };
            let sentence = format!("`{name}`: {said}");
            self.within(name, |this| {
                this.add(class, change, sentence, values.map(excerpt));
            });
        }
        for (name, values) in self.members(sides) {
            if !HINTS.iter().any(|hint| hint.0 == &*name) {
                self.within(&name, |this| this.other(&name, values));
            }
        }
    }

    /// The arguments of a prompt, some of them required.
    fn arguments(&mut self, sides: Sides<'_>) {
        let [left, right] = sides.map(|side| {
            let all = side.into_iter().flat_map(|side| side.elements());
            all.collect::<Vec<_>>()
        });
        for pair in by_name(&left, &right, "name").right_last() {
            let [l, r] = pair.places();
            let values = [l.map(|at| left[at]), r.map(|at| right[at])];
            let is_required = values.map(|value| {
                let required = value.and_then(|value| value.get("required"));
                required.and_then(|value| value.as_bool()) == Some(true)
            });
            let (class, change, said) = match (values, is_required) {
                ([Some(l), Some(r)], _) if canonical(l) == canonical(r) => continue,
                ([Some(_), None], _) => (Class::Breaking, Change::Removed, "is gone"),
                ([None, _], [_, true]) => (Class::Breaking, Change::Added, "is new and required"),
                ([None, _], _) => (Class::Added, Change::Added, "is new and optional"),
                (_, [false, true]) => (Class::Breaking, Change::Value, "is required now"),
                (_, [true, false]) => (Class::Added, Change::Value, "is optional now"),
                _ => (Class::Changed, Change::Value, "is described in another way"),
            };
            let value = values[0].or(values[1]);
            let name = value.map(|value| name(value, "name")).unwrap_or_default();
            let sentence = format!("argument `{name}` {said}");
            self.add(class, change, sentence, values.map(excerpt));
        }
    }

    /// A member that is worth a word because it is another one: nobody fails by it.
    fn other(&mut self, name: &str, sides: Sides<'_>) {
        let excerpts = sides.map(excerpt);
        match sides {
            [Some(left), Some(right)] => self.values(name, left, right),
            [Some(_), None] => {
                let sentence = format!("no `{name}` any more");
                self.add(Class::Changed, Change::Removed, sentence, excerpts);
            }
            [None, Some(_)] => {
                let sentence = format!("`{name}` is new");
                self.add(Class::Added, Change::Added, sentence, excerpts);
            }
            [None, None] => {}
        }
    }

    fn values(&mut self, name: &str, left: Value<'_>, right: Value<'_>) {
        let found = compare_values(self.terms, &self.place, left, right);
        self.out.passed_over += found.passed_over;
        if found.limits.not_compared > 0 {
            let sentence = format!("there is too much in `{name}` to compare it all");
            let sides = [Some(left), Some(right)].map(excerpt);
            self.add(Class::Changed, Change::Value, sentence, sides);
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
            let dot = match inner.steps().first() {
                Some(Step::Member(_)) => ".",
                _ => "",
            };
            let sentence = match change {
                Change::Added => format!("`{name}{dot}{inner}` is new"),
                Change::Removed => format!("no `{name}{dot}{inner}` any more"),
                Change::Order => format!("`{name}{dot}{inner}` is in another order"),
                _ => format!("another `{name}{dot}{inner}`"),
            };
            let length = self.place.len();
            self.place.extend(inner.steps().iter().cloned());
            self.add(class.max(Class::Changed), change, sentence, [left, right]);
            self.place.truncate(length);
        }
    }

    fn within(&mut self, name: &str, work: impl FnOnce(&mut Self)) {
        self.place.push(Step::Member(name.into()));
        work(self);
        self.place.pop();
    }

    pub(super) fn add(
        &mut self,
        class: Class,
        change: Change,
        sentence: String,
        sides: [Option<Excerpt>; 2],
    ) {
        let only = match sides {
            [Some(_), None] => Some(Side::Left),
            [None, Some(_)] => Some(Side::Right),
            _ => None,
        };
        if self.is_ignored(only) {
            self.out.passed_over += 1;
            return;
        }
        self.out.counts.add(class, 1);
        if self.out.findings.len() < MAX_FINDINGS {
            let is_of_the_list = self.place.len() == 2;
            self.out.findings.push(Finding {
                name: if is_of_the_list {
                    Box::default()
                } else {
                    self.name.clone()
                },
                path: Path::new(self.place.clone()),
                class,
                change,
                sentence,
                sides,
            });
        }
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

/// The hints of the protocol (Tools, `ToolAnnotations`): the name, the value where nobody says it,
/// and what it means when it becomes true or false.
const HINTS: [(&str, bool, &str, &str); 4] = [
    (
        "readOnlyHint",
        false,
        "says that it only reads now",
        "no longer says that it only reads: hosts that ran it unasked may ask, and a replay calls \
         it only where that is allowed",
    ),
    (
        "destructiveHint",
        true,
        "may destroy something now",
        "says that it destroys nothing now",
    ),
    (
        "idempotentHint",
        false,
        "says that calling it twice does no more than once now",
        "calling it twice may do more than once now",
    ),
    (
        "openWorldHint",
        true,
        "may reach beyond its own data now",
        "says that it stays within its own data now",
    ),
];

fn name(element: Value<'_>, key: &str) -> Box<str> {
    let name = element.get(key).and_then(|name| name.as_str());
    name.unwrap_or_default().into()
}

/// Pairs the elements of two lists by their names; of several with one name the first with the
/// first.
fn by_name(left: &[Value<'_>], right: &[Value<'_>], key: &str) -> Pairing {
    let [l, r] = [left, right].map(|elements| {
        let mut seen: HashMap<Box<str>, usize> = HashMap::new();
        let keys = elements.iter().map(|element| {
            let name = name(*element, key);
            let nth = seen.entry(name.clone()).or_default();
            *nth += 1;
            (name, *nth)
        });
        keys.collect::<Vec<_>>()
    });
    let mut pairing = Pairing::new(l.len(), r.len());
    pairing.pass(|at| &l[at], |at| &r[at]);
    pairing
}

fn excerpt(side: Option<Value<'_>>) -> Option<Excerpt> {
    side.map(|value| Excerpt::new(value.raw()))
}

#[cfg(test)]
pub(super) mod lists_tests;
