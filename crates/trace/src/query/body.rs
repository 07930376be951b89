//! Conditions on values in the bodies of messages.
//!
//! Values compare by their own type. A string is its value with escapes resolved. A number without
//! quotes in the filter fits a number of the same exact value, and a string that contains the text
//! (`=`: that is the text); in quotes it fits strings only. `true`, `false` and `null` fit
//! themselves and strings likewise. `:` on an array or object looks for the text in its JSON; `=`
//! and `~` see its bytes. Orders and ranges fit numbers only.

use super::ast::{Op, Root, Value};
use super::pattern;
use mcpreel_wire::json::{Document, Kind, Number, Path, Value as Json};
use regex::bytes::Regex;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether `fits` takes one of the values that `path` leads to in these two messages.
pub fn any(
    [request, response]: [Option<&[u8]>; 2],
    (root, path): (Root, &Path),
    fits: &mut dyn FnMut(Json<'_>) -> bool,
) -> bool {
    let mut look = |start: Json<'_>| path.all(start).into_iter().any(&mut *fits);
    let found = match root {
        Root::Req => parsed(request, |message| Some(look(message))),
        Root::Params => parsed(request, |message| message.get("params").map(look)),
        Root::Result => parsed(response, |message| message.get("result").map(look)),
        Root::Error => parsed(response, |message| message.get("error").map(look)),
        Root::Res => parsed(response, |message| {
            let outcome = message.get("result").or_else(|| message.get("error"));
            outcome.map(look)
        }),
        Root::Meta => {
            let mut meta = |holder: Option<Json<'_>>| holder?.get("_meta").map(&mut look);
            parsed(request, |message| meta(message.get("params")))
                .or_else(|| parsed(response, |message| meta(message.get("result"))))
        }
    };
    found == Some(true)
}

/// The answer of `look` for the JSON object in `bytes`; `None` if there is no object.
fn parsed(bytes: Option<&[u8]>, look: impl FnOnce(Json<'_>) -> Option<bool>) -> Option<bool> {
    let bytes = bytes?;
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let document = Document::parse(text).ok()?;
    let root = document.root();
    root.is_object().then(|| look(root)).flatten()
}

/// A condition on one JSON value.
#[derive(Clone, Debug)]
pub enum JsonTest {
    /// A string that contains the text, a container that does in its JSON, or the same scalar.
    Contains {
        text: Option<Regex>,
        raw: Option<Regex>,
        same: Scalar,
    },
    /// A string that is the text, or the same scalar, or a container of just these bytes.
    Same(Scalar),
    /// A string in which the pattern is found, or the bytes of anything else.
    Pattern(Option<Regex>),
    Ordered(Op, Option<Number>),
    Within(RangeInclusive<i64>),
}

/// A value in a filter.
#[derive(Clone, Debug)]
pub struct Scalar {
    text: Box<str>,
    quoted: bool,
    number: Option<Number>,
}

impl Scalar {
    fn new(value: &Value) -> Self {
        match value {
            Value::Text { text, quoted } => Self {
                text: text.clone(),
                quoted: *quoted,
                number: None,
            },
            Value::Json(text) => Self {
                text: text.clone(),
                quoted: false,
                number: Number::parse(text),
            },
            Value::Number(number) => Self::new(&Value::Json(number.to_string().into())),
            Value::Range(_) | Value::Ago(_) => Self::new(&Value::Json("".into())),
        }
    }

    /// Whether it is the number, boolean or `null` that `value` is.
    fn is(&self, value: Json<'_>) -> bool {
        match value.kind() {
            Kind::Number => self.number.is_some() && value.number() == self.number,
            Kind::Bool | Kind::Null => !self.quoted && value.raw() == self.text.as_bytes(),
            Kind::String | Kind::Array | Kind::Object => false,
        }
    }
}

impl JsonTest {
    pub fn new(op: Op, value: &Value) -> Self {
        let scalar = Scalar::new(value);
        match (op, value) {
            (_, Value::Range(range)) => Self::Within(range.clone()),
            (Op::Contains, _) => Self::Contains {
                text: pattern::contains(&scalar.text, true),
                raw: pattern::in_json(&scalar.text, true),
                same: scalar,
            },
            (Op::Matches | Op::MatchesNot, _) => Self::Pattern(pattern::regex(&scalar.text).ok()),
            (Op::Equal | Op::Differs, _) => Self::Same(scalar),
            (Op::Less | Op::AtMost | Op::More | Op::AtLeast, _) => Self::Ordered(op, scalar.number),
        }
    }

    pub fn fits(&self, value: Json<'_>) -> bool {
        match self {
            Self::Contains { text, raw, same } => match value.kind() {
                Kind::String => found(text.as_ref(), &value.str_bytes()),
                Kind::Array | Kind::Object => found(raw.as_ref(), value.raw()),
                Kind::Null | Kind::Bool | Kind::Number => same.is(value),
            },
            Self::Same(same) => match value.kind() {
                Kind::String => value.is_str(&same.text),
                Kind::Array | Kind::Object => value.raw() == same.text.as_bytes(),
                Kind::Null | Kind::Bool | Kind::Number => same.is(value),
            },
            Self::Pattern(regex) => match value.kind() {
                Kind::String => found(regex.as_ref(), &value.str_bytes()),
                _ => found(regex.as_ref(), value.raw()),
            },
            Self::Ordered(op, bound) => {
                let order = value.number().zip(bound.as_ref());
                let order = order.and_then(|(number, bound)| number.partial_cmp(bound));
                order.is_some_and(|order| in_order(*op, order))
            }
            Self::Within(range) => value.number().is_some_and(|number| between(&number, range)),
        }
    }
}

fn found(regex: Option<&Regex>, bytes: &[u8]) -> bool {
    regex.is_some_and(|regex| regex.is_match(bytes))
}

fn in_order(op: Op, order: Ordering) -> bool {
    match op {
        Op::Less => order.is_lt(),
        Op::AtMost => order.is_le(),
        Op::More => order.is_gt(),
        Op::AtLeast => order.is_ge(),
        _ => order.is_eq(),
    }
}

/// By exact value: 2.5 lies between 2 and 3.
fn between(number: &Number, range: &RangeInclusive<i64>) -> bool {
    let bound = |bound: &i64| Number::parse(&bound.to_string());
    let (from, to) = (bound(range.start()), bound(range.end()));
    from.is_some_and(|from| *number >= from) && to.is_some_and(|to| *number <= to)
}
