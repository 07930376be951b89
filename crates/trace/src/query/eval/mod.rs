//! Whether a row fits a filter.
//!
//! What decides, so that whoever answers the same from columns agrees:
//!
//! * A test of something absent is false; `!=` is the denial of `=` and `!~` of `~`, so they are
//!   true there. Of several values (findings, `[*]`) one that fits is enough.
//! * `:` on text contains, case folded as in `pattern`. `=` compares texts as they are. `~`
//!   searches; a pattern that does not compile fits nothing.
//! * Words and numbers are equal or in order. Numbers are signed 64-bit; what is more is cut.
//! * Ids compare by type and exact value: `id:7` fits `7.0` and not `"7"`.
//! * Values in bodies, and `code`, compare by their own type. A string is its value with escapes
//!   resolved. A number without quotes in the filter fits a number of the same exact value, and a
//!   string that contains the text (`=`: that is the text); in quotes it fits strings only.
//!   `true`, `false` and `null` fit themselves and strings likewise. `:` on an array or object
//!   looks for the text in its JSON, as [`Expr::Text`](super::ast::Expr::Text) does; `=` and `~` see its bytes. Orders and
//!   ranges fit numbers only.
//! * A word of its own looks, in smart case, in summary, method and name, and in the bodies as
//!   they are or as JSON may have escaped it; of a line in its bytes, of an event in its JSON.
//!   `text:x` is the same; `text=x` never folds case; `text~x` sees bytes as they are.
//!
//! What the fields of a row are is said in `column`.

mod body;
mod column;
mod compile;
pub use compile::within;
pub mod pattern;

#[cfg(test)]
mod tests;

use super::ast::{Field, Flag, Query, Root, Subject};
use crate::clock::Moment;
use crate::item::Item;
use body::JsonTest;
use column::Found;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Path;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// What a filter is judged against besides the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// What `-5m` counts back from: the end of the recording, in a live one now.
    pub end: Moment,
    /// The latency above which an exchange is slow, nanoseconds.
    pub slow_ns: u64,
}

/// What has to be asked about a row because it does not carry it. Only asked where the answer
/// counts, and after everything that the row carries.
pub trait Bodies {
    /// The bytes of the request or notification; of a line without a message those of the line.
    fn request(&mut self) -> Option<Cow<'_, [u8]>>;

    fn response(&mut self) -> Option<Cow<'_, [u8]>>;

    /// Whether the row's frame (of an exchange that of the request) is a batch.
    fn in_batch(&mut self) -> bool;

    /// Whether the exchange has an open request of the other side within it.
    fn waits_now(&mut self) -> bool;
}

#[derive(Clone, Debug)]
pub struct Matcher {
    node: Option<Node>,
    context: Context,
}

/// A condition made ready; those of a list that need no bodies come first.
#[derive(Clone, Debug)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Is(Flag),
    Has(Subject),
    Column(Field, Test),
    Body(Root, Path, JsonTest),
    Text(Needle),
}

/// What the value of a column must be.
#[derive(Clone, Debug)]
enum Test {
    Same(Box<str>),
    Pattern(Option<Regex>),
    Within(RangeInclusive<i64>),
    Id(RequestId),
    Json(JsonTest),
    /// A value that its field does not take.
    Never,
}

/// What is looked for in texts: as it is in those for people, and as it may be escaped in bodies.
#[derive(Clone, Debug)]
struct Needle {
    plain: Option<Regex>,
    body: Option<Regex>,
}

impl Matcher {
    pub fn new(query: &Query, context: Context) -> Self {
        let node = query.expr.as_ref();
        Self {
            node: node.map(|expr| compile::node(expr, context)),
            context,
        }
    }

    pub fn fits(&self, item: &Item, bodies: &mut dyn Bodies) -> bool {
        let mut row = Row {
            item,
            bodies,
            context: self.context,
        };
        self.node.as_ref().is_none_or(|node| row.fits(node))
    }

    /// Whether the bytes of messages may be asked for.
    pub fn needs_bodies(&self) -> bool {
        self.node.as_ref().is_some_and(Node::needs_bodies)
    }
}

impl Node {
    fn needs_bodies(&self) -> bool {
        match self {
            Self::All(list) | Self::Any(list) => list.iter().any(Self::needs_bodies),
            Self::Not(inner) => inner.needs_bodies(),
            Self::Is(flag) => matches!(flag, Flag::Batch | Flag::Waiting),
            Self::Has(Subject::Field(field)) | Self::Column(field, _) => {
                column::needs_bodies(*field)
            }
            Self::Has(Subject::Body(..)) | Self::Body(..) | Self::Text(_) => true,
        }
    }
}

struct Row<'r> {
    item: &'r Item,
    bodies: &'r mut dyn Bodies,
    context: Context,
}

impl Row<'_> {
    fn fits(&mut self, node: &Node) -> bool {
        match node {
            Node::All(all) => all.iter().all(|node| self.fits(node)),
            Node::Any(any) => any.iter().any(|node| self.fits(node)),
            Node::Not(inner) => !self.fits(inner),
            Node::Is(flag) => column::is(self.item, *flag, self.context, self.bodies),
            Node::Has(Subject::Field(field)) => {
                !matches!(column::find(self.item, *field, self.bodies), Found::Nothing)
            }
            Node::Has(Subject::Body(root, path)) => {
                body::any(self.bodies, *root, path, &mut |_| true)
            }
            Node::Column(field, test) => test.fits(&column::find(self.item, *field, self.bodies)),
            Node::Body(root, path, test) => {
                body::any(self.bodies, *root, path, &mut |value| test.fits(value))
            }
            Node::Text(needle) => needle.is_in(self.item, self.bodies),
        }
    }
}

impl Test {
    fn fits(&self, found: &Found<'_>) -> bool {
        match (self, found) {
            (Self::Same(word), Found::Text(text)) => **word == **text,
            (Self::Same(word), Found::Several(texts)) => texts.contains(&&**word),
            (Self::Pattern(Some(regex)), Found::Text(text)) => regex.is_match(text.as_bytes()),
            (Self::Pattern(Some(regex)), Found::Several(texts)) => {
                texts.iter().any(|text| regex.is_match(text.as_bytes()))
            }
            (Self::Within(range), Found::Number(number)) => range.contains(number),
            (Self::Id(id), Found::Id(found)) => id == &**found,
            (Self::Json(test), Found::Json(json)) => test.fits_text(json),
            _ => false,
        }
    }
}

impl Needle {
    fn is_in(&self, item: &Item, bodies: &mut dyn Bodies) -> bool {
        let plain = |text: &[u8]| {
            self.plain
                .as_ref()
                .is_some_and(|regex| regex.is_match(text))
        };
        let body = |text: &[u8]| self.body.as_ref().is_some_and(|regex| regex.is_match(text));
        if column::texts(item).any(|text| plain(text.as_bytes())) {
            return true;
        }
        if let Some(event) = column::event_json(item) {
            return body(event.as_bytes());
        }
        bodies.request().is_some_and(|bytes| body(&bytes))
            || bodies.response().is_some_and(|bytes| body(&bytes))
    }
}
