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
    messages: [Option<&[u8]>; 2],
    (root, path): (Root, &Path),
    fits: &mut dyn FnMut(Json<'_>) -> bool,
) -> bool {
    let documents = messages.map(|bytes| {
        let bytes = bytes?;
        Document::parse(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)).ok()
    });
    let roots = documents.each_ref().map(|it| Some(it.as_ref()?.root()));
    let [request, response] = roots.map(|root| root.filter(Json::is_object));
    let (params, result) = (member(request, "params"), member(response, "result"));
    let start = match root {
        Root::Req => request,
        Root::Params => params,
        Root::Result => result,
        Root::Error => member(response, "error"),
        Root::Res => result.or_else(|| member(response, "error")),
        Root::Meta => member(params, "_meta").or_else(|| member(result, "_meta")),
    };
    start.is_some_and(|start| path.all(start).into_iter().any(fits))
}

fn member<'j>(holder: Option<Json<'j>>, name: &str) -> Option<Json<'j>> {
    holder?.get(name)
}

/// A condition on one JSON value.
#[derive(Clone, Debug)]
pub struct JsonTest {
    op: Op,
    text: Box<str>,
    quoted: bool,
    number: Option<Number>,
    range: Option<RangeInclusive<i64>>,
    /// The patterns that a string, and the JSON of a container, have to match.
    regex: Option<Regex>,
    in_json: Option<Regex>,
}

impl JsonTest {
    pub fn new(op: Op, value: &Value) -> Self {
        let (text, quoted) = match value {
            Value::Text { text, quoted } => (text.clone(), *quoted),
            Value::Json(text) => (text.clone(), false),
            Value::Number(number) => (number.to_string().into(), false),
            Value::Range(_) | Value::Ago(_) => ("".into(), false),
        };
        let (regex, in_json) = match op {
            Op::Contains => (
                pattern::contains(&text, true),
                pattern::in_json(&text, true),
            ),
            _ if op.is_match() => {
                let regex = pattern::regex(&text).ok();
                (regex.clone(), regex)
            }
            _ => (None, None),
        };
        let is_text = matches!(value, Value::Text { .. });
        Self {
            number: Number::parse(&text).filter(|_| !is_text),
            range: match value {
                Value::Range(range) => Some(range.clone()),
                _ => None,
            },
            op,
            text,
            quoted,
            regex,
            in_json,
        }
    }

    pub fn fits(&self, value: Json<'_>) -> bool {
        let found = |regex: &Option<Regex>, bytes: &[u8]| {
            regex.as_ref().is_some_and(|regex| regex.is_match(bytes))
        };
        if let Some(range) = &self.range {
            return value.number().is_some_and(|number| between(&number, range));
        }
        if self.op.is_order() {
            let bound = value.number().zip(self.number.as_ref());
            return bound.is_some_and(|(number, bound)| in_order(self.op, number.cmp(bound)));
        }
        let is_pattern = self.op.is_match();
        match value.kind() {
            Kind::String if self.regex.is_some() => found(&self.regex, &value.str_bytes()),
            Kind::String => value.is_str(&self.text),
            Kind::Array | Kind::Object if self.in_json.is_some() => {
                found(&self.in_json, value.raw())
            }
            _ if is_pattern => found(&self.regex, value.raw()),
            Kind::Number => self.number.is_some() && value.number() == self.number,
            Kind::Bool | Kind::Null => !self.quoted && value.raw() == self.text.as_bytes(),
            Kind::Array | Kind::Object => value.raw() == self.text.as_bytes(),
        }
    }
}

fn in_order(op: Op, order: Ordering) -> bool {
    match op {
        Op::Less => order.is_lt(),
        Op::AtMost => order.is_le(),
        Op::More => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// By exact value: 2.5 lies between 2 and 3.
fn between(number: &Number, range: &RangeInclusive<i64>) -> bool {
    let bound = |bound: &i64| Number::parse(&bound.to_string());
    let (from, to) = (bound(range.start()), bound(range.end()));
    from.is_some_and(|from| *number >= from) && to.is_some_and(|to| *number <= to)
}
