//! From a filter to what is asked of each row.

use super::body::JsonTest;
use super::{Context, Needle, Node, Test, pattern};
use crate::query::ast::{Expr, Field, Op, Subject, Type, Value};
use mcpreel_wire::brief;
use mcpreel_wire::id::RequestId;
use std::ops::RangeInclusive;

pub(super) fn node(expr: &Expr, context: Context) -> Node {
    match expr {
        Expr::And(all) => Node::All(nodes(all, context)),
        Expr::Or(any) => Node::Any(nodes(any, context)),
        Expr::Not(inner) => Node::Not(Box::new(node(inner, context))),
        Expr::Is(flag) => Node::Is(*flag),
        Expr::Has(subject) => Node::Has(subject.clone()),
        Expr::Text(text) => Node::Text(needle(text, pattern::ignores_case(text))),
        Expr::Compare { subject, op, value } => match op.denied() {
            Some(op) => Node::Not(Box::new(compare(subject, op, value, context))),
            None => compare(subject, *op, value, context),
        },
    }
}

/// Whatever needs bodies comes last: the order changes no answer.
fn nodes(list: &[Expr], context: Context) -> Vec<Node> {
    let mut nodes: Vec<_> = list.iter().map(|expr| node(expr, context)).collect();
    nodes.sort_by_key(Node::needs_bodies);
    nodes
}

fn needle(text: &str, ignore_case: bool) -> Needle {
    Needle {
        plain: pattern::contains(text, ignore_case),
        body: pattern::in_json(text, ignore_case),
    }
}

fn compare(subject: &Subject, op: Op, value: &Value, context: Context) -> Node {
    match subject {
        Subject::Body(root, path) => Node::Body(*root, path.clone(), JsonTest::new(op, value)),
        Subject::Field(Field::Text) => Node::Text(in_text(op, value)),
        Subject::Field(field) => Node::Column(*field, test(*field, op, value, context)),
    }
}

fn in_text(op: Op, value: &Value) -> Needle {
    let text = text_of(value);
    match op {
        Op::Matches => {
            let regex = pattern::regex(text).ok();
            Needle {
                plain: regex.clone(),
                body: regex,
            }
        }
        Op::Contains => needle(text, pattern::ignores_case(text)),
        _ => needle(text, false),
    }
}

fn text_of(value: &Value) -> &str {
    match value {
        Value::Text { text, .. } | Value::Json(text) => text,
        Value::Number(_) | Value::Range(_) | Value::Ago(_) => "",
    }
}

fn test(field: Field, op: Op, value: &Value, context: Context) -> Test {
    let kind = field.kind_of_values();
    if !op.suits(kind) {
        return Test::Never;
    }
    match kind {
        Type::Json => Test::Json(JsonTest::new(op, value)),
        Type::Id => id(value).map_or(Test::Never, Test::Id),
        Type::Text | Type::Words(_) if op == Op::Matches => {
            Test::Pattern(pattern::regex(text_of(value)).ok())
        }
        Type::Text if op == Op::Contains => Test::Pattern(pattern::contains(text_of(value), true)),
        Type::Text | Type::Words(_) => Test::Same(brief::asked(text_of(value)).into()),
        Type::Number | Type::Duration | Type::Size | Type::Time => {
            within(op, value, context).map_or(Test::Never, Test::Within)
        }
    }
}

fn id(value: &Value) -> Option<RequestId> {
    match value {
        Value::Json(json) => RequestId::from_json(json),
        Value::Text { text, .. } => Some(RequestId::string(text)),
        Value::Number(_) | Value::Range(_) | Value::Ago(_) => None,
    }
}

/// The numbers that fit, for row by row and for SQL alike.
pub fn within(op: Op, value: &Value, context: Context) -> Option<RangeInclusive<i64>> {
    let end = i64::try_from(context.end.0).unwrap_or(i64::MAX);
    let number = match value {
        Value::Range(range) => return Some(range.clone()),
        Value::Number(number) => *number,
        Value::Ago(nanos) => end.saturating_sub_unsigned(*nanos),
        Value::Text { .. } | Value::Json(_) => return None,
    };
    Some(match op {
        Op::Less => i64::MIN..=number.checked_sub(1)?,
        Op::AtMost => i64::MIN..=number,
        Op::More => number.checked_add(1)?..=i64::MAX,
        Op::AtLeast => number..=i64::MAX,
        _ => number..=number,
    })
}
