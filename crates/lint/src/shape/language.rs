//! The language in which shapes of messages are written down.
//!
//! ```text
//!  Tool  = { name: string, title?: string, annotations?: ToolAnnotations, … }
//!  (Tool, is(Fields(&[req("name", String), opt("title", String), …])))       a revision's table
//!  (Tool, has(&[opt("icons", List(&Of(Icon)))]))                             a later one's
//! ```
//!
//! Objects are open: members that a shape does not name can be anything.

use super::types::Type;
use mcpreel_wire::json::Kind;

#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Any,
    Null,
    String,
    Boolean,
    Number,
    /// A number without a fraction; `1.0` is one.
    Integer,
    Share,
    Word(&'static [&'static str]),
    Object,
    Fields(&'static [Field]),
    /// An object whose members all have this shape.
    Map(&'static Shape),
    /// An array of elements of this shape.
    List(&'static Shape),
    /// What the tables say about a type.
    Of(Type),
    /// The one of these whose kind of JSON value it is; each is of another kind.
    Either(&'static [Shape]),
    /// The shape if it is an object; anything else is somebody else's finding.
    WhereObject(&'static Shape),
    All(&'static [Shape]),
    /// An object that a member tells apart.
    Tagged(Tagged),
    /// An object that is the first of these whose member it has.
    Having(&'static [(&'static str, Shape)]),
}

/// Shapes of objects that the value of one of their members tells apart.
#[derive(Clone, Copy, Debug)]
pub struct Tagged {
    pub member: &'static str,
    pub cases: &'static [Case],
    /// What an object is without that member.
    pub default: Option<&'static Shape>,
    /// Whether other values of the member are somebody else's finding.
    pub open: bool,
}

/// A value of a member that tells apart, and the shape of the objects that have it.
pub type Case = (&'static str, Shape);

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub required: bool,
    pub shape: Shape,
}

/// What a revision's table says about a type.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// It is this, whatever it was before.
    Is(Shape),
    /// It has these members besides; those that it had before are replaced.
    Has(&'static [Field]),
    /// There are these values of its telling member besides; what they meant before is replaced.
    HasCases(&'static [Case]),
}

/// The params and the result of a method.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    pub name: &'static str,
    pub params: Shape,
    /// What `result` is; of a notification nothing is asked.
    pub result: Shape,
}

/// What a revision says that the one before it did not.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub types: &'static [(Type, Change)],
    /// Methods that are new, or whose params or result are of another type.
    pub methods: &'static [Method],
}

pub const fn req(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: true,
        shape,
    }
}

pub const fn opt(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: false,
        shape,
    }
}

/// A type that is new, or no longer what it was.
pub const fn is(name: Type, shape: Shape) -> (Type, Change) {
    (name, Change::Is(shape))
}

pub const fn object(name: Type, fields: &'static [Field]) -> (Type, Change) {
    (name, Change::Is(Shape::Fields(fields)))
}

/// An object that has these members besides.
pub const fn has(name: Type, fields: &'static [Field]) -> (Type, Change) {
    (name, Change::Has(fields))
}

/// Objects that `member` tells apart.
pub const fn tagged(member: &'static str, cases: &'static [Case]) -> Shape {
    Shape::Tagged(Tagged {
        member,
        cases,
        default: None,
        open: false,
    })
}

/// A request with its params and its result.
pub const fn request(name: &'static str, params: Shape, result: Shape) -> Method {
    Method {
        name,
        params,
        result,
    }
}

/// A notification with its params.
pub const fn notification(name: &'static str, params: Shape) -> Method {
    Method {
        name,
        params,
        result: Shape::Any,
    }
}

impl Shape {
    /// The kind of JSON value that it is, where that is one; types have to be looked up.
    pub fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Any | Self::Of(_) | Self::Either(_) | Self::All(_) | Self::WhereObject(_) => {
                return None;
            }
            Self::Null => Kind::Null,
            Self::String | Self::Word(_) => Kind::String,
            Self::Boolean => Kind::Bool,
            Self::Number | Self::Integer | Self::Share => Kind::Number,
            Self::List(_) => Kind::Array,
            Self::Object | Self::Fields(_) | Self::Map(_) | Self::Tagged(_) | Self::Having(_) => {
                Kind::Object
            }
        })
    }
}
