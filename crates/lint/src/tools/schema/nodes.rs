//! How the validator walks an [`Instance`].

use super::instance::{Cell, Content, Instance};
use jsonschema_value::cmp::equal_numbers;
use jsonschema_value::types::JsonType;
use jsonschema_value::{Array, Json, LazyInstance, Node, NodeIdentity, Object};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::sync::OnceLock;

/// The representation of values that schemas are compiled for.
#[derive(Debug)]
pub struct Cells;

#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    cells: &'a [Cell<'a>],
    at: usize,
}

impl Instance<'_> {
    pub fn root(&self) -> Place<'_> {
        Place {
            cells: &self.cells,
            at: 0,
        }
    }
}

impl<'a> Place<'a> {
    fn cell(self) -> &'a Cell<'a> {
        &self.cells[self.at]
    }

    fn inside(self) -> Inside<'a> {
        Inside {
            cells: self.cells,
            at: self.at + 1,
            end: self.cell().next,
        }
    }
}

impl Json for Cells {
    type Node<'a> = Place<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Cell<'static>;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(
        buffer: &mut Cell<'static>,
        string: &str,
        look: impl FnOnce(Place<'_>) -> T,
    ) -> T {
        buffer.content = Content::Text(Cow::Owned(string.to_owned()));
        look(Place {
            cells: std::slice::from_ref(buffer),
            at: 0,
        })
    }
}

impl<'a> Node<'a, Cells> for Place<'a> {
    type Object = Self;
    type Array = Self;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Self> {
        matches!(self.cell().content, Content::Object(..)).then_some(*self)
    }

    fn as_array(&self) -> Option<Self> {
        matches!(self.cell().content, Content::Array(_)).then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match &self.cell().content {
            Content::Text(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<&'a Number> {
        match &self.cell().content {
            Content::Number(number) => Some(number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.cell().content {
            Content::Bool(boolean) => Some(boolean),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self.cell().content, Content::Null)
    }

    fn json_type(&self) -> JsonType {
        match self.cell().content {
            Content::Null => JsonType::Null,
            Content::Bool(_) => JsonType::Boolean,
            Content::Number(_) => JsonType::Number,
            Content::Text(_) => JsonType::String,
            Content::Array(_) => JsonType::Array,
            Content::Object(..) => JsonType::Object,
        }
    }

    /// As deep as `expected` is: what is compared is not converted for it.
    fn equals_value(&self, expected: &Value) -> bool {
        match (&self.cell().content, expected) {
            (Content::Null, Value::Null) => true,
            (Content::Bool(own), Value::Bool(other)) => own == other,
            (Content::Number(own), Value::Number(other)) => equal_numbers(own, other),
            (Content::Text(own), Value::String(other)) => own == other,
            (Content::Array(count), Value::Array(others)) => {
                let mut both = self.inside().zip(others);
                *count == others.len() && both.all(|(own, other)| own.equals_value(other))
            }
            (Content::Object(count, _), Value::Object(others)) => {
                let is_there = |(own, place): (&str, Place<'_>)| {
                    let other = others.get(own);
                    other.is_some_and(|other| place.equals_value(other))
                };
                *count == others.len() && self.members().all(is_there)
            }
            _ => false,
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self.cell() {
            Cell {
                content: Content::Text(text),
                ..
            } => Value::String(text.clone().into_owned()),
            cell => parsed(cell.raw, 0),
        })
    }

    /// Hardly ever is it looked at: an error says nothing about the value but where it is.
    fn lazy_value(&self) -> LazyInstance<'a> {
        match self.cell().raw {
            [] => LazyInstance::Ready(self.to_value()),
            bytes => LazyInstance::Deferred {
                bytes,
                tag: 0,
                make: parsed,
                cell: OnceLock::new(),
            },
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let cell = std::ptr::from_ref(self.cell());
        Some(NodeIdentity::new(cell.addr()))
    }
}

/// The value of the text of a cell, which was read before.
fn parsed(text: &[u8], _: u32) -> Value {
    super::value(text).unwrap_or_default()
}

impl<'a> Object<'a, Cells> for Place<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        match self.cell().content {
            Content::Object(count, _) => count,
            _ => 0,
        }
    }

    fn get(&self, key: &Box<str>) -> Option<Self> {
        if let Content::Object(_, Some(by_name)) = &self.cell().content {
            let at = *by_name.get(&**key)?;
            return Some(Self { at, ..*self });
        }
        let mut inside = self.inside();
        inside.find(|place| place.cell().name == **key)
    }

    fn members(&self) -> Members<'a> {
        Members(self.inside())
    }
}

impl<'a> Array<'a, Cells> for Place<'a> {
    type Node = Self;
    type ElementsIter = Inside<'a>;

    fn len(&self) -> usize {
        match self.cell().content {
            Content::Array(count) => count,
            _ => 0,
        }
    }

    fn elements(&self) -> Inside<'a> {
        self.inside()
    }
}

/// The values that are directly in another one.
#[derive(Debug)]
pub struct Inside<'a> {
    cells: &'a [Cell<'a>],
    at: usize,
    end: usize,
}

impl<'a> Iterator for Inside<'a> {
    type Item = Place<'a>;

    fn next(&mut self) -> Option<Place<'a>> {
        let place = Place {
            cells: self.cells,
            at: self.at,
        };
        (self.at < self.end).then(|| {
            self.at = place.cell().next;
            place
        })
    }
}

#[derive(Debug)]
pub struct Members<'a>(Inside<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Place<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let member = self.0.next()?;
        Some((&member.cell().name, member))
    }
}
