//! Values off the wire as the validator reads them: where they stand, without a copy.

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object};
use mcpreel_wire::json::{Elements, Kind, Members, Value};
use serde_json::{Number, Value as Copied};
use std::borrow::Cow;
use std::iter::Map;

/// The representation of [`Instance`].
#[derive(Debug)]
pub struct Read;

#[derive(Clone, Copy, Debug)]
pub enum Instance<'a> {
    Value(Value<'a>),
    /// The name of a member, which `propertyNames` checks like a value.
    Name(&'a str),
}

impl Json for Read {
    type Node<'a> = Instance<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), text: &str, check: impl FnOnce(Instance<'_>) -> T) -> T {
        check(Instance::Name(text))
    }
}

impl<'a> Instance<'a> {
    /// The value if it is of this kind.
    fn of(self, kind: Kind) -> Option<Value<'a>> {
        match self {
            Self::Value(value) if value.kind() == kind => Some(value),
            _ => None,
        }
    }
}

impl<'a> Node<'a, Read> for Instance<'a> {
    type Object = Value<'a>;
    type Array = Value<'a>;
    type Number = Number;

    fn as_object(&self) -> Option<Value<'a>> {
        self.of(Kind::Object)
    }

    fn as_array(&self) -> Option<Value<'a>> {
        self.of(Kind::Array)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Self::Value(value) => value.as_str(),
            Self::Name(name) => Some(Cow::Borrowed(name)),
        }
    }

    fn as_number(&self) -> Option<Number> {
        self.of(Kind::Number)?.number_text()?.parse().ok()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.of(Kind::Bool)?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.of(Kind::Null).is_some()
    }

    fn json_type(&self) -> JsonType {
        let kind = match self {
            Self::Value(value) => value.kind(),
            Self::Name(_) => Kind::String,
        };
        match kind {
            Kind::Null => JsonType::Null,
            Kind::Bool => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Copied) -> bool {
        match expected {
            Copied::String(expected) => self.as_string().is_some_and(|it| it == *expected),
            _ => jsonschema::json::cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Copied> {
        Cow::Owned(match self {
            Self::Value(value) => serde_json::from_slice(value.raw()).unwrap_or_default(),
            Self::Name(name) => Copied::from(*name),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        let start = match self {
            Self::Value(value) => value.raw().as_ptr(),
            Self::Name(name) => name.as_ptr(),
        };
        Some(NodeIdentity::new(start as usize))
    }
}

impl<'a> Object<'a, Read> for Value<'a> {
    type Node = Instance<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Map<Members<'a>, fn((Value<'a>, Value<'a>)) -> (Cow<'a, str>, Instance<'a>)>;

    fn len(&self) -> usize {
        self.members().count()
    }

    fn get(&self, name: &String) -> Option<Instance<'a>> {
        Value::get(self, name).map(Instance::Value)
    }

    fn members(&self) -> Self::MembersIter {
        Value::members(self)
            .map(|(name, value)| (name.as_str().unwrap_or_default(), Instance::Value(value)))
    }
}

impl<'a> Array<'a, Read> for Value<'a> {
    type Node = Instance<'a>;
    type ElementsIter = Map<Elements<'a>, fn(Value<'a>) -> Instance<'a>>;

    fn len(&self) -> usize {
        self.elements().count()
    }

    fn elements(&self) -> Self::ElementsIter {
        Value::elements(self).map(Instance::Value)
    }
}
