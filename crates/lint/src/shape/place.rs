//! Where in a message a value stands, told without a copy of anything until somebody asks.

use super::types::Type;
use crate::trail;
use mcpreel_wire::json::{Step, Value};

/// A place in a message: the way there, from the inside out.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    outer: Option<&'p Place<'p>>,
    step: At<'p>,
}

#[derive(Clone, Copy, Debug)]
enum At<'p> {
    Member(&'static str),
    /// A member that somebody else has named.
    Named(Value<'p>),
    Element(usize),
    /// No step: what is here is of this type.
    Type(Type),
}

impl<'p> Place<'p> {
    /// A member of the message itself.
    pub fn top(member: &'static str) -> Self {
        Self {
            outer: None,
            step: At::Member(member),
        }
    }

    /// The member `name` of what is here.
    pub fn member(&'p self, name: &'static str) -> Self {
        self.step(At::Member(name))
    }

    /// The member whose name is the string `name`.
    pub fn named(&'p self, name: Value<'p>) -> Self {
        self.step(At::Named(name))
    }

    /// Element `index` of what is here.
    pub fn element(&'p self, index: usize) -> Self {
        self.step(At::Element(index))
    }

    /// The same place, known to be of type `name`.
    pub fn of(&'p self, name: Type) -> Self {
        self.step(At::Type(name))
    }

    fn step(&'p self, step: At<'p>) -> Self {
        Self {
            outer: Some(self),
            step,
        }
    }

    /// Whether it is, or is within, something of type `name`.
    pub fn is_within(&self, name: Type) -> bool {
        self.outwards()
            .any(|place| matches!(place.step, At::Type(one) if one == name))
    }

    /// The path from the message's top, as every finding has it: [`trail::written`].
    pub fn path(&self) -> Box<str> {
        let mut steps: Vec<_> = self.outwards().filter_map(Place::json).collect();
        steps.reverse();
        trail::written(steps)
    }

    fn outwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |place| place.outer)
    }

    fn json(&self) -> Option<Step> {
        match self.step {
            At::Member(name) => Some(Step::Member(name.into())),
            At::Named(name) => {
                let name = name.as_str().unwrap_or_default();
                Some(Step::Member(name.into()))
            }
            At::Element(index) => Some(Step::Element(index)),
            At::Type(_) => None,
        }
    }
}
