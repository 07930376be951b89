//! Tests of one column.

use super::condition::{Bounds, Condition, Piece};
use mcpreel_trace::query::ast::{Op, Type, Value};
use std::ops::RangeInclusive;

/// Always, where nothing is known.
pub(super) fn may_be(sql: &'static str) -> Condition {
    match sql {
        "1" => Condition::Constant(true),
        sql => Condition::sql(sql),
    }
}

pub(super) fn leaf(pieces: &[&'static str]) -> Condition {
    Condition::Leaf(pieces.iter().map(|sql| Piece::Sql(sql)).collect())
}

/// A test of a text. `SQLite` folds the letters of ASCII, which is all that a needle of ASCII
/// asks for; `None` for other needles and for patterns.
pub(super) fn text(sql: &'static str, kind: Type, op: Op, value: &Value) -> Option<Vec<Piece>> {
    let text = match value {
        Value::Text { text, .. } | Value::Json(text) => text,
        Value::Number(_) | Value::Range(_) | Value::Ago(_) => "",
    };
    let bound = |text: String| Piece::Bound(text.into());
    match op {
        Op::Matches | Op::MatchesNot => None,
        Op::Contains if kind == Type::Text && !text.is_ascii() => None,
        // A NUL ends what some functions of `SQLite` see.
        _ if text.contains('\0') => None,
        Op::Contains if kind == Type::Text => Some(vec![
            Piece::Sql("instr(lower("),
            Piece::Sql(sql),
            Piece::Sql("), "),
            bound(text.to_ascii_lowercase()),
            Piece::Sql(")"),
        ]),
        _ => Some(vec![
            Piece::Sql("("),
            Piece::Sql(sql),
            Piece::Sql(") = "),
            bound(text.to_string()),
        ]),
    }
}

pub(super) fn between(sql: &'static str, range: &RangeInclusive<i64>) -> Condition {
    Condition::Leaf(vec![
        Piece::Sql("("),
        Piece::Sql(sql),
        Piece::Sql(") BETWEEN "),
        Piece::Bound((*range.start()).into()),
        Piece::Sql(" AND "),
        Piece::Bound((*range.end()).into()),
    ])
}

/// The JSON text of a value of which there is one form only but for escapes and exponents: a
/// whole number, or a string.
pub(super) fn plain_json(value: &Value, kind: Type) -> Option<String> {
    match value {
        Value::Json(json) => {
            let digits = json.strip_prefix('-').unwrap_or(json);
            let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit())
                && !digits.starts_with('0')
                && !digits.is_empty();
            is_plain.then(|| json.to_string())
        }
        Value::Text { text, .. } if kind == Type::Id && !text.contains('\0') => {
            Some(serde_json::Value::from(&**text).to_string())
        }
        _ => None,
    }
}

/// The same JSON text is the same value. Another text may be the same value where it is no whole
/// number, or has escapes.
pub(super) fn same_json(sql: &'static str, json: String, kind: Type) -> Bounds {
    let is_text = json.starts_with('"');
    let same = Condition::with(&["(", sql, ") = "], json, "");
    let other = match kind {
        Type::Id if is_text => leaf(&["instr(", sql, ", char(92))"]),
        _ => leaf(&["(", sql, ") GLOB '*[^0-9-]*'"]),
    };
    Bounds {
        may: Condition::any(vec![same.clone(), other]),
        sure: same,
    }
}
