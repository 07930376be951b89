//! Holding a value against a shape.
//!
//! The work is linear in the size of the value: every shape looks once through the members of an
//! object for each member that it names. Recursion ends where the shapes end, which do not contain
//! themselves.

use super::language::{Case, Field, Shape, Shapes, Tagged};

use crate::quote::{self, Trail};
use mcpreel_wire::json::{Kind, Value};

/// Looks at values on the way, and is told what is wrong.
pub trait Visitor {
    /// Something of a type that has a name, before what is in it. It need not have the shape.
    fn typed(&mut self, _name: &str, _place: &Trail<'_>, _value: Value<'_>) {}

    /// The value here is wrong; `detail` says how.
    fn wrong(&mut self, place: &Trail<'_>, detail: &dyn Fn() -> String);
}

/// Holds values against the shapes of one revision.
pub struct Checker<'c, V> {
    pub shapes: &'c Shapes,
    pub visitor: V,
}

impl<V: Visitor> Checker<'_, V> {
    pub fn check(&mut self, shape: &Shape, place: &Trail<'_>, value: Value<'_>) {
        if shape.kind().is_some_and(|kind| kind != value.kind()) {
            return self.not(shape, place, value);
        }
        match shape {
            Shape::Scalar(scalar) if !(scalar.is)(value) => self.not(shape, place, value),
            Shape::Word(words) if !words.iter().any(|word| value.is_str(word)) => {
                self.not(shape, place, value);
            }
            Shape::Fields(fields) => self.fields(fields, place, value),
            Shape::Map(inner) => {
                for (name, member) in value.members() {
                    self.check(inner, &Trail::Named(place, name), member);
                }
            }
            Shape::List(inner) => {
                for (index, element) in value.elements().enumerate() {
                    self.check(inner, &Trail::Element(place, index), element);
                }
            }
            Shape::Of(name) => self.typed(name, place, value),
            Shape::Either(shapes) => self.either(shape, shapes, place, value),
            Shape::All(shapes) => {
                for shape in shapes {
                    self.check(shape, place, value);
                }
            }
            Shape::WhereObject(inner) if value.is_object() => self.check(inner, place, value),
            Shape::Tagged(tagged) => self.tagged(tagged, place, value),
            Shape::Having(cases) => self.having(cases, place, value),
            Shape::Any | Shape::Scalar(_) | Shape::Word(_) | Shape::WhereObject(_) => {}
        }
    }

    fn typed(&mut self, name: &'static str, place: &Trail<'_>, value: Value<'_>) {
        let place = Trail::Type(place, name);
        self.visitor.typed(name, &place, value);
        if let Some(shape) = self.shapes.of(name) {
            self.check(shape, &place, value);
        }
    }

    fn fields(&mut self, fields: &[Field], place: &Trail<'_>, value: Value<'_>) {
        for field in fields {
            let place = Trail::Member(place, field.name);
            match value.get(field.name) {
                Some(member) => self.check(&field.shape, &place, member),
                None if field.required => self.visitor.wrong(&place, &|| "is missing".to_owned()),
                None => {}
            }
        }
    }

    /// Chooses by the kind of JSON value.
    fn either(&mut self, all: &Shape, shapes: &[Shape], place: &Trail<'_>, value: Value<'_>) {
        let fitting = shapes
            .iter()
            .find(|shape| self.kind(shape) == Some(value.kind()));
        match fitting {
            Some(shape) => self.check(shape, place, value),
            None => self.not(all, place, value),
        }
    }

    /// The kind of JSON value that a shape is.
    fn kind(&self, shape: &Shape) -> Option<Kind> {
        match shape {
            Shape::Of(name) => self.shapes.of(name)?.kind(),
            shape => shape.kind(),
        }
    }

    fn tagged(&mut self, tagged: &Tagged, place: &Trail<'_>, value: Value<'_>) {
        let here = Trail::Member(place, tagged.member);
        let Some(tag) = value.get(tagged.member) else {
            match &tagged.default {
                Some(shape) => self.check(shape, place, value),
                None => self.visitor.wrong(&here, &|| "is missing".to_owned()),
            }
            return;
        };
        let mut cases = tagged.cases.iter();
        match cases.find(|(name, _)| tag.is_str(name)) {
            Some((_, shape)) => self.check(shape, place, value),
            None if tagged.open => {}
            None => self.visitor.wrong(&here, &|| {
                let names = words(tagged.cases.iter().map(|(name, _)| *name));
                format!("expected {names}, found {}", found(tag))
            }),
        }
    }

    fn having(&mut self, cases: &[Case], place: &Trail<'_>, value: Value<'_>) {
        let fitting = cases.iter().find(|(name, _)| value.get(name).is_some());
        match fitting {
            Some((_, shape)) => self.check(shape, place, value),
            None => self.visitor.wrong(place, &|| {
                let names = words(cases.iter().map(|(name, _)| *name));
                format!("expected one of the members {names}, found none of them")
            }),
        }
    }

    fn not(&mut self, shape: &Shape, place: &Trail<'_>, value: Value<'_>) {
        self.visitor.wrong(place, &|| {
            format!("expected {}, found {}", describe(shape), found(value))
        });
    }
}

fn describe(shape: &Shape) -> String {
    match shape {
        Shape::Any | Shape::Of(_) => "something else".to_owned(),
        Shape::Scalar(scalar) => scalar.described.to_owned(),
        Shape::Word(all) => words(all.iter().copied()),
        Shape::List(_) => "an array".to_owned(),
        Shape::Either(shapes) | Shape::All(shapes) => {
            let all: Vec<_> = shapes.iter().map(describe).collect();
            all.join(" or ")
        }
        _ => "an object".to_owned(),
    }
}

fn words<'w>(all: impl Iterator<Item = &'w str>) -> String {
    let quoted: Vec<_> = all.map(|word| format!("\"{word}\"")).collect();
    quoted.join(" or ")
}

/// Describes a value in words, text off the wire escaped.
pub fn found(value: Value<'_>) -> String {
    let text = quote::bytes(value.raw());
    match value.kind() {
        Kind::Null => "null".to_owned(),
        kind @ (Kind::Bool | Kind::Number | Kind::String) => {
            format!("the {} {text}", kind.as_str())
        }
        Kind::Array => "an array".to_owned(),
        Kind::Object => "an object".to_owned(),
    }
}
