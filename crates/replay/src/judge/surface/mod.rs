//! What a server offers before and after: tools, prompts and resources by name, tools by what
//! their schemas take and give.
//!
//! | what became of it | class |
//! |---|---|
//! | gone; takes less; gives more kinds of answers than were promised | breaking |
//! | another description, other hints, a property that is not described any more | changed |
//! | new; takes more; promises more | added |
//! | listed in another order | order |
//!
//! * [`schema`]: what a schema takes, beside another one.

mod hints;
mod member;
mod prompt;
pub mod schema;
mod tool;

use super::super::compare::{Change, Class, Excerpt, Terms};
use super::super::report::Counts;
use super::super::rules::{Side, Spot, path};
use mcpreel_wire::json::{Path, Step, Value};
use std::collections::HashMap;

/// Differences that are kept of a pair of lists; the rest are counted.
const MAX_FINDINGS: usize = 1000;

/// Names of elements that are kept of each, in bytes.
const MAX_NAME: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    /// The list that a method asks for.
    pub fn of(method: &str) -> Option<Self> {
        let all = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];
        all.into_iter().find(|list| list.method() == method)
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
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }
}

/// One difference between two lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The element that it is about; empty for the list itself. Not escaped.
    pub name: Box<str>,
    /// Where in the answer, by the place on the left where there is one.
    pub path: Path,
    pub class: Class,
    pub change: Change,
    pub sentence: String,
    pub sides: [Option<Excerpt>; 2],
}

/// What differs between two lists.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// The differences, in the order of the left list; what is new comes last.
    pub findings: Vec<Finding>,
    /// How many there are of each class, those that are not kept included.
    pub counts: Counts,
    /// Differences that rules pass over.
    pub passed_over: u64,
}

/// Compares two lists of the same kind; `whole` says whether all of a side is there.
pub fn compare(
    list: List,
    [left, right]: [&[Value<'_>]; 2],
    whole: [bool; 2],
    terms: &Terms<'_>,
) -> Surface {
    let mut comparing = Comparing {
        list,
        whole,
        terms,
        name: Box::default(),
        place: vec![
            Spot::Member("result".into()),
            Spot::Member(list.member().into()),
        ],
        work: schema::Work::default(),
        out: Surface::default(),
    };
    comparing.lists(left, right);
    comparing.out
}

struct Comparing<'r> {
    list: List,
    /// Whether all of a side is there.
    whole: [bool; 2],
    terms: &'r Terms<'r>,
    name: Box<str>,
    place: Vec<Spot>,
    work: schema::Work,
    out: Surface,
}

/// What an element is known by: its name, and which of that name it is.
type Key = (Box<str>, usize);

impl Comparing<'_> {
    fn lists(&mut self, left: &[Value<'_>], right: &[Value<'_>]) {
        let (l, r) = (self.keys(left), self.keys(right));
        let places: HashMap<&Key, usize> = r.iter().zip(0..).collect();
        let known: HashMap<&Key, usize> = l.iter().zip(0..).collect();
        let common: Vec<_> = l.iter().filter_map(|key| places.get(key)).collect();
        let is_ruled = || self.terms.scope.matching(&self.place).is_some();
        if !common.is_sorted() && !is_ruled() {
            let sentence = format!("the {}s are listed in another order", self.list.word());
            self.add(Class::Order, Change::Order, sentence, [None, None]);
        }
        for ((key, value), at) in l.iter().zip(left).zip(0..) {
            let other = places.get(key).map(|place| right[*place]);
            self.at(key, at, |this| match other {
                Some(other) if other.raw() == value.raw() => {}
                Some(other) => this.element(*value, other),
                None => this.alone(Side::Left, *value),
            });
        }
        let new = r.iter().zip(right).zip(0..);
        for ((key, value), at) in new.filter(|((key, _), _)| !known.contains_key(key)) {
            self.at(key, at, |this| this.alone(Side::Right, *value));
        }
    }

    fn keys(&self, elements: &[Value<'_>]) -> Vec<Key> {
        let mut seen: HashMap<Box<str>, usize> = HashMap::new();
        let key = |element: &Value<'_>| {
            let name = element.get(self.list.key());
            let name: Box<str> = name
                .and_then(|name| name.as_str())
                .unwrap_or_default()
                .into();
            let nth = seen.entry(name.clone()).or_default();
            *nth += 1;
            (name, *nth)
        };
        elements.iter().map(key).collect()
    }

    fn alone(&mut self, side: Side, value: Value<'_>) {
        let excerpt = Some(Excerpt::new(value.raw()));
        match side {
            Side::Left => {
                let (class, said) = if self.whole[1] {
                    (Class::Breaking, "is gone")
                } else {
                    (Class::Changed, "is not on the pages that were asked for")
                };
                self.add(class, Change::Removed, said.to_owned(), [excerpt, None]);
            }
            Side::Right => {
                let said = if self.whole[0] {
                    "is new"
                } else {
                    "is new, or was on pages that were not asked for"
                };
                let sides = [None, excerpt];
                self.add(Class::Added, Change::Added, said.to_owned(), sides);
            }
        }
    }

    fn at(&mut self, (name, _): &Key, at: usize, work: impl FnOnce(&mut Self)) {
        self.name = match name.char_indices().find(|(at, _)| *at >= MAX_NAME) {
            Some((end, _)) => format!("{}…", &name[..end]).into(),
            None => name.clone(),
        };
        self.place.push(Spot::Element(at));
        work(self);
        self.place.pop();
        self.name = Box::default();
    }

    fn within(&mut self, name: &str, work: impl FnOnce(&mut Self)) {
        self.place.push(Spot::Member(name.into()));
        work(self);
        self.place.pop();
    }

    fn add(&mut self, class: Class, change: Change, sentence: String, sides: [Option<Excerpt>; 2]) {
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
            self.out.findings.push(Finding {
                name: self.name.clone(),
                path: path(&self.place),
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

fn spot(step: &Step) -> Option<Spot> {
    match step {
        Step::Member(name) => Some(Spot::Member(name.clone())),
        Step::Element(at) => Some(Spot::Element(*at)),
        Step::Every => None,
    }
}

#[cfg(test)]
mod tests;
