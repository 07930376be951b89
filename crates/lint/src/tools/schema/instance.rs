//! A value in the form in which it is checked, made in one pass over the spans of its frame:
//! nothing is read twice, and no text is copied that has no escapes.

use super::cost::Profile;
use mcpreel_wire::json::{Kind, Value};
use serde_json::Number;
use std::borrow::Cow;
use std::collections::HashMap;

/// Up to how many members are looked through for a name. Without the limit an object of many
/// members would make every look for one as long.
const FEW: usize = 16;

#[derive(Debug)]
pub struct Instance<'d> {
    /// The value itself, then what is in it, in the order of the text.
    pub cells: Vec<Cell<'d>>,
    pub profile: Profile,
}

#[derive(Debug, Default)]
pub struct Cell<'d> {
    /// Its name, where it is a member.
    pub name: Cow<'d, str>,
    pub content: Content<'d>,
    /// Its text; of a name that is looked at as a value there is none.
    pub raw: &'d [u8],
    /// The cell after this one and all that is in it.
    pub next: usize,
}

#[derive(Debug, Default)]
pub enum Content<'d> {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    /// A string, its escapes resolved.
    Text(Cow<'d, str>),
    Array(usize),
    Object(usize, ByName<'d>),
}

/// Where the members of an object are; `None` where they are few.
pub type ByName<'d> = Option<Box<HashMap<Cow<'d, str>, usize>>>;

impl<'d> Instance<'d> {
    /// Reads `value`. `None` where it is not as plain as nearly all values are: where a name is
    /// there twice, a text or number cannot be represented, or more levels are nested than are
    /// checked.
    pub fn read(value: Value<'d>) -> Option<Self> {
        let mut instance = Self {
            cells: Vec::with_capacity(value.nodes_inside() + 1),
            profile: Profile::default(),
        };
        instance.add(None, value, 0)?;
        Some(instance)
    }

    /// Recursion ends where the profile has no more levels.
    fn add(&mut self, name: Option<Cow<'d, str>>, value: Value<'d>, level: usize) -> Option<()> {
        self.profile.value(name.as_deref(), level)?;
        let at = self.cells.len();
        self.cells.push(Cell {
            name: name.unwrap_or_default(),
            raw: value.raw(),
            ..Cell::default()
        });
        let content = match value.kind() {
            Kind::Null => Content::Null,
            Kind::Bool => Content::Bool(value.as_bool()?),
            Kind::Number => Content::Number(serde_json::from_slice(value.raw()).ok()?),
            Kind::String => {
                let text = text(value)?;
                self.profile.text(&text, level)?;
                Content::Text(text)
            }
            Kind::Array => {
                for element in value.elements() {
                    self.add(None, element, level + 1)?;
                }
                Content::Array(self.inside(at).count())
            }
            Kind::Object => {
                for (key, member) in value.members() {
                    self.add(Some(text(key)?), member, level + 1)?;
                }
                let count = self.inside(at).count();
                Content::Object(count, self.by_name(at, count)?)
            }
        };
        let next = self.cells.len();
        let cell = &mut self.cells[at];
        (cell.content, cell.next) = (content, next);
        Some(())
    }

    /// The members of the object at `at` by their names; `None` where a name is there twice.
    fn by_name(&self, at: usize, count: usize) -> Option<ByName<'d>> {
        let name = |at: usize| &self.cells[at].name;
        if count > FEW {
            let members = self.inside(at).map(|at| (name(at).clone(), at));
            let by_name: HashMap<_, _> = members.collect();
            return (by_name.len() == count).then(|| Some(Box::new(by_name)));
        }
        let mut members = self.inside(at);
        while let Some(member) = members.next() {
            if members.clone().any(|other| name(other) == name(member)) {
                return None;
            }
        }
        Some(None)
    }

    /// Where the elements or members of what was last added at `at` are.
    fn inside(&self, at: usize) -> impl Iterator<Item = usize> + Clone {
        let first = Some(at + 1).filter(|first| *first < self.cells.len());
        let after = |at: &usize| Some(self.cells[*at].next).filter(|next| *next < self.cells.len());
        std::iter::successors(first, after)
    }
}

/// A string with its escapes resolved; `None` where it holds what is no text.
fn text(string: Value<'_>) -> Option<Cow<'_, str>> {
    if string.has_escapes() {
        return serde_json::from_slice(string.raw()).ok().map(Cow::Owned);
    }
    let text = std::str::from_utf8(string.string_bytes()?).ok()?;
    Some(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests;
