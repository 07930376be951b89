//! The language in which shapes of messages are written down, and its reader. [`tables`] shows it.
//!
//! [`tables`]: super::tables

use foldhash::HashMap;
use mcpreel_wire::json::{Kind, Value};

#[derive(Clone, Debug)]
pub enum Shape {
    Any,
    Scalar(&'static Scalar),
    Word(Vec<&'static str>),
    Fields(Vec<Field>),
    /// An object whose members all have this shape.
    Map(Box<Shape>),
    /// An array of elements of this shape.
    List(Box<Shape>),
    /// A type that the tables describe.
    Of(&'static str),
    /// The one of these whose kind of JSON value it is; each is of another kind.
    Either(Vec<Shape>),
    /// The shape if it is an object; anything else is another rule's finding.
    WhereObject(Box<Shape>),
    All(Vec<Shape>),
    /// An object that a member tells apart.
    Tagged(Tagged),
    /// An object that is the first of these whose member it has.
    Having(Vec<Case>),
}

/// A shape that has no others in it.
#[derive(Debug)]
pub struct Scalar {
    /// The name in the tables.
    name: &'static str,
    pub kind: Kind,
    /// The words for the shape in findings.
    pub described: &'static str,
    /// Whether a value of this kind is one.
    pub is: fn(Value<'_>) -> bool,
}

const fn scalar(name: &'static str, kind: Kind, described: &'static str) -> Scalar {
    Scalar {
        name,
        kind,
        described,
        is: |_| true,
    }
}

static SCALARS: [Scalar; 7] = [
    scalar("null", Kind::Null, "null"),
    scalar("string", Kind::String, "a string"),
    scalar("boolean", Kind::Bool, "true or false"),
    scalar("number", Kind::Number, "a number"),
    // `1.0` is one.
    Scalar {
        is: |value| value.number().is_some_and(|number| number.is_integer()),
        ..scalar("integer", Kind::Number, "an integer")
    },
    Scalar {
        is: |value| value.number_text().is_some_and(is_share),
        ..scalar("share", Kind::Number, "a number from 0 to 1")
    },
    scalar("object", Kind::Object, "an object"),
];

fn is_share(text: &str) -> bool {
    text.parse()
        .is_ok_and(|number: f64| (0.0..=1.0).contains(&number))
}

/// Shapes of objects that the value of one of their members tells apart.
#[derive(Clone, Debug)]
pub struct Tagged {
    pub member: &'static str,
    pub cases: Vec<Case>,
    /// The shape of an object without that member.
    pub default: Option<Box<Shape>>,
    /// Whether other values of the member are another rule's finding.
    pub open: bool,
}

/// A value of a member that tells apart, and the shape of the objects that have it.
pub type Case = (&'static str, Shape);

#[derive(Clone, Debug)]
pub struct Field {
    pub name: &'static str,
    pub required: bool,
    pub shape: Shape,
}

#[derive(Clone, Debug)]
pub struct Method {
    pub params: Shape,
    /// The shape of `result`; notifications have none.
    pub result: Shape,
}

impl Shape {
    /// The kind of JSON value that it is, where that is one; types have to be looked up.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Any | Self::Of(_) | Self::Either(_) | Self::All(_) | Self::WhereObject(_) => None,
            Self::Scalar(scalar) => Some(scalar.kind),
            Self::Word(_) => Some(Kind::String),
            Self::List(_) => Some(Kind::Array),
            Self::Fields(_) | Self::Map(_) | Self::Tagged(_) | Self::Having(_) => {
                Some(Kind::Object)
            }
        }
    }
}

/// The types and methods of a revision.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    pub(super) types: HashMap<&'static str, Shape>,
    pub(super) methods: HashMap<&'static str, Method>,
}

impl Shapes {
    /// The type called `name`, where this revision has it.
    pub fn of(&self, name: &str) -> Option<&Shape> {
        self.types.get(name)
    }

    /// The params and the result of the method called `name`, also where this revision has it no
    /// more; anything where no table tells of it.
    pub fn method(&self, name: &str) -> &Method {
        static ANYTHING: Method = Method {
            params: Shape::Any,
            result: Shape::Any,
        };
        self.methods.get(name).unwrap_or(&ANYTHING)
    }

    /// Takes in the statements of a table.
    ///
    /// # Panics
    ///
    /// Panics at whatever is not understood: the tables are ours.
    pub fn read(&mut self, table: &'static str) {
        let mut reader = Reader(table);
        while !reader.rest().is_empty() {
            let name = reader.name();
            let mut names = vec![name];
            while reader.takes(",") {
                names.push(reader.name());
            }
            if reader.takes("=") {
                self.types.insert(name, reader.shape());
            } else if reader.takes("+") {
                let more = reader.shape();
                for name in &names {
                    self.add(name, &more);
                }
            } else {
                self.methods.insert(name, reader.method());
            }
        }
    }

    fn add(&mut self, name: &'static str, more: &Shape) {
        match (self.types.get_mut(name), more) {
            (Some(Shape::Fields(known)), Shape::Fields(more)) => replace(known, more, |it| it.name),
            (Some(Shape::Tagged(known)), Shape::Tagged(more)) => {
                replace(&mut known.cases, &more.cases, |it| it.0);
            }
            (known, more) => panic!("{name}: {more:?} is no addition to {known:?}"),
        }
    }
}

/// Puts the members of `more` in the place of those with the same name, or at the end.
fn replace<T: Clone>(all: &mut Vec<T>, more: &[T], name: impl Fn(&T) -> &'static str) {
    all.retain(|known| more.iter().all(|one| name(one) != name(known)));
    all.extend_from_slice(more);
}

/// Reads a table, of which it holds the rest.
struct Reader(&'static str);

impl Reader {
    /// The rest of the table from the next sign on.
    fn rest(&mut self) -> &'static str {
        loop {
            self.0 = self.0.trim_start();
            let Some(comment) = self.0.strip_prefix('#') else {
                return self.0;
            };
            self.0 = comment.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest().strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, sign: &str) {
        assert!(self.takes(sign), "{sign} is missing before {}", self.0);
    }

    fn name(&mut self) -> &'static str {
        let is_sign = |char: char| char.is_whitespace() || "=+|&?:,*\"{}[]()".contains(char);
        let rest = self.rest();
        let (name, rest) = rest.split_at(rest.find(is_sign).unwrap_or(rest.len()));
        assert!(!name.is_empty(), "a name is missing before {rest}");
        self.0 = rest;
        name
    }

    fn method(&mut self) -> Method {
        self.expect("(");
        let params = self.shape();
        self.expect(")");
        let has_result = self.takes(":");
        let result = if has_result { self.shape() } else { Shape::Any };
        Method { params, result }
    }

    fn shape(&mut self) -> Shape {
        let mut all = vec![self.one()];
        if self.takes("&") {
            all.push(self.one());
            return Shape::All(all);
        }
        while self.takes("|") {
            match (all.last_mut(), self.one()) {
                (Some(Shape::Word(words)), Shape::Word(more)) => words.extend(more),
                (_, shape) => all.push(shape),
            }
        }
        match all.len() {
            1 => all.remove(0),
            _ => Shape::Either(all),
        }
    }

    fn one(&mut self) -> Shape {
        if self.takes("?") {
            return Shape::WhereObject(Box::new(self.one()));
        }
        if self.takes("[") {
            let inner = self.shape();
            self.expect("]");
            return Shape::List(Box::new(inner));
        }
        if self.takes("{*:") {
            let inner = self.shape();
            self.expect("}");
            return Shape::Map(Box::new(inner));
        }
        if self.takes("{") {
            return Shape::Fields(self.listed(Self::field).0);
        }
        if self.takes("\"") {
            let word = self.name();
            self.expect("\"");
            return Shape::Word(vec![word]);
        }
        match self.name() {
            "any" => Shape::Any,
            "having" => {
                self.expect("{");
                Shape::Having(self.listed(Self::case).0)
            }
            "by" => Shape::Tagged(self.tagged()),
            name => match SCALARS.iter().find(|scalar| scalar.name == name) {
                Some(scalar) => Shape::Scalar(scalar),
                None => Shape::Of(name),
            },
        }
    }

    fn tagged(&mut self) -> Tagged {
        // What is added to a type has its member already.
        let member = if self.takes("{") { "" } else { self.name() };
        if !member.is_empty() {
            self.expect("{");
        }
        let (cases, open) = self.listed(Self::case);
        let default = self.takes("else").then(|| Box::new(self.shape()));
        Tagged {
            member,
            cases,
            default,
            open,
        }
    }

    /// Reads up to the closing brace; and whether the last is `...`.
    fn listed<T>(&mut self, one: fn(&mut Self) -> T) -> (Vec<T>, bool) {
        let (mut all, mut open) = (Vec::new(), false);
        while !self.takes("}") {
            if self.takes("...") {
                open = true;
            } else {
                all.push(one(self));
            }
            if !self.takes(",") {
                self.expect("}");
                break;
            }
        }
        (all, open)
    }

    fn field(&mut self) -> Field {
        let name = self.name();
        let required = !self.takes("?");
        self.expect(":");
        let shape = self.shape();
        Field {
            name,
            required,
            shape,
        }
    }

    fn case(&mut self) -> Case {
        let name = self.name();
        self.expect(":");
        (name, self.shape())
    }
}
